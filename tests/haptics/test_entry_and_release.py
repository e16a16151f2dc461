"""The oscillation filter's entry vote with hysteresis and its asymmetric release windows, measured on a shaken device at 1 kHz."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from tests.support.loop.walls import LIGHT, Setup

SHAKE_HZ: Final = 15
SHORT_HZ: Final = 45
HALF_S: Final = 1 / (2 * SHAKE_HZ)
STRONG_N: Final = 3.0
FREE: Final = 8
POWER_ON_W: Final = 0.015
POWER_OFF_W: Final = 0.005
# s, burst that takes the filter from free to stage 0
FOUND: Final = (0.5, 1.1)

Burst = tuple[float, float, float, float]
"""Begin and end (s), amplitude (N) and frequency (Hz) of one shaking."""


def shaken(*bursts: Burst, seconds: float) -> np.ndarray:
    """One sample each millisecond of a device that a client pushes with 1 N and shakes."""
    setup = Setup(hand=LIGHT)
    time = setup.seconds(seconds)
    push = np.ones(time.size)
    for begin, end, newtons, hertz in bursts:
        during = (time >= begin) & (time < end)
        push += np.where(during, newtons * np.sin(2 * np.pi * hertz * (time - begin)), 0.0)
    return setup.run(np.zeros(time.size), push=push)


def changes(stage: np.ndarray) -> np.ndarray:
    """Milliseconds at which the stage changes."""
    return np.flatnonzero(np.diff(stage))


@pytest.mark.promise(143)
@pytest.mark.parametrize(("half_cycles", "found"), [(1, False), (5, True)])
def test_half_cycle_alone_does_not_enter_the_filter(half_cycles: int, found: bool) -> None:
    """The oscillation filter is entered by a vote: of half-cycles, or of the windows that its judge looks at."""
    seen = shaken((0.5, 0.5 + half_cycles * HALF_S, STRONG_N, SHAKE_HZ), seconds=2.0)

    assert bool(seen["entries"][-1]) is found


@pytest.mark.promise(143)
def test_filter_entered_again_by_fewer_votes_while_it_recovers() -> None:
    """The entry vote has a hysteresis: a burst that is too short for entry from free takes a recovering filter back three stages."""
    short = (2.5, 2.5 + 4 / (2 * SHORT_HZ), STRONG_N, SHORT_HZ)

    from_free = shaken(short, seconds=3.0)
    recovering = shaken((*FOUND, STRONG_N, SHAKE_HZ), short, seconds=3.0)

    assert from_free["entries"][-1] == 0
    assert (recovering["stage"][2499], recovering["stage"][2500:].min()) == (6, 3)


@pytest.mark.promise(143)
def test_power_between_the_thresholds_does_not_enter_and_does_not_end_a_stage() -> None:
    """The power has a hysteresis too: what is too weak for entry still keeps a stage from ending."""
    from_free = shaken((0.5, 2.5, 0.46, SHAKE_HZ), seconds=3.0)
    held = shaken((*FOUND, STRONG_N, SHAKE_HZ), (FOUND[1], 3.0, 2.0, SHAKE_HZ), seconds=5.0)

    for power in (from_free["power"][1500:2400], held["power"][2000:2900]):
        assert POWER_OFF_W < power.min() <= power.max() < POWER_ON_W
    assert from_free["entries"][-1] == 0
    assert set(held["stage"][2000:2900]) == {0}
    assert held["stage"][-1] == FREE


@pytest.mark.promise(143)
def test_each_stage_lasts_40_ms_longer_and_the_gain_rises_slower_than_it_falls() -> None:
    """The release is asymmetric: windows grow from stage to stage, and the gain rises slower than it falls."""
    seen = shaken((*FOUND, STRONG_N, SHAKE_HZ), seconds=5.0)
    at = changes(seen["stage"])
    fall, rise = at[0], at[-1]

    assert list(seen["stage"][at + 1]) == [0, 1, 2, 3, 4, 5, 6, 7, FREE]
    assert np.diff(at[1:]) == pytest.approx([140, 180, 220, 260, 300, 340, 380], abs=1)
    gain = seen["gain"]
    fallen = (gain[fall] - gain[fall + 8]) / (gain[fall] - 0.12)
    risen = (gain[rise + 8] - gain[rise]) / (1 - gain[rise])
    assert fallen > 0.8
    assert risen < 0.3


def test_return_long_after_release_renews_the_damping_before_the_gain_falls() -> None:
    """Half of the damping has worn off after 22 s in the same contact: it is renewed first, and the gain stays for that long."""
    seen = shaken((*FOUND, STRONG_N, SHAKE_HZ), (24.0, 25.0, STRONG_N, SHAKE_HZ), seconds=25.0)

    *_, renewed, lowered = np.flatnonzero(np.diff(seen["entries"])) + 1

    assert seen["stage"][23_999] == FREE
    assert renewed > 24_000
    assert (seen["stage"][renewed], seen["stage"][lowered]) == (FREE, 0)
    assert lowered - renewed >= 100
