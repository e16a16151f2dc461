"""Driver of boards of the open link protocol: identify the board, then a port thread exchanges with the loop.

serial port -> identify (HostFsm with blocking reads) -> PortThread: states and commands without Python, zero commands at first ->
wake, then `facts` every 10 ms: HostFsm handles the thread's other messages (settle, presence, configuration, calibration).
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import serial

from actors.port.api import DeviceFacts, LinkFacts, NoDeviceAnswers, PortUnusable
from actors.values.hardware import PortFault, Transport
from fastpath.codecs.openlink_messages import Command, CommandMode, SettlePhase, Wake
from fastpath.codecs.openlink_py import MAX_DEVICES, Decoder, encode
from fastpath.layout.constants import PortBit
from fastpath.port.port_thread import PortThread
from transport.link.protocols.openlink.host_fsm import HALF_WAY, HostFsm
from transport.link.protocols.openlink.identity import found_device, why_not_driven
from transport.link.protocols.openlink.peer import MS, Peer
from transport.link.protocols.openlink.status_text import fault_names
from transport.link.serial_port import link_counters, open_port, unplugged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.device.api import DeviceWide
    from actors.port.api import OpenLimits
    from actors.values.hardware import Candidate, FoundDevice
    from fastpath.arena.runtime import Lease, Runtime
    from fastpath.port.port_thread import Failsafe
    from transport.link.serial_ports import SerialPorts

BAUD: Final = 921_600
READ_S: Final = 0.002
READ_BYTES: Final = 4096
# Hz, zero commands to a board without a slot: its watchdog needs one every 50 ms.
IDLE_HZ: Final = 200.0
FIRST_STATE_NS: Final = 300 * MS
# Motors off (accepted with any sequence), then sleep, with a sequence half way round from the machine's first one.
ZERO_PACKET: Final = encode(Command()) + encode(Wake(awake=False, rate_hz=0), sequence=HALF_WAY)


logger = logging.getLogger(__name__)


class SerialPort(Protocol):
    """A serial port open in raw mode; `read` waits a few milliseconds at most."""

    def read(self, size: int, /) -> bytes:
        """Return the bytes that arrived, b"" without any; OSError when the port is gone."""
        ...

    def write(self, data: bytes, /) -> int | None:
        """Write bytes; OSError when the port is gone."""
        ...

    def fileno(self) -> int:
        """Return the descriptor."""
        ...


@dataclass(slots=True)
class _ReportedDevice:
    """A reported device; another `peer` means that a receiver assigned the index to another device."""

    peer: Peer
    found: FoundDevice


class OpenlinkLink:
    """Link of one board or one receiver; see `actors.port.link_interface.Link`."""

    def __init__(self, port: str, thread: PortThread, runtime: Runtime, fsm: HostFsm) -> None:
        self._port = port
        self._thread = thread
        self._runtime = runtime
        self._fsm = fsm
        self._decoder = Decoder()
        self._lock = threading.Lock()
        self._reported: dict[int, _ReportedDevice] = {}
        self._attached: dict[int, Lease] = {}
        self._closed = False

    def wake(self, stopped: Callable[[], bool]) -> str:
        """Wake the devices. Return why that failed, "" when each has answered and sent a state or had time to."""
        self._fsm.start_waking()
        settled_ns: int | None = None
        while True:
            with self._lock:
                self._step()
            gone = self._thread.counters().gone
            if gone or self._fsm.why or stopped():
                return self._fsm.why or (unplugged(gone) if gone else "it was given up")
            now_ns = self._runtime.now_ns()
            if self._fsm.settled:
                settled_ns = settled_ns or now_ns
                have_states = all(peer.has_state or not peer.awake for peer in self._fsm.peers)
                if have_states or now_ns - settled_ns > FIRST_STATE_NS:
                    return ""
            time.sleep(READ_S)

    @property
    def receiver(self) -> bool:
        """Whether devices come and go behind the open port."""
        return self._fsm.receiver

    def start(self, leases: Mapping[str, Lease]) -> None:
        """Exchange with the slots of these devices only."""
        with self._lock:
            if self._closed:
                return
            wanted: dict[int, Lease] = {}
            for device_id, lease in leases.items():
                peer = self._fsm.find(device_id)
                if peer is not None:
                    wanted[peer.index] = lease
            for index in self._attached.keys() - wanted.keys():
                self._thread.detach(index)
            for index, lease in wanted.items():
                if self._attached.get(index) != lease:
                    self._thread.attach(index, lease)
            self._attached = wanted

    def facts(self) -> LinkFacts:
        """Step the state machine, then return the facts."""
        with self._lock:
            if not self._closed:
                self._step()
            counters = self._thread.counters()
            return LinkFacts(
                gone=unplugged(counters.gone) if counters.gone else self._fsm.why,
                devices=self._found(),
                of={peer.identity.device_id: _facts_of(peer) for peer in self._fsm.peers if peer.identity},
                counters=link_counters(counters),
            )

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool = False) -> None:
        """Send the configuration to the device; values that it does not support are left out."""
        with self._lock:
            self._fsm.configure(device_id, wide, save=save)

    def calibrate(self, device_id: str, run: int) -> None:
        """Start calibration `run`, 0 aborts a running one; the facts show its result."""
        with self._lock:
            self._fsm.calibrate(device_id, run)

    def close(self) -> None:
        """Motors off, devices asleep, join the thread, close the descriptor."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._fsm.receiver:
                for outgoing in self._fsm.sleep_frames():
                    self._thread.send(outgoing)
        # Not under the lock: the timekeeper, which calls `facts`, must not wait for a thread or the failsafe process.
        self._thread.close()

    def _step(self) -> None:
        frames = self._decoder.feed(b"".join(self._thread.receive()))
        counters = self._thread.counters()
        for index, (state_ns, beat_ns) in enumerate(zip(counters.sample_ns, counters.beat_ns, strict=True)):
            bits = counters.bits[index]
            self._fsm.update_from_thread(
                index,
                state_ns,
                beat_ns,
                counters.faults[index],
                homed=bool(bits & PortBit.PORT_HOMED),
                calibrated=bool(bits & PortBit.PORT_CALIBRATED),
            )
        for outgoing in self._fsm.step(self._runtime.now_ns(), frames):
            self._thread.send(outgoing)
        for sentence in self._fsm.log_sentences:
            logger.warning("port %s: %s", self._port, sentence, extra={"port": self._port})
        self._fsm.log_sentences.clear()

    def _found(self) -> tuple[FoundDevice, ...]:
        reported: dict[int, _ReportedDevice] = {}
        for peer in self._fsm.peers:
            before = self._reported.get(peer.index)
            if before is not None and before.peer is peer:
                reported[peer.index] = before
            elif peer.identity is not None:
                reported[peer.index] = _ReportedDevice(peer, found_device(peer.identity, calibrated=peer.calibrated))
        self._reported = reported
        return tuple(one.found for one in reported.values())


