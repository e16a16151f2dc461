"""MechanismKind: names of the types of kinematics, for KindSpec; the loop numbers them in its own `MechanismKind`."""

from __future__ import annotations

from enum import StrEnum


class MechanismKind(StrEnum):
    """Which kinematics the loop uses; DIRECT: the device sends its position itself."""

    SERIAL = "serial"
    FIVE_BAR = "five_bar"
    DELTA = "delta"
    DIRECT = "direct"
    HINGE = "hinge"
