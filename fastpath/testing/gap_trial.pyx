"""Count the gaps of one device over chosen times of its ticks, by the function that the loop calls."""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

import numpy as np

from fastpath.arena.array_copy cimport copy_out
from fastpath.cells.cells cimport hd_seq_read
from fastpath.layout.arena cimport DeviceGaps, DeviceSlot
from fastpath.layout.dtypes import DEVICE_GAPS
from fastpath.tick.gaps cimport note_gap


def gaps_of(ticks, *, double frequency, long long started_ns=0) -> np.ndarray:
    """Return what is published after the ticks: 0-d array of dtype DEVICE_GAPS.

    `ticks` are pairs: time (ns), and the force (N) that the tick puts out. The loop is asked for `frequency` (Hz).
    """
    cdef DeviceSlot *slot = <DeviceSlot *>calloc(1, sizeof(DeviceSlot))
    cdef DeviceGaps gaps
    cdef int64_t now
    if slot == NULL:
        raise MemoryError("no memory for a device's slot")
    try:
        for time_ns, force in ticks:
            now = time_ns
            note_gap(slot, now, started_ns, frequency)
            slot.inner.state.force[0] = force
        hd_seq_read(&slot.gap_sequence, &slot.shown_gaps, &gaps, sizeof(DeviceGaps))
    finally:
        free(slot)
    out = np.empty((), dtype=DEVICE_GAPS)
    copy_out(out, &gaps, sizeof(DeviceGaps))
    return out
