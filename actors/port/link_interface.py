"""What the actors want of whoever moves the bytes: protocols that `transport.link` implements, and the facts that a link shows.

PortLink opens a Link through Links, tells the DeviceManager whom it found, and starts the link with the slots that those
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
    """The port can be opened and nobody behind it speaks a protocol that is known here, or `stop` was set meanwhile."""


@dataclass(frozen=True, slots=True)
class OpenLimits:
    """How long one try at a port may take (s), and how many there are."""

    timeout_s: float = 2.0
    tries: int = 3


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """A calibration that is over, by the number that `calibrate` was given; `reason` None: it succeeded."""

    run: int
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What is slow about one device: `heartbeat_ns` is when the newest one of a handle arrived, None before the first.

    `fault` is what the device reports as wrong, in words, "" while nothing is; `calibration` is the newest that ended.
    `homed`: it knows where it is; one that does not settles until it does.
    """

    awake: bool = True
    heartbeat_ns: int | None = None
    fault: str = ""
    calibration: CalibrationResult | None = None
    homed: bool = True


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """Since the link was opened; `late`: orders that were older than they may be, so that zero was sent instead."""

    frames_in: int = 0
    frames_bad: int = 0
    frames_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    late: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """What holds of a link at one moment; `gone` says why it does not work any more, "" while it does.

    `devices` are those behind it now, each with an id of its own: behind a receiver they come and go, and one that sends
    nothing for 500 ms has gone.
    """

    gone: str = ""
    devices: tuple[FoundDevice, ...] = ()
    of: Mapping[str, DeviceFacts] = field(default_factory=lambda: MappingProxyType({}))
    counters: LinkCounters = field(default_factory=LinkCounters)


class Link(Protocol):
    """An open port. Every method may be called on any thread and returns within a few milliseconds, `close` within 200."""

    @property
    def receiver(self) -> bool:
        """Whether devices come and go behind the open port."""
        ...

    def start(self, leases: Mapping[str, Lease]) -> None:
        """Exchange with the loop for these devices, by id, and for nobody else from now on; called again when they change."""
        ...

    def facts(self) -> LinkFacts:
        """What holds now: one thread calls it every 10 ms, so it may also do the slow half of the exchange."""
        ...

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Have the device follow; `save`: also after it was without power. One that cannot ignores it."""
        ...

    def calibrate(self, device_id: str, run: int) -> None:
        """Begin; the facts show how it ended under that number. A second call with the same number changes nothing.

        0 ends the one that still runs, without a word.
        """
        ...

    def close(self) -> None:
        """Zero force sent, thread joined, descriptor closed; a second call does nothing. Never raises."""
        ...


class Links(Protocol):
    """The ports of the machine and the drivers that open them."""

    @property
    def setting_keys(self) -> Collection[str]:
        """Settings of the drivers: a change of one calls for a scan."""
        ...

    def scan(self) -> tuple[Candidate, ...]:
        """Ports that are worth opening, or are recognised and not driven; what belongs to somebody else is left out."""
        ...

    def change_token(self) -> object:
        """Something that is another one after a port has come or gone; so cheap that it is asked for many times a second."""
        ...

    def open(self, candidate: Candidate, patience: OpenLimits, stop: threading.Event) -> Link:
        """Identify what is there: PortUnusable, NoDeviceAnswers. Blocks for as long as patience has, or until `stop` is set."""
        ...


class NoLinks:
    """A machine without ports."""

    setting_keys = frozenset[str]()

    def scan(self) -> tuple[Candidate, ...]:
        """Nothing."""
        return ()

    def change_token(self) -> object:
        """Nothing comes or goes."""
        return None

    def open(self, candidate: Candidate, patience: OpenLimits, stop: threading.Event) -> Link:
        """NoDeviceAnswers."""
        del patience, stop
        raise NoDeviceAnswers(f"{candidate.path} is not there")
