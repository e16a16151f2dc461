"""Driver of hAPI boards: a setting names port and mechanism, a setup message configures the board, a port thread exchanges.

Ports of `devices/hapi/ports` -> zero torque, reset, setup -> the first reply -> PortThread. A board has no watchdog, so its zero
packet is the last message on the line, however the exchange ends; a stopped service (SIGSTOP) cannot send it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import serial
import serial.tools.list_ports

from actors.port.api import CalibrationResult, DeviceFacts, LinkFacts, NoDeviceAnswers
from actors.values.hardware import Candidate, FoundDevice, FoundMechanism, MechanismKind, Transport
from actors.values.identity import Connection, Firmware, Kind
from fastpath.arena.runtime import now_ns
from fastpath.codecs import hapi_py
from fastpath.port.port_thread import PortThread
from transport.link.protocols.hapi.board import (
    BOARD_ID,
    BOARDS,
    codec_config,
    reset_message,
    setup_message,
    zero_message,
)
from transport.link.protocols.hapi.spec import PORTS
from transport.link.serial_port import link_counters, open_port, unplugged
from transport.link.serial_ports import path_of, serial_candidate, there
from transport.link.short_id import short_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.device.api import DeviceWide
    from actors.kit.published import Published
    from actors.port.api import OpenLimits
    from actors.settings.api import SettingsView
    from fastpath.arena.runtime import Lease, Runtime
    from fastpath.port.port_thread import Failsafe
    from transport.link.protocols.hapi.board import Board

RATE_HZ: Final = 1000.0
# The board has native USB: any rate works, the makers' examples use this one.
BAUD: Final = 4_000_000
# The loop does what the service requires of firmware: it has every feature of 7.5.
FIRMWARE: Final = Firmware(7, 5)
HARDWARE: Final = {"pantograph": 1, "2diy-metal": 2, "2diy-plastic": 3}
SETTLE_S: Final = 0.5
READ_S: Final = 0.01
READ_BYTES: Final = 4096
# Longer than any message that the board may be in the middle of; each further pair of zeros is a reset.
FLUSH: Final = bytes(64)
QUIET_S: Final = 0.03
RETRY_S: Final = 0.25
DEAF_NS: Final = 500_000_000
SETTLED_NS: Final = 50_000_000

ListPorts = Callable[[], Iterable[Any]]


class HapiLink:
    """A port with one board; see `actors.port.link_interface.Link`."""

    receiver = False

    def __init__(self, thread: PortThread, found: FoundDevice, setup: bytes) -> None:
        self._thread = thread
        self._found = found
        self._setup = setup
        self._attached: Lease | None = None
        self._since_ns = now_ns()
        self._calibrating: tuple[int, int] | None = None
        self._calibration: CalibrationResult | None = None

    def start(self, leases: Mapping[str, Lease]) -> None:
        """Exchange with the board's slot, or with none."""
        lease = leases.get(self._found.device_id)
        if lease == self._attached:
            return
        if lease is None:
            self._thread.detach(0)
        else:
            self._since_ns = now_ns()
            self._thread.attach(0, lease)
        self._attached = lease

    def facts(self) -> LinkFacts:
        """Return the facts of this moment; a board that has not answered for 500 ms is gone."""
        counters = self._thread.counters()
        newest_ns = max(counters.sample_ns[0], self._since_ns)
        gone = ""
        if counters.gone:
            gone = unplugged(counters.gone)
        elif self._attached is not None and now_ns() - newest_ns > DEAF_NS:
            gone = "it has not answered for 500 ms"
        if self._calibrating is not None and counters.sample_ns[0] > self._calibrating[1] + SETTLED_NS:
            self._calibration, self._calibrating = CalibrationResult(self._calibrating[0]), None
        device_facts = DeviceFacts(calibration=self._calibration)
        return LinkFacts(gone, (self._found,), {self._found.device_id: device_facts}, link_counters(counters))

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Do nothing: the loop does all of it."""
        del device_id, wide, save

    def calibrate(self, device_id: str, run: int) -> None:
        """Send setup again: the encoders take the present pose as home pose, so the user must hold it there."""
        del device_id
        if not run:
            self._calibrating = None
            return
        is_known = run == (self._calibrating or (None,))[0] or (
            self._calibration is not None and self._calibration.run == run
        )
        if not is_known and self._thread.send(self._setup):
            self._calibrating = (run, now_ns())

    def close(self) -> None:
        """Zero torque, join the thread, close the descriptor."""
        with contextlib.suppress(OSError):
            self._thread.close()


class HapiDriver:
    """Driver of the ports in `devices/hapi/ports`; see `transport.link.driver_spec.Driver`."""

    transport = Transport.SERIAL

    def __init__(
        self,
        runtime: Runtime,
        settings: Published[SettingsView],
        failsafe: Failsafe | None = None,
        list_ports: ListPorts = serial.tools.list_ports.comports,
    ) -> None:
        """`list_ports` returns what pyserial's does."""
        self._runtime = runtime
        self._settings = settings
        self._failsafe = failsafe
        self._list_ports = list_ports

    def candidates(self) -> tuple[Candidate, ...]:
        """List the ports of the setting that exist."""
        listed = {os.path.realpath(info.device): info for info in self._list_ports()}
        found: list[Candidate] = []
        for path in self._named():
            info = listed.get(os.path.realpath(path))
            if info is None and not there(path):
                continue
            found.append(serial_candidate(path, info, assigned=True))
        return tuple(found)

    def named_paths(self) -> tuple[str, ...]:
        """Return the ports of the setting."""
        return tuple(self._named())

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> HapiLink:
        """Set up the board and wait for its first reply: NoDeviceAnswers; OSError if the port cannot be opened."""
        name = self._named().get(candidate.path)
        if name is None:
            raise NoDeviceAnswers(f"{PORTS} does not name {candidate.path} any more")
        board, port = (
            BOARDS[name],
            open_port(candidate.path, BAUD, read_s=READ_S, write_s=1.0),
        )
        try:
            _set_up(port, board, limits, stop)
            thread = PortThread(
                self._runtime,
                os.dup(port.fileno()),
                "hapi",
                rates_hz=(RATE_HZ,),
                zero_packet=zero_message(board),
                config=codec_config(board),
                name=f"hd-p-{candidate.port}",
                failsafe=self._failsafe,
            )
        finally:
            port.close()
        try:
            thread.start()
        except BaseException:
            thread.close()
            raise
        return HapiLink(thread, found_board(candidate, name), setup_message(board))

    def _named(self) -> dict[str, str]:
        """Return the mechanism by port path."""
        entries = (text.rpartition("=") for text in self._settings.value.texts(PORTS))
        return {path_of(port): name for port, _, name in entries}


