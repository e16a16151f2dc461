"""Simulation runs shared by tables and figures: ten-second holds of a stiff wall, and recovery of the filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fastpath.navigation.values import Bubble
from tests.support.loop.driven_arm import CENTRE, SETTLED_S, DrivenArm
from tests.support.loop.walls import (
    FALCON_LIKE,
    FIRM,
    INVERSE3_LIKE,
    LIGHT,
    MEDIUM,
    PANTOGRAPH,
    TOUCH_LIKE,
    Device,
    Setup,
    first,
)

DEVICES: Final[Mapping[str, Device]] = {
    "arm": INVERSE3_LIKE,
    "stylus": TOUCH_LIKE,
    "parallel arm": FALCON_LIKE,
    "pantograph": PANTOGRAPH,
}
HANDS: Final[Mapping[str, tuple[float, float, float, float, float]]] = {"light": LIGHT, "medium": MEDIUM, "firm": FIRM}
STOP_TICK: Final = 600
GRID_MM: Final = 10.0
RAY_MM: Final = 2.0
FARTHEST_MM: Final = 90.0


@dataclass(frozen=True, slots=True)
class Hold:
    """A press of 2 N on a wall at 1 kHz: stiffness of the wall and critical stiffness, N/m."""

    setup: Setup
    stiffness: float
    critical: float
    seconds: float

    def run(self, *, filtered: bool = True) -> NDArray[np.void]:
        """Return one sample for each tick."""
        return self.setup.run(self.setup.pressing(self.seconds), self.stiffness, filtered=filtered)


def hold(device: str, hand: str, ratio: float, seconds: float = 10.0) -> Hold:
    """Return the press of 2 N on a wall of `ratio` times the critical stiffness."""
    setup = Setup(DEVICES[device], HANDS[hand])
    critical = setup.critical_stiffness()
    return Hold(setup, ratio * critical, critical, seconds)


def recovery() -> tuple[NDArray[np.void], int]:
    """Shake a device at 15 Hz and push it with 1 N, so that contact continues; return the samples at 1 kHz and the tick at which shaking stops."""
    setup = Setup(hand=LIGHT)
    time = setup.seconds(4.0)
    shake = np.where(np.arange(time.size) < STOP_TICK, 3 * np.sin(2 * np.pi * 15 * time), 0.0)
    return setup.run(np.zeros(time.size), push=shake + 1.0), STOP_TICK


def stage_times(seen: NDArray[np.void], stop: int) -> dict[int, float]:
    """Return the seconds from tick `stop` to each stage above 0."""
    reached = {stage: first(seen["stage"][stop:] == stage) for stage in range(1, 9)}
    return {stage: at / 1000 for stage, at in reached.items() if at is not None}


def bubble_speeds() -> dict[str, NDArray[np.float64]]:
    """Return positions around the default bubble (mm from the centre, z = 0), and for each the settled speed of the scene (m/s) and force of the bubble (N)."""
    steps = np.arange(-FARTHEST_MM, FARTHEST_MM + 1, GRID_MM)
    places = {(float(x), float(y)) for x in steps for y in steps if np.hypot(x, y) <= FARTHEST_MM}
    places |= {(float(x), 0.0) for x in np.arange(30, FARTHEST_MM + 1, RAY_MM)}
    rows = []
    for x, y in sorted(places):
        rig = DrivenArm(list(CENTRE + np.array((x, y, 0)) / 1000), frequency=1000)
        rig.navigate(Bubble())
        rate = rig.navigation_after(rig.ticks(SETTLED_S)).rate
        rows.append((x, y, rate[0], rate[1], float(np.linalg.norm(rig.reader.snapshot()["force"]))))
    columns = np.array(rows).T
    return dict(zip(("x", "y", "vx", "vy", "force"), columns, strict=True))
