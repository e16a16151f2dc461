"""Write lines to a standard stream on a thread of its own, so that nobody waits for whoever reads them.

A terminal held by Ctrl-S, a pager or a supervisor that hangs leaves a pipe full, and a write to it waits for ever.
"""

from __future__ import annotations

import os
import select
import socket
import stat
import struct
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

MOST_LINES: Final = 1_000
MOST_BYTES: Final = 1024 * 1024
END_S: Final = 0.2
SOCKET_WAIT_US: Final = 100_000
THREAD: Final = "hd-log"


class LineWriter:
    """Lines for one descriptor. `put` and `end` are for one thread at a time; neither waits, but `end` for END_S at most."""

    def __init__(self, descriptor: int, notice: Callable[[int], str] | None = None) -> None:
        """`notice` returns the line that says how many lines were dropped."""
        self._descriptor = descriptor
        self._notice = notice
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._put_lines = self._put_bytes = 0
        self._done_lines = self._done_bytes = 0  # of the thread
        self._told = 0  # of the thread
        self.dropped = 0

    def put(self, line: str) -> None:
        """Have the line written; drop and count it while MOST_LINES or MOST_BYTES wait."""
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        lines, waiting = self._put_lines - self._done_lines, self._put_bytes - self._done_bytes
        if lines >= MOST_LINES or (lines and waiting + len(data) > MOST_BYTES):
            self.dropped += 1
            return
        self._put_lines += 1
        self._put_bytes += len(data)
        self._queue.put(data)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
            self._thread.start()

    def end(self, within_s: float = END_S) -> None:
        """Return once all lines are written, or after `within_s`; the rest is lost."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(within_s)

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            self._write(data)
            self._done_bytes += len(data)
            self._done_lines += 1
            if self.dropped > self._told and self._notice is not None:
                dropped, self._told = self.dropped - self._told, self.dropped
                self._write(f"{self._notice(dropped)}\n".encode("utf-8", "backslashreplace"))

    def _write(self, data: bytes) -> None:
        """Write all of it, however long that takes; drop it where the stream has gone."""
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                # Another program made the terminal non-blocking.
                with suppress(OSError, ValueError):
                    select.select([], [self._descriptor], [])
            except OSError:
                return


def writer_of(stream: TextIO | None, notice: Callable[[int], str] | None = None) -> LineWriter | None:
    """Return a writer for a standard stream; None where there is none, or none of the system."""
    try:
        return None if stream is None else LineWriter(stream.fileno(), notice)
    except (OSError, ValueError):
        return None


def say(stream: TextIO, line: str) -> None:
    """Write one last line to a standard stream; lose it after END_S when nobody reads the stream."""
    writer = writer_of(stream)
    if writer is None:
        stream.write(f"{line}\n")
    else:
        stream.flush()
        writer.put(line)
        writer.end()


def never_waiting(descriptor: int) -> int:
    """Return a descriptor of the same stream for a signal handler: writes to it do not wait, and lose what does not fit.

    For a socket they wait SOCKET_WAIT_US at most. The same descriptor where the system has no other way.
    """
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISSOCK(kind):
            with socket.socket(fileno=os.dup(descriptor)) as stream:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, SOCKET_WAIT_US))
            return descriptor
        if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind):
            return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        pass
    return descriptor
