"""Pseudo-terminal with an emulated device at its far end; the driver opens it like any serial port.

The emulator runs in a thread of the process that made it, so that a test reads it directly; `python -m tests.emulators` gives it
a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

IDLE_S: Final = 0.002
READ_BYTES: Final = 4096


class Device(Protocol):
    """What is behind the port."""

    def feed(self, data: bytes) -> bytes:
        """Take bytes of the host and give the answer."""
        ...

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        ...


class PtyPort:
    """Context manager: inside, `path` can be opened and the device answers; with `link`, under that name as well."""

    def __init__(self, device: Device, *, link: Path | None = None) -> None:
        self.device = device
        self.received = 0
        self.last: bytes = b""
        # When the newest answer began to be sent.
        self.answered_ns = 0
        self._link = link
        self._lock = threading.Lock()
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._tty = os.ttyname(self._slave)
        self._wake_out, self._wake_in = os.pipe()
        self._running = threading.Event()
        self._running.set()
        self._ended = False
        if link is not None:
            link.unlink(missing_ok=True)
            link.symlink_to(self._tty)
        self._thread = threading.Thread(target=self._serve, name="emulator", daemon=True)
        self._thread.start()

    @property
    def path(self) -> str:
        """Path to open."""
        return self._tty if self._link is None else str(self._link)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unplug()

    def freeze(self) -> None:
        """Pause the device: it reads nothing and answers nothing, motors stay on."""
        with self._lock:
            self._running.clear()

    def thaw(self) -> None:
        """Resume the device; it handles the bytes received meanwhile."""
        self._running.set()
        os.write(self._wake_in, b"\0")

    def send(self, data: bytes) -> None:
        """Send unsolicited bytes to the host."""
        with self._lock:
            os.write(self._master, data)

    def unplug(self) -> None:
        """Remove the port; a second call does nothing."""
        if self._ended:
            return
        self._ended = True
        self.thaw()
        self._thread.join()
        for descriptor in (self._master, self._slave, self._wake_in, self._wake_out):
            os.close(descriptor)
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    def _serve(self) -> None:
        before = time.monotonic()
        while not self._ended:
            self._running.wait()
            ready, _, _ = select.select((self._master, self._wake_out), (), (), IDLE_S)
            if self._wake_out in ready:
                os.read(self._wake_out, READ_BYTES)
            with self._lock:
                if not self._running.is_set():
                    continue
                now = time.monotonic()
                self.device.advance(min(now - before, 0.05))
                before = now
                if self._master in ready:
                    self._answer()

    def _answer(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            data = os.read(self._master, READ_BYTES)
            self.received += len(data)
            self.last = data
            answer = self.device.feed(data)
            if answer:
                self.answered_ns = time.monotonic_ns()
                os.write(self._master, answer)
