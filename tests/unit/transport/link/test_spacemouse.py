"""SpaceMouse driver: reports of both generations, dead zone, integrated rotation, silence, status light."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.values.identity import Connection, Kind
from tests.emulators import hid_reports
from tests.emulators.hid_reports import FakeReports
from transport.link.hid import HidDevice
from transport.link.polled_device import Unplugged
from transport.link.protocols.spacemouse import device
from transport.link.protocols.spacemouse.device import Deflection, SpaceMouse, found_spacemouse, read_report, turned

DEVICE = HidDevice("hidraw3", "/dev/hidraw3", 0x256F, 0xC635, "3Dconnexion SpaceMouse Compact", "")
MS = 1_000_000
NOTHING = (0.0, 0.0, 0.0)
HALF = math.pi / 2

Quaternion = tuple[float, float, float, float]
Turn = tuple[int, int, int]


class PlayedSpaceMouse:
    """A SpaceMouse on a clock that the test turns."""

    def __init__(self) -> None:
        self.reports = FakeReports()
        self.now = 1_000 * MS
        self.mouse = SpaceMouse(self.reports, found_spacemouse(DEVICE), lambda: self.now)

    def hold(self, turn: Turn, seconds: float) -> Quaternion:
        """Deflected like that for so long, with a report every 8 ms."""
        orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)
        for _ in range(round(seconds / 0.008)):
            self.reports.waiting.append(hid_reports.turned(*turn))
            orientation = self.after(8)
        return orientation

    def after(self, ms: int) -> Quaternion:
        """Its orientation so many ms later."""
        self.now += ms * MS
        sample = self.mouse.exchange(NOTHING)
        assert sample is not None
        return sample.orientation


def turn_of(report: bytes) -> tuple[float, float, float]:
    read = read_report(report, Deflection())
    assert read is not None
    return read.turn


FORMS: dict[str, tuple[list[str], tuple[float, float, float], int]] = {
    # reports, turn, buttons
    "two parts": (["01 0a00 0000 0000", "02 5e01 0000 0000"], (1, 0, 0), 0),
    "two parts, padded": (["01 0a00 0000 0000 00", "02 0000 a2fe 0000 00"], (0, 1, 0), 0),
    "one part": (["01 0a00 0000 0000 0000 0000 5e01"], (0, 0, -1), 0),
    "one part and buttons of four bytes": (["01 0000 0000 0000 5e01 0000 0000", "03 0500 0000"], (1, 0, 0), 5),
    "through a receiver": (["17 64", "01 0000 0000 0000 0000 5e01 0000 00 00", "03 0500"], (0, -1, 0), 5),
    "translation alone turns nothing": (["01 5e01 5e01 5e01"], (0, 0, 0), 0),
}


@pytest.mark.parametrize("form", FORMS)
def test_reports_are_read_in_every_form(form: str) -> None:
    reports, turn, buttons = FORMS[form]
    shown = Deflection()
    for report in reports:
        shown = read_report(bytes.fromhex(report), shown) or shown

    assert (shown.turn, shown.buttons) == (turn, buttons)


@pytest.mark.parametrize(
    ("raw", "turn"),
    [
        ((350, 0, 0), (1, 0, 0)),
        ((0, 350, 0), (0, -1, 0)),
        ((0, 0, 350), (0, 0, -1)),
        ((-350, -350, -350), (-1, 1, 1)),
        ((32767, -32768, 500), (1, 1, -1)),
        ((17, -17, 0), (0, 0, 0)),
        ((184, 0, 0), (0.501, 0, 0)),
    ],
)
def test_deflections_are_fractions_in_the_device_frame(raw: Turn, turn: tuple[float, float, float]) -> None:
    assert turn_of(hid_reports.turned(*raw)) == pytest.approx(turn, abs=1e-3)
    assert turn_of(hid_reports.both((9, 9, 9), raw)) == pytest.approx(turn, abs=1e-3)


def test_documented_reports_are_read() -> None:
    assert turn_of(bytes.fromhex("025e010000a2fe")) == (1.0, 0.0, 1.0)
    assert read_report(bytes.fromhex("030300"), Deflection()) == Deflection(buttons=3)


@given(raw=st.integers(-0x8000, 0x7FFF))
def test_rate_grows_with_the_deflection_continuously(raw: int) -> None:
    here, there = turn_of(hid_reports.turned(raw, 0, 0))[0], turn_of(hid_reports.turned(min(raw + 1, 0x7FFF), 0, 0))[0]

    assert -1 <= here <= there <= 1
    assert there - here < 0.0031


@given(report=st.binary(max_size=64))
def test_any_report_is_read_without_error(report: bytes) -> None:
    read = read_report(report, Deflection())

    assert read is None or all(-1 <= part <= 1 for part in read.turn)


@pytest.mark.parametrize("report", [b"", b"\x01", b"\x02\x00\x01", b"\x17abcdefghij", hid_reports.moved(100, 2, 3)])
def test_other_reports_change_nothing(report: bytes) -> None:
    assert read_report(report, Deflection()) is None


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ((350, 0, 0), (math.cos(HALF / 2), math.sin(HALF / 2), 0, 0)),
        ((0, 0, -350), (math.cos(HALF / 2), 0, 0, math.sin(HALF / 2))),
    ],
)
def test_quarter_turn_takes_its_time(turn: Turn, expected: Quaternion) -> None:
    rig = PlayedSpaceMouse()

    orientation = rig.hold(turn, HALF / device.FULL_SPEED)

    assert orientation == pytest.approx(expected, abs=0.01)


def test_second_turn_is_about_the_pen_s_own_axes() -> None:
    rig = PlayedSpaceMouse()
    rig.hold((350, 0, 0), HALF / device.FULL_SPEED)

    w, x, y, z = rig.hold((0, 0, -350), HALF / device.FULL_SPEED)

    assert (w, x, y, z) == pytest.approx((0.5, 0.5, -0.5, 0.5), abs=0.02)


def test_rotation_stops_without_a_report_for_100_ms() -> None:
    rig = PlayedSpaceMouse()
    rig.hold((350, 0, 0), 0.2)
    rig.after(99)

    before = rig.after(2)

    assert rig.after(500) == before


def test_rotation_stops_at_once_on_release() -> None:
    rig = PlayedSpaceMouse()
    rig.hold((350, 0, 0), 0.2)

    assert rig.hold((0, 0, 0), 0.1) == rig.after(50)


def test_orientation_never_drifts_within_the_dead_zone() -> None:
    assert PlayedSpaceMouse().hold((17, -17, 17), 5.0) == (1.0, 0.0, 0.0, 0.0)


def test_buttons_stay_pressed_until_released() -> None:
    rig = PlayedSpaceMouse()
    rig.reports.waiting.append(hid_reports.pressed(3))
    rig.hold((350, 0, 0), 0.1)
    rig.now += 300 * MS

    held = rig.mouse.exchange(NOTHING)
    rig.reports.waiting.append(hid_reports.pressed(0))
    let_go = rig.mouse.exchange(NOTHING)

    assert held is not None
    assert let_go is not None
    assert (held.buttons, let_go.buttons) == (3, 0)


@given(
    speeds=st.lists(st.tuples(*[st.floats(-10, 10)] * 3), max_size=50),
    seconds=st.floats(0, 0.1),
)
def test_orientation_stays_a_unit_quaternion(speeds: list[tuple[float, float, float]], seconds: float) -> None:
    q: Quaternion = (1.0, 0.0, 0.0, 0.0)
    for speed in speeds:
        q = turned(q, speed, seconds)

    assert math.hypot(*q) == pytest.approx(1, abs=1e-12)


def test_light_is_on_while_open() -> None:
    rig = PlayedSpaceMouse()
    assert rig.reports.written == [b"\x04\x01"]

    rig.mouse.close()

    assert rig.reports.written == [b"\x04\x01", b"\x04\x00"]
    assert rig.reports.closed == 1


def test_unplugged_spacemouse_is_gone() -> None:
    rig = PlayedSpaceMouse()
    rig.reports.here = False

    with pytest.raises(Unplugged):
        rig.mouse.exchange(NOTHING)


def test_spacemouse_is_shown_as_a_usb_pen() -> None:
    found = found_spacemouse(DEVICE)

    assert (found.kind, found.connection, found.driver, found.device_id) == (
        Kind.PEN,
        Connection.USB,
        "spacemouse",
        "S3",
    )
    assert len(found.uuid) == 32
