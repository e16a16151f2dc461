"""The failsafe process: writes the zero packet of every open port when the service is killed (SIGKILL, out of memory).

It is started before any thread and has a copy of each open port's descriptor. When its socket to the service closes it writes
the packets and ends; ports that were closed properly are forgotten first. The service watches it in turn: another one takes the
place of one that ends or hangs. The service imports this file, the failsafe runs it as a script, so it uses the standard library only.
"""

from __future__ import annotations

import array
import contextlib
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# For the first answer of a process that may still be starting on a busy machine, and for each later one.
START_S: Final = 5.0
REPLY_S: Final = 0.5
CHECK_S: Final = 0.25
END_S: Final = 1.0
# Between starts: nothing at first, then this, doubled up to the longest; nothing again after one that lived for CALM_S.
FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 8.0
CALM_S: Final = 60.0
# Ports that accept nothing for this long are flushed.
ROOM_S: Final = 0.05
WATCH, FORGET, PING, DONE = b"+", b"-", b"?", b"."
MOST: Final = 512
NUMBER_BYTES: Final = 4

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FailsafeChange:
    """The failsafe process was lost, or another one runs."""

    running: bool
    reason: str  # why it was lost; "" when it runs
    ports: int  # open ports that it has, or would have
    restarts: int  # since the service started

    @property
    def sentence(self) -> str:
        """What happened, and what it means."""
        if self.running:
            return f"another failsafe process runs and has {self.ports} open ports"
        return (
            f"the failsafe process is lost ({self.reason}): until another one runs, a service that is killed leaves the last"
            f" force on {self.ports} open ports"
        )


