"""What a kind of device is, as data; one file for each kind fills it in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from actors.values.identity import Connection, Firmware, Kind
from actors.values.spatial import Reach, Vec3


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Apparent-mass model of the simulated mechanism: kg, N s/m, N, kg that gravity pulls at."""

    mass: float
    viscous: float
    coulomb: float
    gravity_mass: float


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Yaw-pitch-pitch arm: shoulder (m, device frame), links (m), encoder counts per turn, torque limit (N mm), peak force (N)."""

    shoulder: Vec3
    links: tuple[float, float]
    counts_per_turn: float
    torque_limit: float
    peak_force: float


@dataclass(frozen=True, slots=True)
class Heat:
    """Two-node model of a motor: K of the winding at the torque limit, share of it that the housing has, s of both, room in Celsius."""

    rise: float = 80.0
    ratio: float = 1.5
    winding: float = 30.0
    housing: float = 900.0
    ambient: float = 25.0


@dataclass(frozen=True, slots=True)
class Hand:
    """Two-mass operator: kg, N/m and N s/m of the grip, N/m and N s/m of the arm behind it."""

    mass: float
    grip_stiffness: float
    grip_damping: float
    arm_stiffness: float
    arm_damping: float


LIGHT_HAND: Final = Hand(0.15, 300.0, 1.0, 60.0, 3.0)
MEDIUM_HAND: Final = Hand(0.4, 800.0, 3.0, 150.0, 8.0)
FIRM_HAND: Final = Hand(0.8, 2000.0, 8.0, 400.0, 15.0)

STOP_STIFFNESS: Final = 10_000.0
STOP_DAMPING: Final = 20.0


@dataclass(frozen=True, slots=True)
class KindData:
    """One kind: `reach`, `mechanism` and `dynamics` only where it has motors; `number` is its DeviceKind in the loop."""

    kind: Kind
    number: int
    connection: Connection
    firmware: Firmware
    hardware_version: int
    settles: bool
    reach: Reach | None = None
    mechanism: Mechanism | None = None
    dynamics: Dynamics | None = None
    thermal: Heat = field(default_factory=Heat)
