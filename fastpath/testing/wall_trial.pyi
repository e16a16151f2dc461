# Simulate one axis pressed against a virtual wall, with the tick's plant, hand and oscillation filter. Metres, newtons, seconds.

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

TRIAL: np.dtype[np.void]

# One sample of dtype TRIAL for each tick of `path`, the hand's intended positions (m); the wall is at 0 and pushes to negative x.
# `device`: kg, N.s/m, N; `hand`: kg and N/m, N.s/m of grip and arm. `push`: N of the client besides the wall, `grating` its
# amplitude (N) and pitch (m). The client computes a force every `client_every` ticks from positions `delay` ticks old. ValueError.
def trial(
    device: tuple[float, float, float],
    hand: Sequence[float],
    path: ArrayLike,
    *,
    frequency: float,
    encoder_step: float,
    stiffness: float = 0,
    push: ArrayLike | None = None,
    grating: tuple[float, float] = (0.0, 1.0),
    client_every: int = 1,
    delay: int = 1,
    limit: float = 10,
    filtered: bool = True,
) -> NDArray[np.void]: ...
