"""Safety monitors of one device: e-brake, stall, foreign object, dropped grip, reach limits, hot motors. They act in the tick.

Each latches with a hysteresis in the device's private memory, counts its trips, and sets its bit in `safety`; actors only
report (docs/force-path.md has thresholds and sources). N, N.s/m, m/s, s, degrees Celsius.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memset

from fastpath.layout.arena cimport DeviceParams, DeviceState
from fastpath.layout.constants cimport (
    SAFETY_DERATED, SAFETY_DROPPED, SAFETY_EBRAKE, SAFETY_GUARD, SAFETY_HARD, SAFETY_STALLED,
)
from fastpath.layout.force cimport MonitorMemory, Rendering, Thermal
from fastpath.plant.plant cimport share_at
from fastpath.tick.rendering cimport bound_spring

cdef extern from "tick/monitors.h" nogil:
    const double BRAKE "HD_BRAKE"
    const double RUNAWAY "HD_RUNAWAY"
    const double FAST "HD_FAST"
    const double FAST_SECONDS "HD_FAST_SECONDS"
    const double FAST_POWER "HD_FAST_POWER"
    const double AT_REST "HD_AT_REST"
    const double SAFE_SPEED "HD_SAFE_SPEED"
    const double SAFE_SECONDS "HD_SAFE_SECONDS"
    const double RETURN_SECONDS "HD_RETURN_SECONDS"
    const double STALL_SPEED "HD_STALL_SPEED"
    const double STALL_SECONDS "HD_STALL_SECONDS"
    const double STALL_SHARE "HD_STALL_SHARE"
    const double STALL_END_SHARE "HD_STALL_END_SHARE"
    const double STALL_CUTOFF_HZ "HD_STALL_CUTOFF_HZ"
    const double OBSERVER "HD_OBSERVER"
    const double STOP_REACH "HD_STOP_REACH"
    const double STOP_SECONDS "HD_STOP_SECONDS"
    const double OBJECT "HD_OBJECT"
    const double OBJECT_HARD "HD_OBJECT_HARD"
    const double HARD_SECONDS "HD_HARD_SECONDS"
    const double CALM_SECONDS "HD_CALM_SECONDS"
    const double DROP_RAMP "HD_DROP_RAMP"
    const double BACK_SECONDS "HD_BACK_SECONDS"
    const double ZONE_STIFFNESS "HD_ZONE_STIFFNESS"
    const double ZONE_DAMPING "HD_ZONE_DAMPING"
    const double WARM "HD_WARM"
    const double HOT "HD_HOT"
    const double TOO_HOT "HD_TOO_HOT"
    const double COOLER "HD_COOLER"


cdef inline double norm3(const double *v) noexcept nogil:
    """Return the length of a vector."""
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


cdef inline void monitors_begin(MonitorMemory *g) noexcept nogil:
    """Reset: nothing latched, every gain 1."""
    memset(g, 0, sizeof(MonitorMemory))
    g.grip_gain = 1
    g.fod_gain = 1
    g.return_gain = 1
    g.begun = 1


cdef inline void observe_anew(MonitorMemory *g, const DeviceState *s) noexcept nogil:
    """Restart the observer of foreign objects at the present velocity: nobody knows which force acted since its last sample."""
    cdef int i
    for i in range(3):
        g.observer[i] = 0
        g.last_velocity[i] = s.velocity[i]


cdef inline void forget_times(MonitorMemory *g) noexcept nogil:
    """Restart every time that a monitor measures; what is latched stays latched."""
    g.fast = 0
    g.slow = 0
    g.stalled = 0
    g.hard = 0
    g.calm = 0
    g.grip_away = 0
    g.grip_back = 0


cdef inline void latch(DeviceState *s, uint32_t bit, bint on) noexcept nogil:
    """Set or clear a monitor's bit in the state."""
    if on:
        s.safety |= bit
    else:
        s.safety &= ~bit


cdef inline void trip(MonitorMemory *g, DeviceState *s) noexcept nogil:
    """Engage the e-brake; it is released after SAFE_SECONDS below SAFE_SPEED."""
    if not g.ebrake:
        g.ebrake = 1
        s.ebrakes += 1
    g.slow = 0
    g.return_gain = 0
    g.tripped = 1