class OpenlinkDriver:
    """Boards on serial ports that identify themselves; see `transport.link.driver_spec.Driver`."""

    transport = Transport.SERIAL

    def __init__(self, runtime: Runtime, ports: SerialPorts, failsafe: Failsafe | None = None) -> None:
        self._runtime = runtime
        self._ports = ports
        self._failsafe = failsafe

    def candidates(self) -> tuple[Candidate, ...]:
        """List the serial ports that a setting names or whose USB numbers or product text are recognised; opens none."""
        return self._ports.candidates()

    def named_paths(self) -> tuple[str, ...]:
        """Return the paths of `devices/detection/serial_ports`."""
        return self._ports.named_paths()

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> OpenlinkLink:
        """Identify the board at a port: NoDeviceAnswers, PortUnusable, OSError."""
        return open_board(candidate, self._runtime, limits, stop, self._failsafe)


def open_board(
    candidate: Candidate,
    runtime: Runtime,
    limits: OpenLimits,
    stop: threading.Event,
    failsafe: Failsafe | None = None,
) -> OpenlinkLink:
    """Open the serial port of a candidate and identify the board: NoDeviceAnswers, PortUnusable, OSError."""
    with open_port(candidate.path, BAUD, read_s=READ_S) as port:
        try:
            return open_link(candidate, port, runtime, limits, stop, failsafe)
        except serial.SerialException as error:
            raise NoDeviceAnswers(f"{candidate.path} went away while it was asked ({error})") from error


def open_link(
    candidate: Candidate,
    port: SerialPort,
    runtime: Runtime,
    limits: OpenLimits,
    stop: threading.Event,
    failsafe: Failsafe | None = None,
) -> OpenlinkLink:
    """Identify the board, start the exchange, wake its devices: NoDeviceAnswers, OSError; PortUnusable if its geometry is not supported.

    The link has its own descriptor.
    """
    fsm = HostFsm(answer_s=limits.timeout_s, tries=limits.tries)
    _identify(candidate, port, runtime, fsm, stop)
    refusal = "" if fsm.receiver or fsm.board.identity is None else why_not_driven(fsm.board.identity)
    if refusal:
        raise PortUnusable(PortFault.NO_DRIVER, refusal)
    descriptor = os.dup(port.fileno())
    try:
        thread = _thread_of(candidate, descriptor, runtime, fsm, failsafe)
    except BaseException:
        os.close(descriptor)
        raise
    link = OpenlinkLink(candidate.port, thread, runtime, fsm)
    why = link.wake(stop.is_set)
    if why:
        link.close()
        raise NoDeviceAnswers(f"{candidate.path}: {why}")
    return link


def _identify(candidate: Candidate, port: SerialPort, runtime: Runtime, fsm: HostFsm, stop: threading.Event) -> None:
    decoder = Decoder()
    while not fsm.identified:
        for outgoing in fsm.step(runtime.now_ns(), decoder.feed(port.read(READ_BYTES))):
            port.write(outgoing)
        if fsm.why or stop.is_set():
            raise NoDeviceAnswers(f"{candidate.path}: {fsm.why or 'it was given up'}")


def _thread_of(
    candidate: Candidate, descriptor: int, runtime: Runtime, fsm: HostFsm, failsafe: Failsafe | None
) -> PortThread:
    modes, rates = [CommandMode.RELEASE] * MAX_DEVICES, [0.0] * MAX_DEVICES
    if not fsm.receiver:
        board = fsm.board
        modes, rates = [board.mode], [board.commands_hz]
    thread = PortThread(
        runtime,
        descriptor,
        "openlink",
        rates_hz=tuple(rates),
        zero_packet=b"" if fsm.receiver else ZERO_PACKET,
        config=bytes(modes),
        name=f"hd-p-{candidate.port}",
        failsafe=failsafe,
    )
    if not fsm.receiver and rates[0]:
        thread.set_idle(0, IDLE_HZ)
    thread.start()
    return thread


def _facts_of(peer: Peer) -> DeviceFacts:
    return DeviceFacts(
        awake=peer.phase is not SettlePhase.ASLEEP,
        heartbeat_ns=peer.beat_ns,
        fault=", ".join(filter(None, (fault_names(peer.faults), peer.refusal))),
        calibration=peer.ended,
        homed=peer.settled,
    )
