"""Messages of the open link protocol as values: what `fastpath.codecs.openlink_py` turns to bytes and back.

Units as in docs/link-protocol.md: m, N, N mm, degrees, N s/m, volts, degrees Celsius; quaternions w x y z.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


class DeviceKind(IntEnum):
    """What a device is; a receiver stands between a port and up to eight wireless grips."""

    ARM = 1
    COMPACT = 2
    GRIP = 3
    PEN = 4
    RECEIVER = 5


class Capability(IntFlag):
    """What a device can do."""

    FORCE = 0x0001
    TORQUE = 0x0002
    POSITION = 0x0004
    JOINTS = 0x0008
    CURSOR = 0x0010
    ORIENTATION = 0x0020
    HALL = 0x0040
    BATTERY = 0x0080
    TEMPERATURE = 0x0100
    DAMPING = 0x0200
    HOME_RETURN = 0x0400
    HANDEDNESS = 0x0800
    GRAVITY = 0x1000
    TORQUE_SCALING = 0x2000
    SAVE = 0x4000
    CALIBRATE = 0x8000
    LED = 0x10000


class CommandMode(IntEnum):
    """What the three numbers of a command are."""

    RELEASE = 0
    FORCE = 1
    TORQUE = 2
    POSITION = 3


class SettlePhase(IntEnum):
    """How far a device is from taking commands."""

    ASLEEP = 0
    WAKING = 1
    SETTLING = 2
    READY = 3
    FAILED = 4


class StateFlag(IntFlag):
    """What holds for a device now."""

    ATTACHED = 0x0001
    AWAKE = 0x0002
    CALIBRATED = 0x0004
    POWER = 0x0008
    HOMED = 0x0010
    SETTLED = 0x0020
    DRIVEN = 0x0040
    WATCHDOG = 0x0080
    CHARGING = 0x0100


class FaultFlag(IntFlag):
    """What is wrong with a device now."""

    OVERHEATED = 0x0001
    OVERCURRENT = 0x0002
    ENCODER = 0x0004
    MOTOR_DRIVER = 0x0008
    SUPPLY = 0x0010
    HALL = 0x0020
    STORAGE = 0x0040
    WATCHDOG = 0x0080
    RADIO = 0x0100


class ConfigureField(IntFlag):
    """Which values of a configuration are meant; SAVE: keep them over a loss of power."""

    HANDEDNESS = 0x0001
    TORQUE_SCALING = 0x0002
    GRAVITY_ENABLED = 0x0004
    GRAVITY_SCALE = 0x0008
    HOME_RETURN = 0x0010
    DAMPING = 0x0020
    SAVE = 0x8000


class ConfigureResult(IntEnum):
    """What came of a configuration; whatever it is, nothing of a refused one holds."""

    DONE = 0
    UNSUPPORTED = 1
    OUT_OF_RANGE = 2
    BUSY = 3
    STORAGE_FAILED = 4


class CalibrationProgress(IntEnum):
    """How far a calibration is."""

    IDLE = 0
    RUNNING = 1
    DONE = 2
    FAILED = 3


class CalibrationReason(IntEnum):
    """Why a calibration failed."""

    NONE = 0
    BLOCKED = 1
    OSCILLATING_HALL = 2
    PEN_NOT_CONNECTED = 3
    PEN_ASLEEP = 4
    PEN_LOST = 5


class LedMode(IntEnum):
    """How the status light shows its colour."""

    OFF = 0
    STEADY = 1
    BLINK = 2
    BREATHE = 3


class RefusedReason(IntEnum):
    """Why a request was not taken."""

    VERSION = 1
    TYPE = 2
    DEVICE = 3
    ASLEEP = 4
    VALUE = 5


NO_CAPABILITIES: Final = Capability(0)
NO_FLAGS: Final = StateFlag(0)
NO_FAULTS: Final = FaultFlag(0)
NO_FIELDS: Final = ConfigureField(0)


@dataclass(frozen=True, slots=True)
class Identify:
    """Host asks who is there."""


@dataclass(frozen=True, slots=True)
class Wake:
    """Host wakes a device, or sends it to sleep; `rate_hz` 0 to 65535: how many states a second it wants."""

    awake: bool = True
    rate_hz: int = 1000


@dataclass(frozen=True, slots=True)
class Command:
    """Host's set-point: N in the device frame, N mm in joint order, or m."""

    mode: CommandMode = CommandMode.RELEASE
    value: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Configure:
    """Host changes the values named in `fields`; none: it asks what holds."""

    fields: ConfigureField = NO_FIELDS
    left_handed: bool = False
    torque_scaling: bool = False
    gravity_enabled: bool = False
    home_return: bool = False
    gravity_scale: float = 0.0
    damping: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Host starts a calibration, or ends the one that runs; the same `run` (1 to 255) again asks how far that one is, 0 always starts."""

    start: bool = True
    run: int = 0


@dataclass(frozen=True, slots=True)
class Led:
    """Host sets the status light."""

    mode: LedMode = LedMode.OFF
    red: int = 0
    green: int = 0
    blue: int = 0


@dataclass(frozen=True, slots=True)
class Identity:
    """Device says who it is; lengths m, limits N mm and N, `device_id` one to eight printable ASCII characters."""

    kind: DeviceKind
    wireless: bool = False
    firmware_major: int = 1
    firmware_minor: int = 0
    firmware_patch: int = 0
    hardware: int = 1
    mechanism: int = 0
    slots: int = 0
    capabilities: Capability = NO_CAPABILITIES
    rate_hz: int = 1000
    settle_ms: int = 0
    device_id: str = "0000"
    uuid: bytes = bytes(16)
    shoulder: Three = (0.0, 0.0, 0.0)
    link: tuple[float, float] = (0.0, 0.0)
    counts_per_turn: float = 0.0
    torque_limit: float = 0.0
    peak_force: float = 0.0
    reach_low: Three = (0.0, 0.0, 0.0)
    reach_high: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Settle:
    """Device says how far it is; `request` is the sequence of the last Wake."""

    phase: SettlePhase
    remaining_ms: int = 0
    watchdog_trips: int = 0
    request: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """Device's measurement; `command` is the sequence of the newest Command that it took."""

    clock_us: int = 0
    command: int = 0
    flags: StateFlag = NO_FLAGS
    faults: FaultFlag = NO_FAULTS
    buttons: int = 0
    joint: Three = (0.0, 0.0, 0.0)
    position: Three = (0.0, 0.0, 0.0)
    orientation: Four = (0.0, 0.0, 0.0, 0.0)
    hall: float = 0.0
    battery_level: float = 0.0
    battery_voltage: float = 0.0
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Configuration:
    """Device's answer to Configure: what came of it and what holds now."""

    request: int
    result: ConfigureResult
    now: Configure


@dataclass(frozen=True, slots=True)
class Calibration:
    """Device says how far the calibration is; `request` is the sequence of its Calibrate."""

    request: int
    progress: CalibrationProgress
    reason: CalibrationReason = CalibrationReason.NONE


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A handle sits in its place: sent every 20 ms while it does."""

    uptime_ms: int = 0
    hall: float = 0.0


@dataclass(frozen=True, slots=True)
class FaultReport:
    """Faults of a device have come or gone: those that hold, and those that are different."""

    clock_us: int = 0
    faults: FaultFlag = NO_FAULTS
    changed: FaultFlag = NO_FAULTS


@dataclass(frozen=True, slots=True)
class Presence:
    """A receiver says which device indexes are there and which of them sleep: bit i is index i."""

    present: int = 0
    asleep: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """Device did not take the request of that sequence and type; it speaks versions up to `newest_version`."""

    request: int
    type: int
    reason: RefusedReason
    newest_version: int = 1


Message = (
    Identify
    | Wake
    | Command
    | Configure
    | Calibrate
    | Led
    | Identity
    | Settle
    | State
    | Configuration
    | Calibration
    | Heartbeat
    | FaultReport
    | Presence
    | Refused
)
