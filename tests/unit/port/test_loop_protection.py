"""Loop protection counts a port's reconnects in a sliding window: property tests, and the edges of the window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.port.loop_protection import (
    MOST_COUNTED,
    NS_PER_S,
    ReopeningResult,
    Rule,
    count_reopening,
    drop_old,
    mark_dropped,
)
from actors.port.messages import Window
from tests.support.actors.slices import settings_view

RULE = Rule(threshold=5, window_s=10.0, block=True)
RULES = st.builds(Rule, st.integers(1, 20), st.floats(1, 60).map(lambda value: round(value, 3)), st.booleans())
GAPS = st.lists(st.integers(0, 20 * NS_PER_S), min_size=1, max_size=60)


def flap(times: Iterable[int], rule: Rule = RULE, window: Window | None = None) -> list[ReopeningResult]:
    """A port that is open drops and opens again at each of these times, until it is blocked."""
    verdicts = [ReopeningResult(window or Window())]
    for at in times:
        verdicts.append(count_reopening(mark_dropped(verdicts[-1].window), at, rule))
        if verdicts[-1].block:
            break
    return verdicts[1:]


def seconds(*values: float) -> list[int]:
    return [round(value * NS_PER_S) for value in values]


def test_the_settings_give_the_rule() -> None:
    assert Rule.of(settings_view()) == RULE
    chosen = {
        "devices/detection/loop_threshold": 3,
        "devices/detection/loop_window": 20,
        "devices/detection/block_on_loop": False,
    }
    assert Rule.of(settings_view(chosen)) == Rule(3, 20.0, block=False)


def test_the_fifth_loop_within_ten_seconds_begins_one_and_blocks() -> None:
    verdicts = flap(seconds(1, 2, 3, 4, 5, 6))
    assert [(one.began, one.block) for one in verdicts] == [(False, False)] * 4 + [(True, True)]


def test_its_first_time_is_no_loop() -> None:
    assert count_reopening(Window(), 0, replace(RULE, threshold=1)) == ReopeningResult(Window())


def test_what_is_told_twice_counts_once() -> None:
    window = mark_dropped(mark_dropped(Window()))
    once = count_reopening(window, 5, RULE).window
    assert once == Window((5,))
    assert count_reopening(once, 6, RULE).window == once


def test_a_window_is_open_at_its_old_end() -> None:
    assert not flap(seconds(0, 1, 2, 3, 10))[-1].block
    assert flap([*seconds(0, 1, 2, 3), seconds(10)[0] - 1])[-1].block


def test_without_blocking_a_loop_is_said_once_until_it_has_calmed_down() -> None:
    rule = replace(RULE, block=False)
    verdicts = flap(seconds(*range(1, 13), 40, 41, 42, 43, 44), rule)
    assert [index for index, one in enumerate(verdicts, 1) if one.began] == [5, 17]
    assert not any(one.block for one in verdicts)


def test_blocking_that_is_switched_on_during_a_loop_acts_at_the_next_one() -> None:
    window = flap(seconds(1, 2, 3, 4, 5, 6), replace(RULE, block=False))[-1].window
    verdict = count_reopening(mark_dropped(window), 7 * NS_PER_S, RULE)
    assert (verdict.began, verdict.block) == (False, True)


def test_a_lower_threshold_acts_at_the_next_loop_and_a_higher_one_waits_for_more() -> None:
    window = flap(seconds(1, 2, 3))[-1].window
    assert count_reopening(mark_dropped(window), 4 * NS_PER_S, replace(RULE, threshold=2)).block
    assert not flap(seconds(4, 5), replace(RULE, threshold=6), window)[-1].block


def test_a_shorter_window_forgets_at_once() -> None:
    window = flap(seconds(1, 2, 3, 4))[-1].window
    assert count_reopening(mark_dropped(window), 5 * NS_PER_S, replace(RULE, window_s=2.0)).window.reopened_ns == tuple(
        seconds(4, 5)
    )


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_clock_that_jumps_forgets_and_counts_on(jump: float) -> None:
    window = flap(seconds(5000, 5001, 5002, 5003))[-1].window
    after = flap(seconds(5004 + jump, 5005 + jump, 5006 + jump, 5007 + jump, 5008 + jump), window=window)
    assert [one.block for one in after] == [False] * 4 + [True]


def test_what_is_counted_has_a_bound() -> None:
    verdicts = flap(range(3 * MOST_COUNTED), Rule(MOST_COUNTED, 600.0, block=False))
    assert max(len(one.window.reopened_ns) for one in verdicts) == MOST_COUNTED
    assert sum(one.began for one in verdicts) == 1


@given(GAPS, RULES)
def test_it_blocks_exactly_when_a_window_holds_as_many_loops_as_the_threshold(gaps: list[int], rule: Rule) -> None:
    times = [sum(gaps[: index + 1]) for index in range(len(gaps))]
    length = round(rule.window_s * NS_PER_S)

    def too_many(at: int) -> bool:
        return sum(times[at] - length < other <= times[at] for other in times[: at + 1]) >= rule.threshold

    first = next((at for at in range(len(times)) if too_many(at)), None)
    verdicts = flap(times, rule)
    if first is None or not rule.block:
        assert not any(one.block for one in verdicts)
        assert any(one.began for one in verdicts) == (first is not None)
    else:
        assert len(verdicts) == first + 1
        assert (verdicts[-1].began, verdicts[-1].block) == (True, True)


@given(st.integers(1, 100), st.floats(1, 600), st.integers(1, 300))
def test_a_slow_flapper_is_never_blocked(threshold: int, window_s: float, times: int) -> None:
    rule = Rule(threshold + 1, window_s, block=True)
    pause = -(-round(window_s * NS_PER_S) // threshold)
    assert not any(one.block or one.began for one in flap(range(0, times * pause, pause), rule))


@given(st.lists(st.integers(-(10**18), 10**18), max_size=40), st.integers(-(10**18), 10**18), RULES)
def test_only_what_lies_within_the_window_is_kept_whatever_the_clock_did(
    times: list[int], now_ns: int, rule: Rule
) -> None:
    kept = drop_old(Window(tuple(times), dropped=True), now_ns, rule)
    assert kept.dropped
    assert all(0 <= now_ns - at < round(rule.window_s * NS_PER_S) for at in kept.reopened_ns)
    assert drop_old(kept, now_ns, rule) == kept