class FailsafeProcess:
    """The service's side. A call returns within REPLY_S, or START_S while the process starts; without a process the service goes on.

    Any thread. `on_change` is called on the thread that noticed, without a lock, and must not wait.
    """

    def __init__(self, *, check_s: float = CHECK_S) -> None:
        """Start the process, and a thread that looks after it every `check_s`."""
        self._lock = threading.Lock()
        self._ports: dict[int, bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._started_s = self._due_s = self._pause_s = 0.0
        self._changes: deque[FailsafeChange] = deque()
        self._look = threading.Event()
        self._closed = False
        self._check_s = check_s
        self.restarts = 0
        self.on_change: Callable[[FailsafeChange], None] = log
        with self._lock:
            self._start()
        self._thread = threading.Thread(target=self._watch, name="hd-failsafe", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """Its process id; None without a failsafe."""
        process = self._process
        return process.pid if process is not None else None

    def watch(self, descriptor: int, zero_packet: bytes) -> None:
        """Let the failsafe write this packet (at most 256 bytes) to the descriptor if the service dies."""
        with self._lock:
            self._ports[descriptor] = zero_packet
            self._try(WATCH, descriptor, zero_packet)
        self._tell()

    def forget(self, descriptor: int) -> None:
        """Let the failsafe close its copy of the descriptor; done when this returns."""
        with self._lock:
            self._ports.pop(descriptor, None)
            self._try(FORGET, descriptor)
        self._tell()

    def close(self) -> None:
        """End the process; ports that it still watches get their zero packet. A second call does nothing."""
        self._closed = True
        self._look.set()
        waited_for = self._socket
        if waited_for is not None:
            # Whoever waits for an answer, with the lock, waits no longer.
            with contextlib.suppress(OSError):
                waited_for.shutdown(socket.SHUT_RD)
        with self._lock:
            process, self._process = self._process, None
            if self._socket is not None:
                self._socket.close()
        self._thread.join(END_S)
        if process is None:
            return
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    # ------------------------------------------------------------ under the lock

    def _start(self) -> None:
        """Start a process and hand it every open port; without success it is lost again."""
        ours, theirs = socket.socketpair()
        ours.settimeout(START_S)
        self._socket = ours
        self._started_s = time.monotonic()
        try:
            # A session of its own: Ctrl-C is for the service.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self._lose(error)
        finally:
            theirs.close()
        for descriptor, packet in self._ports.items():
            self._try(WATCH, descriptor, packet)

    def _try(self, verb: bytes, descriptor: int = 0, packet: bytes = b"") -> None:
        """Say one thing to the process, if there is one, and wait for its answer."""
        if self._process is None or self._socket is None:
            return
        numbers = [descriptor] if verb == WATCH else []
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", numbers))] if numbers else []
        try:
            self._socket.sendmsg([verb + descriptor.to_bytes(NUMBER_BYTES, "little") + packet], rights)
            if self._socket.recv(1) != DONE:
                self._lose(ConnectionResetError("it ended"))
            else:
                self._socket.settimeout(REPLY_S)
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        """End what is left of the process, before its socket closes: it must not write to ports that are in use."""
        if self._closed:
            return
        process, self._process = self._process, None
        reason = "it hangs" if isinstance(error, TimeoutError) else str(error)
        if process is not None:
            code = process.poll()
            reason = reason if code is None else f"it ended with {code}"
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        now_s = time.monotonic()
        calm = now_s - self._started_s >= CALM_S or self.restarts == 0
        self._pause_s = 0.0 if calm else min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
        self._due_s = now_s + self._pause_s
        self._changes.append(
            FailsafeChange(running=False, reason=reason, ports=len(self._ports), restarts=self.restarts)
        )
        self._look.set()

    def _restart(self) -> None:
        self.restarts += 1
        self._start()
        self._try(PING)
        if self._process is not None:
            self._changes.append(
                FailsafeChange(running=True, reason="", ports=len(self._ports), restarts=self.restarts)
            )

    # ------------------------------------------------------------ its thread

    def _watch(self) -> None:
        while True:
            self._look.wait(self._check_s)
            with self._lock:
                if self._closed:
                    return
                self._look.clear()
                self._try(PING)
                if self._process is None and time.monotonic() >= self._due_s:
                    self._restart()
            self._tell()

    def _tell(self) -> None:
        with contextlib.suppress(IndexError):  # also when another thread tells the last one
            while True:
                self.on_change(self._changes.popleft())


def log(change: FailsafeChange) -> None:
    """Log a change."""
    logger.log(logging.WARNING if change.running else logging.ERROR, "%s", change.sentence)


def serve(service: socket.socket) -> None:
    """Run the failsafe until the service's socket closes, then write the packets."""
    ports: dict[bytes, tuple[int, bytes]] = {}
    with contextlib.suppress(OSError):
        while (message := receive(service)) is not None:
            data, descriptor = message
            number = data[1 : 1 + NUMBER_BYTES]
            before = ports.pop(number, None)
            if before is not None:
                os.close(before[0])
            if data[:1] == WATCH and descriptor is not None:
                ports[number] = descriptor, data[1 + NUMBER_BYTES :]
            service.sendall(DONE)
    write_all(list(ports.values()))


def receive(service: socket.socket) -> tuple[bytes, int | None] | None:
    """Return one message and its descriptor; None when the service has ended. One message at a time, each is confirmed."""
    data, rights, _, _ = service.recvmsg(MOST, socket.CMSG_SPACE(array.array("i", [0]).itemsize))
    if not data:
        return None
    numbers = array.array("i")
    for level, kind, content in rights:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(content)
    return data, numbers[0] if numbers else None


def write_all(packets: list[tuple[int, bytes]]) -> None:
    """Write every packet: at once where possible, else within ROOM_S, else after flushing what is queued."""
    left = [(descriptor, rest) for descriptor, packet in packets if (rest := write(descriptor, packet))]
    if not left:
        return
    select.select([], [], [], ROOM_S)
    for descriptor, packet in left:
        if rest := write(descriptor, packet):
            with contextlib.suppress(termios.error):
                termios.tcflush(descriptor, termios.TCOFLUSH)
            write(descriptor, rest)


def write(descriptor: int, packet: bytes) -> bytes:
    """Write what fits. Return the rest of the packet; a port that is gone takes and leaves nothing."""
    try:
        os.set_blocking(descriptor, False)
        return packet[os.write(descriptor, packet) :]
    except BlockingIOError:
        return packet
    except OSError:
        return b""


if __name__ == "__main__":
    for unwanted in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(unwanted, signal.SIG_IGN)
    serve(socket.socket(fileno=0))
