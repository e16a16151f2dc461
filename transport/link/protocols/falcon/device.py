"""One open Novint Falcon: exchange commands and replies; forces only after homing.

Until all three motors are homed the encoders count from an unknown start, so that no force may act; coordinates jump when
homing ends. The user homes it by pulling the grip all the way out and pushing it in again.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any, Final

import usb.core

from actors.port.api import NoDeviceAnswers
from actors.values.hardware import Candidate, FoundDevice, FoundMechanism, MechanismKind
from actors.values.identity import Connection, Firmware, Kind
from actors.values.spatial import Reach, Vec3
from fastpath.codecs import falcon_py
from transport.link.ftdi import Ftdi
from transport.link.polled_device import Sample, Unplugged
from transport.link.protocols.falcon import boot
from transport.link.short_id import short_id
from transport.link.usb_bus import serial_number, unusable

IDS: Final = frozenset({(0x0403, 0xCB48)})
NAME: Final = "Novint Falcon"
NOTHING: Final[Vec3] = (0.0, 0.0, 0.0)
AT_ZERO: Final[Vec3] = (falcon_py.angle(0), falcon_py.angle(0), falcon_py.angle(0))

# The middle of its reach, 112.5 mm from its base, is at the compact's centre, so that the same presets centre both.
BASE: Final[Vec3] = (0.0, 0.0275, 0.1)
ZONES: Final[Vec3] = (0.005, 0.005, 0.005)
REACH: Final = Reach(low=(-0.045, -0.1275, 0.055), high=(0.045, -0.0425, 0.145), zone_low=ZONES, zone_high=ZONES)
PEAK_FORCE: Final = 8.0
STEP: Final = 0.00007
# The loop does what the service requires of firmware: it has every feature of 7.5.
FIRMWARE: Final = Firmware(7, 5)

# Homing finds the zero of its encoders; after it there is nothing to wait for.
SETTLE_S: Final = 0.2
PROBES: Final = 10
READS_PER_REPLY: Final = 4
NOT_HOMED: Final = "it is not homed: pull its grip all the way out, then push it all the way in"


class FalconDevice:
    """One claimed Falcon with running firmware. One thread at a time; Unplugged when it is gone."""

    beats = False

    def __init__(self, wire: Ftdi, found: FoundDevice, counts_per_nm: Callable[[], float]) -> None:
        self.found = found
        self.homed = False
        self._wire = wire
        self._counts_per_nm = counts_per_nm
        self._replies = falcon_py.Replies()
        self.frames_out = 0

    @property
    def frames_in(self) -> int:
        """Whole replies received."""
        return self._replies.whole

    @property
    def frames_bad(self) -> int:
        """Broken replies received."""
        return self._replies.bad

    @property
    def bytes_in(self) -> int:
        """Bytes received, without modem status."""
        return self._wire.bytes_in

    @property
    def bytes_out(self) -> int:
        """Bytes sent."""
        return self._wire.bytes_out

    @property
    def fault(self) -> str:
        """Sentence about its fault; "" once it is homed."""
        return "" if self.homed else NOT_HOMED

    def exchange(self, torque: Vec3) -> Sample | None:
        """Command crank torques (N.mm), zero before homing. Return the reply, None without one."""
        counts, lights = (0, 0, 0), falcon_py.RED | falcon_py.HOMING
        if self.homed:
            counts, lights = falcon_py.motor_counts(torque, self._counts_per_nm()), falcon_py.GREEN
        self._wire.write(falcon_py.command(counts, lights))
        self.frames_out += 1
        for _ in range(READS_PER_REPLY):
            reply = self._replies.take(self._wire.read())
            if reply is not None:
                self.homed = reply.homed == falcon_py.HOMED
                return Sample(joint=reply.angles, buttons=reply.buttons, homed=self.homed)
        return None

    def runs(self) -> bool:
        """Whether the firmware answers. A boot loader's echo looks like two pressed buttons and no motion."""
        for _ in range(PROBES):
            sample = self.exchange(NOTHING)
            if sample is not None and (sample.joint != AT_ZERO or sample.buttons != falcon_py.RED | falcon_py.HOMING):
                return True
        return False

    def close(self) -> None:
        """Motors off, release the device; never raises."""
        try:
            self._wire.write(falcon_py.command((0, 0, 0), 0))
        except Unplugged:
            pass
        finally:
            self._wire.close()


def open_falcon(
    device: Any, candidate: Candidate, image_path: str | None, counts_per_nm: Callable[[], float], stop: threading.Event
) -> FalconDevice:
    """Open a Falcon and upload its firmware if needed (about 1 s): PortUnusable, NoDeviceAnswers."""
    try:
        wire = Ftdi(device)
    except usb.core.USBError as error:
        raise unusable(error, f"the {NAME}") or NoDeviceAnswers(f"it cannot be opened ({error})") from error
    try:
        opened = FalconDevice(wire, found_falcon(serial_number(device), candidate.port, counts_per_nm()), counts_per_nm)
        boot.enter_run_mode(wire)
        if not opened.runs():
            _load(opened, wire, image_path, stop)
    except Unplugged as error:
        wire.close()
        raise NoDeviceAnswers(str(error)) from error
    except BaseException:
        wire.close()
        raise
    return opened


def _load(opened: FalconDevice, wire: Ftdi, image_path: str | None, stop: threading.Event) -> None:
    boot.upload(wire, boot.read_image(image_path), stop)
    if not opened.runs():
        raise NoDeviceAnswers(
            f"it does not answer with the firmware of {image_path}: check that this is a Falcon's file"
        )


def found_falcon(serial: str, port: str, counts_per_nm: float) -> FoundDevice:
    """Return the FoundDevice of a Falcon."""
    most = falcon_py.MOST_COUNTS / abs(counts_per_nm) * 1000 if counts_per_nm else 0.0
    return FoundDevice(
        device_id=short_id("F", serial, port),
        kind=Kind.COMPACT,
        connection=Connection.USB,
        firmware=FIRMWARE,
        hardware_version=1,
        uuid=uuid.uuid5(uuid.NAMESPACE_OID, f"falcon {serial or port}").hex,
        driver="falcon",
        reach=REACH,
        calibrated=True,
        settle_s=SETTLE_S,
        mechanism=FoundMechanism(MechanismKind.DELTA, PEAK_FORCE, most, STEP, {"shoulder": BASE}),
    )
