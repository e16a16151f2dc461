"""Signals that end the service: recorded from the start of the process, before there is an event loop, ignored after its end.

asyncio's own handlers are not used: removing one restores the signal's default action for a moment, in which a second Ctrl-C
would kill the process. A handler may run between any two steps of the main thread, so it only sets a flag: an asyncio.Event
that is set while a task begins to wait for it wakes nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Final

# Signals whose default action ends the process without zero force; not those of a crash, nor those with another use.
ENDING: Final = tuple(
    signal.Signals[name]
    for name in (
        "SIGINT",
        "SIGTERM",
        "SIGQUIT",
        "SIGUSR2",
        "SIGALRM",
        "SIGVTALRM",
        "SIGPROF",
        "SIGXCPU",
        "SIGPOLL",
        "SIGPWR",
    )
    if name in signal.Signals.__members__
)
HANG_UP: Final = signal.SIGHUP
# The action alone, without what Python remembers of it.
_SET_ACTION: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
    ("PyOS_setsig", ctypes.pythonapi)
)
MOST_AT_ONCE: Final = 4096


class Signals:
    """Main thread only; `stop` is set on the event loop after the first signal of ENDING, further ones change nothing."""

    def __init__(self) -> None:
        """Record signals instead of ending the process; SIGHUP does nothing."""
        self.stop = asyncio.Event()
        self._noted = False
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.settimeout(0)
        for number in ENDING:
            signal.signal(number, self._note)
        signal.signal(HANG_UP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*ENDING, HANG_UP})

    def wake(self, loop: asyncio.AbstractEventLoop, hang_up: Callable[[], None]) -> None:
        """Let signals wake `loop`; SIGHUP calls `hang_up` there."""
        loop.add_reader(self._reader, self._woken, hang_up)
        # Many signals fill the pair while the loop is busy. CPython would report that from inside its handler, under a
        # lock that the next signal's handler waits for: for ever.
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        signal.signal(HANG_UP, _pass)
        if self._noted:
            self.stop.set()

    def ignore(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ignore further signals, so that they do not change the exit code; call `forget` afterwards."""
        # In the kernel only: Python complains of a signal that comes between its last look and its taking the handler away.
        for number in (*ENDING, HANG_UP):
            _SET_ACTION(number, signal.SIG_IGN)
        # Still without the report of a full pair: a handler that found it full asks only then whether to report that.
        signal.set_wakeup_fd(-1, warn_on_full_buffer=False)
        loop.remove_reader(self._reader)
        # The pair stays open: another thread may be inside the C handler, about to write.
        self._reader.detach()
        self._writer.detach()

    def forget(self) -> None:
        """Remove Python's handlers, so that the interpreter's exit does not restore default actions; call it after the last thread's end.

        A thread inside the C handler would otherwise leave a signal without a handler, about which Python complains.
        """
        for number in (*ENDING, HANG_UP):
            signal.signal(number, signal.SIG_IGN)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._noted = True

    def _woken(self, hang_up: Callable[[], None]) -> None:
        numbers = self._reader.recv(MOST_AT_ONCE)
        # The flag, not the number: with many signals a number may be missing.
        if self._noted:
            self.stop.set()
        if HANG_UP in numbers:
            hang_up()


def _pass(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the bytes on the wake-up socket carry the signal, because handlers of many signals nest."""
