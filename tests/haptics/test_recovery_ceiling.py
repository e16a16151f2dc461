"""The oscillation filter's recovery ceiling: relapses during one contact limit how much force it gives back."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from tests.support.loop.walls import (
    FALCON_LIKE,
    FIRM,
    INVERSE3_LIKE,
    LIGHT,
    MEDIUM,
    PANTOGRAPH,
    TOUCH_LIKE,
    Setup,
    rms_mm_s,
)

BURST_S: Final = 0.6
FREE: Final = 8
RETURN_CEILING: Final = 6
DEVICES: Final = {
    "arm": INVERSE3_LIKE,
    "stylus": TOUCH_LIKE,
    "parallel arm": FALCON_LIKE,
    "pantograph": PANTOGRAPH,
}
HANDS: Final = {"light": LIGHT, "medium": MEDIUM, "firm": FIRM}
HOLDS: Final = [(device, hand, ratio) for device in DEVICES for hand in HANDS for ratio in (2, 6)]


def shaken(
    *bursts: float, seconds: float, newtons: float = 3.0, apart: tuple[float, float] | None = None
) -> np.ndarray:
    """A device that is pushed with 1 N and shaken at 15 Hz from each of these seconds on, without any force while `apart`; 1 kHz."""
    setup = Setup(hand=LIGHT)
    time = setup.seconds(seconds)
    push = np.ones(time.size)
    for begun in bursts:
        during = (time >= begun) & (time < begun + BURST_S)
        push += np.where(during, newtons * np.sin(2 * np.pi * 15 * (time - begun)), 0.0)
    if apart is not None:
        push[(time >= apart[0]) & (time < apart[1])] = 0.0
    return setup.run(np.zeros(time.size), push=push)


@pytest.mark.parametrize(("device", "hand", "ratio"), HOLDS)
def test_held_stiff_wall_comes_to_rest_within_ten_seconds(device: str, hand: str, ratio: float) -> None:
    setup = Setup(DEVICES[device], HANDS[hand])
    seen = setup.run(setup.pressing(10.0), ratio * setup.critical_stiffness())

    assert 1 <= seen["entries"][-1] <= 5
    assert rms_mm_s(seen["v"][500:]) <= 15


@pytest.mark.parametrize("share", [0.93, 0.97, 1.03, 1.07])
def test_stylus_on_a_stiff_wall_does_not_relapse_repeatedly(share: float) -> None:
    setup = Setup(TOUCH_LIKE, FIRM)
    seen = setup.run(setup.pressing(10.0), share * 2 * setup.critical_stiffness())

    assert seen["entries"][-1] <= 3, "damped once, and the gain lowered twice"
    assert rms_mm_s(seen["v"][500:]) <= 9


def test_relapse_soon_after_release_lowers_the_ceiling() -> None:
    seen = shaken(0.0, 3.0, seconds=8.0)

    assert seen["stage"][2900] == FREE
    assert (seen["ceiling"][2999], seen["ceilings"][2999]) == (FREE, 0)
    assert seen["ceiling"][-1] == RETURN_CEILING == seen["stage"][-1]
    assert seen["ceilings"][-1] == 1


def test_oscillation_after_three_seconds_counts_as_new() -> None:
    seen = shaken(0.0, 6.5, seconds=10.0)

    assert seen["entries"][-1] > seen["entries"][6000]
    assert (seen["ceiling"][-1], seen["ceilings"][-1], seen["stage"][-1]) == (FREE, 0, FREE)


def test_oscillation_in_the_next_contact_counts_as_new() -> None:
    seen = shaken(0.0, 3.3, seconds=7.0, apart=(2.8, 3.2))

    assert seen["entries"][-1] > seen["entries"][3000]
    assert (seen["ceiling"][-1], seen["ceilings"][-1], seen["stage"][-1]) == (FREE, 0, FREE)


def test_ceiling_reductions_are_counted_and_never_undone_during_the_contact() -> None:
    seen = shaken(*np.arange(0.0, 12.0, 1.1), seconds=12.0, newtons=6.0)
    steps = np.diff(seen["ceiling"])
    reached = int(np.flatnonzero(seen["ceiling"] == 1)[0])

    assert np.all(steps <= 0)
    assert seen["ceilings"][-1] == np.count_nonzero(steps)
    assert seen["ceiling"][-1] == 1
    assert seen["entries"][-1] > seen["entries"][reached] + 1, "it relapses at the lowest ceiling too"


def test_ceiling_ends_0_3_s_after_the_contact() -> None:
    seen = shaken(0.0, 3.0, seconds=8.0, apart=(6.0, 8.0))
    ended = int(np.flatnonzero(seen["ceiling"][6000:] == FREE)[0])

    assert seen["ceiling"][5999] == RETURN_CEILING
    assert ended / 1000 == pytest.approx(0.3, abs=0.002)
    assert seen["stage"][-1] == FREE
