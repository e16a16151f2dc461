"""`make run` stands behind ops/foreground.py: Ctrl-C on a terminal must reach the service alone and give its exit code."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "ops" / "foreground.py"
CHILD = """
import signal
wanted = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("up", flush=True)
print("caught", signal.Signals(signal.sigwait(wanted)).name, flush=True)
raise SystemExit(EXIT_CODE)
"""


def on_terminal(exit_code: int, act: Callable[[int, int], object]) -> tuple[int, str]:
    """Exit code and output of the script with a child on a new terminal; `act` gets (pid, terminal) once the child is up."""
    child = CHILD.replace("EXIT_CODE", str(exit_code))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, str(SCRIPT), sys.executable, "-c", child])
    shown = b""
    acted = False
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        shown += chunk
        if not acted and b"up" in shown:
            acted = True
            act(pid, terminal)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), shown.decode()


@pytest.mark.parametrize("exit_code", [0, 7])
def test_ctrl_c_gives_the_exit_code_of_the_command(exit_code: int) -> None:
    code, shown = on_terminal(exit_code, lambda _, terminal: os.write(terminal, b"\x03"))

    assert "caught SIGINT" in shown
    assert code == exit_code


def test_a_signal_sent_to_the_script_reaches_the_command() -> None:
    code, shown = on_terminal(0, lambda pid, _: os.kill(pid, signal.SIGTERM))

    assert "caught SIGTERM" in shown
    assert code == 0


def test_without_a_terminal_the_exit_code_is_the_commands_too() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), sys.executable, "-c", "raise SystemExit(5)"],
        stdin=subprocess.DEVNULL,
        check=False,
    )

    assert done.returncode == 5


def test_a_command_that_a_signal_ended_gives_128_and_its_number() -> None:
    child = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, str(SCRIPT), sys.executable, "-c", child])
    _, status = os.waitpid(pid, 0)
    os.close(terminal)

    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGKILL
