"""`python -m tests.emulators` with boards: it prints their ports and executes the typed commands."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.service.polling import eventually


def by_hand(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.emulators", *words]
    return subprocess.run(command, input=typed, capture_output=True, text=True, check=False)


def test_boards_print_their_ports_and_obey_commands() -> None:
    done = by_hand("arm", "grip:B7", typed="set 1 0 attached 0\nget 0 0\nset 0 0 nothing 1\nfly 0\n")

    first, second, _, ready, attached, seen, control, verb = done.stdout.splitlines()
    assert done.returncode == 0
    assert first.startswith("arm:A000 will be at /")
    assert second.startswith("grip:B7 will be at /")
    assert (ready, attached, control, verb) == ("ready", "done", "no such control", "no such command")
    assert json.loads(seen)["motor"] == [0, 0, 0]


def test_invalid_board_is_reported() -> None:
    done = by_hand("arm", "toaster")

    assert done.returncode == 2
    assert "toaster:X is no board" in done.stderr


@pytest.mark.parametrize("redirected", ["</dev/null", "<&-"], ids=["null", "closed"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_boards_run_without_standard_input_until_they_are_ended(redirected: str, number: signal.Signals) -> None:
    command = f"exec {sys.executable} -m tests.emulators grip {redirected}"
    with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        where, note, ready = (running.stdout.readline() for _ in range(3))
        port = Path(where.removeprefix("grip:6000 will be at ").strip())
        assert (note.endswith("kill it to end it.\n"), ready) == (True, "ready\n")
        (boards,) = psutil.Process(running.pid).children()
        # Boards that run are woken a thousand times a second.
        eventually(lambda: boards.num_ctx_switches().voluntary > 100, "the boards run")
        assert port.exists()
        running.send_signal(number)
        _, errors = running.communicate(timeout=60)

    assert (running.returncode, errors) == (0, "")
    assert not port.exists()
