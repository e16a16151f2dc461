"""Random interleavings of commands, configuration, rates, gaps, stops and ends never break a law of the force path."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.loop.interleaving import Interleaving, distance

SEEDS: Final = range(10)
TICKS: Final = 50_000


@pytest.mark.parametrize("seed", SEEDS)
def test_force_keeps_its_laws_through_any_interleaving(seed: int) -> None:
    Interleaving(seed).run(TICKS)


@pytest.mark.parametrize(
    ("force", "last", "far"),
    [
        ((0.0, 0.0, 0.0), (5.0, 0.0, 0.0), 0.0),
        ((2.0, 0.0, 0.0), (5.0, 0.0, 0.0), 0.0),
        ((7.0, 0.0, 0.0), (5.0, 0.0, 0.0), 2.0),
        ((-1.0, 0.0, 0.0), (5.0, 0.0, 0.0), 1.0),
        ((2.0, 3.0, 0.0), (5.0, 0.0, 0.0), 3.0),
        ((0.0, 4.0, 3.0), (0.0, 0.0, 0.0), 5.0),
    ],
)
def test_way_back_to_zero_is_free(
    force: tuple[float, float, float], last: tuple[float, float, float], far: float
) -> None:
    assert distance(force, last) == pytest.approx(far)
