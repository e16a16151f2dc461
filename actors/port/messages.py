"""Messages of the port slice, and PortTable, the published snapshot of all ports.

Whoever holds a link, real or simulated, tells PortOpened, PortClosed and PortFaulted to PORTS, opens no port that
`PortTable.is_blocked`, and is told PortBlocked and PortUnblocked. Simulated ones are the DeviceManager's; a real one has a
PortLink of its own, named `link_name(port)`: it tells the DeviceManager whom it found, and is told who was admitted and what
devices shall do.
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
    """The directory name of the actor that holds a real port's link."""
    return f"link/{port}"


class PortState(StrEnum):
    """Whether a port may be opened, and if it may, whether it can."""

    ACTIVE = "active"
    BLOCKED = "blocked"
    UNUSABLE = "unusable"


class BlockReason(StrEnum):
    """Why a port is blocked."""

    CONNECTION_LOOP = "connection_loop"
    CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class Window:
    """What counts towards a loop: when the port was back after a drop (ns), and whether it is dropped now."""

    reopened_ns: tuple[int, ...] = ()
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class LoopBlock:
    """Blocked after so many loops; `since` is ISO 8601, UTC."""

    since: str
    loops: int


@dataclass(frozen=True, slots=True)
class PortStatus:
    """One port: `device_id` is the device on it, or the one for which it was blocked; a block by a setting is `configured_since`."""

    port: str
    path: str
    device_id: str | None = None
    window: Window = field(default_factory=Window)
    loop_block: LoopBlock | None = None
    configured_since: str | None = None
    fault: str = ""

    @property
    def state(self) -> PortState:
        """Blocked, whatever else holds; unusable after a fault."""
        if self.blocked_since is not None:
            return PortState.BLOCKED
        return PortState.UNUSABLE if self.fault else PortState.ACTIVE

    @property
    def blocked_since(self) -> str | None:
        """ISO 8601, UTC; None while the port is not blocked."""
        return self.configured_since if self.loop_block is None else self.loop_block.since

    @property
    def loops(self) -> int:
        """Loops within the window now, or those for which the port was blocked."""
        return len(self.window.reopened_ns) if self.loop_block is None else self.loop_block.loops

    @property
    def reason(self) -> str:
        """Why the port is blocked or unusable; "" when it is neither."""
        if self.loop_block is not None:
            return BlockReason.CONNECTION_LOOP
        return self.fault if self.configured_since is None else BlockReason.CONFIGURATION


@dataclass(frozen=True, slots=True)
class PortTable:
    """Every port that was seen or is blocked, by base name."""

    ports: tuple[PortStatus, ...] = ()

    def find(self, name: str) -> PortStatus | None:
        """The port with exactly that base name, else that path."""
        for status in self.ports:
            if status.port == name:
                return status
        return next((status for status in self.ports if status.path == name), None)

    def get(self, name: str) -> PortStatus:
        """The port with exactly that base name, else that path; NoSuchPort."""
        status = self.find(name)
        if status is None:
            raise NoSuchPort(_short(name))
        return status

    def is_blocked(self, port: str) -> bool:
        """Whether the port with that base name must stay closed."""
        status = self.find(port)
        return status is not None and status.state is PortState.BLOCKED

    def may_be_blocked(self, port: str, threshold: int) -> bool:
        """Whether the port is dropped and its next opening may be the loop that is one too many: it is counted before it is opened."""
        status = self.find(port)
        return status is not None and status.window.dropped and len(status.window.reopened_ns) + 1 >= threshold


@dataclass(frozen=True, slots=True)
class PortOpened(Message):
    """A link is up: `port` is the base name of `path`; the device on it is in the inventory already. Told again, it says nothing new."""

    port: str
    path: str
    device_id: str | None


@dataclass(frozen=True, slots=True)
class PortClosed(Message):
    """The link of `port` is down; `on_purpose`: somebody asked for it, so that its coming back is no loop."""

    port: str
    on_purpose: bool = False


