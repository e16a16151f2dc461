"""Message table of the open link protocol, the only source of its codes, fields, wire types and enumerations.

`make build` writes the C structs and their encoding, `openlink_messages.h`, from this file; `openlink_layout` packs and unpacks
the values. Fields stand in wire order, each aligned to its own size; gaps are reserved bytes, sent as 0.
Units as in docs/link-protocol.md: m, N, N mm, degrees, N s/m, volts, degrees Celsius; quaternions w x y z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from types import MappingProxyType
from typing import Annotated, Final

U8 = Annotated[int, "u8"]
U16 = Annotated[int, "u16"]
U32 = Annotated[int, "u32"]
F32 = Annotated[float, "f32"]
Switch = Annotated[bool, "u8"]
Two = Annotated[tuple[float, float], "f32[2]"]
Three = Annotated[tuple[float, float, float], "f32[3]"]
Four = Annotated[tuple[float, float, float, float], "f32[4]"]


class DeviceKind(IntEnum):
    """Kind of a device; a receiver connects up to eight wireless grips to one port."""

    ARM = 1
    COMPACT = 2
    GRIP = 3
    PEN = 4
    RECEIVER = 5


class Capability(IntFlag):
    """Capabilities of a device."""

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
    """Meaning of the three numbers of a command."""

    RELEASE = 0
    FORCE = 1
    TORQUE = 2
    POSITION = 3


class SettlePhase(IntEnum):
    """Phase of a device between power-up and accepting commands."""

    ASLEEP = 0
    WAKING = 1
    SETTLING = 2
    READY = 3
    FAILED = 4


class StateFlag(IntFlag):
    """Status of a device."""

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
    """Present faults of a device."""

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
    """Values that a configuration changes; SAVE: store them permanently."""

    LEFT_HANDED = 0x0001
    TORQUE_SCALING = 0x0002
    GRAVITY_ENABLED = 0x0004
    GRAVITY_SCALE = 0x0008
    HOME_RETURN = 0x0010
    DAMPING = 0x0020
    SAVE = 0x8000


class ConfigureResult(IntEnum):
    """Result of a configuration; a refused one changes nothing."""

    DONE = 0
    UNSUPPORTED = 1
    OUT_OF_RANGE = 2
    BUSY = 3
    STORAGE_FAILED = 4


class CalibrationProgress(IntEnum):
    """Progress of a calibration."""

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
    """Why a request was refused."""

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
    """Host asks for the IDENTITY of a device."""


@dataclass(frozen=True, slots=True)
class Wake:
    """Host wakes a device or sends it to sleep; `rate_hz`: requested states per second."""

    awake: Switch = True
    rate_hz: U16 = 1000


@dataclass(frozen=True, slots=True)
class Command:
    """Host's set-point: N in the device frame, N mm in joint order, or m."""

    mode: Annotated[CommandMode, "u8"] = CommandMode.RELEASE
    value: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Configure:
    """Host changes the values named in `fields`, or requests the present ones with no field."""

    fields: Annotated[ConfigureField, "u16"] = NO_FIELDS
    left_handed: Switch = False
    torque_scaling: Switch = False
    gravity_enabled: Switch = False
    home_return: Switch = False
    gravity_scale: F32 = 0.0
    damping: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Host starts a calibration or aborts it; the same `run` (1 to 255) again asks for its progress, 0 always starts one."""

    start: Switch = True
    run: U8 = 0


@dataclass(frozen=True, slots=True)
class Led:
    """Host sets the status light."""

    mode: Annotated[LedMode, "u8"] = LedMode.OFF
    red: U8 = 0
    green: U8 = 0
    blue: U8 = 0


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a device; lengths m, limits N mm and N, `device_id` one to eight printable ASCII characters."""

    kind: Annotated[DeviceKind, "u8"]
    wireless: Switch = False
    firmware_major: U8 = 1
    firmware_minor: U8 = 0
    firmware_patch: U8 = 0
    hardware: U8 = 1
    mechanism: U8 = 0
    slots: U8 = 0
    capabilities: Annotated[Capability, "u32"] = NO_CAPABILITIES
    rate_hz: U16 = 1000
    settle_ms: U16 = 0
    device_id: Annotated[str, "u8[8]"] = "0000"
    uuid: Annotated[bytes, "u8[16]"] = bytes(16)
    shoulder: Three = (0.0, 0.0, 0.0)
    link: Two = (0.0, 0.0)
    counts_per_turn: F32 = 0.0
    torque_limit: F32 = 0.0
    peak_force: F32 = 0.0
    reach_low: Three = (0.0, 0.0, 0.0)
    reach_high: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Settle:
    """Phase of a device after Wake; `request` is the sequence of the last Wake."""

    phase: Annotated[SettlePhase, "u8"]
    remaining_ms: U16 = 0
    watchdog_trips: U16 = 0
    request: U16 = 0


@dataclass(frozen=True, slots=True)
class State:
    """Device's measurement; `command` is the sequence of the newest Command that it accepted."""

    clock_us: U32 = 0
    command: U16 = 0
    flags: Annotated[StateFlag, "u16"] = NO_FLAGS
    faults: Annotated[FaultFlag, "u16"] = NO_FAULTS
    buttons: U16 = 0
    joint: Three = (0.0, 0.0, 0.0)
    position: Three = (0.0, 0.0, 0.0)
    orientation: Four = (0.0, 0.0, 0.0, 0.0)
    hall: F32 = 0.0
    battery_level: F32 = 0.0
    battery_voltage: F32 = 0.0
    temperature: F32 = 0.0


@dataclass(frozen=True, slots=True)
class Configuration:
    """Device's answer to Configure: the result and the values in force."""

    request: U16
    result: Annotated[ConfigureResult, "u8"]
    now: Configure


@dataclass(frozen=True, slots=True)
class Calibration:
    """Progress of a calibration; `request` is the sequence of its Calibrate."""

    request: U16
    progress: Annotated[CalibrationProgress, "u8"]
    reason: Annotated[CalibrationReason, "u8"] = CalibrationReason.NONE


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A handle is attached: sent every 20 ms while it is."""

    uptime_ms: U32 = 0
    hall: F32 = 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    """Faults of a device have changed: the present ones, and those that changed."""

    clock_us: U32 = 0
    faults: Annotated[FaultFlag, "u16"] = NO_FAULTS
    changed: Annotated[FaultFlag, "u16"] = NO_FAULTS


@dataclass(frozen=True, slots=True)
class Presence:
    """Device indexes behind a receiver that are present, and those asleep: bit i is index i."""

    present: U8 = 0
    asleep: U8 = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """Device refused the request of that sequence and type; it speaks versions up to `newest_version`."""

    request: U16
    type: U8
    reason: Annotated[RefusedReason, "u8"]
    newest_version: U8 = 1


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
    | Fault
    | Presence
    | Refused
)

MESSAGES: Final[Mapping[int, type[Message]]] = MappingProxyType(
    {
        0x01: Identify,
        0x02: Wake,
        0x03: Command,
        0x04: Configure,
        0x05: Calibrate,
        0x06: Led,
        0x81: Identity,
        0x82: Settle,
        0x83: State,
        0x84: Configuration,
        0x85: Calibration,
        0xC1: Heartbeat,
        0xC2: Fault,
        0xC3: Presence,
        0xC4: Refused,
    }
)
