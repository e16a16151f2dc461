"""A service under a service manager: ready, beats while all turns, none when the loop or the main thread stands still, stopping."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.process import RunningService

WATCHDOG_S = 2.0
# Longer than any beat is late on a busy machine, and far longer than the half of the period at which they come.
SILENCE_S = 5 * WATCHDOG_S

# Starts hapticd; when the file appears, the part of the service that it names stands still.
START = """
import asyncio, sys, threading, time
from pathlib import Path
import actors.system as system_module
from transport import main

wanted = Path(sys.argv.pop(1))
made = []
build = system_module.System.__init__

def remember(self, *arguments, **named):
    build(self, *arguments, **named)
    made.append((self, asyncio.get_running_loop()))

system_module.System.__init__ = remember

def wait():
    while not wanted.exists() or not wanted.read_text():
        time.sleep(0.01)
    system, loop = made[0]
    if wanted.read_text() == "loop":
        system.runtime.stop()
    else:
        loop.call_soon_threadsafe(threading.Event().wait)

threading.Thread(target=wait, daemon=True).start()
sys.exit(main.main())
"""


class Manager:
    """The socket of a service manager, and what it was told."""

    def __init__(self, path: Path) -> None:
        self.address = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.address)

    def told(self, timeout_s: float = 30.0) -> str | None:
        """The next message; None after a time without one."""
        self.socket.settimeout(timeout_s)
        try:
            return self.socket.recv(4096).decode()
        except TimeoutError:
            return None

    def next_but_beats(self) -> str | None:
        """The next message that is no beat."""
        while (told := self.told()) == "WATCHDOG=1":
            pass
        return told


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    made = Manager(tmp_path / "notify")
    with made.socket:
        yield made


def environment(manager: Manager) -> dict[str, str]:
    return {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6))}


def test_manager_is_told_ready_beats_and_stopping(manager: Manager) -> None:
    with RunningService(environment=environment(manager)) as service:
        ready = manager.next_but_beats()
        assert [manager.told() for _ in range(3)] == ["WATCHDOG=1"] * 3
        assert service.stop() == 0
        stopping = manager.next_but_beats()

    assert ready is not None
    assert ready.startswith(f"READY=1\nSTATUS=ready {service.http} ")
    assert stopping == "STOPPING=1\nSTATUS=stopping: zero force"
    assert manager.told(0.1) is None, "nothing comes behind"


def test_without_a_watchdog_there_are_no_beats(manager: Manager) -> None:
    with RunningService(environment={"NOTIFY_SOCKET": manager.address}):
        assert str(manager.told()).startswith("READY=1\n")
        assert manager.told(WATCHDOG_S) is None


@pytest.mark.parametrize(("part", "words"), [("loop", "the control loop"), ("main", "the main thread")])
def test_beats_end_when_a_part_stands_still(part: str, words: str, manager: Manager, tmp_path: Path) -> None:
    wish = tmp_path / "wish"
    command = [sys.executable, "-c", START, str(wish)]
    with RunningService(command=command, environment=environment(manager)) as service:
        assert str(manager.next_but_beats()).startswith("READY=1\n")
        assert manager.told() == "WATCHDOG=1"

        wish.write_text(part, encoding="ascii")

        beats = 0
        while manager.told(SILENCE_S) is not None:
            beats += 1
            assert beats < 10, "the beats go on"
        # What systemd does then: SIGABRT, at which the service writes its stacks and zero force.
        service.process.send_signal(signal.SIGABRT)
        assert service.wait() == -signal.SIGABRT

    assert f"no beat for the watchdog of the service manager: {words} stands still" in service.log
