"""One open SpaceMouse, exposed as a pen: it reports angular velocity, orientation is the integral.

Reports: 1 = x, y, z as int16 of about +-350, on newer models and through a receiver all six; 2 = the three rotations on older ones;
3 = buttons; 0x17 = charge, by mice with a battery.
Its axes are x right, y towards the user, z down; the device frame's are x right, y away, z up. Translations are ignored:
a pen has no position.
"""

from __future__ import annotations

import math
import struct
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.values.hardware import FoundDevice
from actors.values.identity import Connection, Firmware, Kind
from actors.values.spatial import NO_ROTATION
from fastpath.arena.runtime import now_ns
from transport.link.polled_device import Sample
from transport.link.short_id import short_id

if TYPE_CHECKING:
    from actors.values.spatial import Quaternion, Vec3
    from transport.link.hid import HidDevice, Reports

NAME: Final = "3Dconnexion SpaceMouse"
OLD_VENDOR, VENDOR = 0x046D, 0x256F
OLD_PRODUCTS: Final = "c603 c605 c606 c621 c623 c625 c626 c627 c628 c629 c62b c640"
PRODUCTS: Final = "c62e c62f c631 c632 c633 c635 c636 c638 c63a c641 c652"
IDS: Final = frozenset(
    (vendor, int(product, 16))
    for vendor, products in ((OLD_VENDOR, OLD_PRODUCTS), (VENDOR, PRODUCTS))
    for product in products.split()
)

# Of SpaceMouse Wireless, SpaceMouse Pro Wireless, and the Universal Receiver: there with or without a mouse.
RECEIVERS: Final = frozenset((VENDOR, product) for product in (0xC62F, 0xC632, 0xC652))
MOVED, TURNED, PRESSED, LIGHT = 1, 2, 3, 4
LIGHT_ON, LIGHT_OFF = bytes([LIGHT, 1]), bytes([LIGHT, 0])
FULL_SCALE: Final = 350.0
DEAD_ZONE: Final = 0.05
STALE_NS: Final = 100_000_000
# rad/s at full deflection: a half turn in a little over a second and a half.
FULL_SPEED: Final = 2.0
RATE_HZ: Final = 125.0
LISTEN_S: Final = 0.01
MOST_REPORTS: Final = 32
NO_TURN: Final[Vec3] = (0.0, 0.0, 0.0)
NS_PER_S: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Deflection:
    """Newest deflection of the cap."""

    turn: Vec3 = NO_TURN  # -1 to 1 about x, y, z of the device frame
    buttons: int = 0  # bit 0 is the first button


def read_report(report: bytes, before: Deflection) -> Deflection | None:
    """Return the deflection after a report; None if it has no rotation or buttons, or is too short."""
    if not report:
        return None
    number, data = report[0], report[1:]
    if number == PRESSED:
        return Deflection(before.turn, int.from_bytes(data[:4], "little"))
    if number == TURNED and len(data) >= 6:
        return Deflection(_turn(data[:6]), before.buttons)
    if number == MOVED and len(data) >= 12:
        return Deflection(_turn(data[6:12]), before.buttons)
    return None


def turned(orientation: Quaternion, speed: Vec3, seconds: float) -> Quaternion:
    """Return q exp(w t / 2), a unit quaternion: rotated about its own axes at `speed` (rad/s)."""
    w, x, y, z = orientation
    length = math.hypot(*speed)
    half = 0.5 * length * seconds
    share = 0.5 * seconds * (1 - half * half / 6 if half < 1e-4 else math.sin(half) / half)
    c, a, b, d = math.cos(half), share * speed[0], share * speed[1], share * speed[2]
    q = (
        w * c - x * a - y * b - z * d,
        w * a + x * c + y * d - z * b,
        w * b - x * d + y * c + z * a,
        w * d + x * b - y * a + z * c,
    )
    norm = math.hypot(*q)
    return q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm


class SpaceMouse:
    """One open SpaceMouse. One thread at a time; Unplugged when it is gone."""

    fault = ""
    frames_bad = 0
    homed = True
    beats = True

    def __init__(self, reports: Reports, found: FoundDevice, clock: Callable[[], int] = now_ns) -> None:
        self.found = found
        self.frames_in = 0
        self.frames_out = 1
        self.bytes_in = 0
        self.bytes_out = len(LIGHT_ON)
        self._reports = reports
        self._clock = clock
        self._deflection = Deflection()
        self._orientation: Quaternion = NO_ROTATION
        self._turned_ns = self._report_ns = clock()
        reports.write(LIGHT_ON)

    def heard(self, within_s: float, stop: threading.Event) -> bool:
        """Return whether a report comes before the time is over or `stop` is set."""
        until = self._clock() + int(within_s * NS_PER_S)
        while not self._reports.read():
            if self._clock() >= until or stop.wait(LISTEN_S):
                return False
        return True

    def exchange(self, torque: Vec3) -> Sample | None:
        """Return the integrated orientation and the buttons; it has no motors."""
        del torque
        self._read_reports()
        now = self._clock()
        turn = self._deflection.turn if now - self._report_ns <= STALE_NS else NO_TURN
        seconds, self._turned_ns = (now - self._turned_ns) / NS_PER_S, now
        if turn != NO_TURN:
            speed = (FULL_SPEED * turn[0], FULL_SPEED * turn[1], FULL_SPEED * turn[2])
            self._orientation = turned(self._orientation, speed, seconds)
        return Sample(orientation=self._orientation, buttons=self._deflection.buttons)

    def close(self) -> None:
        """Switch the light off and release the device."""
        self._reports.write(LIGHT_OFF)
        self._reports.close()

    def _read_reports(self) -> None:
        """Read every waiting report; the newest of each kind counts."""
        for _ in range(MOST_REPORTS):
            report = self._reports.read()
            if not report:
                return
            self.frames_in += 1
            self.bytes_in += len(report)
            after = read_report(report, self._deflection)
            if after is not None:
                self._deflection = after
                if report[0] != PRESSED:
                    self._report_ns = self._clock()


def found_spacemouse(device: HidDevice) -> FoundDevice:
    """Return the FoundDevice of a SpaceMouse."""
    return FoundDevice(
        device_id=short_id("S", device.serial, device.port),
        kind=Kind.PEN,
        connection=Connection.USB,
        firmware=Firmware(1, 4),
        hardware_version=1,
        uuid=uuid.uuid5(uuid.NAMESPACE_OID, f"spacemouse {device.serial or device.port}").hex,
        driver="spacemouse",
        calibrated=True,
        by_hand=True,
    )


def _turn(data: bytes) -> Vec3:
    """Convert three int16 about the cap's axes to fractions about the device frame's axes."""
    x, y, z = struct.unpack("<3h", data)
    return _share(x), -_share(y), -_share(z)


def _share(raw: int) -> float:
    """Return -1 to 1; 0 within the dead zone, growing from its edge."""
    part = min(abs(raw) / FULL_SCALE, 1.0)
    grown = max(part - DEAD_ZONE, 0.0) / (1 - DEAD_ZONE)
    return math.copysign(grown, raw) if grown else 0.0
