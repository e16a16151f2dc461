"""DrivenArm: an arm on a stepped loop at positions that the test sets, to read the output of bubble navigation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from fastpath.navigation.values import Bubble, Navigated
from tests.support.loop.devices import ARM_CENTRE, SteppedArm, still_arm_params

Array = NDArray[Any]

CENTRE: Final[Array] = np.array(ARM_CENTRE)
X: Final[Array] = np.array((1.0, 0.0, 0.0))
RADIUS_M: Final = 0.05
SETTLED_S: Final = 0.6


class DrivenArm(SteppedArm):
    """A device so heavy that only `move_to` moves it, with ideal encoders; it begins at `start` (m, device frame)."""

    def __init__(self, start: Sequence[float] = ARM_CENTRE, *, frequency: float = 4000.0) -> None:
        self.params = still_arm_params()
        self.params["mechanism"]["counts_per_turn"] = 0
        self.params["hand"]["centre"] = start
        self.params["peak_force"] = 1000.0
        self.params["torque_limit"] = 1e9
        self.place: Array = np.array(start, dtype=float)
        self.speed: Array = np.zeros(3)
        super().__init__(self.params, frequency=frequency)

    def navigate(self, bubble: Bubble | None, writer: Writer | None = None) -> None:
        """Switch a session's navigation on, over or off."""
        writer = self.writer if writer is None else writer
        writer.set_navigation(bubble)
        assert writer.publish(refresh=False)

    def move_to(self, place: Array) -> Navigated | None:
        """One tick, after which the cursor is there."""
        wanted = (place - self.place) * self.frequency
        self.params["simulation"]["push"] = wanted - self.speed
        self.params["simulation"]["push_revision"] += 1
        assert self.runtime.publish_device(self.device, self.params)
        self.step(1)
        self.place, self.speed = place, wanted
        return self.reader.navigated(self.writer)

    def navigation_after(self, ticks: int = 0) -> Navigated:
        """Return the navigation state after `ticks` more ticks."""
        if ticks:
            self.step(ticks)
        shown = self.reader.navigated(self.writer)
        assert shown is not None
        return shown


def point_outside(metres: float) -> Array:
    """A place so far from the surface of the default sphere, along x."""
    return CENTRE + (RADIUS_M + metres) * X


def navigating_arm(metres: float, bubble: Bubble | None = None, *, frequency: float = 4000.0) -> DrivenArm:
    """A rig that rests so far outside the bubble and navigates."""
    rig = DrivenArm(list(point_outside(metres)), frequency=frequency)
    rig.navigate(bubble or Bubble())
    return rig
