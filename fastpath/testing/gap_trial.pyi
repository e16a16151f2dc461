# Gaps of one device over chosen times of its ticks, counted by the function that the loop calls.

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

# What is published after the ticks: 0-d array of dtype DEVICE_GAPS. `ticks` are pairs: time (ns), and the force (N) that the tick
# puts out. The loop is asked for `frequency` (Hz).
def gaps_of(ticks: Iterable[tuple[int, float]], *, frequency: float, started_ns: int = 0) -> NDArray[np.void]: ...
