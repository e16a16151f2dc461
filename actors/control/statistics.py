"""Compute the data of the event `main-loop-statistics` from two readings of the loop's counters. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from actors.control.messages import LoopCounters, LoopFacts
from actors.event.messages import Emit
from actors.kit.clock import NS_PER_S
from fastpath.layout.constants import FIRST_LATENESS_NS

FIRST_BOUND_US: Final = FIRST_LATENESS_NS * 1e-3
US_PER_S: Final = 1e6


def statistics_event(before: LoopFacts, after: LoopFacts, devices: int, sessions: int) -> Emit:
    """Return the event of one period; percentiles are interpolated in the histogram, the maximum is an upper bound."""
    then, now = before.counters, after.counters
    elapsed_s = (after.at_ns - before.at_ns) / NS_PER_S
    ticks, missed = now.ticks - then.ticks, now.missed - then.missed
    late = [more - less for more, less in zip(now.lateness, then.lateness, strict=True)]
    latest_us = now.lateness_max * US_PER_S
    frequency = ticks / elapsed_s if elapsed_s > 0 else 0.0
    samples = now.step_samples - then.step_samples
    cost_us = (now.tick_seconds - then.tick_seconds) * US_PER_S / samples if samples > 0 else 0.0
    data = {
        "frequency": frequency,
        "ticks": ticks,
        "missed": missed,
        "lateness_p50_us": percentile_us(late, 0.50, latest_us),
        "lateness_p99_us": percentile_us(late, 0.99, latest_us),
        "lateness_max_us": _latest_us(then, now, late),
        "tick_cost_us": cost_us,
        "devices": devices,
        "sessions": sessions,
    }
    return Emit(
        "main-loop-statistics", data, f"{ticks} ticks at {frequency:.0f} Hz, {missed} missed in {elapsed_s:.1f} s"
    )


def bounds_us(bucket: int) -> tuple[float, float]:
    """Return lower and upper bound of a histogram bucket, microseconds."""
    return (FIRST_BOUND_US * 2.0 ** (bucket - 1) if bucket else 0.0), FIRST_BOUND_US * 2.0**bucket


def percentile_us(counts: Sequence[int], share: float, latest_us: float) -> float:
    """Return the lateness (µs) of a percentile, interpolated in its bucket; 0 without ticks, at most `latest_us`."""
    rank = share * sum(counts)
    below = 0
    for bucket, count in enumerate(counts):
        if count and below + count >= rank:
            low, high = bounds_us(bucket)
            return min(low + (high - low) * (rank - below) / count, latest_us)
        below += count
    return 0.0


def _latest_us(then: LoopCounters, now: LoopCounters, late: Sequence[int]) -> float:
    """Return the largest lateness (µs): exact if it is the largest ever, else the bound of the highest used bucket."""
    latest_us = now.lateness_max * US_PER_S
    if now.lateness_max > then.lateness_max:
        return latest_us
    last = max((bucket for bucket, count in enumerate(late) if count), default=None)
    return 0.0 if last is None else min(bounds_us(last)[1], latest_us)
