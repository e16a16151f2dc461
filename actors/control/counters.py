"""Convert the loop's cell to LoopCounters; no other module reads its fields by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from actors.control.messages import LoopCounters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LoopStateSource(Protocol):
    """Provider of the loop's state: `fastpath.arena.runtime.Runtime`."""

    def loop_state(self) -> NDArray[np.void]:
        """Return a 0-d array of dtype LOOP_STATE."""
        ...


def read_counters(runtime: LoopStateSource) -> LoopCounters:
    """Return one consistent snapshot of the loop's counters."""
    state: Any = runtime.loop_state()
    return LoopCounters(
        ticks=int(state["ticks"]),
        missed=int(state["missed"]),
        started_ns=int(state["started_ns"]),
        tick_ns=int(state["tick_ns"]),
        frequency=float(state["frequency"]),
        target_frequency=float(state["target_frequency"]),
        margin=float(state["margin"]),
        running=bool(state["running"]),
        fifo=bool(state["fifo"]),
        pinned=bool(state["pinned"]),
        locked=bool(state["locked"]),
        dead_man_trips=int(state["dead_man_trips"]),
        gaps=int(state["gaps"]),
        lateness_sum=float(state["lateness_sum"]),
        lateness_max=float(state["lateness_max"]),
        lateness=tuple(int(count) for count in state["lateness"]),
        step_samples=int(state["step_samples"]),
        step_seconds=tuple(float(seconds) for seconds in state["step_seconds"]),
        tick_seconds=float(state["tick_seconds"]),
    )
