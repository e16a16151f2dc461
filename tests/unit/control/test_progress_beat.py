"""The beat for the watchdog: at half of its period, and none while the control loop or the main thread stands still."""

from __future__ import annotations

import logging

import pytest

from actors.control.progress_beat import ProgressBeat
from fastpath.arena.runtime import Runtime

PERIOD_S = 2.0
TICKS = 4  # in a millisecond


class BeatRig:
    """A beat over a stepped loop and a main thread that turns when it is told to."""

    def __init__(self) -> None:
        self.runtime = Runtime(stepping=True, realtime=False)
        self.main_turns = 0
        self.taken = True
        self.beats_ms: list[int] = []
        self.ms = 0
        self.beat = ProgressBeat(
            PERIOD_S, self._send, self.runtime, lambda: self.main_turns, lambda: self.ms * 1_000_000
        )

    def pass_ms(self, ms: int, *, loop: bool = True, main: bool = True) -> list[int]:
        """Time passes, with a look every 10 ms; when beats were sent meanwhile (ms since the start)."""
        before = len(self.beats_ms)
        for _ in range(ms // 10):
            self.ms += 10
            if loop:
                self.runtime.step(10 * TICKS)
            if main:
                self.main_turns += 1
            self.beat.poll()
        return self.beats_ms[before:]

    def _send(self) -> bool:
        if self.taken:
            self.beats_ms.append(self.ms)
        return self.taken


def test_healthy_service_beats_at_half_of_the_period() -> None:
    assert BeatRig().pass_ms(5_000) == [1_000, 2_000, 3_000, 4_000, 5_000]


@pytest.mark.parametrize(("loop", "main"), [(False, True), (True, False), (False, False)])
def test_no_beat_while_the_loop_or_the_main_thread_stands_still(loop: bool, main: bool) -> None:
    rig = BeatRig()
    rig.pass_ms(1_000)

    assert rig.pass_ms(20_000, loop=loop, main=main) == []


def test_no_beat_before_both_have_turned_for_the_first_time() -> None:
    assert BeatRig().pass_ms(5_000, loop=False) == []
    assert BeatRig().pass_ms(5_000, main=False) == []


def test_beats_go_on_at_once_when_what_stood_still_turns_again() -> None:
    rig = BeatRig()
    rig.pass_ms(1_000)
    rig.pass_ms(1_500, main=False)

    assert rig.pass_ms(1_100) == [2_510, 3_510]


def test_ticks_that_are_left_out_on_request_count_as_turns() -> None:
    rig = BeatRig()
    rig.pass_ms(1_000)
    rig.ms += 1_000
    rig.main_turns += 1
    rig.runtime.step(1, missed=4_000)
    rig.beat.poll()

    assert rig.beats_ms == [1_000, 2_000]


@pytest.mark.parametrize(
    ("loop", "main", "words"),
    [
        (False, True, "the control loop stands still"),
        (True, False, "the main thread stands still"),
        (True, True, "its socket takes none"),
    ],
)
def test_missing_beat_is_one_line_that_names_the_cause(
    loop: bool, main: bool, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    rig = BeatRig()
    rig.pass_ms(1_000)
    rig.taken = not (loop and main)
    with caplog.at_level(logging.ERROR):
        rig.pass_ms(1_490, loop=loop, main=main)
        assert caplog.records == []
        rig.pass_ms(5_000, loop=loop, main=main)

    (line,) = [record.getMessage() for record in caplog.records]
    assert line.endswith(words)


def test_slow_start_is_no_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        BeatRig().pass_ms(60_000, loop=False)

    assert caplog.records == []
