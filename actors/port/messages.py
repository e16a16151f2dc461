"""Messages of the port slice, and PortTable, the published snapshot of all ports.

The owner of a link (DeviceManager for simulated ports, one PortLink for each real port) tells PORTS PortOpened, PortClosed and
PortFaulted, opens no port that `PortTable.is_blocked`, and is told PortBlocked and PortUnblocked. A PortLink also reports the
devices that it found to the DeviceManager, which tells it the admitted devices and their configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from actors.device.messages import DeviceWide
from actors.kit.errors import NoSuchPort
from actors.kit.message import Message, Request
from actors.values.hardware import FoundDevice
from fastpath.arena.runtime import Lease

PORTS: Final = "ports"
BLOCK_ON_LOOP: Final = "devices/detection/block_on_loop"
LOOP_THRESHOLD: Final = "devices/detection/loop_threshold"
DETECTION: Final = "detection"


def link_name(port: str) -> str:
    """Return the directory name of a real port's PortLink."""
    return f"link/{port}"


class PortState(StrEnum):
    """Whether a port may be opened and can be used."""

    ACTIVE = "active"
    BLOCKED = "blocked"
    UNUSABLE = "unusable"


class BlockReason(StrEnum):
    """Why a port is blocked."""

    CONNECTION_LOOP = "connection_loop"
    CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class Window:
    """Reopenings of a port that count towards a connection loop."""

    reopened_ns: tuple[int, ...] = ()  # ns, times of the reopenings, oldest first
    dropped: bool = False  # the port was unplugged or its link ended: the next opening counts


@dataclass(frozen=True, slots=True)
class LoopBlock:
    """A block after a connection loop."""

    since: str  # ISO 8601, UTC
    loops: int  # reopenings that led to it


@dataclass(frozen=True, slots=True)
class PortStatus:
    """Row of one port."""

    port: str  # base name
    path: str
    device_id: str | None = None  # the device on it, or the one for which it was blocked
    window: Window = field(default_factory=Window)
    loop_block: LoopBlock | None = None
    configured_since: str | None = None  # ISO 8601, UTC; None: no setting blocks it
    fault: str = ""  # why it cannot be used; "" if it can

    @property
    def state(self) -> PortState:
        """Blocked, whatever else holds; else unusable after a fault."""
        if self.blocked_since is not None:
            return PortState.BLOCKED
        return PortState.UNUSABLE if self.fault else PortState.ACTIVE

    @property
    def blocked_since(self) -> str | None:
        """ISO 8601, UTC; None while the port is not blocked."""
        return self.configured_since if self.loop_block is None else self.loop_block.since

    @property
    def loops(self) -> int:
        """Reopenings within the window, or those for which the port was blocked."""
        return len(self.window.reopened_ns) if self.loop_block is None else self.loop_block.loops

    @property
    def reason(self) -> str:
        """Why the port is blocked or unusable, else ""."""
        if self.loop_block is not None:
            return BlockReason.CONNECTION_LOOP
        return self.fault if self.configured_since is None else BlockReason.CONFIGURATION


@dataclass(frozen=True, slots=True)
class PortTable:
    """All known and blocked ports, sorted by base name."""

    ports: tuple[PortStatus, ...] = ()

    def find(self, name: str) -> PortStatus | None:
        """Return the port with that base name, else that path, else None."""
        for status in self.ports:
            if status.port == name:
                return status
        return next((status for status in self.ports if status.path == name), None)

    def get(self, name: str) -> PortStatus:
        """Return the port with that base name, else that path; NoSuchPort."""
        status = self.find(name)
        if status is None:
            raise NoSuchPort(_short(name))
        return status

    def is_blocked(self, port: str) -> bool:
        """Whether the port with that base name must stay closed."""
        status = self.find(port)
        return status is not None and status.state is PortState.BLOCKED

    def may_be_blocked(self, port: str, threshold: int) -> bool:
        """Whether the next opening may reach the loop threshold: then it is counted before the port is opened."""
        status = self.find(port)
        return status is not None and status.window.dropped and len(status.window.reopened_ns) + 1 >= threshold


@dataclass(frozen=True, slots=True)
class PortOpened(Message):
    """A link is open; its device is in the inventory already. Repeating the message changes nothing."""

    port: str  # base name of `path`
    path: str
    device_id: str | None


