"""Interfaces that `transport.link` implements for the port actors: Links, Link, its facts, and the errors of opening.

PortLink opens a Link through Links, tells the DeviceManager which devices it found, and starts the link with the slots that those
were given. From then on bytes flow between link and loop without any actor; LinkWatch compares the facts.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from actors.kit.errors import HapticError
from actors.pairing.messages import Reason
from actors.values.hardware import Candidate, FoundDevice, PortFault

if TYPE_CHECKING:
    from actors.device.messages import DeviceWide
    from fastpath.arena.runtime import Lease


class PortUnusable(HapticError):
    """The port cannot be used until its cause is gone; the sentence says what to do about it."""

    def __init__(self, reason: PortFault, sentence: str) -> None:
        """`sentence` follows "port X cannot be used: "."""
        super().__init__(sentence)
        self.reason = reason


class NoDeviceAnswers(HapticError):
    """The port opens, but no device of the driver's protocol answers in time, or `stop` was set."""


@dataclass(frozen=True, slots=True)
class OpenLimits:
    """Limits of one opening of a port."""

    timeout_s: float = 2.0  # s, for an answer of the device
    tries: int = 3  # requests to a device that has answered before it counts as absent


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The end of a calibration."""

    run: int  # the number that `Link.calibrate` was given
    reason: Reason | None = None  # of the failure; None: it succeeded


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The slowly changing state of one device behind a link."""

    awake: bool = True
    heartbeat_ns: int | None = None  # ns, arrival of a handle's newest heartbeat; None before the first
    fault: str = ""  # sentence about the device's fault; "" without one
    calibration: CalibrationResult | None = None  # the newest that ended
    homed: bool = True  # its position is absolute; until then the device settles


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """Counters since the link was opened."""

    frames_in: int = 0
    frames_bad: int = 0
    frames_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    late: int = 0  # orders of the loop that were too old, replaced by zero force
    errors: int = 0


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """State of a link at one moment."""

    gone: str = ""  # why the link no longer works; "" while it does
    devices: tuple[
        FoundDevice, ...
    ] = ()  # each with its own id; behind a receiver one that is silent for 500 ms has gone
    of: Mapping[str, DeviceFacts] = field(default_factory=lambda: MappingProxyType({}))  # by device id
    counters: LinkCounters = field(default_factory=LinkCounters)


class Link(Protocol):
    """An open port. Every method may be called on any thread and returns within a few milliseconds, `close` within 200."""

    @property
    def receiver(self) -> bool:
        """Whether devices come and go behind the open port."""
        ...

    def start(self, leases: Mapping[str, Lease]) -> None:
        """Exchange with these slots, by device id, and with no other; called again when they change."""
        ...

    def facts(self) -> LinkFacts:
        """Return the facts of this moment. One thread calls it every 10 ms, so it may also do the slow half of the exchange."""
        ...

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Send the device-wide configuration; `save`: the device keeps it without power. Ignored where not supported."""
        ...

    def calibrate(self, device_id: str, run: int) -> None:
        """Start calibration `run`, 0 aborts a running one; the facts show its result.

        A second call with the same number changes nothing.
        """
        ...

    def close(self) -> None:
        """Send zero force, join the thread, close the descriptor; a second call does nothing. Never raises."""
        ...


class Links(Protocol):
    """The ports of the machine and the drivers that open them."""

    @property
    def setting_keys(self) -> Collection[str]:
        """Settings of the drivers: a change of one calls for a scan."""
        ...

    def scan(self) -> tuple[Candidate, ...]:
        """List the candidate ports and those of recognised but unsupported devices; leave out all others."""
        ...

    def change_token(self) -> object:
        """Return a value that differs after a port came or went; cheap enough for 20 calls a second."""
        ...

    def taker(self, candidate: Candidate) -> str:
        """Return what else on this machine takes such a port away soon after it came, and the cure; "" when nothing is known to."""
        ...

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Open a port and identify what is there: PortUnusable, NoDeviceAnswers. Blocks up to the limits or until `stop`."""
        ...


class NoLinks:
    """A machine without ports."""

    setting_keys = frozenset[str]()

    def scan(self) -> tuple[Candidate, ...]:
        """Return no port."""
        return ()

    def change_token(self) -> object:
        """Return None: no port comes or goes."""
        return None

    def taker(self, candidate: Candidate) -> str:
        """Return "": nothing takes a port away."""
        del candidate
        return ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Raise NoDeviceAnswers."""
        del limits, stop
        raise NoDeviceAnswers(f"{candidate.path} is not there")