cdef inline void watch_speed(MonitorMemory *g, DeviceState *s, double dt, double period) noexcept nogil:
    """E-brake: acts above 3 m/s, or above 1.5 m/s for 10 ms while the motors add energy; releases after 1 s below 0.3 m/s.

    After that what is wanted comes back by a ramp, which advances by one `period` (s) of the loop, however long the tick was.
    """
    cdef double speed = norm3(s.velocity), power = 0
    cdef int i
    for i in range(3):
        power += s.force[i] * s.velocity[i]
    g.fast = g.fast + dt if speed > FAST and power > FAST_POWER else 0
    if speed > RUNAWAY or g.fast >= FAST_SECONDS:
        trip(g, s)
    if g.ebrake:
        g.slow = g.slow + dt if speed < SAFE_SPEED else 0
        if g.slow >= SAFE_SECONDS and not g.fod == SAFETY_HARD and s.waiting == 0:
            g.ebrake = 0
            g.fast = 0
            s.ebrake_releases += 1
    elif g.return_gain < 1:
        g.return_gain += period / RETURN_SECONDS
        if g.return_gain > 1:
            g.return_gain = 1
    latch(s, SAFETY_EBRAKE, g.ebrake != 0)


cdef inline bint stop_pushes(MonitorMemory *g, const DeviceParams *p, const DeviceState *s, int i, double dt) noexcept nogil:
    """Return whether the device lies at a mechanical stop of an axis, or did so in the last 20 ms."""
    if (s.position[i] < p.plant.low[i] + STOP_REACH) or (s.position[i] > p.plant.high[i] - STOP_REACH):
        g.at_stop[i] = STOP_SECONDS
        return True
    g.at_stop[i] -= dt
    if g.at_stop[i] < 0:
        g.at_stop[i] = 0
    return g.at_stop[i] > 0


cdef inline void watch_object(
    MonitorMemory *g, const DeviceParams *p, DeviceState *s, bint released, double load, double dt,
) noexcept nogil:
    """Foreign object: a momentum observer (De Luca 2003) estimates the force other than motors and weight while the grip is not held.

    Stage `guard`, from 1 N, halves the output; stage `hard`, from 3 N for 30 ms, brakes; a stage ends after 0.5 s below its threshold.
    What the hand did until it let go, and what a mechanical stop does, is no foreign object.
    """
    cdef double share = OBSERVER * dt, drag, sign, seen, known, per_change
    cdef unsigned long long before = g.fod
    cdef bint lets_go = released and g.grip_away == 0
    cdef int i
    if share > 1:
        share = 1
    per_change = share / dt * p.plant.mass
    for i in range(3):
        sign = 0 if fabs(s.velocity[i]) < STALL_SPEED else (1 if s.velocity[i] > 0 else -1)
        drag = p.plant.viscous * s.velocity[i] + p.plant.coulomb * sign
        known = s.force[i] - drag - (load if i == 2 else 0)
        g.observer[i] += per_change * (s.velocity[i] - g.last_velocity[i]) - share * (known + g.observer[i])
        g.last_velocity[i] = s.velocity[i]
        if stop_pushes(g, p, s, i, dt) or lets_go:
            g.observer[i] = 0
    seen = norm3(g.observer)
    s.external = seen
    if not released:
        g.fod = 0
        g.hard = 0
        g.calm = 0
    else:
        g.hard = g.hard + dt if seen > OBJECT_HARD else 0
        if g.hard >= HARD_SECONDS:
            g.fod = SAFETY_HARD
            g.calm = 0
            trip(g, s)
        elif seen >= OBJECT and g.fod == 0:
            g.fod = SAFETY_GUARD
            g.calm = 0
        elif g.fod != 0:
            g.calm = g.calm + dt if seen < (OBJECT if g.fod == SAFETY_GUARD else OBJECT_HARD) else 0
            if g.calm >= CALM_SECONDS:
                g.fod = SAFETY_GUARD if g.fod == SAFETY_HARD and seen >= OBJECT else 0
                g.calm = 0
    if g.fod != before:
        s.guards += 1
    latch(s, SAFETY_GUARD, g.fod == SAFETY_GUARD)
    latch(s, SAFETY_HARD, g.fod == SAFETY_HARD)
    g.fod_gain = 0.5 if g.fod == SAFETY_GUARD else 1


cdef inline void watch_stall(MonitorMemory *g, const DeviceParams *p, DeviceState *s, double dt) noexcept nogil:
    """Stall: acts after 2 s above 0.6 of the torque limit, or of the peak force, without motion; ends at motion or below 0.4."""
    cdef double largest = 0, force = norm3(s.force), share = STALL_END_SHARE if s.safety & SAFETY_STALLED else STALL_SHARE
    cdef bint strains
    cdef int i
    g.still_speed += share_at(&g.still_share, STALL_CUTOFF_HZ, dt) * (norm3(s.velocity) - g.still_speed)
    for i in range(3):
        if fabs(s.torque[i]) > largest:
            largest = fabs(s.torque[i])
    strains = largest > share * p.torque_limit or force > share * p.peak_force
    if s.safety & SAFETY_STALLED:
        if g.still_speed > 2 * STALL_SPEED or not strains:
            latch(s, SAFETY_STALLED, False)
            g.stalled = 0
        return
    g.stalled = g.stalled + dt if strains and g.still_speed < STALL_SPEED else 0
    if g.stalled >= STALL_SECONDS:
        s.stalls += 1
        latch(s, SAFETY_STALLED, True)


