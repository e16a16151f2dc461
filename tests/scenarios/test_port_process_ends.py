"""However a process with an open port ends, its board, which has no watchdog, gets zero torque."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.boards.port_board import Board
from tests.support.service.polling import eventually

ROOT = Path(__file__).parents[2]
SEGV = "import ctypes; ctypes.string_at(8)"
# What a machine that is busy with other things may take; tests/soak has the bound that holds.
BOUND_S = 10.0


def speak(process: subprocess.Popen[str]) -> None:
    process.communicate("go\n")


def strike(number: signal.Signals) -> Callable[[subprocess.Popen[str]], None]:
    """Send a signal from outside."""
    return lambda process: process.send_signal(number)


@pytest.fixture
def board() -> Iterator[Board]:
    made = Board()
    made.start()
    yield made
    made.close()


def seconds_to_zero(board: Board, way: str, end: Callable[[subprocess.Popen[str]], None]) -> tuple[float, int]:
    """How long after the end the last torque was zero, by the board's own clock; and the guard's process, which is over by then."""
    command = [sys.executable, "-m", "tests.support.boards.port_process", str(board.port), way]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        pass_fds=[board.port],
    ) as process:
        os.close(board.port)
        assert process.stdout is not None
        guard = int(process.stdout.readline())
        eventually(lambda: any(any(torque) for torque in board.torques[-1:]), "the board feels a torque", pause_s=0.002)
        begun = time.monotonic()
        end(process)
        process.wait(60)
    eventually(lambda: not Path(f"/proc/{guard}").exists(), "the guard is over", pause_s=0.002)
    eventually(lambda: not any(board.torques[-1]), "the board is at zero", pause_s=0.002)
    return board.stamps[-1] - begun, guard


def kill_with_its_guard(process: subprocess.Popen[str]) -> None:
    """Kill the guard, and the process once it has another one."""
    parent = psutil.Process(process.pid)
    (guard,) = parent.children()
    guard.kill()
    eventually(
        lambda: [child for child in parent.children() if child.pid != guard.pid and waits(child, parent)],
        "another guard",
        pause_s=0.005,
    )
    process.kill()


def waits(guard: psutil.Process, parent: psutil.Process) -> bool:
    """Whether a guard has been given its port; before it runs its own program it is a copy of its parent, which has the port too."""
    try:
        own = guard.cmdline() != parent.cmdline()
        return own and any(entry.readlink().name.isdigit() for entry in Path(f"/proc/{guard.pid}/fd").iterdir())
    except (OSError, psutil.Error):
        return False


@pytest.mark.parametrize(
    ("way", "end"),
    [
        ("close", speak),
        ("pass", strike(signal.SIGTERM)),
        (SEGV, speak),
        (f"threading.Thread(target=lambda: exec({SEGV!r})).start()", speak),
        ("pass", strike(signal.SIGKILL)),
        ("pass", kill_with_its_guard),
    ],
    ids=["closed", "SIGTERM", "SIGSEGV", "SIGSEGV in a thread", "SIGKILL", "SIGKILL behind the guard's"],
)
def test_board_is_at_zero_and_no_process_is_left(
    board: Board, way: str, end: Callable[[subprocess.Popen[str]], None]
) -> None:
    seconds, _ = seconds_to_zero(board, way, end)

    assert seconds < BOUND_S
