"""Touch of one surface: its force along the normal, and the memory of how it was loaded.

Device frame, m, N, s. Only the hand's own motion loads a surface: one that appears around the cursor, moves, or grows stiffer is
felt from where the cursor is (`yielded` below its surface), so that none of it pushes. While it is touched, what the device bears
only falls: if it rose and fell with the age of the samples, the surface would give way at each turn. None allocates, locks, logs or knows Python.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from fastpath.layout.arena cimport DeviceState, Record
from fastpath.layout.contact cimport Touch

cdef enum:
    # N/s, growth of the damper's largest force from each entry on
    TOUCH_RAMP = 500


cdef inline double dot(const double *a, const double *b) noexcept nogil:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline bint goes_on(const Touch *t, const Record *record, uint64_t tick) noexcept nogil:
    """Return whether the memory is of the tick before, and of this session and device."""
    return (t.tick + 1 == tick and t.session_generation == record.session_generation
            and t.device_generation == record.device_generation)


cdef inline void begin_touch(Touch *t, const Record *record, double depth, double stiffness) noexcept nogil:
    """Meet a contact where the cursor is."""
    t.session_generation = record.session_generation
    t.device_generation = record.device_generation
    t.depth = 0
    t.stiffness = stiffness
    t.yielded = depth if depth > 0 else 0
    t.damper = 0
    t.damper_limit = 0


cdef inline void keep_load(Touch *t, const double *normal, const double *position, double depth) noexcept nogil:
    """Go over to another surface: its part of the force stays, and grows by the way of the cursor alone."""
    cdef double along = dot(normal, t.normal), kept
    if along < 0:
        along = 0
    kept = along * t.depth + dot(normal, t.position) - dot(normal, position)
    if kept < 0:
        kept = 0
    t.yielded = depth - kept if depth > kept else 0
    t.damper *= along
    if t.damper_limit > t.damper:
        t.damper_limit = t.damper


cdef inline double touch_step(
    Touch *t, const Record *record, const DeviceState *s, uint64_t revision, bint moved, const double *normal, double depth,
    double stiffness, double share, double damping, double gain, double peak, double period, uint64_t tick,
) noexcept nogil:
    """Return the force along the normal (N) at a depth (m, positive inside), and advance the memory; never below 0.

    `moved`: not the hand alone has changed the depth. `share` of the stiffness (N/m) and `damping` (N.s/m) are what the device
    bears; `gain` scales both.
    """
    cdef double push
    cdef bint known = goes_on(t, record, tick)
    if known and t.revision == revision and t.depth > 0 and share > t.share:
        share = t.share
    stiffness *= gain * share
    if not known:
        begin_touch(t, record, depth, stiffness)
    elif moved or t.revision != revision:
        keep_load(t, normal, s.position, depth)
    if t.yielded > depth:
        t.yielded = depth if depth > 0 else 0
    t.depth = depth - t.yielded
    if t.depth > 0 and stiffness > t.stiffness:
        t.depth *= t.stiffness / stiffness
        t.yielded = depth - t.depth
    if t.depth > 0:
        t.damper_limit += TOUCH_RAMP * period
        t.damper = -gain * damping * dot(normal, s.velocity)
        if t.damper > t.damper_limit:
            t.damper = t.damper_limit
        push = stiffness * t.depth + t.damper
    else:
        t.depth = 0
        t.damper = 0
        t.damper_limit = 0
        push = 0
    if not push > 0:
        push = 0
    elif push > peak:
        push = peak
    if t.damper < 0:
        t.damper = 0
    if t.damper_limit > peak:
        t.damper_limit = peak
    t.revision = revision
    t.tick = tick
    t.stiffness = stiffness
    t.share = share
    memcpy(t.position, s.position, sizeof(t.position))
    memcpy(t.normal, normal, sizeof(t.normal))
    return push
