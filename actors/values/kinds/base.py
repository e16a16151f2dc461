"""KindSpec, a kind of device as data: capabilities, words, frame, mechanism. Each kind fills one in, in a file of its own.

Code checks capabilities (`has_motors`, `has_cursor`, `pairs_as`, `areas`, …) and never a kind's name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.mechanism_kind import MechanismKind
from actors.values.spatial import Reach, Vec3

# Areas of `config` that each session has for a device with cursor and motors.
MOVER_SESSION_AREAS: Final = frozenset(
    {"basis", "mount", "preset", "transform", "filters", "damping", "force_gate", "navigation", "scene"}
)
HANDLE_SESSION_AREAS: Final = frozenset({"basis"})
# Areas that a device with motors has once for all sessions, and `stop`.
MOVER_DEVICE_AREAS: Final = frozenset({"handedness", "torque_scaling", "gravity_compensation", "home_return", "stop"})


class PairSide(StrEnum):
    """Half of a pair: the mover has motors, the handle is held in the hand."""

    MOVER = "mover"
    HANDLE = "handle"


class FrameShape(StrEnum):
    """Text format of a device's `state` in frames; FIELDS: the spec's own `frame_fields`."""

    CURSOR = "cursor"
    HANDLE = "handle"
    FIELDS = "fields"


@dataclass(frozen=True, slots=True)
class FrameField:
    """One member of `state`: an object of numbers of the loop's device state, rounded to steps of 1/`per_unit`."""

    name: str  # member of `state`
    source: str  # field of fastpath's DEVICE_STATE
    labels: tuple[str, ...]  # keys of the object, one for each number from the first on
    per_unit: float = 1000.0


@dataclass(frozen=True, slots=True)
class InverseWords:
    """A kind's words in the inverse vocabulary; the neutral one uses the kind's name for all of them."""

    group: str  # group of a frame
    type: str  # `config.type`
    family: str  # `device_family` of an event
    aliases: tuple[str, ...] = ()  # further words of input groups, paths and settings
    wireless: str | None = None  # group and type of a wireless device, where it has words of its own
    patterns: tuple[str, ...] = ()  # type segments of a path that mean the whole family


@dataclass(frozen=True, slots=True)
class OwnPreset:
    """A workspace preset that only one kind has."""

    name: str
    inverse: str  # its name in the inverse vocabulary
    origin: Vec3 | None = None  # m, device frame; None: centre of the reach
    freeform: bool = False  # sessions with a freeform profile start with it


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Apparent-mass model of the simulated mechanism."""

    mass: float  # kg
    viscous: float  # N s/m
    coulomb: float  # N
    gravity_mass: float  # kg, on which gravity acts


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Mechanism of a kind; `kind` says which kinematics the loop uses and so what shoulder and links mean."""

    shoulder: Vec3  # m, device frame
    links: tuple[float, float]  # m
    counts_per_turn: float  # of each encoder
    torque_limit: float  # N mm
    peak_force: float  # N
    kind: MechanismKind = MechanismKind.SERIAL


@dataclass(frozen=True, slots=True)
class Heat:
    """Two-node thermal model of a motor."""

    rise: float = 80.0  # K, winding over housing at the torque limit
    ratio: float = 1.5  # K of housing over room, per K of winding over housing
    winding: float = 30.0  # s, time constant
    housing: float = 900.0  # s, time constant
    ambient: float = 25.0  # degrees Celsius


@dataclass(frozen=True, slots=True)
class Hand:
    """Two-mass model of the operator: the hand at the grip, and the arm behind it."""

    mass: float  # kg
    grip_stiffness: float  # N/m
    grip_damping: float  # N s/m
    arm_stiffness: float  # N/m
    arm_damping: float  # N s/m


LIGHT_HAND: Final = Hand(0.15, 300.0, 1.0, 60.0, 3.0)
MEDIUM_HAND: Final = Hand(0.4, 800.0, 3.0, 150.0, 8.0)
FIRM_HAND: Final = Hand(0.8, 2000.0, 8.0, 400.0, 15.0)

STOP_STIFFNESS: Final = 10_000.0
STOP_DAMPING: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """One kind of device; `reach`, `mechanism` and `dynamics` only if it has motors."""

    name: str  # neutral word: group, type, family, path segment, settings key; one word of lower-case letters
    inverse: InverseWords
    has_motors: bool  # takes forces or torques
    has_cursor: bool  # has a point in space that an application sees and commands
    pairs_as: PairSide | None  # None: never paired
    session_areas: frozenset[str]  # what each session configures
    frame_shape: FrameShape
    connections: tuple[Connection, ...]  # possible for a simulated device
    connection: Connection  # default of a simulated device
    firmware: Firmware  # default of a simulated device
    hardware_version: int  # of a simulated device
    settles: bool  # waits the settle time before it takes commands
    article: str = "a"
    device_areas: frozenset[str] = frozenset()  # what a device has once for all sessions
    frame_fields: tuple[FrameField, ...] = ()  # `state` of FrameShape.FIELDS
    device_type: int | None = None  # number in `device_info`
    presets: tuple[OwnPreset, ...] = ()
    reach: Reach | None = None
    mechanism: Mechanism | None = None
    dynamics: Dynamics | None = None
    thermal: Heat = field(default_factory=Heat)

    @property
    def is_handle(self) -> bool:
        """Whether it is the handle of a pair, with buttons, heartbeats and sleep."""
        return self.pairs_as is PairSide.HANDLE

    @property
    def wireless(self) -> bool:
        """Whether it can be wireless, and so has a battery."""
        return Connection.WIRELESS in self.connections

    @property
    def variants(self) -> tuple[str, ...]:
        """`name:connection` for each possible connection; empty if there is only one."""
        return tuple(f"{self.name}:{way}" for way in self.connections) if len(self.connections) > 1 else ()

    def has(self, area: str) -> bool:
        """Whether `area` of `config` exists on a device of this kind, per session or for all."""
        return area in self.session_areas or area in self.device_areas
