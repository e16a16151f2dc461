"""The streaming threads as a handle: their number, and that they start and stop as often as one likes."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from fastpath.arena.runtime import Runtime
from fastpath.stream.streaming import Streaming
from tests.support.service.polling import eventually


@pytest.mark.parametrize("threads", [0, -1, 9, 2**31 - 1])
def test_number_of_threads_that_cannot_be_is_refused(threads: int) -> None:
    with pytest.raises(ValueError, match="give 1 to 8"):
        Streaming(Runtime(stepping=True), threads=threads)


@pytest.mark.parametrize("threads", [1, 8])
def test_threads_start_and_stop_again(threads: int) -> None:
    streaming = Streaming(Runtime(stepping=True), threads=threads)

    assert streaming.threads == threads
    for _ in range(3):
        streaming.start()
        streaming.start()
        assert streaming.running
        streaming.stop()
        streaming.stop()
        assert not streaming.running
    assert (streaming.messages, streaming.frames) == (0, 0)


def niceness() -> list[int]:
    """Of the streaming threads of this process."""
    tasks = [task for task in Path("/proc/self/task").iterdir() if (task / "comm").read_text().strip() == "hd-stream"]
    return [int((task / "stat").read_text().rsplit(")", 1)[1].split()[16]) for task in tasks]


def test_threads_take_turns_as_everybody_does_while_they_give_way() -> None:
    streaming = Streaming(Runtime(stepping=True), threads=2)
    streaming.start(nice=-3)
    try:
        if resource.getrlimit(resource.RLIMIT_NICE)[0] < 23 and os.geteuid() != 0:
            pytest.skip("no privilege for a negative niceness")
        eventually(lambda: niceness() == [-3, -3], "threads that come first")
        for _ in range(3):
            streaming.give_way(turns=True, rest=False)
            eventually(lambda: niceness() == [0, 0], "threads that give way")
            streaming.give_way(turns=False, rest=False)
            eventually(lambda: niceness() == [-3, -3], "threads that come first")
    finally:
        streaming.stop()
