# Simulate a held device in three axes under the force laws of clients, with the tick's plant, hand and filter, without Python.
# Metres, newtons, seconds, watts.

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

LAW: np.dtype[np.void]
CONTACT: np.dtype[np.void]
MODES: Final[Mapping[str, int]]
KINDS: Final[Mapping[str, int]]
LOOP: Final[int]
FEATURE_COUNT: Final[int]
SAMPLE_RATE: Final[int]

# One sample of dtype CONTACT for each ms: means over it; severity, stage and entries of the filter at its end. `asked`: the command
# as clamp and slew limit alone let it pass, which `output` is without a filter.
# `device`: kg, N.s/m, N; each of at most two `hands`: kg and N/m, N.s/m of grip and arm. `paths`: the hands' intended positions
# (m) at each ms, hands x (samples + 1) x 3; `grips` (hands x samples) scales stiffness and damping of their grip. `laws`: rows of
# dtype LAW; `clients`: period (s), delay (s), jitter (share) of at most two on the wire. `latency`: ticks from order to motor;
# `noise`: counts; `peak`: N; `slew`: N/s. `bubble`: radius, width (m), speed (m/s), or None.
# `features`: a row for each 10 ms that is filled with what the filter would decide on, in mode "free". ValueError.
def contact_trial(
    device: tuple[float, float, float],
    hands: Sequence[Sequence[float]],
    paths: ArrayLike,
    grips: ArrayLike,
    laws: ArrayLike,
    clients: Sequence[tuple[float, float, float]],
    *,
    frequency: int,
    encoder_step: float,
    latency: int = 0,
    peak: float = 10,
    slew: float = 3000,
    mode: str = "free",
    noise: int = 0,
    seed: int = 1,
    bubble: tuple[float, float, float] | None = None,
    features: NDArray[np.float32] | None = None,
) -> NDArray[np.void]: ...

# The features of a motion, a row for each 10 ms: force (N), velocity (m/s), position (m) of each tick of dt s; kg.
def window_features(
    force: ArrayLike, velocity: ArrayLike, position: ArrayLike, *, dt: float, mass: float
) -> NDArray[np.float64]: ...

# The logarithm of the odds of an oscillation that the shipped trees give a row of features. ValueError.
def window_score(features: ArrayLike) -> float: ...

# Force (N) of one client's laws, rows of dtype LAW, at each point (m) of a path that is walked in steps of dt s.
def law_forces(laws: ArrayLike, path: ArrayLike, *, dt: float, seed: int = 1) -> NDArray[np.float64]: ...
