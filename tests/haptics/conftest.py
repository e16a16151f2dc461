"""A random population of devices, hands and loop rates for the statistical tests, with critical stiffnesses."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from tests.support.loop.walls import Setup, random_setup

SEED: Final = 7
SETUPS: Final = 300


@pytest.fixture(scope="session")
def population() -> list[tuple[Setup, float]]:
    """Setups and their critical stiffness (N/m)."""
    random = np.random.default_rng(SEED)
    setups = [random_setup(random) for _ in range(SETUPS)]
    return [(setup, setup.critical_stiffness()) for setup in setups]
