"""Count the gaps between two ticks of a device, and the time in which its motors did not get the commanded force.

A gap is a time without a tick that is longer than LEAST_GAP_NS and, rounded to whole periods, than LEAST_GAP_PERIODS. A device
keeps its last order for OLDEST_ORDER_NS and gets zero afterwards: what a gap lasts longer than that under an output other than
zero is interrupted force.
"""

from libc.stdint cimport int64_t

from fastpath.cells.cells cimport hd_seq_write
from fastpath.layout.arena cimport DeviceGaps, DeviceSlot, DeviceState
from fastpath.layout.constants cimport FIRST_GAP_NS, GAP_BUCKETS, KEPT_GAPS, LEAST_GAP_NS, LEAST_GAP_PERIODS
from fastpath.layout.port cimport OLDEST_ORDER_NS

cdef enum:
    # ns between two publications while there is no gap
    SHOW_EVERY_NS = 100000000


cdef inline void show_gaps(DeviceSlot *slot, int64_t now) noexcept nogil:
    """Publish the gaps of a device."""
    slot.inner.gaps_shown_ns = now
    hd_seq_write(&slot.gap_sequence, &slot.shown_gaps, &slot.inner.gaps, sizeof(DeviceGaps))


cdef inline bint is_gap(int64_t length_ns, double frequency) noexcept nogil:
    """Return whether a time without a tick is a gap of a loop that is asked for `frequency` (Hz)."""
    return length_ns > LEAST_GAP_NS and length_ns * 1e-9 * frequency > LEAST_GAP_PERIODS + 0.5


cdef inline bint has_output(const DeviceState *s) noexcept nogil:
    cdef int i
    for i in range(3):
        if s.force[i] != 0 or s.torque[i] != 0:
            return True
    return False


cdef inline void count_gap(DeviceGaps *g, int64_t length_ns) noexcept nogil:
    """Count a gap: bucket b is below 2^b FIRST_GAP_NS, the last one has all others."""
    cdef double length = length_ns * 1e-9
    cdef int bucket = 0
    while bucket < GAP_BUCKETS - 1 and length_ns >= <int64_t>FIRST_GAP_NS << bucket:
        bucket += 1
    g.buckets[bucket] += 1
    g.lengths[g.gaps % KEPT_GAPS] = length
    g.gaps += 1
    g.gap_seconds += length
    if length > g.longest:
        g.longest = length


cdef inline void note_gap(DeviceSlot *slot, int64_t now, int64_t started_ns, double frequency) noexcept nogil:
    """Note the time since the last tick of a device, under the output of that tick; call it before the device's tick.

    The first tick of a device, and the first one since the loop was started at `started_ns`, only begin the count.
    """
    cdef DeviceGaps *g = &slot.inner.gaps
    cdef int64_t length_ns = now - g.tick_ns
    cdef bint force, gap
    if g.tick_ns == 0 or g.tick_ns < started_ns:
        g.tick_ns = now
        show_gaps(slot, now)
        return
    g.tick_ns = now
    force = has_output(&slot.inner.state)
    gap = is_gap(length_ns, frequency)
    if force:
        g.force_seconds += length_ns * 1e-9
    if gap:
        count_gap(g, length_ns)
        if force and length_ns > OLDEST_ORDER_NS:
            g.interrupted_seconds += (length_ns - OLDEST_ORDER_NS) * 1e-9
    if gap or now - slot.inner.gaps_shown_ns >= SHOW_EVERY_NS:
        show_gaps(slot, now)
