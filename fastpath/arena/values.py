"""Values that readers of the arena return."""

from __future__ import annotations

from typing import NamedTuple


class RenderingBounds(NamedTuple):
    """What a device bears at present of springs and dampers that the loop renders; all 0 before its first tick."""

    stiffness: float  # N/m
    stiffness_damping: float  # N·s/m, with which that stiffness is borne
    damping: float  # N·s/m, without a spring
    position_lag: float  # s after which a force answers to the position
    velocity_lag: float  # s after which it answers to the velocity
