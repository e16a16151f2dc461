"""Ports of the device storm other than open-link boards: a hAPI board, a Falcon, a SpaceMouse."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from actors.port.link_interface import NoDeviceAnswers
from actors.values.hardware import Transport
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from tests.emulators.hapi import HapiBoard
from tests.emulators.hid_reports import FakeReports
from tests.emulators.pty_port import PtyPort
from tests.support.boards.board_links import BoardLinks
from transport.link.hid import HidDevice
from transport.link.protocols.falcon.driver import FalconDriver
from transport.link.protocols.hapi.driver import HapiDriver
from transport.link.protocols.spacemouse.driver import SpaceMouseDriver
from transport.link.scanner import open_error
from transport.link.usb_bus import UsbBus

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence
    from pathlib import Path

    from actors.kit.published import Published
    from actors.port.link_interface import Link, OpenLimits
    from actors.settings.messages import SettingsView
    from actors.values.hardware import Candidate
    from fastpath.arena.runtime import Runtime

MECHANISM: Final = "2diy-plastic"


class StormPort(Protocol):
    """One port that the device storm unplugs, plugs in and breaks."""

    device_id: str

    def plug(self) -> None:
        """Plug the device in; no effect if it is plugged in."""
        ...

    def unplug(self) -> None:
        """Unplug the device; no effect if it is unplugged."""
        ...

    def hang(self, *, hung: bool) -> None:
        """Silence the device, or let it go on."""
        ...

    def reboot(self) -> None:
        """Restart the device: it loses its configuration."""
        ...

    @property
    def driven(self) -> bool:
        """Return whether its motors are on."""
        ...


class HapiPort:
    """A hAPI board; its path is the same at each coming."""

    device_id = "HHAPI7"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "hapi7"
        self._board = HapiBoard(MECHANISM)
        self._port: PtyPort | None = None

    def plug(self) -> None:
        if self._port is None:
            self._board = HapiBoard(MECHANISM)
            self._port = PtyPort(self._board, link=self.path)

    def unplug(self) -> None:
        if self._port is not None:
            self._port.unplug()
            self._port = None

    def hang(self, *, hung: bool) -> None:
        if self._port is not None:
            (self._port.freeze if hung else self._port.thaw)()

    def reboot(self) -> None:
        self._board.power_up()

    @property
    def driven(self) -> bool:
        return self._port is not None and any(self._board.torques)


class FalconPort:
    """A Falcon that has its firmware and knows where it is."""

    device_id = "FL010203"

    def __init__(self, bus: FalconBus) -> None:
        self._bus = bus
        self._board: FalconBoard | None = None

    def plug(self) -> None:
        if self._board is None:
            self._board = FalconBoard(loaded=True, period=0.02)
            self._board.find_zero()
            self._bus.plug(self._board)

    def unplug(self) -> None:
        if self._board is not None:
            self._bus.unplug(self._board)
            self._board = None

    def hang(self, *, hung: bool) -> None:
        if self._board is not None:
            self._board.hung = hung

    def reboot(self) -> None:
        """Do nothing: the firmware stays loaded while it has power."""

    @property
    def driven(self) -> bool:
        return self._board is not None and any(self._board.motors)


class SpaceMousePort:
    """A SpaceMouse."""

    device_id = "S3"

    def __init__(self) -> None:
        self._here = False
        self._opened: list[FakeReports] = []

    def listed(self) -> tuple[HidDevice, ...]:
        """Return the listed HID devices."""
        return (HidDevice("hidraw3", "/dev/hidraw3", 0x256F, 0xC635, "", ""),) if self._here else ()

    def open(self, path: str) -> FakeReports:
        """The node, opened."""
        del path
        self._opened = [*(one for one in self._opened if not one.closed), FakeReports(here=self._here)]
        return self._opened[-1]

    def plug(self) -> None:
        self._here = True

    def unplug(self) -> None:
        self._here = False
        for reports in self._opened:
            reports.here = False

    def hang(self, *, hung: bool) -> None:
        """Do nothing: an untouched SpaceMouse sends no report."""

    def reboot(self) -> None:
        self.unplug()
        self.plug()

    driven = False


class StormLinks:
    """Driver of the storm: boards at their paths, and the shipped drivers for all other ports."""

    setting_keys = frozenset[str]()

    def __init__(self, paths: Sequence[str], bus: FalconBus, mouse: SpaceMousePort) -> None:
        self._paths = tuple(paths)
        self._bus = bus
        self._mouse = mouse

    def __call__(self, runtime: Runtime, settings: Published[SettingsView]) -> StormLinks:
        self._boards = BoardLinks(runtime, self._paths)
        self._others = (
            HapiDriver(runtime, settings, None),
            FalconDriver(runtime, settings, UsbBus(self._bus)),
            SpaceMouseDriver(runtime, self._mouse.listed, self._mouse.open),
        )
        return self

    def scan(self) -> tuple[Candidate, ...]:
        """All of them."""
        return (*self._boards.scan(), *(one for family in self._others for one in family.candidates()))

    def change_token(self) -> object:
        """Return a value that changes with the boards' paths; other ports are found by the next scan."""
        return self._boards.change_token()

    def taker(self, candidate: Candidate) -> str:
        """Return "": nothing takes a port away."""
        del candidate
        return ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Open the port with the driver that lists it."""
        if candidate.transport is Transport.SERIAL and candidate.path in self._paths:
            return self._boards.open(candidate, limits, stop)
        for family in self._others:
            with suppress(StopIteration):
                next(one for one in family.candidates() if one.path == candidate.path)
                try:
                    return family.open(candidate, limits, stop)
                except OSError as error:
                    raise open_error(error, candidate.path) from error
        raise NoDeviceAnswers("it is not there any more")
