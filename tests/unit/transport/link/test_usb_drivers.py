"""Which USB devices are candidates, and how each is opened, on an emulated bus with fake HID nodes."""

from __future__ import annotations

import errno
import logging
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from actors.kit.published import Published
from actors.port.link_interface import Link, NoDeviceAnswers, OpenLimits, PortUnusable
from actors.settings.messages import SettingsView
from actors.values.hardware import Candidate, PortFault, Transport
from actors.values.identity import Kind
from fastpath.arena.runtime import Runtime
from tests.emulators import hid_reports
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from tests.emulators.hid_reports import FakeReports
from tests.support.actors.doubles import settings_view
from transport.link.driver_spec import UnsupportedIds
from transport.link.drivers import DRIVERS
from transport.link.hid import HidDevice
from transport.link.protocols.falcon.driver import FalconDriver
from transport.link.protocols.spacemouse.driver import SpaceMouseDriver
from transport.link.protocols.unsupported.driver import UnsupportedDriver
from transport.link.scanner import PortScanner
from transport.link.usb_bus import UsbBus

ROOT = Path(__file__).parents[4]
UNSUPPORTED = UnsupportedIds(DRIVERS)
MOUSE = HidDevice("hidraw3", "/dev/hidraw3", 0x256F, 0xC635, "3Dconnexion SpaceMouse Compact", "")
KEYBOARD = HidDevice("hidraw0", "/dev/hidraw0", 0x046D, 0xC31C, "Keyboard", "")


@dataclass
class PlayedSettings:
    """The two settings of a Falcon."""

    image: str | None = None
    counts: float = 10_000.0
    asked: list[str] = field(default_factory=list[str])

    def value(self, key: str) -> Any:
        assert key == "devices/falcon/firmware_image"
        return self.image

    def number(self, key: str) -> float:
        assert key == "devices/falcon/counts_per_Nm"
        return self.counts


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def falcons(bus: FalconBus, settings: PlayedSettings | None = None) -> FalconDriver:
    view: Any = Published(settings or PlayedSettings())
    published: Published[SettingsView] = view
    return FalconDriver(Runtime(realtime=False, stepping=True), published, UsbBus(bus))


def mice(*devices: HidDevice, reports: FakeReports | None = None) -> SpaceMouseDriver:
    return SpaceMouseDriver(
        Runtime(realtime=False, stepping=True), lambda: devices, lambda _path: reports or FakeReports()
    )


def open_it(family: FalconDriver | SpaceMouseDriver, candidate: Candidate, stack: ExitStack) -> Link:
    link = family.open(candidate, OpenLimits(), threading.Event())
    stack.callback(link.close)
    return link


def test_every_falcon_is_a_candidate_named_by_its_socket() -> None:
    bus = FalconBus(FalconBoard(serial="A"), FalconBoard(serial="B"))
    bus.plug(FalconBoard(), product=0x6001)

    first, second = falcons(bus).candidates()

    assert first == Candidate("usb-1-1", "/dev/bus/usb/001/001", Transport.USB, 0x0403, 0xCB48, name="Novint Falcon")
    assert (second.port, second.path) == ("usb-1-2", "/dev/bus/usb/001/002")
    assert bus.open_handles == 0


def test_replugged_falcon_has_the_same_port() -> None:
    board = FalconBoard()
    bus = FalconBus(board)
    family = falcons(bus)
    (before,) = family.candidates()
    bus.unplug(board)
    assert family.candidates() == ()

    bus.plug(board)

    (after,) = family.candidates()
    assert after.port == before.port
    assert after.path != before.path


def test_falcon_is_opened_with_the_configured_file(tmp_path: Path, opened: ExitStack) -> None:
    image = tmp_path / "falcon.bin"
    image.write_bytes(b"firmware" * 20)
    board = FalconBoard()
    family = falcons(FalconBus(board), PlayedSettings(str(image)))
    (candidate,) = family.candidates()

    link = open_it(family, candidate, opened)

    assert bytes(board.image) == b"firmware" * 20
    assert [found.driver for found in link.facts().devices] == ["falcon"]


def test_port_without_a_firmware_setting_is_unusable() -> None:
    bus = FalconBus(FalconBoard())
    family = falcons(bus)
    (candidate,) = family.candidates()

    with pytest.raises(PortUnusable) as failed:
        family.open(candidate, OpenLimits(), threading.Event())

    assert failed.value.reason is PortFault.NO_FIRMWARE_IMAGE
    assert bus.open_handles == 0


def test_unplugged_falcon_is_no_device_answers() -> None:
    board = FalconBoard(loaded=True)
    bus = FalconBus(board)
    family = falcons(bus)
    (candidate,) = family.candidates()
    bus.unplug(board)

    with pytest.raises(NoDeviceAnswers, match="not plugged in any more"):
        family.open(candidate, OpenLimits(), threading.Event())


