"""Simulate a device and the hand that holds it: per Cartesian axis an apparent mass with viscous and Coulomb friction and end stops.

m a = F + F_hand - b v - f_c sgn(v) + F_stops (+ weight along -z); the hand is two springs and dampers in a row with its mass
between them, its far end on the intended path (two-mass operator model; parameters in docs/realtime.md). Leapfrog: half a step
of drift, one of force, half a step of drift. Springs keep their energy, and a held force moves the mass exactly as far as in
continuous time, so that a sampled wall loses the K T / 2 of damping that sample and hold costs. Coulomb friction by proximal step:
a resting device sticks. Metres, newtons, seconds.
"""

from libc.math cimport M_PI, cos, exp, sin
from libc.stdint cimport uint64_t

from fastpath.layout.constants cimport HAND_CIRCLE, HAND_HOLD, HAND_NONE
from fastpath.layout.force cimport Share
from fastpath.layout.simulation cimport HandParams, PlantParams, PlantState, SimDevice

cdef enum:
    SUBSTEP_RATE = 32000
    # sub-steps in one tick: after a gap of more than 10 ms they are longer, so that no tick takes long
    MOST_SUBSTEPS = 320
    # N.s/m: damping of a locked plant
    LOCK_DAMPING = 50


cdef inline double hand_substep(
    double *hand_x, double *hand_v, const HandParams *hand, double want, double want_v, double x, double v,
    double half, double per_hand,
) noexcept nogil:
    """Advance a hand's mass on one axis by two steps of `half` s; return its pull (N) on a device that is at x (m) in mid-step.

    `want` and `want_v`: intended position (m) and velocity; `v`: the device's velocity; `per_hand`: step by mass of the hand, s/kg.
    """
    cdef double middle = hand_x[0] + half * hand_v[0]
    cdef double grip = hand.grip_stiffness * (middle - x) + hand.grip_damping * (hand_v[0] - v)
    hand_v[0] += per_hand * (hand.arm_stiffness * (want - middle) + hand.arm_damping * (want_v - hand_v[0]) - grip)
    hand_x[0] = middle + half * hand_v[0]
    return grip


cdef inline void plant_substep(
    PlantState *s, const PlantParams *p, const HandParams *hand, const double *want, const double *want_v,
    const double *force, double weight, double dt,
) noexcept nogil:
    """Advance by one step of dt seconds under a held force (N); want = the hand's intended position (m) and velocity in mid-step."""
    cdef bint held = hand.mass > 0 and hand.path != HAND_NONE
    cdef double f, grip, v, x, half = 0.5 * dt, stick = dt * p.coulomb / p.mass
    cdef double per_mass = dt / p.mass, per_hand = dt / hand.mass if held else 0
    cdef int i
    for i in range(3):
        x = s.x[i] + half * s.v[i]
        f = force[i]
        grip = 0
        if held:
            grip = hand_substep(&s.hand_x[i], &s.hand_v[i], hand, want[i], want_v[i], x, s.v[i], half, per_hand)
            f += grip
        s.hand_force[i] = grip
        if s.lock_stiffness > 0:
            f += s.lock_stiffness * (s.lock_x[i] - x) - LOCK_DAMPING * s.v[i]
        if i == 2:
            f -= weight
        if x < p.low[i]:
            f += p.stop_stiffness * (p.low[i] - x) - p.stop_damping * s.v[i]
        elif x > p.high[i]:
            f += p.stop_stiffness * (p.high[i] - x) - p.stop_damping * s.v[i]
        v = s.v[i] + per_mass * (f - p.viscous * s.v[i])
        if v > stick:
            v -= stick
        elif v < -stick:
            v += stick
        else:
            v = 0
        s.v[i] = v
        s.x[i] = x + half * v
        if not held:
            # A hand that grips the device again starts at the device's position.
            s.hand_x[i] = s.x[i]
            s.hand_v[i] = v


cdef inline void hand_target(const HandParams *hand, const double *hold, double seconds, double *want, double *want_v) noexcept nogil:
    """Compute the hand's intended position (m) and velocity (m/s) at a time on its path."""
    cdef double phase, speed
    cdef int i
    for i in range(3):
        want[i] = hold[i] if hand.path == HAND_HOLD else hand.centre[i]
        want_v[i] = 0
    if hand.path == HAND_CIRCLE:
        phase = 2 * M_PI * seconds / hand.period
        speed = 2 * M_PI / hand.period * hand.radius
        want[0] += hand.radius * cos(phase)
        want[2] += hand.radius * sin(phase)
        want_v[0] = -speed * sin(phase)
        want_v[2] = speed * cos(phase)


cdef inline void plant_substeps(
    PlantState *s, const PlantParams *p, const HandParams *hand, double *want, const double *want_v,
    const double *force, double weight, double dt, int count,
) noexcept nogil:
    """Advance by steps of dt seconds under a held force (N), while the hand's intended position moves from want (m) at want_v."""
    cdef int i, _k
    for i in range(3):
        want[i] += 0.5 * dt * want_v[i]
    for _k in range(count):
        plant_substep(s, p, hand, want, want_v, force, weight, dt)
        for i in range(3):
            want[i] += dt * want_v[i]


cdef inline void plant_advance(
    SimDevice *d, const PlantParams *p, const HandParams *hand, const double *force, double weight, double dt,
) noexcept nogil:
    """Advance plant and hand by dt seconds in equal sub-steps of 1/32,000 s or less, longer ones beyond 10 ms; the force (N) is held."""
    cdef double want[3]
    cdef double want_v[3]
    cdef int n = <int>(dt * SUBSTEP_RATE + 0.999999)
    if n < 1:
        n = 1
    elif n > MOST_SUBSTEPS:
        n = MOST_SUBSTEPS
    hand_target(hand, d.hold, d.phase_time, want, want_v)
    plant_substeps(&d.plant, p, hand, want, want_v, force, weight, dt / n, n)
    d.phase_time += dt


cdef inline double low_pass_share(double cutoff_hz, double dt) noexcept nogil:
    """Return the share of the new sample in a first-order low-pass: 1 - exp(-2 pi f dt)."""
    return 1 - exp(-2 * M_PI * cutoff_hz * dt)


cdef inline double share_at(Share *s, double cutoff_hz, double dt) noexcept nogil:
    """Return `low_pass_share`, cached for one filter: the exponential costs more than the rest of the filter."""
    if s.dt != dt:
        s.dt = dt
        s.value = low_pass_share(cutoff_hz, dt)
    return s.value


cdef inline uint64_t random_next(uint64_t *state) noexcept nogil:
    """Draw 64 random bits by xorshift64* (Vigna 2016); the state is never 0."""
    cdef uint64_t x = state[0]
    x ^= x >> 12
    x ^= x << 25
    x ^= x >> 27
    state[0] = x
    return x * <uint64_t>2685821657736338717


cdef inline double random_gauss(uint64_t *state) noexcept nogil:
    """Draw an approximately standard normal number: the sum of twelve uniforms minus six."""
    cdef double total = -6
    cdef int _i
    for _i in range(12):
        total += (random_next(state) >> 11) * (1.0 / 9007199254740992.0)
    return total