def found_board(candidate: Candidate, name: str) -> FoundDevice:
    """Return the FoundDevice of a board; its id is the end of its serial number, else of its port's name."""
    board = BOARDS[name]
    return FoundDevice(
        device_id=short_id("H", candidate.serial, candidate.port.upper()),
        kind=Kind.COMPACT,
        connection=Connection.SERIAL,
        firmware=FIRMWARE,
        hardware_version=HARDWARE[name],
        uuid=uuid.uuid5(uuid.NAMESPACE_OID, f"hapi {candidate.serial or candidate.port}").hex,
        driver=f"hapi {name}",
        reach=board.reach,
        mechanism=FoundMechanism(
            MechanismKind.FIVE_BAR,
            board.peak_force,
            float(hapi_py.TORQUE_LIMIT),
            board.step,
            {
                "shoulder": (board.base / 2, 0.0, 0.0),
                "link": board.links,
                "base": board.base,
                "counts_per_turn": float(board.joints[0].counts_per_turn),
            },
        ),
        calibrated=True,
        settle_s=SETTLE_S,
    )


def _set_up(port: serial.Serial, board: Board, limits: OpenLimits, stop: threading.Event) -> None:
    """Switch the motors off whatever the board was doing, then repeat setup until it answers."""
    zero, wanted = zero_message(board), 1 + 4 * len(board.joints)
    port.write(zero)
    port.write(FLUSH)
    until = time.monotonic() + limits.timeout_s
    while not stop.is_set() and time.monotonic() < until:
        _drain(port)
        for message in (reset_message(), setup_message(board), zero):
            port.write(message)
        if _answers(port, wanted, min(until, time.monotonic() + RETRY_S), stop):
            return
    raise NoDeviceAnswers("no hAPI board answers: check the cable, and that the board has its firmware")


def _drain(port: serial.Serial) -> None:
    """Discard input until none arrives for QUIET_S."""
    quiet = time.monotonic() + QUIET_S
    while time.monotonic() < quiet:
        if port.read(READ_BYTES):
            quiet = time.monotonic() + QUIET_S


def _answers(port: serial.Serial, wanted: int, until: float, stop: threading.Event) -> bool:
    """Whether one reply of the right length and board id arrives."""
    received = b""
    while time.monotonic() < until and not stop.is_set():
        received += port.read(READ_BYTES)
        if len(received) >= wanted:
            return len(received) == wanted and received[0] == BOARD_ID
    return False
