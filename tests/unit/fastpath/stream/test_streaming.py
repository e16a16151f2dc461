"""The streaming threads as a handle: their number, and that they start and stop as often as one likes."""

from __future__ import annotations

import pytest

from fastpath.arena.runtime import Runtime
from fastpath.stream.streaming import Streaming


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
