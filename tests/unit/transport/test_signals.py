"""Signals that end the service are never lost, whenever they arrive; each test uses its own process."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

TIMEOUT_S: Final = 60.0
HEAD: Final = """
import asyncio, os, signal
from transport.signals import ENDING, Signals

def sent(*numbers):
    for number in numbers:
        os.kill(os.getpid(), number)

signals = Signals()
"""
BEFORE: Final = """
sent(signal.SIGTERM)
async def main():
    signals.wake(asyncio.get_running_loop(), lambda: None)
    await signals.stop.wait()
"""
WHILE_IT_BEGINS_TO_WAIT: Final = """
async def main():
    loop = asyncio.get_running_loop()
    signals.wake(loop, lambda: None)
    plain = loop.create_future
    def interrupted():
        loop.create_future = plain
        sent(signal.SIGINT)
        return plain()
    loop.create_future = interrupted
    await signals.stop.wait()
"""
WHILE_IT_WAITS: Final = """
async def main():
    loop = asyncio.get_running_loop()
    signals.wake(loop, lambda: None)
    loop.call_soon(lambda: loop.call_soon(sent, signal.SIGINT))
    await signals.stop.wait()
"""
AMONG_MANY: Final = """
async def main():
    loop = asyncio.get_running_loop()
    heard = []
    signals.wake(loop, lambda: heard.append(1))
    sent(*[signal.SIGHUP] * 5000, signal.SIGTERM, *[signal.SIGHUP] * 5000)
    await signals.stop.wait()
    assert heard
"""
TOO_LATE: Final = """
import ctypes

async def main():
    loop = asyncio.get_running_loop()
    signals.wake(loop, lambda: None)
    signals.ignore(loop)
    sent(*[signal.SIGTERM, signal.SIGHUP] * 100)
    await asyncio.sleep(0)
    assert not signals.stop.is_set() and not signals._noted
    # What a thread does that stood inside the C handler when the kernel was told.
    ctypes.pythonapi.PyErr_SetInterruptEx(signal.SIGTERM)
    assert signals._noted
"""


@pytest.mark.parametrize(
    "story",
    [BEFORE, WHILE_IT_BEGINS_TO_WAIT, WHILE_IT_WAITS, AMONG_MANY, TOO_LATE],
    ids=["before there is a loop", "while the loop begins to wait", "while it waits", "among many others", "too late"],
)
def test_signal_ends_the_waiter_and_later_signals_do_nothing(story: str) -> None:
    script = f"{HEAD}{story}\nasyncio.run(main())\nsignals.forget()\nsent(*ENDING)\nprint('stopped')\n"

    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\n", "")
