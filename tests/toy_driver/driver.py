"""Example driver of tilt sensors on serial ports.

`?` -> `tilt SERIAL`; `p` -> `W X Y Z BUTTONS`, a unit quaternion and a bit for each button. Lines end with a line feed, 115200 baud.
"""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING, Final

from actors.port.api import NoDeviceAnswers
from actors.values.hardware import FoundDevice, Transport
from actors.values.identity import Connection, Firmware, Kind
from fastpath.port.port_cell import PortCell
from tests.toy_driver.spec import PORTS
from transport.link.polled_device import Sample, Unplugged
from transport.link.polled_link import PolledLink
from transport.link.serial_port import open_port
from transport.link.serial_ports import path_of, serial_candidate, there
from transport.link.short_id import short_id

if TYPE_CHECKING:
    import serial

    from actors.kit.published import Published
    from actors.port.api import OpenLimits
    from actors.settings.api import SettingsView
    from actors.values.hardware import Candidate
    from actors.values.spatial import Vec3
    from fastpath.arena.runtime import Lease, Runtime

BAUD: Final = 115_200
READ_S: Final = 0.02
RATE_HZ: Final = 100.0


class TiltSensor:
    """One open sensor; see `transport.link.polled_device.PolledDevice`."""

    fault = ""
    homed = True
    beats = True

    def __init__(self, port: serial.Serial, found: FoundDevice) -> None:
        self.found = found
        self.frames_in = self.frames_bad = self.frames_out = self.bytes_in = self.bytes_out = 0
        self._port = port

    def exchange(self, torque: Vec3) -> Sample | None:
        """Ask for the orientation; a sensor has no motors."""
        del torque
        try:
            self._port.write(b"p\n")
            line = self._port.readline()
        except OSError as error:
            raise Unplugged(f"it was unplugged ({error})") from error
        self.frames_out += 1
        self.bytes_out += 2
        self.bytes_in += len(line)
        sample = read_sample(line)
        self.frames_in += sample is not None
        self.frames_bad += sample is None
        return sample

    def close(self) -> None:
        """Close the port; there is no force to end."""
        self._port.close()


class TiltDriver:
    """The ports that `devices/tilt/ports` names, while they exist; see `transport.link.driver_spec.Driver`."""

    transport = Transport.SERIAL

    def __init__(self, runtime: Runtime, settings: Published[SettingsView]) -> None:
        self._runtime = runtime
        self._settings = settings

    def candidates(self) -> tuple[Candidate, ...]:
        """List the named ports that exist; opens none."""
        return tuple(serial_candidate(path, None, assigned=True) for path in self.named_paths() if there(path))

    def named_paths(self) -> tuple[str, ...]:
        """Return the ports of the setting."""
        return tuple(map(path_of, self._settings.value.texts(PORTS)))

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> PolledLink:
        """Ask who is there until it answers or time is up: NoDeviceAnswers, OSError."""
        port = open_port(candidate.path, BAUD, read_s=READ_S, write_s=1.0)
        try:
            serial_number = _identify(port, limits.timeout_s, stop)
        except BaseException:
            port.close()
            raise
        sensor = TiltSensor(port, found_sensor(serial_number, candidate.port))
        return PolledLink(sensor, self._cell, self._runtime.now_ns, rate_hz=RATE_HZ)

    def _cell(self, lease: Lease) -> PortCell:
        return PortCell(self._runtime, lease)


def read_sample(line: bytes) -> Sample | None:
    """Return the sample of an answer to `p`, None for anything else."""
    try:
        w, x, y, z, buttons = map(float, line.split())
    except ValueError:
        return None
    return Sample(orientation=(w, x, y, z), buttons=int(buttons))


def found_sensor(serial_number: str, port: str) -> FoundDevice:
    """Return what the service shows of a sensor."""
    return FoundDevice(
        device_id=short_id("T", serial_number, port.upper()),
        kind=Kind.PEN,
        connection=Connection.SERIAL,
        firmware=Firmware(1, 4),
        hardware_version=1,
        uuid=uuid.uuid5(uuid.NAMESPACE_OID, f"tilt {serial_number or port}").hex,
        driver="tilt",
        calibrated=True,
        by_hand=True,
    )


def _identify(port: serial.Serial, timeout_s: float, stop: threading.Event) -> str:
    until = time.monotonic() + timeout_s
    while not stop.is_set() and time.monotonic() < until:
        port.write(b"?\n")
        answer: bytes = port.readline()
        word, _, serial_number = answer.decode("ascii", "replace").strip().partition(" ")
        if word == "tilt":
            return serial_number
    raise NoDeviceAnswers("no tilt sensor answers: check the cable")
