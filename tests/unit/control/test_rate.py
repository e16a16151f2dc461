"""Stages of the loop's rate: low below 90 %, critical below 50 %, with 5 % hysteresis."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.control.messages import LoopCounters, LoopFacts, RateStage
from actors.control.rate import measured_hz, rate_event, rate_stage
from tests.unit.control.counter_samples import counters

ENOUGH, LOW, CRITICAL = RateStage.ENOUGH, RateStage.LOW, RateStage.CRITICAL


@pytest.mark.parametrize(
    ("before", "share", "after"),
    [
        (ENOUGH, 1.0, ENOUGH),
        (ENOUGH, 0.90, ENOUGH),
        (ENOUGH, 0.8999, LOW),
        (ENOUGH, 0.50, LOW),
        (ENOUGH, 0.4999, CRITICAL),
        (ENOUGH, 0.0, CRITICAL),
        (LOW, 0.9499, LOW),
        (LOW, 0.951, ENOUGH),
        (LOW, 0.51, LOW),
        (LOW, 0.49, CRITICAL),
        (CRITICAL, 0.549, CRITICAL),
        (CRITICAL, 0.551, LOW),
        (CRITICAL, 0.949, LOW),
        (CRITICAL, 0.951, ENOUGH),
    ],
)
def test_stage_follows_the_measured_rate(before: RateStage, share: float, after: RateStage) -> None:
    assert rate_stage(before, share) is after


@given(st.sampled_from(RateStage), st.floats(0, 2), st.floats(0, 2))
def test_a_better_rate_is_never_a_worse_stage(before: RateStage, one: float, other: float) -> None:
    assert rate_stage(before, max(one, other)) <= rate_stage(before, min(one, other))


@given(st.sampled_from(RateStage), st.floats(0, 2))
def test_the_same_rate_again_changes_nothing(before: RateStage, share: float) -> None:
    once = rate_stage(before, share)
    assert rate_stage(once, share) is once


BEGAN = LoopFacts(0, counters(ticks=100, running=1, started_ns=5, target_frequency=4000))
LATER = LoopFacts(2_000_000_000, counters(ticks=7_100, running=1, started_ns=5, target_frequency=4000))


def test_the_rate_is_ticks_over_time() -> None:
    assert measured_hz(BEGAN, LATER) == 3_500


@pytest.mark.parametrize(
    "after",
    [
        replace(LATER.counters, target_frequency=8000.0),
        replace(LATER.counters, started_ns=6),
        replace(LATER.counters, running=False),
    ],
)
def test_rate_is_unknown_over_a_restart_or_rate_change(after: LoopCounters) -> None:
    assert measured_hz(BEGAN, LoopFacts(LATER.at_ns, after)) is None


def test_rate_is_unknown_without_elapsed_time() -> None:
    assert measured_hz(BEGAN, replace(LATER, at_ns=0)) is None


def test_only_a_worse_stage_is_an_event() -> None:
    assert rate_event(CRITICAL, LOW, 4000, 3000, "wait") is None
    assert rate_event(LOW, LOW, 4000, 3000, "wait") is None
    told = rate_event(ENOUGH, CRITICAL, 4000, 1000, "wait")
    assert told is not None
    assert told.kind == "control-rate-critical"
    assert told.data == {"target_hz": 4000, "measured_hz": 1000}
