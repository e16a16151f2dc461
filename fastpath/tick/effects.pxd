"""Add vibration effects to the force after the oscillation filter, which would detect them as a limit cycle.

Each is a sine that plays until it is replaced. Amplitude A (N) at f Hz moves a free mass m with P = A^2 / (2 m 2 pi f); the sums
of the peaks of force, speed and excursion of all effects are limited. Below 40 Hz the excursion of the free mass is limited to that of
10 mW at 40 Hz, because a hand on a wall resonates there. N, Hz, W, kg, s.
"""

from libc.math cimport M_PI, fabs, sqrt
from libc.stdint cimport int64_t

from fastpath.layout.arena cimport DeviceParams
from fastpath.layout.force cimport EFFECTS, Effect

cdef extern from "tick/monitors.h" nogil:
    const double EFFECT_FORCE "HD_EFFECT_FORCE"
    const double EFFECT_POWER "HD_EFFECT_POWER"
    const double EFFECT_HZ "HD_EFFECT_HZ"

cdef enum:
    # least number of ticks in a period of a vibration: with fewer, it would be felt as another frequency
    FEWEST_TICKS = 4


cdef struct Played:
    # present force, N; sums of the peaks of force (N), and of speed (m/s) and excursion (m) of a mass of 1 kg
    double force[3]
    double size
    double speed
    double way


cdef inline double sine(double turns) noexcept nogil:
    """Return the sine of an angle of 0 or more turns, to 1e-13: a polynomial fitted at Chebyshev points of a quarter turn."""
    cdef double part = turns - <int64_t>turns - 0.5, size = fabs(part), x, y
    # From -0.5 to 0.5 turn; the sine of x is that of 0.5 - x.
    x = size if size < 0.25 else 0.5 - size
    y = x * x
    y = x * (6.283185307179274 + y * (-41.34170223990443 + y * (81.60524914917754 + y * (-76.70584755600541 + y * (
        42.058135278478666 + y * (-15.081489343041332 + y * 3.6658894553648578))))))
    # Half a turn was taken away.
    return -y if part > 0 else y


cdef inline void play(const Effect *effects, double gain, int64_t now, double period, Played *out) noexcept nogil:
    """Add one session's effects: present value and possible peaks; `period`: s between two ticks of the loop."""
    cdef const Effect *e
    cdef double wave
    cdef int k, i
    for k in range(EFFECTS):
        e = &effects[k]
        if e.frequency <= 0 or FEWEST_TICKS * e.frequency * period > 1:
            continue
        wave = gain * sine((now - e.begun_ns) * 1e-9 * e.frequency)
        for i in range(3):
            out.force[i] += wave * e.force[i]
        out.size += gain * e.size
        out.speed += gain * e.speed
        out.way += gain * e.way


cdef inline void add_effects(const Played *e, const DeviceParams *p, double gain, double *force) noexcept nogil:
    """Add the effects to the force, jointly limited to 2 N, 10 mW and the excursion of a 40 Hz sine; `gain` is the dead man's switch."""
    cdef double scale = p.force_scale, power, way
    cdef int i
    if e.size <= 0 or p.plant.mass <= 0:
        return
    if scale * e.size > EFFECT_FORCE:
        scale = EFFECT_FORCE / e.size
    power = 0.5 * e.size * e.speed / p.plant.mass
    if scale * scale * power > EFFECT_POWER:
        scale = sqrt(EFFECT_POWER / power)
    way = sqrt(2 * EFFECT_POWER * p.plant.mass / (2 * M_PI * EFFECT_HZ)) / (2 * M_PI * EFFECT_HZ)
    if scale * e.way > way:
        scale = way / e.way
    for i in range(3):
        force[i] += gain * scale * e.force[i]
