"""No false alarms of the oscillation filter: free motion, pressing, tremor, tapping, textures, gratings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from tests.support.loop.walls import Setup

if TYPE_CHECKING:
    from numpy.typing import NDArray

SECONDS: Final = 3.0
RUNS: Final = 300
TAU: Final = 2 * np.pi

Population = list[tuple[Setup, float]]
Run = Callable[[Setup, float, np.random.Generator], "NDArray[np.void]"]

pytestmark = pytest.mark.slow


def flagged(population: Population, run: Run) -> float:
    """Share of the population in which the filter acts."""
    random = np.random.default_rng(11)
    return sum(int(run(setup, critical, random)["entries"][-1] > 0) for setup, critical in population) / len(population)


def free_motion(setup: Setup, _critical: float, random: np.random.Generator) -> NDArray[np.void]:
    """1 to 20 Hz, before a wall that it does not reach."""
    frequency = random.uniform(1, 20)
    path = -0.05 + min(0.03, 0.4 / (TAU * frequency)) * np.sin(TAU * frequency * setup.seconds(SECONDS))
    return setup.run(path, 2000)


def vibration(hertz: Callable[[np.random.Generator], float], newtons: Callable[[Setup, float], float]) -> Run:
    """A texture that the client plays as fast as the loop runs while the hand rests."""

    def run(setup: Setup, _critical: float, random: np.random.Generator) -> NDArray[np.void]:
        frequency = hertz(random)
        setup = replace(setup, rates=replace(setup.rates, client_every=1))
        time = setup.seconds(SECONDS)
        push = newtons(setup, frequency) * np.sin(TAU * frequency * time)
        return setup.run(np.zeros(time.size), push=push)

    return run


def press(share: float) -> Run:
    """A steady press on a wall."""
    return lambda setup, critical, _random: setup.run(setup.pressing(SECONDS), share * critical)


def tremor(share: float) -> Run:
    """8 to 12 Hz of 0.1 to 1 mm on top of a press of 1 to 4 N."""

    def run(setup: Setup, critical: float, random: np.random.Generator) -> NDArray[np.void]:
        pressed = replace(setup, press=random.uniform(1, 4))
        shake = random.uniform(0.0001, 0.001) * np.sin(TAU * random.uniform(8, 12) * setup.seconds(SECONDS))
        return setup.run(pressed.pressing(SECONDS) + shake, share * critical)

    return run


def tapping(setup: Setup, critical: float, random: np.random.Generator) -> NDArray[np.void]:
    """1 to 8 Hz, 3 to 15 mm, half of it in the wall."""
    depth, frequency = random.uniform(0.003, 0.015), random.uniform(1, 8)
    path = 0.5 * depth * np.sin(TAU * frequency * setup.seconds(SECONDS))
    return setup.run(path, 0.3 * critical)


def transients(setup: Setup, critical: float, random: np.random.Generator) -> NDArray[np.void]:
    """Taps that the client makes sound hard: 120 Hz, up to 3 N, decaying, at each contact."""
    depth, frequency = random.uniform(0.003, 0.015), random.uniform(1, 4)
    time = setup.seconds(SECONDS)
    path = 0.5 * depth * np.sin(TAU * frequency * time)
    since = time % (1 / frequency)
    push = random.uniform(1, 3) * np.exp(-since / 0.02) * np.sin(TAU * 120 * since)
    return setup.run(path, 0.3 * critical, push=push)


def grating(setup: Setup, _critical: float, random: np.random.Generator) -> NDArray[np.void]:
    """A surface of 0.1 to 0.3 N with ridges each 1 to 3 mm, stroked at 50 to 200 mm/s."""
    speed, span = random.uniform(0.05, 0.2), 0.05
    time = setup.seconds(SECONDS)
    path = span * np.abs(2 * ((speed * time / (2 * span)) % 1) - 1) - span
    return setup.run(path, grating=(random.uniform(0.1, 0.3), random.uniform(0.001, 0.003)))


def of_power(watts: float) -> Callable[[Setup, float], float]:
    """N whose oscillatory power on the bare mass is so much: P = F^2 / (2 m 2 pi f)."""
    return lambda setup, frequency: float(np.sqrt(2 * watts * setup.device.mass * TAU * frequency))


@pytest.mark.parametrize(
    ("run", "most"),
    [
        pytest.param(free_motion, 0.0, id="free motion, 1 to 20 Hz"),
        pytest.param(vibration(lambda _: 250.0, lambda _setup, _f: 1.0), 0.0, id="texture, 250 Hz, 1 N"),
        pytest.param(vibration(lambda _: 100.0, lambda _setup, _f: 0.7), 0.0, id="texture, 100 Hz, 0.7 N"),
        pytest.param(vibration(lambda r: r.uniform(20, 300), of_power(0.005)), 0.0, id="vibration, 20 to 300 Hz, 5 mW"),
        pytest.param(press(0.15), 0.0, id="press, 0.15 of critical"),
        pytest.param(press(0.3), 0.0, id="press, 0.3 of critical"),
        pytest.param(tremor(0.15), 0.0, id="tremor, 0.15 of critical"),
        pytest.param(tremor(0.3), 0.0, id="tremor, 0.3 of critical"),
        pytest.param(tapping, 0.02, id="tapping, 0.3 of critical"),
        pytest.param(transients, 0.03, id="taps with transients"),
        pytest.param(grating, 0.02, id="gratings"),
    ],
)
def test_legitimate_motion_is_not_filtered(population: Population, run: Run, most: float) -> None:
    assert len(population) >= RUNS
    assert flagged(population, run) <= most
