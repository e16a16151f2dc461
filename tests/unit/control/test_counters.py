"""A reading has every field of the loop's cell, under the same name."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from actors.control.counters import read_counters
from actors.control.messages import LoopCounters
from fastpath.arena.runtime import Runtime
from fastpath.layout.dtypes import LOOP_STATE
from tests.unit.control.counter_samples import Counted


def test_every_field_of_the_cell_is_read_under_its_name() -> None:
    assert {field.name for field in fields(LoopCounters)} == set(LOOP_STATE.names or ())

    counted = {
        name: np.arange(1, 1 + int(np.prod(LOOP_STATE[name].shape))) * number
        if LOOP_STATE[name].shape
        else (number if name not in {"running", "fifo", "pinned", "locked"} else 1)
        for number, name in enumerate(LOOP_STATE.names or (), 1)
    }
    read = read_counters(Counted(**counted))

    for name, value in counted.items():
        shown = getattr(read, name)
        assert (list(shown) == list(value)) if isinstance(value, np.ndarray) else (shown == value), name


def test_a_stepped_loop_is_read() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    runtime.step(7)

    assert read_counters(runtime).ticks == 7
