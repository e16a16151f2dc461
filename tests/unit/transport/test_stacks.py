"""Stacks that signals ask for are written at most once in each pause."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from transport import stacks


class EnoughError(Exception):
    """Ends the endless wait for signals."""


def test_each_dump_is_followed_by_a_pause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[str] = []

    def wait(numbers: set[signal.Signals]) -> None:
        assert numbers == {signal.SIGUSR1}
        done.append("wait")
        if done.count("wait") == 3:
            raise EnoughError

    monkeypatch.setattr("transport.stacks.signal.sigwait", wait)

    def pause(seconds: float) -> None:
        done.append(f"pause {seconds}")

    monkeypatch.setattr("transport.stacks.time.sleep", pause)
    with (tmp_path / "stacks").open("wb") as shown, pytest.raises(EnoughError):
        stacks._write(shown.fileno())

    assert done == ["wait", "pause 1.0", "wait", "pause 1.0", "wait"]
    assert (tmp_path / "stacks").read_bytes().count(b"Current thread") == 2
