"""Alternating measurements: order, medians, number of calls."""

from __future__ import annotations

import pytest

from bench.support.turns import bucket_quantile, in_turn, medians, ns_per_call, quantile


def test_measurements_alternate() -> None:
    order: list[str] = []

    def measure(name: str) -> int:
        order.append(name)
        return len(order)

    assert in_turn([lambda: measure("a"), lambda: measure("b")], 3) == [[1, 3, 5], [2, 4, 6]]
    assert order == ["a", "b"] * 3


def test_medians_are_taken_for_each_measure() -> None:
    assert medians([[1, 9, 2], [3, 3, 100]], lambda value: 10.0 * value) == [20.0, 30.0]


def test_every_call_is_made_as_often_with_its_arguments() -> None:
    given: list[tuple[object, ...]] = []

    def note(*arguments: object) -> None:
        given.append(arguments)

    times = ns_per_call([[note], [note, 1, "x"]], rounds=3, number=5)
    assert len(times) == 2
    assert given.count(()) == given.count((1, "x")) == 15


def test_quantile_is_one_of_the_values() -> None:
    assert quantile([5.0, 1.0, 3.0], 0.5) == 3.0
    assert quantile([5.0, 1.0, 3.0], 1.0) == 5.0
    with pytest.raises(ValueError, match="measure for longer"):
        quantile([], 0.5)


@pytest.mark.parametrize(
    ("buckets", "share", "microseconds"),
    [
        ([4, 0, 0], 0.5, 0.125),
        ([0, 4, 0], 0.5, 0.375),
        ([0, 0, 10], 1.0, 1.0),
        ([50, 49, 1], 0.99, 0.5),
        ([50, 0, 50], 0.75, 0.75),
    ],
)
def test_histogram_quantile_interpolates_between_bounds(buckets: list[int], share: float, microseconds: float) -> None:
    assert bucket_quantile(buckets, share) == pytest.approx(microseconds)


def test_an_empty_histogram_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="run for longer"):
        bucket_quantile([0, 0, 0], 0.5)