cdef inline void watch_grip(
    MonitorMemory *g, const DeviceParams *p, DeviceState *s, bint released, double dt, double period,
) noexcept nogil:
    """Dropped grip: not held for longer than the time-out, the output ramps to 0 in 50 ms; it returns after 200 ms of holding.

    The ramp up advances by one `period` (s) of the loop, however long the tick was.
    """
    g.grip_away = g.grip_away + dt if released else 0
    g.grip_back = 0 if released else g.grip_back + dt
    if p.grip_timeout <= 0:
        g.dropped = 0
    elif g.dropped == 0 and g.grip_away > p.grip_timeout:
        g.dropped = 1
        s.grip_drops += 1
    elif g.dropped and g.grip_back >= BACK_SECONDS:
        g.dropped = 0
    g.grip_gain += (-dt if g.dropped else period) / DROP_RAMP
    if g.grip_gain > 1:
        g.grip_gain = 1
    elif g.grip_gain < 0:
        g.grip_gain = 0
    latch(s, SAFETY_DROPPED, g.dropped != 0)


cdef inline void limit_springs(const DeviceParams *p, const DeviceState *s, const Rendering *r, double *force) noexcept nogil:
    """Add the safety springs at the limits of the reach: 500 N/m and 5 N.s/m inwards, less for old samples, at most half the peak force."""
    cdef double spring[3]
    cdef double deep, norm, scale = 1, most = 0.5 * p.peak_force, stiffness = ZONE_STIFFNESS, damping = ZONE_DAMPING
    cdef bint bounded = False
    cdef int i
    for i in range(3):
        deep = p.plant.low[i] + p.zone_low[i] - s.position[i]
        if deep <= 0:
            deep = p.plant.high[i] - p.zone_high[i] - s.position[i]
            if deep >= 0:
                spring[i] = 0
                continue
        if not bounded:
            bound_spring(r, p.plant.mass, &stiffness, &damping)
            bounded = True
        spring[i] = stiffness * deep - damping * s.velocity[i]
        if spring[i] * deep < 0:
            spring[i] = 0
    norm = norm3(spring)
    if norm > most:
        scale = most / norm
    for i in range(3):
        force[i] += scale * spring[i]


cdef inline double derated(double felt) noexcept nogil:
    """Return the share of the torque limit at a winding temperature: 1 up to 80 degrees Celsius, linear to 0.5 at 100 and 0 at 110."""
    if felt <= WARM:
        return 1
    if felt <= HOT:
        return 1 - 0.5 * (felt - WARM) / (HOT - WARM)
    return 0.5 * (TOO_HOT - felt) / (TOO_HOT - HOT) if felt < TOO_HOT else 0


cdef inline double heat(Thermal *t, const DeviceParams *p, DeviceState *s, double dt) noexcept nogil:
    """Advance the two-node thermal model of each motor under the last torques; return the remaining share of the torque limit, with 5 K of hysteresis."""
    cdef double least = 1, share, hottest = -1000, winding, housing
    cdef int i
    if p.thermal.winding <= 0 or p.thermal.housing <= 0:
        s.derating = 1
        return 1
    winding = dt / p.thermal.winding
    housing = dt / p.thermal.housing
    for i in range(3):
        if t.begun == 0:
            t.winding[i] = p.thermal.ambient
            t.housing[i] = p.thermal.ambient
            t.felt[i] = p.thermal.ambient
        share = s.torque[i] / p.torque_limit
        t.winding[i] += winding * (p.thermal.rise * share * share - (t.winding[i] - t.housing[i]))
        t.housing[i] += housing * (
            p.thermal.ratio * (t.winding[i] - t.housing[i]) - (t.housing[i] - p.thermal.ambient))
        if t.winding[i] > t.felt[i]:
            t.felt[i] = t.winding[i]
        elif t.winding[i] < t.felt[i] - COOLER:
            t.felt[i] = t.winding[i] + COOLER
        share = derated(t.felt[i])
        if share < least:
            least = share
        if t.winding[i] > hottest:
            hottest = t.winding[i]
    t.begun = 1
    if least < 1 and s.derating == 1:
        s.deratings += 1
    latch(s, SAFETY_DERATED, least < 1)
    s.temperature = hottest
    s.derating = least
    return least
