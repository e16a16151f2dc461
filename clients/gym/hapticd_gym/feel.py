"""What a hand shall feel: the force at a place, as a function of position and velocity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
# Force, N, shape (3,), at a position (m) and velocity (m/s), each of shape (3,).
Feel: TypeAlias = Callable[[Vector, Vector], Vector]


def floor(height: float = 0.12, stiffness: float = 300.0, damping: float = 1.0) -> Feel:
    """Return a floor that pushes up below `height`, m: `stiffness` N/m, `damping` N·s/m. It does not pull."""

    def force(position: Vector, velocity: Vector) -> Vector:
        depth = height - float(position[2])
        push = stiffness * depth - damping * float(velocity[2]) if depth > 0 else 0.0
        return np.array([0.0, 0.0, max(0.0, push)])

    return force


def spring(centre: tuple[float, float, float] = (0.0, -0.12, 0.13), stiffness: float = 50.0) -> Feel:
    """Return a spring that pulls to `centre`, m: `stiffness` N/m."""

    def force(position: Vector, velocity: Vector) -> Vector:
        del velocity
        pull: Vector = stiffness * (np.asarray(centre) - position)
        return pull

    return force
