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
from tests.support.actors.doubles import settings_view

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


def test_rule_is_read_from_the_settings() -> None:
    assert Rule.of(settings_view()) == RULE
    chosen = {
        "devices/detection/loop_threshold": 3,
        "devices/detection/loop_window": 20,
        "devices/detection/block_on_loop": False,
    }
    assert Rule.of(settings_view(chosen)) == Rule(3, 20.0, block=False)


def test_fifth_loop_within_ten_seconds_blocks() -> None:
    verdicts = flap(seconds(1, 2, 3, 4, 5, 6))
    assert [(one.began, one.block) for one in verdicts] == [(False, False)] * 4 + [(True, True)]


def test_first_connection_is_no_loop() -> None:
    assert count_reopening(Window(), 0, replace(RULE, threshold=1)) == ReopeningResult(Window())


def test_duplicate_report_counts_once() -> None:
    window = mark_dropped(mark_dropped(Window()))
    once = count_reopening(window, 5, RULE).window
    assert once == Window((5,))
    assert count_reopening(once, 6, RULE).window == once


def test_window_excludes_its_oldest_edge() -> None:
    assert not flap(seconds(0, 1, 2, 3, 10))[-1].block
    assert flap([*seconds(0, 1, 2, 3), seconds(10)[0] - 1])[-1].block


def test_unblocked_loop_is_reported_once_until_calm() -> None:
    rule = replace(RULE, block=False)
    verdicts = flap(seconds(*range(1, 13), 40, 41, 42, 43, 44), rule)
    assert [index for index, one in enumerate(verdicts, 1) if one.began] == [5, 17]
    assert not any(one.block for one in verdicts)


def test_blocking_enabled_during_a_loop_applies_to_the_next_one() -> None:
    window = flap(seconds(1, 2, 3, 4, 5, 6), replace(RULE, block=False))[-1].window
    verdict = count_reopening(mark_dropped(window), 7 * NS_PER_S, RULE)
    assert (verdict.began, verdict.block) == (False, True)


def test_lower_threshold_applies_to_the_next_loop_and_a_higher_one_waits() -> None:
    window = flap(seconds(1, 2, 3))[-1].window
    assert count_reopening(mark_dropped(window), 4 * NS_PER_S, replace(RULE, threshold=2)).block
    assert not flap(seconds(4, 5), replace(RULE, threshold=6), window)[-1].block


def test_shorter_window_forgets_at_once() -> None:
    window = flap(seconds(1, 2, 3, 4))[-1].window
    assert count_reopening(mark_dropped(window), 5 * NS_PER_S, replace(RULE, window_s=2.0)).window.reopened_ns == tuple(
        seconds(4, 5)
    )


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_clock_jump_forgets_and_continues(jump: float) -> None:
    window = flap(seconds(5000, 5001, 5002, 5003))[-1].window
    after = flap(seconds(5004 + jump, 5005 + jump, 5006 + jump, 5007 + jump, 5008 + jump), window=window)
    assert [one.block for one in after] == [False] * 4 + [True]


def test_number_of_stored_times_is_bounded() -> None:
    verdicts = flap(range(3 * MOST_COUNTED), Rule(MOST_COUNTED, 600.0, block=False))
    assert max(len(one.window.reopened_ns) for one in verdicts) == MOST_COUNTED
    assert sum(one.began for one in verdicts) == 1


@given(GAPS, RULES)
def test_blocks_exactly_when_a_window_has_threshold_loops(gaps: list[int], rule: Rule) -> None:
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
def test_slow_reconnects_never_block(threshold: int, window_s: float, times: int) -> None:
    rule = Rule(threshold + 1, window_s, block=True)
    pause = -(-round(window_s * NS_PER_S) // threshold)
    assert not any(one.block or one.began for one in flap(range(0, times * pause, pause), rule))


@given(st.lists(st.integers(-(10**18), 10**18), max_size=40), st.integers(-(10**18), 10**18), RULES)
def test_only_times_within_the_window_are_kept_for_any_clock(times: list[int], now_ns: int, rule: Rule) -> None:
    kept = drop_old(Window(tuple(times), dropped=True), now_ns, rule)
    assert kept.dropped
    assert all(0 <= now_ns - at < round(rule.window_s * NS_PER_S) for at in kept.reopened_ns)
    assert drop_old(kept, now_ns, rule) == kept
