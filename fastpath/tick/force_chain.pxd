"""Oscillation filter with force gates, and slew limit: steps 6 and 13 of the tick.

u = sum of all sources; out = g (u - h sum(gate F)), g the filter's gain on each axis, h = 1 - the lowest gain in the last
tick (docs/force-path.md). Forces in the device frame, N; torques in N.mm.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memset

from fastpath.layout.arena cimport DeviceParams, DeviceState
from fastpath.layout.constants cimport MODE_FORCE, MODE_POSITION, SAFETY_EBRAKE
from fastpath.layout.force cimport (
    BY_DAMPER, BY_FILTER, OSCILLATION_FREE, Chain, ForceChanges, OscillationAxis, OscillationParams, OscillationRate,
)
from fastpath.mechanisms.pose cimport Pose, cursor_force
from fastpath.tick.force_changes cimport note_change
from fastpath.tick.force_maps cimport clamp_norm
from fastpath.tick.motion_window cimport motion_hold
from fastpath.tick.oscillation cimport (
    SHAKEN_MS, Verdict, oscillation_begin, oscillation_resume, oscillation_shaken, oscillation_step, oscillation_wait,
)
from fastpath.tick.oscillation_judge cimport judge_begin, judge_step, verdict_of

cdef extern from "tick/monitors.h" nogil:
    const double BRAKE_ONSET "HD_BRAKE_ONSET"

cdef enum:
    # repetitions of the filter in one tick: every period of a gap of 20 ms at 4 kHz, and a bound on what a tick costs above
    MOST_REPETITIONS = 80
    # ms of slew in one tick: at 300 Hz and below less than 10 N
    LONGEST_SLEW_MS = 3
    # mN: below, a command is none
    LEAST_MN = 1


cdef inline void chain_begin(Chain *c, DeviceState *s) noexcept nogil:
    """Reset filter and slew."""
    cdef int i
    for i in range(3):
        oscillation_begin(&c.axis[i])
        c.motion.held[i] = 0
        c.slewed[i] = 0
        c.slewed_torque[i] = 0
    judge_begin(&c.judge, &c.motion)
    c.catching_up = 1
    c.obeyed = 0
    c.interrupted = 0
    c.since_interrupted = 1e9
    s.severity = 0
    s.oscillation_stage = OSCILLATION_FREE


cdef inline void chain_interrupt(Chain *c) noexcept nogil:
    """Start the slew from zero, because no force reaches the motors any more; the filter resumes at the next tick, in its stage."""
    cdef int i
    for i in range(3):
        c.slewed[i] = 0
        c.slewed_torque[i] = 0
    c.interrupted = 1


cdef inline double axis_gain(
    OscillationAxis *axis, const OscillationParams *params, const OscillationRate *rate, double force, double velocity,
    double position, double encoder_step, int times, Verdict *verdict,
) noexcept nogil:
    """Run the filter of one axis for a number of periods on the same input; return its gain."""
    cdef double gain = axis.gain
    cdef int _k
    if times > MOST_REPETITIONS:
        oscillation_wait(axis, params, rate, (times - MOST_REPETITIONS) * rate.dt)
        times = MOST_REPETITIONS
    for _k in range(times):
        gain = oscillation_step(axis, params, rate, force, velocity, position, encoder_step, verdict)
        verdict.found = False
        verdict.again = False
        verdict.persists = False
    return gain


cdef inline void most_of_each(double *force, double peak) noexcept nogil:
    """Bound each axis of a force (N) by the peak."""
    cdef int i
    for i in range(3):
        if not fabs(force[i]) <= peak:
            force[i] = peak if force[i] > 0 else -peak


cdef inline void filter_and_gate(
    Chain *c, const OscillationParams *params, const OscillationRate *rate, const DeviceParams *p, DeviceState *s,
    const Pose *pose, const double *gated_force, const double *gated_torque, int times, const double *bears, bint played,
    ForceChanges *changes, double *force, double *torque,
) noexcept nogil:
    """Apply filter and gates to the sums in place; the filter runs for `times` periods on the same input.

    `bears`: damping of each axis that the device bears besides (N.s/m); `played`: an effect acts beside the command; `changes` counts
    what this takes and adds.
    """
    cdef double seen[3]
    cdef double from_torque[3]
    cdef double gain[3]
    cdef double damped[3]
    cdef double filtered[3]
    cdef double worst = 1, h = s.severity, size = 0
    cdef Verdict verdict
    cdef uint32_t stage = OSCILLATION_FREE
    cdef unsigned long long entries, ceilings
    cdef bint resumes = c.interrupted != 0, shaken, entered = False
    cdef int i
    c.interrupted = 0
    shaken = resumes or (times > 1 and times * rate.dt > 1e-3 * SHAKEN_MS)
    if resumes:
        times = 1
    if params.enabled == 0:
        if c.motion.begun:
            judge_begin(&c.judge, &c.motion)
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
        most_of_each(seen, p.peak_force)
    c.since_interrupted = 0 if resumes else c.since_interrupted + times * rate.dt
    if resumes:
        judge_begin(&c.judge, &c.motion)
    judge_step(&c.judge, &c.motion, params, s.velocity, s.position, p.plant.mass, times * rate.dt)
    for i in range(3):
        entries = c.axis[i].entries
        ceilings = c.axis[i].ceilings
        if resumes:
            oscillation_resume(&c.axis[i], seen[i], s.velocity[i])
        if shaken:
            oscillation_shaken(&c.axis[i])
        verdict_of(&c.judge, params, played, c.since_interrupted, i, bears[i], &verdict)
        gain[i] = axis_gain(&c.axis[i], params, rate, seen[i], s.velocity[i], s.position[i], p.encoder_step, times, &verdict)
        if gain[i] < worst:
            worst = gain[i]
        if c.axis[i].stage < stage:
            stage = <uint32_t>c.axis[i].stage
        entered |= c.axis[i].entries != entries
        s.oscillations += c.axis[i].entries - entries
        s.ceilings += c.axis[i].ceilings - ceilings
        size += seen[i] * seen[i]
        damped[i] = -c.axis[i].damping * s.velocity[i]
    # Nothing is damped that is not commanded: no force outlives the command, and no more than that is added.
    if not size > 1e-6 * LEAST_MN * LEAST_MN:
        memset(damped, 0, sizeof(damped))
    elif damped[0] != 0 or damped[1] != 0 or damped[2] != 0:
        clamp_norm(damped, sqrt(size))
    # What goes on after an entry has to be found anew.
    if entered:
        judge_begin(&c.judge, &c.motion)
    for i in range(3):
        force[i] = gain[i] * (force[i] - h * gated_force[i])
        torque[i] = worst * (torque[i] - h * gated_torque[i])
        from_torque[i] = 0.001 * torque[i]
    if torque[0] != 0 or torque[1] != 0 or torque[2] != 0:
        cursor_force(pose, from_torque, from_torque)
    for i in range(3):
        filtered[i] = force[i] + from_torque[i]
        force[i] += damped[i]
        from_torque[i] += force[i]
    # As `seen`: what is more than the peak neither was commanded nor arrives.
    most_of_each(filtered, p.peak_force)
    most_of_each(from_torque, p.peak_force)
    note_change(changes, BY_FILTER, seen, filtered, p.force_scale * times * rate.dt)
    note_change(changes, BY_DAMPER, filtered, from_torque, p.force_scale * times * rate.dt)
    motion_hold(&c.motion, from_torque)
    s.severity = 1 - worst
    s.oscillation_stage = stage


cdef inline void keep_common_part(double *last, const double *wanted) noexcept nogil:
    """Reduce the last output to its component along the wanted one, at most as long: the slew limit never delays a decrease."""
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


cdef inline bint without_cursor_force(const double *force, const double *torque) noexcept nogil:
    """Return whether these torques give no force at the cursor, as at a singular pose."""
    return (force[0] == 0 and force[1] == 0 and force[2] == 0) and (torque[0] != 0 or torque[1] != 0 or torque[2] != 0)


cdef inline bint limit_step(double *last, double *wanted, double step) noexcept nogil:
    """Move from the last output towards the wanted one by at most a step; decreases are not limited. 1 when limited."""
    cdef double x, y, z, way
    cdef bint held_back
    cdef int i
    keep_common_part(last, wanted)
    x = wanted[0] - last[0]
    y = wanted[1] - last[1]
    z = wanted[2] - last[2]
    way = sqrt(x * x + y * y + z * z)
    held_back = way > step and step > 0
    for i in range(3):
        if held_back:
            wanted[i] = last[i] + (wanted[i] - last[i]) * step / way
        last[i] = wanted[i]
    return held_back


cdef inline bint slew(
    Chain *c, const DeviceParams *p, DeviceState *s, double dt, double *force, double *torque,
) noexcept nogil:
    """Limit the rate away from zero, to the slow limit until a new source has caught up; decreases pass at once. 1 when limited.

    The e-brake may reach the peak within BRAKE_ONSET. `dt`: s, nominal period of the loop, however long the last tick was.
    In: motor output as force at the cursor (N) and as joint torques (N.mm). Out, when limited: a force without torques, or at
    a singular pose torques alone, which use the same share of their limit as a force of its peak.
    """
    cdef bint positions = s.mode == MODE_POSITION, forces = s.mode == MODE_FORCE, torques = without_cursor_force(force, torque)
    cdef bint held_back
    cdef double step
    if s.safety & SAFETY_EBRAKE:
        c.obeyed = 0
        step = p.peak_force / BRAKE_ONSET * dt
    else:
        if c.obeyed == 0 or (positions and c.mode == MODE_FORCE) or (forces and c.mode == MODE_POSITION):
            c.catching_up = 1
        c.obeyed = 1
        if positions or forces:
            c.mode = s.mode
        step = (p.slow_slew if c.catching_up else p.slew) * (dt if dt < 1e-3 * LONGEST_SLEW_MS else 1e-3 * LONGEST_SLEW_MS)
    if torques:
        memset(c.slewed, 0, sizeof(c.slewed))
        held_back = limit_step(c.slewed_torque, torque, step * p.torque_limit / p.peak_force if p.peak_force > 0 else 0)
    else:
        memset(c.slewed_torque, 0, sizeof(c.slewed_torque))
        held_back = limit_step(c.slewed, force, step)
        if held_back:
            memset(torque, 0, 3 * sizeof(double))
    if not held_back:
        c.catching_up = 0
    return held_back
