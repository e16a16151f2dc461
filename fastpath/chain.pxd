"""The force chain between what sessions want and what the motors get: oscillation filter with force gates, and slew limit.

u = sum of all sources; out = g (u - h sum(gate F)), g the filter's gain on each axis, h = 1 - g of the worst axis in the last
tick (docs/force-path.md). Forces in the device frame, N; torques in N.mm.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport uint32_t

from fastpath.force_layout cimport OSCILLATION_FREE, Chain, OscillationParams, OscillationRate
from fastpath.layout cimport MODE_FORCE, MODE_POSITION, DeviceParams, DeviceState
from fastpath.oscillation cimport oscillation_begin, oscillation_step
from fastpath.pose cimport Pose, cursor_force

cdef inline void chain_begin(Chain *c, DeviceState *s) noexcept nogil:
    """Nothing seen, nothing put out."""
    cdef int i
    for i in range(3):
        oscillation_begin(&c.axis[i])
        c.slewed[i] = 0
        c.slewed_torque[i] = 0
    c.catching_up = 1
    c.obeyed = 0
    s.severity = 0
    s.oscillation_stage = OSCILLATION_FREE


cdef inline void filter_and_gate(
    Chain *c, const OscillationParams *params, const OscillationRate *rate, const DeviceParams *p, DeviceState *s,
    const Pose *pose, const double *gated_force, const double *gated_torque, int times, double *force, double *torque,
) noexcept nogil:
    """Sums in, what the filter and the sessions' gates leave of them out; the filter runs so many times on held input."""
    cdef double seen[3]
    cdef double from_torque[3]
    cdef double gain[3]
    cdef double worst = 1, h = s.severity
    cdef uint32_t stage = OSCILLATION_FREE
    cdef unsigned long long entries, ceilings
    cdef int i, _k
    if params.enabled == 0:
        s.severity = 0
        s.oscillation_stage = OSCILLATION_FREE
        return
    for i in range(3):
        from_torque[i] = 0.001 * torque[i]
        seen[i] = force[i]
    if torque[0] != 0 or torque[1] != 0 or torque[2] != 0:
        cursor_force(pose, from_torque, from_torque)
        for i in range(3):
            seen[i] += from_torque[i]
            if not fabs(seen[i]) <= p.peak_force:
                seen[i] = p.peak_force if seen[i] > 0 else -p.peak_force
    for i in range(3):
        entries = c.axis[i].entries
        ceilings = c.axis[i].ceilings
        gain[i] = c.axis[i].gain
        for _k in range(times):
            gain[i] = oscillation_step(
                &c.axis[i], params, rate, seen[i], s.velocity[i], s.position[i], p.encoder_step)
        if gain[i] < worst:
            worst = gain[i]
        if c.axis[i].stage < stage:
            stage = <uint32_t>c.axis[i].stage
        s.oscillations += c.axis[i].entries - entries
        s.ceilings += c.axis[i].ceilings - ceilings
    for i in range(3):
        force[i] = gain[i] * (force[i] - h * gated_force[i])
        torque[i] = worst * (torque[i] - h * gated_torque[i])
    s.severity = 1 - worst
    s.oscillation_stage = stage


cdef inline void towards_zero(double *last, const double *wanted) noexcept nogil:
    """What of the last output points the way of the wanted one, at most as far: nothing holds an output up that is to go down."""
    cdef double along = 0, square = 0
    cdef int i
    for i in range(3):
        along += wanted[i] * last[i]
        square += last[i] * last[i]
    along = along / square if square > 0 else 0
    if along < 0:
        along = 0
    elif along > 1:
        along = 1
    for i in range(3):
        last[i] *= along


cdef inline double torque_step(Chain *c, const DeviceParams *p, const Pose *pose, const double *torque) noexcept nogil:
    """N that a change of the torques comes to: at the cursor, and at least as their share of the limit is one of the peak."""
    cdef double change[3]
    cdef double largest = 0, size = 0
    cdef int i
    for i in range(3):
        change[i] = 0.001 * (torque[i] - c.slewed_torque[i])
        if fabs(change[i]) > largest:
            largest = fabs(change[i])
    if largest == 0 or p.torque_limit <= 0:
        return 0
    cursor_force(pose, change, change)
    for i in range(3):
        size += change[i] * change[i]
    size = sqrt(size)
    largest *= 1000 * p.peak_force / p.torque_limit
    return size if size > largest else largest


cdef inline void let_go_of_torque(Chain *c, const Pose *pose, const double *freed) noexcept nogil:
    """Torques (N.mm) that are gone at once held the last force back by what they came to at the cursor: it begins from there."""
    cdef double held[3]
    cdef double along = 0, square = 0
    cdef int i
    if freed[0] == 0 and freed[1] == 0 and freed[2] == 0:
        return
    for i in range(3):
        held[i] = 0.001 * freed[i]
    cursor_force(pose, held, held)
    for i in range(3):
        along += held[i] * c.slewed[i]
        square += c.slewed[i] * c.slewed[i]
    if along < 0 and square > 0:
        along = 1 + along / square if along > -square else 0
        for i in range(3):
            c.slewed[i] *= along


cdef inline void slew(
    Chain *c, const DeviceParams *p, DeviceState *s, const Pose *pose, double dt, double *force, double *torque,
) noexcept nogil:
    """Away from zero at the slew limit, at the slow one until a new source has caught up; towards zero at once.

    Force (N) and torques (N.mm) share the limit, so that the cursor feels one step of it, whatever was commanded.
    """
    cdef double freed[3]
    cdef double step, distance = 0
    cdef bint positions = s.mode == MODE_POSITION, forces = s.mode == MODE_FORCE
    cdef int i
    if c.obeyed == 0 or (positions and c.mode == MODE_FORCE) or (forces and c.mode == MODE_POSITION):
        c.catching_up = 1
    c.obeyed = 1
    if positions or forces:
        c.mode = s.mode
    towards_zero(c.slewed, force)
    for i in range(3):
        freed[i] = c.slewed_torque[i]
    towards_zero(c.slewed_torque, torque)
    for i in range(3):
        freed[i] -= c.slewed_torque[i]
    let_go_of_torque(c, pose, freed)
    for i in range(3):
        distance += (force[i] - c.slewed[i]) * (force[i] - c.slewed[i])
    distance = sqrt(distance)
    if torque[0] != 0 or torque[1] != 0 or torque[2] != 0:
        distance += torque_step(c, p, pose, torque)
    step = (p.slow_slew if c.catching_up else p.slew) * dt
    if distance <= step or step == 0:
        c.catching_up = 0
    else:
        for i in range(3):
            force[i] = c.slewed[i] + (force[i] - c.slewed[i]) * step / distance
            torque[i] = c.slewed_torque[i] + (torque[i] - c.slewed_torque[i]) * step / distance
    for i in range(3):
        c.slewed[i] = force[i]
        c.slewed_torque[i] = torque[i]
