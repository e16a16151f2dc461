"""Steps and pulses of commanded force: a held device rings at its own frequency, which ends by itself, and is not taken for an oscillation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.loop.walls import (
    FALCON_LIKE,
    FIRM,
    INVERSE3_LIKE,
    LIGHT,
    MEDIUM,
    TOUCH_LIKE,
    Device,
    Rates,
    Setup,
)

HANDS: Final = {"light": LIGHT, "medium": MEDIUM, "firm": FIRM}
DEVICES: Final = {"arm": INVERSE3_LIKE, "stylus": TOUCH_LIKE, "parallel arm": FALCON_LIKE}
FREQUENCY: Final = 4000.0
SECONDS: Final = 2.0
BEGIN_S: Final = 0.5
# N that are commanded all the time: below that a contact ends.
HELD_N: Final = 0.5

Course = NDArray[np.float64]


def step(newtons: float) -> Callable[[Course], Course]:
    """Up, and down again after a second."""
    return lambda time: np.where((time >= BEGIN_S) & (time < BEGIN_S + 1.0), newtons, 0.0)


def pulses(newtons: float, seconds: float, count: int = 1) -> Callable[[Course], Course]:
    """So many, each followed by a pause as long as itself or 50 ms."""
    period = seconds + max(seconds, 0.05)
    return lambda time: np.where(
        (time >= BEGIN_S) & (time < BEGIN_S + count * period) & ((time - BEGIN_S) % period < seconds), newtons, 0.0
    )


COURSES: Final[Mapping[str, Callable[[Course], Course]]] = {
    **{f"step of {newtons:g} N": step(newtons) for newtons in (0.5, 2.0, 5.0, 9.0, -5.0)},
    **{
        f"pulse of {newtons:g} N and {seconds * 1000:g} ms": pulses(newtons, seconds)
        for newtons in (2.0, 9.5)
        for seconds in (0.003, 0.01, 0.03, 0.1)
    },
    "three pulses of 5 N and 30 ms": pulses(5.0, 0.03, 3),
}


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("device", DEVICES)
def test_step_or_pulse_arrives_whole(device: str, hand: str, course: str) -> None:
    of: Device = DEVICES[device]
    setup = Setup(of, HANDS[hand], Rates(FREQUENCY))
    push = COURSES[course](setup.seconds(SECONDS)) + HELD_N

    seen = setup.run(np.zeros(push.size), push=push)

    assert int(seen["entries"][-1]) == 0
    # Every N: what it puts out is what was commanded, but for the slew.
    assert np.all(seen["gain"] == 1)
