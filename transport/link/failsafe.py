"""The failsafe process: writes the zero packet of every open port when the service is killed (SIGKILL, out of memory).

It is started before any thread and has a copy of each open port's descriptor. When its socket to the service closes it writes
the packets and ends; ports that were closed properly are forgotten first. The service imports this file, the failsafe runs it
as a script, so it uses the standard library only.
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
from typing import Final

# Long for one answer, because the failsafe may still be starting on a busy machine.
REPLY_S: Final = 5.0
END_S: Final = 1.0
# Ports that accept nothing for this long are flushed.
ROOM_S: Final = 0.05
WATCH, FORGET, DONE = b"+", b"-", b"."
MOST: Final = 512
NUMBER_BYTES: Final = 4

logger = logging.getLogger(__name__)


class FailsafeProcess:
    """The service's side. Every call returns within REPLY_S; if the failsafe dies that is logged once and the service goes on."""

    def __init__(self) -> None:
        """Start the process; if that fails there is none."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(REPLY_S)
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

    @property
    def pid(self) -> int | None:
        """Its process id; None without a failsafe."""
        return self._process.pid if self._process is not None else None

    def watch(self, descriptor: int, zero_packet: bytes) -> None:
        """Let the failsafe write this packet (at most 256 bytes) to the descriptor if the service dies."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        self._ask(WATCH, descriptor, zero_packet, rights)

    def forget(self, descriptor: int) -> None:
        """Let the failsafe close its copy of the descriptor; done when this returns."""
        self._ask(FORGET, descriptor, b"", [])

    def close(self) -> None:
        """End the process; ports that it still watches get their zero packet. A second call does nothing."""
        with self._lock:
            self._socket.close()
            process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ask(
        self, verb: bytes, descriptor: int, packet: bytes, rights: list[tuple[int, int, array.array[int]]]
    ) -> None:
        with self._lock:
            if self._process is None:
                return
            try:
                self._socket.sendmsg([verb + descriptor.to_bytes(NUMBER_BYTES, "little") + packet], rights)
                if self._socket.recv(1) != DONE:
                    self._lose(ConnectionResetError("it ended"))
            except OSError as error:
                self._lose(error)

    def _lose(self, error: OSError) -> None:
        logger.error("no failsafe process (%s): a service that is killed leaves the last force on its ports", error)
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()


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
