"""ops/foreground.py, used by `make run`: Ctrl-C reaches only the service, and its exit code is returned."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service.terminal import CTRL_C, on_terminal

SCRIPT = Path(__file__).parents[3] / "ops" / "foreground.py"
CHILD = """
import signal
wanted = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("up", flush=True)
print("caught", signal.Signals(signal.sigwait(wanted)).name, flush=True)
raise SystemExit(EXIT_CODE)
"""


def child(exit_code: int) -> list[str]:
    return [sys.executable, str(SCRIPT), sys.executable, "-c", CHILD.replace("EXIT_CODE", str(exit_code))]


@pytest.mark.parametrize("exit_code", [0, 7])
def test_ctrl_c_returns_the_command_s_exit_code(exit_code: int) -> None:
    code, shown = on_terminal(child(exit_code), "up", lambda _, keyboard: os.write(keyboard, CTRL_C))

    assert "caught SIGINT" in shown
    assert code == exit_code


def test_a_signal_sent_to_the_script_reaches_the_command() -> None:
    code, shown = on_terminal(child(0), "up", lambda pid, _: os.kill(pid, signal.SIGTERM))

    assert "caught SIGTERM" in shown
    assert code == 0


def test_exit_code_is_the_command_s_without_a_terminal() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), sys.executable, "-c", "raise SystemExit(5)"],
        stdin=subprocess.DEVNULL,
        check=False,
    )

    assert done.returncode == 5


def test_terminal_of_another_job_is_left_unchanged() -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, str(SCRIPT), sys.executable, "-c", "raise SystemExit(5)"],
        stdin=theirs,
        capture_output=True,
        start_new_session=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)

    assert (done.returncode, done.stderr) == (5, b"")


def test_command_ended_by_a_signal_returns_128_plus_its_number() -> None:
    command = [sys.executable, str(SCRIPT), sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]

    code, _ = on_terminal(command, "never said", lambda _pid, _keyboard: None)

    assert code == 128 + signal.SIGKILL
