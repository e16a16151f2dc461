"""Simulate one axis pressed against a virtual wall, with the tick's plant, hand and oscillation filter, without Python.

It calls the same inline functions as the tick, so its results hold for the loop. Metres, newtons,
seconds; the wall is at x = 0 and pushes towards negative x.
"""

from libc.math cimport M_PI, fabs, floor, sin
from libc.stdint cimport uint64_t
from libc.string cimport memset

import numpy as np

from fastpath.layout.constants cimport HAND_HOLD
from fastpath.layout.force cimport MotionWindow, OscillationAxis, OscillationJudge, OscillationParams, OscillationRate, Rendering
from fastpath.layout.simulation cimport HandParams, PlantParams, PlantState
from fastpath.plant.plant cimport low_pass_share, plant_substep
from fastpath.tick.motion_window cimport motion_hold
from fastpath.tick.oscillation cimport Verdict, oscillation_begin, oscillation_rate, oscillation_step
from fastpath.tick.oscillation_defaults cimport oscillation_defaults
from fastpath.tick.oscillation_judge cimport judge_begin, judge_step, verdict_of
from fastpath.tick.rendering cimport follow_lag, most_damping

TRIAL = np.dtype([
    ("x", "f8"), ("v", "f8"), ("command", "f8"), ("gain", "f8"), ("power", "f8"), ("stage", "i8"), ("ceiling", "i8"),
    ("entries", "i8"), ("ceilings", "i8"),
], align=True)

cdef enum:
    MOST_DELAY = 8
    VELOCITY_CUTOFF_HZ = 100

cdef struct Sample:
    double x
    double v
    double command
    double gain
    double power
    long long stage
    long long ceiling
    long long entries
    long long ceilings

cdef struct Trial:
    PlantParams plant
    HandParams hand
    double dt
    double encoder_step
    double stiffness
    double grating
    double pitch
    double limit
    long client_every
    long delay
    bint filtered


def trial(
    device, hand, path, *, double frequency, double encoder_step, double stiffness=0, push=None, grating=(0.0, 1.0),
    long client_every=1, long delay=1, double limit=10, bint filtered=True,
):
    """Return one sample of dtype TRIAL for each tick of `path`, the hand's intended positions (m).

    `device`: kg, N.s/m, N; `hand`: kg and N/m, N.s/m of grip and arm. `push`: N of the client besides the wall, `grating` its
    amplitude (N) and pitch (m). The client computes a force every `client_every` ticks from positions `delay` ticks old. ValueError.
    """
    cdef Trial t
    cdef double[::1] wanted = np.ascontiguousarray(path, dtype=np.float64)
    cdef long ticks = wanted.shape[0]
    cdef double[::1] pushed = np.zeros(ticks) if push is None else np.ascontiguousarray(push, dtype=np.float64)
    out = np.zeros(ticks, dtype=TRIAL)
    cdef Sample[::1] samples = out
    if pushed.shape[0] != ticks:
        raise ValueError("push needs a force for each tick of the path")
    if not (0 <= delay < MOST_DELAY and client_every >= 1 and 1 <= frequency <= 32000):
        raise ValueError(f"a delay of 0 to {MOST_DELAY - 1} ticks, a client and a loop that run are needed")
    memset(&t, 0, sizeof(Trial))
    t.plant.mass, t.plant.viscous, t.plant.coulomb = device
    for axis in range(3):
        t.plant.low[axis] = -1e3
        t.plant.high[axis] = 1e3
    t.hand.mass, t.hand.grip_stiffness, t.hand.grip_damping, t.hand.arm_stiffness, t.hand.arm_damping = hand
    t.hand.path = HAND_HOLD
    t.grating, t.pitch = grating
    t.dt = 1 / frequency
    t.encoder_step = encoder_step
    t.stiffness = stiffness
    t.limit = limit
    t.client_every = client_every
    t.delay = delay
    t.filtered = filtered
    if ticks:
        with nogil:
            run(&t, &wanted[0], &pushed[0], &samples[0], ticks)
    return out


cdef inline double limited(double force, double limit) noexcept nogil:
    """Clamp a force (N) to the limit in either direction: a command beyond the peak force counts as the peak."""
    if force > limit:
        return limit
    return -limit if force < -limit else force


cdef void run(const Trial *t, const double *wanted, const double *pushed, Sample *out, long ticks) noexcept nogil:
    cdef PlantState s
    cdef OscillationParams params
    cdef OscillationRate rate
    cdef OscillationAxis axis
    cdef MotionWindow motion
    cdef OscillationJudge judge
    cdef Rendering rendering
    cdef Verdict verdict
    cdef uint64_t entries
    cdef double velocity[3]
    cdef double position[3]
    cdef double seen[MOST_DELAY]
    cdef double want[3]
    cdef double want_v[3]
    cdef double force[3]
    cdef double measured, before, speed = 0, command = 0, x, share = low_pass_share(VELOCITY_CUTOFF_HZ, t.dt)
    cdef int substeps = <int>(t.dt * 32000 + 0.999999), i, _step
    cdef long k
    memset(&s, 0, sizeof(PlantState))
    memset(want, 0, sizeof(want)); memset(want_v, 0, sizeof(want_v)); memset(force, 0, sizeof(force))
    oscillation_defaults(&params)
    oscillation_rate(&rate, &params, t.dt)
    oscillation_begin(&axis)
    memset(velocity, 0, sizeof(velocity)); memset(position, 0, sizeof(position)); memset(&motion, 0, sizeof(motion))
    judge_begin(&judge, &motion)
    memset(&rendering, 0, sizeof(rendering))
    follow_lag(&rendering, 0, t.dt)
    s.x[0] = wanted[0]
    s.hand_x[0] = wanted[0]
    before = floor(s.x[0] / t.encoder_step) * t.encoder_step
    for i in range(MOST_DELAY):
        seen[i] = before
    for k in range(ticks):
        measured = floor(s.x[0] / t.encoder_step) * t.encoder_step
        speed += share * ((measured - before) / t.dt - speed)
        before = measured
        seen[k % MOST_DELAY] = measured
        if k % t.client_every == 0:
            x = seen[(k + MOST_DELAY - t.delay) % MOST_DELAY]
            command = pushed[k]
            if x > 0:
                command -= t.stiffness * x
            if t.grating != 0:
                command += t.grating * sin(2 * M_PI * x / t.pitch)
        command = limited(command, t.limit)
        velocity[0] = speed
        position[0] = measured
        judge_step(&judge, &motion, &params, velocity, position, t.plant.mass, t.dt)
        entries = axis.entries
        verdict_of(&judge, &params, False, 1e9, 0, most_damping(&rendering, t.plant.mass), &verdict)
        out[k].gain = oscillation_step(&axis, &params, &rate, command, speed, measured, t.encoder_step, &verdict)
        if axis.entries != entries:
            judge_begin(&judge, &motion)
        force[0] = command
        if t.filtered:
            force[0] = command * out[k].gain + limited(-axis.damping * speed, fabs(command))
        motion_hold(&motion, force)
        want[0] = wanted[k]
        for _step in range(substeps):
            plant_substep(&s, &t.plant, &t.hand, want, want_v, force, 0, t.dt / substeps)
        out[k].x = s.x[0]
        out[k].v = s.v[0]
        out[k].command = command
        out[k].power = axis.power
        out[k].stage = axis.stage
        out[k].ceiling = axis.ceiling
        out[k].entries = <long long>axis.entries
        out[k].ceilings = <long long>axis.ceilings
