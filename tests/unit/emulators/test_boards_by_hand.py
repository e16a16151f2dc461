"""Emulated boards started by hand say where they are and do what is typed."""

from __future__ import annotations

import json
import subprocess
import sys


def by_hand(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.emulators", *words]
    return subprocess.run(command, input=typed, capture_output=True, text=True, check=False)


def test_boards_say_where_they_are_and_obey() -> None:
    done = by_hand("arm", "grip:B7", typed="set 1 0 attached 0\nget 0 0\nset 0 0 nothing 1\nfly 0\n")

    first, second, _, ready, attached, seen, knob, verb = done.stdout.splitlines()
    assert done.returncode == 0
    assert first.startswith("arm:A000 will be at /")
    assert second.startswith("grip:B7 will be at /")
    assert (ready, attached, knob, verb) == ("ready", "done", "no such knob", "no such wish")
    assert json.loads(seen)["motor"] == [0, 0, 0]


def test_what_is_no_board_is_told() -> None:
    done = by_hand("arm", "toaster")

    assert done.returncode == 2
    assert "toaster:X is no board" in done.stderr
