"""Sleep of an asyncio loop with the resolution of the system: selectors round up to a millisecond, which is a turn at 1 kHz."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from contextlib import suppress
from typing import Final

CLOCK_MONOTONIC: Final = 1
FLAGS: Final = os.O_NONBLOCK | os.O_CLOEXEC if hasattr(os, "O_CLOEXEC") else 0
SPIN_S: Final = 0.0015


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Time), ("value", _Time))


class Timer:
    """Sleeps of one task; a timer of the kernel on Linux, elsewhere the loop's own with turns of the loop at the end."""

    def __init__(self) -> None:
        self._descriptor = -1
        self._waiter: asyncio.Future[None] | None = None
        if sys.platform == "linux":
            with suppress(OSError, AttributeError):
                libc = ctypes.CDLL(None, use_errno=True)
                self._set = libc.timerfd_settime
                self._descriptor = libc.timerfd_create(CLOCK_MONOTONIC, FLAGS)
        if self._descriptor >= 0:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._descriptor, self._fired)

    async def sleep(self, seconds: float) -> None:
        """Sleep for so many seconds."""
        if self._descriptor < 0:
            if seconds > SPIN_S:
                await asyncio.sleep(seconds - SPIN_S)
            else:
                await asyncio.sleep(0)
            return
        whole = int(seconds)
        setting = _Setting(_Time(0, 0), _Time(whole, max(1, int((seconds - whole) * 1e9))))
        self._waiter = self._loop.create_future()
        self._set(self._descriptor, 0, ctypes.byref(setting), None)
        try:
            await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Close the timer."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def _fired(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._descriptor, 8)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
