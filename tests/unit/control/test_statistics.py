"""Loop statistics cover one period: earlier counts do not appear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.control.messages import LoopFacts
from actors.control.statistics import bounds_us, percentile_us, statistics_event
from actors.event.catalog import EVENT_KINDS
from tests.unit.control.counter_samples import counters

BUCKETS = 24
counts_of = st.lists(st.integers(0, 10**6), min_size=BUCKETS, max_size=BUCKETS)


def histogram(**counts: int) -> list[int]:
    return [counts.get(f"b{bucket}", 0) for bucket in range(BUCKETS)]


BEFORE = LoopFacts(
    1_000_000_000,
    counters(
        ticks=1_000,
        missed=50,
        lateness=histogram(b4=900, b14=100),
        lateness_max=0.003,
        step_samples=10,
        tick_seconds=5e-4,
    ),
)
AFTER = LoopFacts(
    3_000_000_000,
    counters(
        ticks=9_000,
        missed=53,
        lateness=histogram(b4=900, b6=7_992, b10=8, b14=100),
        lateness_max=0.003,
        step_samples=110,
        tick_seconds=8e-4,
    ),
)


def test_statistics_cover_the_period_only() -> None:
    data = statistics_event(BEFORE, AFTER, devices=2, sessions=3).data

    assert tuple(data) == EVENT_KINDS["main-loop-statistics"].data
    assert (data["frequency"], data["ticks"], data["missed"]) == (4_000, 8_000, 3)
    assert (data["devices"], data["sessions"]) == (2, 3)
    assert data["tick_cost_us"] == pytest.approx(3.0)
    assert data["lateness_p50_us"] == pytest.approx(8 + 8 * 4_000 / 7_992)
    assert 8 < data["lateness_p99_us"] <= 16
    assert data["lateness_max_us"] == 256


def test_maximum_lateness_of_the_period_is_exact() -> None:
    latest = LoopFacts(3_000_000_000, counters(ticks=9_000, lateness=histogram(b4=900, b14=101), lateness_max=0.0041))

    assert statistics_event(BEFORE, latest, 0, 0).data["lateness_max_us"] == pytest.approx(4_100)


def test_a_period_without_ticks_has_no_lateness_and_no_cost() -> None:
    data = statistics_event(BEFORE, LoopFacts(2_000_000_000, BEFORE.counters), 0, 0).data

    assert {key: value for key, value in data.items() if value} == {}


def test_a_period_without_time_has_no_rate() -> None:
    assert statistics_event(BEFORE, BEFORE, 0, 0).data["frequency"] == 0


@given(counts_of, st.floats(0, 1), st.floats(0, 1))
def test_percentiles_grow_and_stay_inside_the_buckets_that_counted(counts: list[int], one: float, other: float) -> None:
    low, high = percentile_us(counts, min(one, other), 1e9), percentile_us(counts, max(one, other), 1e9)

    assert low <= high
    used = [bucket for bucket, count in enumerate(counts) if count]
    if used:
        assert bounds_us(used[0])[0] <= low <= high <= bounds_us(used[-1])[1]
    else:
        assert low == high == 0


@given(counts_of)
def test_percentiles_are_at_most_the_maximum(counts: list[int]) -> None:
    assert percentile_us(counts, 0.99, 1.5) <= 1.5
