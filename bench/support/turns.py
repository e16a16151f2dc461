"""Measure A and B alternately, so that changes of the machine's speed affect both and their ratio stays meaningful."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from timeit import Timer
from typing import Any, TypeVar

T = TypeVar("T")


def in_turn(measures: Sequence[Callable[[], T]], rounds: int) -> list[list[T]]:
    """Call the measures in the order A B A B …; return the results of each measure."""
    found: list[list[T]] = [[] for _ in measures]
    for _ in range(rounds):
        for results, measure in zip(found, measures, strict=True):
            results.append(measure())
    return found


def medians(found: Sequence[Sequence[T]], pick: Callable[[T], float]) -> list[float]:
    """Return for each measure the median over its rounds of the value that `pick` returns."""
    return [median(map(pick, results)) for results in found]


def ns_per_call(calls: Sequence[Sequence[Any]], *, rounds: int = 1000, number: int = 100) -> list[float]:
    """Return the duration of one call of each (ns), the median of alternating rounds; a call is a callable and its positional arguments.

    Rounds are many and short, so that few of them are interrupted.
    """
    timers = [_timer(*call) for call in calls]
    blocks = in_turn([partial(timer.timeit, number) for timer in timers], rounds)
    return [median(results) * 1e9 / number for results in blocks]


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the values lies; raise ValueError without values."""
    if not values:
        raise ValueError("there is no quantile of no values: measure for longer")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def bucket_quantile(buckets: Sequence[int], share: float) -> float:
    """Return a quantile (us) of the loop's lateness histogram, whose bucket b counts up to 2^b / 4 us; linear within a bucket."""
    wanted, seen = share * sum(buckets), 0.0
    for index, count in enumerate(buckets):
        if count and seen + count >= wanted:
            low = 0.0 if index == 0 else 2.0 ** (index - 1) / 4
            return low + (2.0**index / 4 - low) * (wanted - seen) / count
        seen += count
    raise ValueError("there is no quantile of an empty histogram: let the loop run for longer")


def _timer(call: Callable[..., object], *arguments: object) -> Timer:
    """Return a Timer of the bare call, without a wrapping function."""
    names = [f"argument{number}" for number in range(len(arguments))]
    return Timer(f"call({', '.join(names)})", globals={"call": call, **dict(zip(names, arguments, strict=True))})