@dataclass(frozen=True, slots=True)
class PortClosed(Message):
    """The link of `port` is closed."""

    port: str
    on_purpose: bool = False  # by request, so that the next opening counts towards no loop


@dataclass(frozen=True, slots=True)
class PortRemoved(Message):
    """The port exists no longer, by request: the device that it was simulated for is not simulated any more."""

    port: str


@dataclass(frozen=True, slots=True)
class PortFaulted(Message):
    """The port cannot be used."""

    port: str
    path: str
    reason: str  # no_driver, permission, in_use or no_firmware_image
    sentence: str = ""  # what to do about it


@dataclass(frozen=True, slots=True)
class PortVanished(Message):
    """The port was unplugged, or replugged between two scans: its fault is over and its next plugging counts."""

    port: str
    path: str
    taken: str = ""  # what took it, and the cure; "" unless it went soon after it came


@dataclass(frozen=True, slots=True)
class PortPlugged(Message):
    """The port was plugged in again and is not open yet: it is counted before it is opened."""

    port: str


@dataclass(frozen=True, slots=True)
class PortSilent(Message):
    """The port could be opened but no device answers: its fault is over."""

    port: str


@dataclass(frozen=True, slots=True)
class PortCounted(Message):
    """Told by a PortGuard to PORTS: the window after its last change."""

    port: str
    window: Window


@dataclass(frozen=True, slots=True)
class PortBlocked(Message):
    """The port must stay closed: told by its guard to PORTS, and by PORTS to the owner of its link."""

    port: str
    reason: BlockReason
    loops: int = 0
    device_id: str | None = None  # the last device on the port, if it is gone


@dataclass(frozen=True, slots=True)
class PortUnblocked(Message):
    """The port may be opened again: told by PORTS to its guard and to the owner of its link."""

    port: str


@dataclass(frozen=True, slots=True)
class DeviceFound(Message):
    """Told to the DeviceManager by a PortLink: this device is behind that opening of its link and needs a slot."""

    port: str
    opening: int
    found: FoundDevice


@dataclass(frozen=True, slots=True)
class LinkClosed(Message):
    """Told to the DeviceManager after a real port's link was closed: its devices are gone."""

    port: str
    why: str


@dataclass(frozen=True, slots=True)
class FirstScanDone(Message):
    """Told to the DeviceManager by the Detection, or by a timer if that takes too long: every port was tried once."""


@dataclass(frozen=True, slots=True)
class AwakeChanged(Message):
    """Told to a DeviceActor by a PortLink: the real device of that lease fell asleep or woke up."""

    generation: int
    awake: bool


@dataclass(frozen=True, slots=True)
class HomedChanged(Message):
    """Told to a DeviceActor by a PortLink: the real device of that lease has, or lost, its absolute position."""

    generation: int
    homed: bool


@dataclass(frozen=True, slots=True)
class DeviceAdmitted(Message):
    """Told to a PortLink by the DeviceManager: this device of that opening has a slot."""

    opening: int
    link_id: str  # the device's id in the link
    device_id: str
    lease: Lease


@dataclass(frozen=True, slots=True)
class DeviceRefused(Message):
    """Told to a PortLink by the DeviceManager: no slot is free; report the device again after `again_s`."""

    opening: int
    link_id: str
    again_s: float  # s


@dataclass(frozen=True, slots=True)
class DeviceDropped(Message):
    """Told to a PortLink by the DeviceManager: the device of that lease is no longer driven."""

    link_id: str
    generation: int
    again: bool = True  # a port without other devices may be opened again; False: only after it was unplugged


@dataclass(frozen=True, slots=True)
class ConfigureOverLink(Message):
    """Told to a PortLink by the device slice: send the device-wide configuration to the device."""

    link_id: str
    wide: DeviceWide
    save: bool = False  # the device also stores it permanently


@dataclass(frozen=True, slots=True)
class CalibrateOverLink(Message):
    """Told to a PortLink by a DeviceActor: start calibration `run`, 0 aborts a running one. Its end is told to the PairingManager."""

    link_id: str
    run: int


@dataclass(frozen=True, slots=True)
class ResetPort(Request[PortStatus]):
    """Unblock a port, named by base name or path; no effect on an active one. NoSuchPort, Conflict while a setting blocks it."""

    port: str


def _short(name: str) -> str:
    """Return a name for an error sentence: printable, at most 80 characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    return f"{text[:79]}…" if len(text) > 80 else text