@dataclass(frozen=True, slots=True)
class PortFaulted(Message):
    """The port cannot be used: `reason` is no_driver, permission, in_use or no_firmware_image, `sentence` says what to do."""

    port: str
    path: str
    reason: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class PortVanished(Message):
    """The port was unplugged, or another plugging of it is there: what was wrong with it is over, and its coming back counts."""

    port: str
    path: str


@dataclass(frozen=True, slots=True)
class PortPlugged(Message):
    """The port is back, or plugged in anew, and nobody has opened it yet: its opening is counted before it is opened."""

    port: str


@dataclass(frozen=True, slots=True)
class PortSilent(Message):
    """The port could be opened and nobody answers: what kept it from being opened is over."""

    port: str


@dataclass(frozen=True, slots=True)
class PortCounted(Message):
    """Told by a guard to PORTS: what counts towards a loop is this now."""

    port: str
    window: Window


@dataclass(frozen=True, slots=True)
class PortBlocked(Message):
    """The port must be closed and stay so: told by its guard to PORTS, and by PORTS to whoever holds its link.

    `device_id`: who was on it last, if it is not there now.
    """

    port: str
    reason: BlockReason
    loops: int = 0
    device_id: str | None = None


@dataclass(frozen=True, slots=True)
class PortUnblocked(Message):
    """The port may be opened again: told by PORTS to its guard and to whoever holds its link."""

    port: str


@dataclass(frozen=True, slots=True)
class DeviceFound(Message):
    """Told to the DeviceManager by a PortLink: this device is behind that opening of its link, and waits for a slot."""

    port: str
    opening: int
    found: FoundDevice


@dataclass(frozen=True, slots=True)
class LinkClosed(Message):
    """Told to the DeviceManager by whoever closed a real port's link: nobody is there any more."""

    port: str
    why: str


@dataclass(frozen=True, slots=True)
class FirstRoundOver(Message):
    """Told to the DeviceManager by the Detection, and by its timer when that takes too long: every port was tried once."""


@dataclass(frozen=True, slots=True)
class AwakeSeen(Message):
    """Told to a DeviceActor by a PortLink: the real device of that lease fell asleep or woke up."""

    generation: int
    awake: bool


@dataclass(frozen=True, slots=True)
class HomedSeen(Message):
    """Told to a DeviceActor by a PortLink: the real device of that lease knows where it is, or does not know it any more."""

    generation: int
    homed: bool


@dataclass(frozen=True, slots=True)
class DeviceAdmitted(Message):
    """Told to a PortLink by the DeviceManager: this device of that opening of its link, by the link's id, has that slot."""

    opening: int
    link_id: str
    device_id: str
    lease: Lease


@dataclass(frozen=True, slots=True)
class DeviceRefused(Message):
    """Told to a PortLink by the DeviceManager: there is no room for that device; it may be told of again after a while (s)."""

    opening: int
    link_id: str
    again_s: float


@dataclass(frozen=True, slots=True)
class DeviceDropped(Message):
    """Told to a PortLink by the DeviceManager: the device of that lease is not driven any more.

    `again`: a port with nothing else behind it may be opened anew; else not before it was unplugged.
    """

    link_id: str
    generation: int
    again: bool = True


@dataclass(frozen=True, slots=True)
class ConfigureOverLink(Message):
    """Told to a PortLink by the device slice: what the device has for all sessions; `save`: keep it without power too."""

    link_id: str
    wide: DeviceWide
    save: bool = False


@dataclass(frozen=True, slots=True)
class CalibrateOverLink(Message):
    """Told to a PortLink by a DeviceActor: begin that run, whose end is told to the PairingManager; 0: end what still runs."""

    link_id: str
    run: int


@dataclass(frozen=True, slots=True)
class ResetPort(Request[PortStatus]):
    """Unblock a port, named by base name or path; an active one stays as it is. NoSuchPort, or Conflict while a setting blocks it."""

    port: str


def _short(name: str) -> str:
    """A name from outside, fit for a message: printable, at most 80 characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    return f"{text[:79]}…" if len(text) > 80 else text
