"""Interpolate the set-points of held positions and angles linearly between messages.

A client sends set-points at its own rate; the loop moves from one to the next over the interval between the two messages (at
most 50 ms), so that a slow client causes no steps. With safe trajectory a position moves at a limited speed. After an interruption of the
force a set-point begins at the device, and goes back to that line from rest.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from fastpath.layout.force cimport SetPoint

cdef enum:
    LONGEST_SPAN_NS = 50000000
    # ns for which a set-point that comes later answers an interruption: its command may have timed out in it
    ANSWERED_NS = 1000000000
    # ms without force after which a set-point returns from the device itself
    WHOLE_RETURN_MS = 40


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
        s.returns = 0
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


cdef inline void note_interruption(SetPoint *s, int64_t now, double silent) noexcept nogil:
    """Let the next set-point begin at the device, if one is held: its force was interrupted for a time (s)."""
    if s.held:
        s.interrupted_ns = now
        s.silent = silent


cdef inline bint answers_interruption(SetPoint *s, int64_t now) noexcept nogil:
    """Return whether a set-point that is here now is the first one after an interruption, and forget that."""
    cdef bint recent = s.interrupted_ns != 0 and now - s.interrupted_ns <= ANSWERED_NS
    s.interrupted_ns = 0
    return recent


cdef inline void set_point_return(SetPoint *s, const double *device, double silent, int64_t command_ns) noexcept nogil:
    """Put a set-point to where the device is, from where it returns to its line; after a short interruption (s) not all the way."""
    cdef double share = silent / (1e-3 * WHOLE_RETURN_MS) if s.held else 1
    cdef double begin
    cdef int i
    if share < 0:
        share = 0
    for i in range(3):
        begin = device[i] if share >= 1 else s.now[i] + share * (device[i] - s.now[i])
        s.origin[i] = begin; s.target[i] = begin; s.now[i] = begin
    s.command_ns = command_ns
    s.span_ns = 0
    s.held = 1
    s.returns = 1
    s.speed = 0


cdef inline void set_point_now(SetPoint *s, int64_t now, double most_speed, double growth, double dt) noexcept nogil:
    """Advance the set-point along its line to a time; with most_speed above 0 at most that fast.

    One that returns to its line begins at rest, and its speed grows by `growth` in a second.
    """
    cdef double share = 1, step, norm = 0
    cdef double wanted[3]
    cdef int i
    if s.span_ns > 0 and now - s.begun_ns < s.span_ns:
        share = <double>(now - s.begun_ns) / s.span_ns
    for i in range(3):
        wanted[i] = s.target[i] if share >= 1 else s.origin[i] + share * (s.target[i] - s.origin[i])
        norm += (wanted[i] - s.now[i]) * (wanted[i] - s.now[i])
    norm = sqrt(norm)
    step = most_speed * dt
    if s.returns:
        s.speed += growth * dt
        if norm <= s.speed * dt:
            s.returns = 0
        elif most_speed <= 0 or s.speed < most_speed:
            most_speed = s.speed
            step = s.speed * dt
    for i in range(3):
        if most_speed > 0 and norm > step:
            s.now[i] += (wanted[i] - s.now[i]) * step / norm
        else:
            s.now[i] = wanted[i]
