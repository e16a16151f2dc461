"""Soak: twenty million ticks of random interleavings break no law of the force path; about ten minutes."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.loop.interleaving import Interleaving

SEEDS: Final = range(1_000, 1_200)
TICKS: Final = 100_000

pytestmark = [pytest.mark.soak]


@pytest.mark.parametrize("seed", SEEDS)
def test_force_keeps_its_laws_through_twenty_million_ticks(seed: int) -> None:
    Interleaving(seed).run(TICKS)