def test_missing_libusb_is_one_log_line_and_no_falcon(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:

    def none(**_options: object) -> None:
        return None

    monkeypatch.setattr("usb.backend.libusb1.get_backend", none)
    view: Any = Published(PlayedSettings())
    family = FalconDriver(Runtime(realtime=False, stepping=True), view, UsbBus())

    with caplog.at_level(logging.WARNING):
        assert [family.candidates() for _ in range(3)] == [(), (), ()]

    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("no USB devices: libusb 1.0 is not installed; install libusb-1.0-0 (Debian, Ubuntu)")


WITHOUT_LIBUSB = """
import ctypes.util
ctypes.util.find_library = lambda name: None
from transport.link.usb_bus import libusb_backend
import usb.backend.libusb1
assert usb.backend.libusb1.get_backend() is None
print(libusb_backend() is not None)
"""


def test_the_wheel_s_libusb_is_used_on_a_system_without_one() -> None:
    pytest.importorskip("libusb_package", reason="the extra usb is not installed")

    done = subprocess.run([sys.executable, "-c", WITHOUT_LIBUSB], capture_output=True, text=True, check=False, cwd=ROOT)

    assert done.stdout == "True\n", done.stderr


def test_only_spacemouses_are_hid_candidates() -> None:
    assert [one.port for one in mice(KEYBOARD, MOUSE).candidates()] == ["hidraw3"]


def test_spacemouse_is_opened_as_a_pen(opened: ExitStack) -> None:
    reports = FakeReports()
    family = mice(MOUSE, reports=reports)
    (candidate,) = family.candidates()

    link = open_it(family, candidate, opened)

    (found,) = link.facts().devices
    assert found.driver == "spacemouse"
    assert link.facts().of[found.device_id].heartbeat_ns is not None
    assert reports.written == [b"\x04\x01"]


def test_unplugged_spacemouse_is_no_device_answers() -> None:
    with pytest.raises(NoDeviceAnswers, match="not plugged in any more"):
        mice(KEYBOARD).open(MOUSE.candidate, OpenLimits(), threading.Event())


# ---------------------------------------------------------------- known, and not driven


def with_vendor(*numbers: tuple[int, int]) -> FalconBus:
    """A device in a socket for each (vendor id, product id)."""
    bus = FalconBus()
    for vendor, product in numbers:
        bus.plug(FalconBoard(), product=product).vendor = vendor
    return bus


def test_only_known_undriven_devices_are_listed() -> None:
    bus = with_vendor((0x1451, 0x0402), (0x2988, 0x0302), (0x16C0, 0x0483), (0x2FE3, 0x0100), (0x046D, 0xC31C))
    found = UnsupportedDriver(UsbBus(bus), UNSUPPORTED).candidates()
    assert [(one.port, one.transport, one.vendor_id) for one in found] == [
        ("usb-1-1", Transport.USB, 0x1451),
        ("usb-1-2", Transport.USB, 0x2988),
    ]


@pytest.mark.parametrize(("vendor", "name"), [(0x1451, "Force Dimension"), (0x2988, "3D Systems")])
def test_known_undriven_device_is_refused_by_name_and_never_opened(vendor: int, name: str) -> None:
    bus = with_vendor((vendor, 0x0001))
    bus.refused = errno.EIO
    family = UnsupportedDriver(UsbBus(bus), UNSUPPORTED)
    machine = PortScanner(Published(settings_view()), [family], UNSUPPORTED)
    (candidate,) = machine.scan()
    with pytest.raises(PortUnusable, match=name) as refused:
        machine.open(candidate, OpenLimits(), threading.Event())
    assert refused.value.reason is PortFault.NO_DRIVER
    with pytest.raises(NoDeviceAnswers):
        family.open(candidate, OpenLimits(), threading.Event())
    assert bus.open_handles == 0


RECEIVER = HidDevice("hid-1-2-0", "/dev/hidraw0", 0x256F, 0xC652, "3Dconnexion Universal Receiver", "")
KEYS = HidDevice("hid-1-2-1", "/dev/hidraw1", 0x256F, 0xC652, "3Dconnexion Universal Receiver", "", has_axes=False)
CHARGE = b"\x17\x64"


def test_receiver_without_a_mouse_is_no_pen() -> None:
    reports = FakeReports()
    family = mice(RECEIVER, KEYS, reports=reports)
    (candidate,) = family.candidates()

    with pytest.raises(NoDeviceAnswers, match="no SpaceMouse is paired"):
        family.open(candidate, OpenLimits(timeout_s=0.02), threading.Event())

    assert reports.closed == 1


@pytest.mark.parametrize("report", [hid_reports.both((0, 0, 0), (1, 0, 0)), hid_reports.pressed(0), CHARGE], ids=str)
def test_receiver_is_a_pen_once_a_mouse_reports(opened: ExitStack, report: bytes) -> None:
    family = mice(RECEIVER, KEYS, reports=FakeReports(deque([report])))
    (candidate,) = family.candidates()

    link = open_it(family, candidate, opened)

    assert [found.kind for found in link.facts().devices] == [Kind.PEN]


def test_opening_of_a_receiver_ends_when_it_is_told_to() -> None:
    family, stop = mice(RECEIVER), threading.Event()
    (candidate,) = family.candidates()
    stop.set()

    with pytest.raises(NoDeviceAnswers):
        family.open(candidate, OpenLimits(timeout_s=3600), stop)


def test_mouse_with_a_cable_needs_no_report(opened: ExitStack) -> None:
    family = mice(replace(RECEIVER, product_id=0xC635))
    (candidate,) = family.candidates()

    assert open_it(family, candidate, opened).facts().devices


def test_two_mice_alike_keep_their_ids_by_their_sockets(opened: ExitStack) -> None:
    one = replace(RECEIVER, product_id=0xC635, port="hid-1-2.4-0", path="/dev/hidraw0")
    two = replace(one, port="hid-1-3-0", path="/dev/hidraw1")
    swapped = (replace(one, path="/dev/hidraw1"), replace(two, path="/dev/hidraw0"))

    def ids(*devices: HidDevice) -> dict[str, str]:
        family = mice(*devices)
        found = {each.port: open_it(family, each, opened).facts().devices[0] for each in family.candidates()}
        return {port: device.device_id for port, device in found.items()}

    assert ids(one, two) == ids(*swapped) == {"hid-1-2.4-0": "S1240", "hid-1-3-0": "S130"}
