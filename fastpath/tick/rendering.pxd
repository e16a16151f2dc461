"""Stiffness and damping that the loop may render by itself: they follow the age of a device's sample and the rate of the loop.

A force that answers to an old position or velocity feeds the motion instead of braking it. A mass m under -b v, seen tv seconds
late, is stable for b < pi m / (2 tv); a spring K, seen tx seconds late, takes K tx of damping away. Both bounds are kept by
the factor MARGIN_PERCENT / 100, for the bare device: a hand only adds to it (docs/force-path.md).
"""

from libc.math cimport M_PI, sqrt

from fastpath.layout.force cimport Rendering

cdef enum:
    MARGIN_PERCENT = 40
    # ms: lags fall with this time constant; they rise at once
    LAG_FALL_MS = 500
    # Hz, cut-off of the low-pass of measured velocities
    VELOCITY_LAG_HZ = 100


cdef inline double followed(double shown, double lag, double period) noexcept nogil:
    """Return a lag (s) that rises at once and falls slowly."""
    cdef double share = period / (1e-3 * LAG_FALL_MS)
    if lag >= shown or share >= 1:
        return lag
    return shown + share * (lag - shown)


cdef inline void follow_lag(Rendering *r, double age, double period) noexcept nogil:
    """Take the age (s) of the sample that this tick answers to; `period` (s) of the loop: the tick's own, and half of it for the hold."""
    cdef double position = (age if age > 0 else 0) + 1.5 * period, low_pass = 1 / (2 * M_PI * VELOCITY_LAG_HZ)
    r.position_lag = followed(r.position_lag, position, period)
    r.velocity_lag = followed(r.velocity_lag, position + (low_pass if low_pass > 0.5 * period else 0.5 * period), period)


cdef inline double most_damping(const Rendering *r, double mass) noexcept nogil:
    """Return the largest damping (N.s/m) that a bare mass (kg) bears."""
    return 1e-2 * MARGIN_PERCENT * 0.5 * M_PI * mass / r.velocity_lag if r.velocity_lag > 0 else 0


cdef inline double most_before_scale(const Rendering *r, double mass, double scale) noexcept nogil:
    """Return the largest damping (N.s/m) that the force scale leaves within `most_damping`."""
    return most_damping(r, mass) / (scale if scale > 1 else 1)


cdef inline double least_damping(const Rendering *r, double mass, double stiffness) noexcept nogil:
    """Return the smallest damping (N.s/m) with which `bound_spring` leaves a stiffness (N/m) as it is, or as much of it as there can be."""
    cdef double p = most_damping(r, mass), room
    if p <= 0:
        return 0
    room = p * p - 4 * stiffness * r.position_lag * p / (1e-2 * MARGIN_PERCENT)
    return 0.5 * (p - (sqrt(room) if room > 0 else 0))


cdef inline void bound_spring(const Rendering *r, double mass, double *stiffness, double *damping) noexcept nogil:
    """Reduce stiffness (N/m) and damping (N.s/m) of a spring to what a bare mass (kg) bears.

    K <= MARGIN b (1 - b / p) / tx with p = `most_damping`; b is the largest one that leaves room for K, or the best one, p / 2.
    """
    cdef double p = most_damping(r, mass), margin = 1e-2 * MARGIN_PERCENT, room, most
    if p <= 0 or r.position_lag <= 0:
        stiffness[0] = 0
        damping[0] = 0
        return
    room = p * p - 4 * stiffness[0] * r.position_lag * p / margin
    most = 0.5 * (p + (sqrt(room) if room > 0 else 0))
    if damping[0] > most:
        damping[0] = most
    most = margin * damping[0] * (1 - damping[0] / p) / r.position_lag
    if stiffness[0] > most:
        stiffness[0] = most
