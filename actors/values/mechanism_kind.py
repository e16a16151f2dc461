"""MechanismKind: names of the types of kinematics, for KindSpec; the loop numbers them in its own `MechanismKind`."""

from __future__ import annotations

from enum import StrEnum


class MechanismKind(StrEnum):
    """Kinematics of a device; DIRECT: the device sends its position."""

    SERIAL = "serial"
    FIVE_BAR = "five_bar"
    DELTA = "delta"
    DIRECT = "direct"
    HINGE = "hinge"
