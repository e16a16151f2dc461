"""Bubble, navigation of one session on one device, as a value: HTTP and frames show it, `Writer.set_navigation` gives it to the loop.

Lengths in metres of local space (after the mount), speeds m/s, forces N, stiffness N/m, damping N.s/m, times s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from fastpath.layout.constants import Zone

Vector = tuple[float, float, float]
Parameter = float | Vector

# Parameters of each primitive, in the order of answers: True for a vector.
PRIMITIVES: Final[Mapping[str, Mapping[str, bool]]] = {
    "sphere": {"r": False},
    "box": {"b": True},
    "rounded_box": {"b": True, "r": False},
    "ellipsoid": {"a": True},
    "capsule": {"a": True, "b": True, "r": False},
    "capsule_vertical": {"h": False, "r": False},
    "capped_cylinder": {"a": True, "b": True, "r": False},
    "capped_cylinder_vertical": {"h": False, "r": False},
    "torus": {"r1": False, "r2": False},
    "capped_cone": {"a": True, "b": True, "r1": False, "r2": False},
    "rounded_cone": {"a": True, "b": True, "r1": False, "r2": False},
    "plane": {"n": True, "h": False},
}


@dataclass(frozen=True, slots=True)
class BubbleShape:
    """One primitive of `PRIMITIVES` with all its parameters."""

    primitive: str = "sphere"
    parameters: tuple[tuple[str, Parameter], ...] = (("r", 0.05),)


@dataclass(frozen=True, slots=True)
class Bubble:
    """Shape, centre and control law of a bubble; without a position its centre is the reach centre."""

    shape: BubbleShape = BubbleShape()
    drifts: bool = False
    position: Vector | None = None
    drift_gain: float = 1.5
    drift_max_ratio: float = 0.12
    zone_width: float = 0.03
    max_speed: float = 0.5
    exponent: float = 3.0
    smoothing: float = 0.05
    stiffness: float = 80.0
    wall_stiffness: float = 600.0
    damping: float = 2.0
    dead_zone_damping: float = 0.5
    collides: bool = True
    threshold: float = 0.5
    release: float = 0.3
    full_stop: float = 2.0
    extra_inflate: float = 0.0
    hysteresis: float = 0.001


class Navigated(NamedTuple):
    """Published state of a bubble: N (m) and its rate (m/s) in application space, centre (m, local), inflation (m).

    `zone` is an index of `ZONES`; `position` the cursor (m, device frame) of the same tick.
    """

    offset: Vector
    rate: Vector
    centre: Vector
    inflated: float
    zone: int
    position: Vector


ZONES: Final = tuple(name.removeprefix("ZONE_").lower() for name in Zone.__members__)
