"""Build LoopCounters with given values, for the control tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from actors.control.counters import read_counters
from actors.control.messages import LoopCounters
from fastpath.layout.dtypes import LOOP_STATE


class Counted:
    """A loop that counted what the test says."""

    def __init__(self, **counted: object) -> None:
        self.state: Any = np.zeros((), dtype=LOOP_STATE)
        for name, value in counted.items():
            self.state[name] = value

    def loop_state(self) -> Any:
        return self.state


def counters(**counted: object) -> LoopCounters:
    """A reading; what is not named is 0."""
    return read_counters(Counted(**counted))
