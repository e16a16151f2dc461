"""A hand that leads by a clutch: while it is engaged the goal follows the hand, else it stays and the hand may be moved back. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Clutch:
    """The goal, m, in the frame of the robot's start: zero where the clutch was first engaged."""

    def __init__(self, scale: float) -> None:
        """`scale`: m of the goal for 1 m of the hand."""
        self._scale = scale
        self._last: NDArray[np.float64] | None = None
        self.goal = np.zeros(3)

    def follow(self, hand: NDArray[np.float64], *, engaged: bool) -> NDArray[np.float64]:
        """Return the goal for a hand at `hand`, m; a hand that is not known (NaN) moves nothing."""
        if not engaged or not np.isfinite(hand).all():
            self._last = None
        else:
            if self._last is not None:
                self.goal = self.goal + self._scale * (hand - self._last)
            self._last = hand.copy()
        return self.goal
