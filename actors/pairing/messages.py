"""Messages of the pairing slice. They name devices by id; the module imports no other slice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from actors.kit.message import Message, Request

PAIRING: Final = "pairing"


class Origin(StrEnum):
    """Who made a pair."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"


class Progress(StrEnum):
    """How far the calibration of a device is."""

    LOCKED = "locked"
    READY = "ready"
    RUNNING = "running"
    CALIBRATED = "calibrated"
    FAILED = "failed"


class Reason(StrEnum):
    """Why a calibration did not succeed."""

    PEN_NOT_CONNECTED = "pen_not_connected"
    PEN_ASLEEP = "pen_asleep"
    PEN_LOST = "pen_lost"
    BLOCKED = "blocked"
    OSCILLATING_HALL = "oscillating_hall"


@dataclass(frozen=True, slots=True)
class Pairing:
    """A device's other half; `origin` None without one."""

    paired_with: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class PairManually(Request[Pairing]):
    """Pair these two until Unpair, whatever comes and goes: InvalidInput, NoSuchDevice, Conflict. The ledger is told."""

    device_id: str
    partner: str


@dataclass(frozen=True, slots=True)
class Unpair(Request[Pairing]):
    """Dissolve the device's pair, which is not made again by itself until one half reconnects; NoSuchDevice."""

    device_id: str


@dataclass(frozen=True, slots=True)
class Calibrate(Request[Progress]):
    """Calibrate the device together with its other half: CalibrationLocked, Conflict, NoSuchDevice; one that runs goes on."""

    device_id: str


@dataclass(frozen=True, slots=True)
class CalibrationEnded(Message):
    """Told by a DeviceActor or a PortLink: the device has finished that run, or its firmware says why it could not."""

    device_id: str
    run: int
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class CalibrationOverdue(Message):
    """Told to the PairingManager by its timer: if that run is still under way, nothing will come of it."""

    device_id: str
    run: int


@dataclass(frozen=True, slots=True)
class ListenForHeartbeats(Message):
    """Told to the PairingManager by its timer."""

    repeatable: ClassVar[bool] = True
