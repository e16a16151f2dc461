"""Messages of the pairing slice. Devices are named by id; the module imports no other slice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from actors.kit.message import Message, Request

PAIRING: Final = "pairing"


class Origin(StrEnum):
    """How a pair was made."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"


class Progress(StrEnum):
    """State of a device's calibration."""

    LOCKED = "locked"
    READY = "ready"
    RUNNING = "running"
    CALIBRATED = "calibrated"
    FAILED = "failed"


class Reason(StrEnum):
    """Why a calibration failed."""

    PEN_NOT_CONNECTED = "pen_not_connected"
    PEN_ASLEEP = "pen_asleep"
    PEN_LOST = "pen_lost"
    BLOCKED = "blocked"
    OSCILLATING_HALL = "oscillating_hall"


@dataclass(frozen=True, slots=True)
class Pairing:
    """A device's partner and how they were paired; both None without a pair."""

    paired_with: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class PairManually(Request[Pairing]):
    """Pair two devices until Unpair, also over reconnects; stored in the ledger. InvalidInput, NoSuchDevice, Conflict."""

    device_id: str
    partner: str


@dataclass(frozen=True, slots=True)
class Unpair(Request[Pairing]):
    """Dissolve the device's pair; it is not paired automatically again until one half reconnects. NoSuchDevice."""

    device_id: str


@dataclass(frozen=True, slots=True)
class Calibrate(Request[Progress]):
    """Calibrate the device and its partner; a running calibration goes on. CalibrationLocked, Conflict, NoSuchDevice."""

    device_id: str


@dataclass(frozen=True, slots=True)
class CalibrationEnded(Message):
    """Told by a DeviceActor or a PortLink: the device finished the run."""

    device_id: str
    run: int
    reason: Reason | None = None  # of the failure; None: success


@dataclass(frozen=True, slots=True)
class CalibrationOverdue(Message):
    """Told to the PairingManager by its timer: fail that run if it is still running."""

    device_id: str
    run: int


@dataclass(frozen=True, slots=True)
class CheckHeartbeats(Message):
    """Told to the PairingManager by its timer: step the heartbeat monitors."""

    repeatable: ClassVar[bool] = True
