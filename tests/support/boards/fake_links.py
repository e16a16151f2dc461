"""Fake ports and links in memory: tests plug, unplug and break devices, and read what the service sent."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from actors.port.link_interface import (
    CalibrationResult,
    DeviceFacts,
    LinkCounters,
    LinkFacts,
    NoDeviceAnswers,
    OpenLimits,
)
from actors.values.hardware import Candidate, FoundDevice, Transport
from actors.values.identity import Connection, Firmware, Kind
from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from actors.device.messages import DeviceWide
    from actors.pairing.messages import Reason
    from fastpath.arena.runtime import Lease

ARM = FoundDevice("049D", Kind.ARM, Connection.SERIAL, Firmware(7, 5), 2, "0" * 28 + "049D", "fake", settle_s=0.05)
GRIP = FoundDevice("1605", Kind.GRIP, Connection.WIRELESS, Firmware(1, 4), 1, "0" * 28 + "1605", "fake")


class FakeLink:
    """One opening of a port; `exchanging` are the devices that got a slot, and while it is open their motors may be on."""

    def __init__(self, board: FakeBoard) -> None:
        self._board = board
        self._lock = threading.Lock()
        self._facts = LinkFacts(devices=board.devices, of=board.of, counters=LinkCounters(frames_in=7, bytes_out=11))
        self.exchanging: dict[str, Lease] = {}
        self.configured: list[tuple[str, DeviceWide, bool]] = []
        self.runs: list[int] = []
        self.closed = 0
        self.looks = 0

    @property
    def receiver(self) -> bool:
        return self._board.receiver

    def start(self, leases: Mapping[str, Lease]) -> None:
        assert not self.closed, "started after it was closed"
        self.exchanging = dict(leases)

    def facts(self) -> LinkFacts:
        with self._lock:
            self.looks += 1
            return self._facts

    def wait_polled(self) -> None:
        """Return when the present facts have been polled and sent to the link's actor."""
        before = self.looks
        eventually(lambda: self.looks > before + 1, "the link is looked at", pause_s=0.002)

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        self.configured.append((device_id, wide, save))

    def calibrate(self, device_id: str, run: int) -> None:
        del device_id
        if run:
            self.runs.append(run)

    def close(self) -> None:
        self.closed += 1
        self.exchanging = {}

    def show(self, **changes: Any) -> None:
        """Change the facts."""
        with self._lock:
            self._facts = replace(self._facts, **changes)

    def show_device(self, device_id: str, **changes: Any) -> None:
        """Change the facts of one device."""
        about = self._facts.of.get(device_id, DeviceFacts())
        self.show(of={**self._facts.of, device_id: replace(about, **changes)})

    def end_calibration(self, device_id: str, reason: Reason | None = None) -> None:
        """End the newest calibration run."""
        self.show_device(device_id, calibration=CalibrationResult(self.runs[-1], reason))


@dataclass
class FakeBoard:
    """A fake port: `refuses` is raised when it is opened, `links` are its openings so far."""

    candidate: Candidate
    devices: tuple[FoundDevice, ...] = ()
    receiver: bool = False
    refuses: Exception | None = None
    of: Mapping[str, DeviceFacts] = field(default_factory=lambda: MappingProxyType({}))
    links: list[FakeLink] = field(default_factory=list[FakeLink])
    tries: int = 0

    @property
    def link(self) -> FakeLink:
        """The newest opening."""
        return self.links[-1]

    def drop(self, why: str = "the device was unplugged") -> None:
        """Break the link, as when a cable is pulled."""
        self.link.show(gone=why)


class FakeLinks:
    """The ports of a fake machine; `make` is handed to a system."""

    setting_keys = frozenset[str]()

    def __init__(self) -> None:
        self._boards: dict[str, FakeBoard] = {}
        self._gate = threading.Event()
        self._gate.set()
        self.scans = 0
        self.opening = 0
        self._changes = 0

    def make(self, _runtime: object, _settings: object) -> FakeLinks:
        return self

    @property
    def boards(self) -> tuple[FakeBoard, ...]:
        """Return the plugged-in ports in the order of plugging."""
        return tuple(self._boards.values())

    def plug(
        self,
        *devices: FoundDevice,
        port: str = "ttyACM0",
        receiver: bool = False,
        refuses: Exception | None = None,
        transport: Transport = Transport.SERIAL,
        vendor_id: int | None = 0x1209,
        node: str = "",
    ) -> FakeBoard:
        """Plug devices in at a port; return the port."""
        board = FakeBoard(Candidate(port, f"/dev/{port}", transport, vendor_id, node=node), devices, receiver, refuses)
        self._changes += 1
        self._boards = {**self._boards, port: board}
        return board

    def unplug(self, port: str = "ttyACM0", *, broken: bool = True) -> None:
        """Unplug a port; with `broken` its open link reports that it is gone."""
        board = self._boards[port]
        self._changes += 1
        self._boards = {known: other for known, other in self._boards.items() if known != port}
        if board.links and broken:
            board.drop()

    @contextmanager
    def slow(self) -> Generator[None]:
        """Let openings wait until the block ends or they are interrupted."""
        self._gate.clear()
        try:
            yield
        finally:
            self._gate.set()

    def scan(self) -> tuple[Candidate, ...]:
        self.scans += 1
        return tuple(board.candidate for board in self._boards.values())

    def change_token(self) -> object:
        """How often something was plugged or unplugged."""
        return self._changes

    def taker(self, candidate: Candidate) -> str:
        """Return "": nothing takes a port away."""
        del candidate
        return ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> FakeLink:
        board = self._boards.get(candidate.port)
        if board is None:
            raise NoDeviceAnswers("it is not there")
        assert limits.tries > 0
        board.tries += 1
        self.opening += 1
        try:
            while not self._gate.wait(0.001):
                if stop.is_set():
                    raise NoDeviceAnswers("it was interrupted")
        finally:
            self.opening -= 1
        if board.refuses is not None:
            raise board.refuses
        board.links.append(FakeLink(board))
        return board.link
