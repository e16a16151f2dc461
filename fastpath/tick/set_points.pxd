"""Interpolate the set-points of held positions and angles linearly between messages.

A client sends set-points at its own rate; the loop moves from one to the next over the interval between the two messages (at
most 50 ms), so that a slow client causes no steps. With safe trajectory a position moves at a limited speed.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from fastpath.layout.force cimport SetPoint

cdef enum:
    LONGEST_SPAN_NS = 50000000


cdef inline void set_point(SetPoint *s, const double *wanted, int64_t command_ns, int64_t now, int64_t fresh_ns) noexcept nogil:
    """Start the line to a commanded set-point; the first one, and one after a pause longer than fresh_ns, applies at once."""
    cdef int64_t interval
    cdef bint same = True
    cdef int i
    for i in range(3):
        if s.target[i] != wanted[i]:
            same = False
    if s.held == 0:
        for i in range(3):
            s.origin[i] = wanted[i]; s.target[i] = wanted[i]; s.now[i] = wanted[i]
        s.command_ns = command_ns
        s.begun_ns = now
        s.span_ns = 0
        s.held = 1
    elif not same:
        interval = command_ns - s.command_ns
        if interval > fresh_ns or interval < 0:
            interval = 0
        for i in range(3):
            s.origin[i] = s.now[i]
            s.target[i] = wanted[i]
        s.begun_ns = now
        s.span_ns = interval if interval < LONGEST_SPAN_NS else LONGEST_SPAN_NS
    s.command_ns = command_ns


cdef inline void set_point_now(SetPoint *s, int64_t now, double most_speed, double dt) noexcept nogil:
    """Advance the set-point along its line to a time; with most_speed above 0 at most that fast."""
    cdef double share = 1, step, norm = 0
    cdef double wanted[3]
    cdef int i
    if s.span_ns > 0 and now - s.begun_ns < s.span_ns:
        share = <double>(now - s.begun_ns) / s.span_ns
    for i in range(3):
        wanted[i] = s.origin[i] + share * (s.target[i] - s.origin[i])
        norm += (wanted[i] - s.now[i]) * (wanted[i] - s.now[i])
    norm = sqrt(norm)
    step = most_speed * dt
    for i in range(3):
        if most_speed > 0 and norm > step:
            s.now[i] += (wanted[i] - s.now[i]) * step / norm
        else:
            s.now[i] = wanted[i]
