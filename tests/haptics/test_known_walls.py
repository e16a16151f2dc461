"""The oscillation filter on walls with a known outcome: when it must act, when it must not, how it releases."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import pytest

from tests.support.loop.walls import LIGHT, MEDIUM, TOUCH_LIKE, Device, Rates, Setup, band_rms_mm_s, first, rms_mm_s

SECONDS: Final = 3.0
WITHIN_S: Final = 0.020
FREE: Final = 8
GAINS: Final = [0.12 ** (1 - stage / 8) for stage in range(9)]


@pytest.mark.parametrize("stiffness", [1000, 2000, 3000])
def test_stable_wall_with_a_light_hand_is_not_filtered(stiffness: float) -> None:
    setup = Setup(hand=LIGHT)
    seen = setup.run(setup.pressing(SECONDS), stiffness)

    assert seen["entries"][-1] == 0
    assert np.all(seen["gain"] == 1)


@pytest.mark.parametrize("stiffness", [1000, 2000, 3000, 4000, 5000])
def test_stable_wall_with_a_medium_hand_is_not_filtered(stiffness: float) -> None:
    setup = Setup(hand=MEDIUM)

    assert setup.run(setup.pressing(SECONDS), stiffness)["entries"][-1] == 0


def test_wall_unstable_only_at_a_slow_rate_is_not_filtered_at_a_fast_one() -> None:
    setup = Setup(hand=MEDIUM, rates=Rates(4000))

    assert setup.run(setup.pressing(SECONDS), 20_000)["entries"][-1] == 0


@pytest.mark.parametrize(
    ("hand", "stiffness", "bare_mm_s", "power_s", "found_s", "entries"),
    [
        (LIGHT, 5000, 153, 0.194, 0.240, 1),
        (LIGHT, 12000, 188, 0.189, 0.250, 2),
        (MEDIUM, 8000, 106, 0.210, 0.279, 1),
        (MEDIUM, 20000, 146, 0.205, 0.250, 2),
    ],
)
def test_unstable_wall_is_detected_in_time(
    hand: tuple[float, float, float, float, float],
    stiffness: float,
    bare_mm_s: float,
    power_s: float,
    found_s: float,
    entries: int,
) -> None:
    setup = Setup(hand=hand)
    path = setup.pressing(SECONDS)
    bare, held = setup.run(path, stiffness, filtered=False), setup.run(path, stiffness)
    found = first(held["entries"] > 0)
    hot = first(held["power"] >= 0.015)
    assert found is not None
    assert hot is not None
    after = found + 100

    assert rms_mm_s(bare["v"][1000:]) == pytest.approx(bare_mm_s, rel=0.03)
    assert hot / 1000 == pytest.approx(power_s, abs=WITHIN_S)
    assert found / 1000 == pytest.approx(found_s, abs=WITHIN_S)
    assert held["entries"][-1] == entries
    assert band_rms_mm_s(held["v"][after:], 1000) < band_rms_mm_s(bare["v"][after:], 1000) / 8


def entries(seen: np.ndarray) -> list[tuple[float, int]]:
    """When (s, at 1 kHz) the filter entered, and the stage that it entered."""
    return [(at / 1000, int(seen["stage"][at])) for at in np.flatnonzero(np.diff(seen["entries"])) + 1]


@pytest.mark.parametrize(("hand", "stiffness"), [(LIGHT, 5000), (LIGHT, 8000), (MEDIUM, 8000), (MEDIUM, 12000)])
def test_wall_that_damping_quiets_keeps_its_gain(
    hand: tuple[float, float, float, float, float], stiffness: float
) -> None:
    setup = Setup(hand=hand)
    path = setup.pressing(SECONDS)
    bare, held = setup.run(path, stiffness, filtered=False), setup.run(path, stiffness)

    assert [stage for _, stage in entries(held)] == [FREE]
    assert np.all(held["gain"] == 1)
    assert rms_mm_s(bare["v"][2000:]) > 100
    assert rms_mm_s(held["v"][2000:]) < 0.1


@pytest.mark.parametrize(("hand", "stiffness"), [(LIGHT, 12000), (LIGHT, 20000), (MEDIUM, 20000)])
def test_gain_is_lowered_soon_where_damping_is_not_enough(
    hand: tuple[float, float, float, float, float], stiffness: float
) -> None:
    setup = Setup(hand=hand)
    held = setup.run(setup.pressing(SECONDS), stiffness)

    (damped_s, damped), (lowered_s, lowered) = entries(held)
    assert (damped, lowered) == (FREE, 0)
    assert lowered_s - damped_s < 0.15
    assert rms_mm_s(held["v"][2000:]) < 1


def test_gain_is_lowered_at_once_where_the_device_bears_no_damping() -> None:
    """A stylus of 45 g at 500 Hz bears 6 N.s/m, less than a quarter of the damping."""
    setup = Setup(TOUCH_LIKE, LIGHT, rates=Rates(500))
    held = setup.run(setup.pressing(SECONDS), 2 * setup.critical_stiffness())

    assert held["stage"][np.flatnonzero(np.diff(held["entries"]))[0] + 1] == 0


@pytest.mark.parametrize("frequency", [500, 1000, 2000, 4000, 8000])
def test_wall_of_twice_the_critical_stiffness_is_detected_at_any_rate(frequency: float) -> None:
    setup = Setup(hand=LIGHT, rates=Rates(frequency))
    seen = setup.run(setup.pressing(SECONDS), 2 * setup.critical_stiffness())
    found, hot = first(seen["entries"] > 0), first(seen["power"] >= 0.015)

    assert found is not None
    assert hot is not None
    assert (found - hot) / frequency <= 0.150


def contact_peaks(force: np.ndarray) -> np.ndarray:
    """Largest force (N) of each contact that begins and ends."""
    edges = np.flatnonzero(np.diff((force > 0.05).astype(int)))
    edges = edges[int(force[0] > 0.05) :]
    return np.array([force[begin + 1 : end + 1].max() for begin, end in pairwise(edges)][::2])


def test_bounce_of_period_two_is_found_and_comes_to_rest() -> None:
    """Peaks alternate, so that every second half-cycle decays: votes alone left it at 26 mm/s."""
    setup = Setup(Device(0.1018, 0.0956, 0.039, 11.25e-6), LIGHT, Rates(2000, client_every=2), press=0.513)
    path = setup.pressing(2.0)
    bare, held = setup.run(path, 25_000, filtered=False), setup.run(path, 25_000)
    peaks = contact_peaks(-bare["command"][2000:])

    assert rms_mm_s(bare["v"][2000:]) > 100
    assert abs(peaks[::2].mean() - peaks[1::2].mean()) > 1.0
    assert held["entries"][-1] >= 1
    assert rms_mm_s(held["v"][-1000:]) < 5


def recovery() -> tuple[np.ndarray, int]:
    """A shaken device whose oscillation stops at a known tick: the wall is gone and the force stays, so contact does not end."""
    setup = Setup(hand=LIGHT)
    time = setup.seconds(4.0)
    stop = 600
    shake = np.where(np.arange(time.size) < stop, 3 * np.sin(2 * np.pi * 15 * time), 0.0)
    return setup.run(np.zeros(time.size), push=shake + 1.0), stop


def test_recovery_passes_all_eight_stages_in_order_and_takes_about_two_seconds() -> None:
    seen, stop = recovery()
    stages = seen["stage"][stop:]
    reached = [first(stages == stage) for stage in range(1, 9)]
    assert seen["entries"][stop] > 0
    assert all(at is not None for at in reached)
    ticks = [at for at in reached if at is not None]
    free = first(seen["gain"][stop:] > 0.99)

    assert free is not None
    assert 1.9 <= free / 1000 <= 2.4
    assert np.all(np.isin(np.diff(stages), (0, 1)))
    assert all(later - sooner >= 100 for sooner, later in pairwise(ticks))


def test_the_gain_never_rises_faster_than_its_time_constant() -> None:
    seen, _ = recovery()
    gain = seen["gain"]
    targets = np.array(GAINS)[seen["stage"][1:]]
    rise = np.diff(gain)

    assert np.all(rise <= (1 - np.exp(-0.001 / 0.030)) * np.maximum(targets - gain[:-1], 0) + 1e-12)


def test_no_oscillation_is_detected_without_commands() -> None:
    setup = Setup()
    path = 0.01 * np.sin(2 * np.pi * 12 * setup.seconds(SECONDS))

    seen = setup.run(path)

    assert np.all(seen["gain"] == 1)
    assert seen["entries"][-1] == 0
