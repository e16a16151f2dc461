"""Forces that the loop makes by itself: springs of held positions and angles, damping of sessions, home return.

Device frame, N; joints in N.mm. None allocates, locks, logs or knows Python.
"""

from libc.math cimport sqrt

from fastpath.layout.arena cimport DeviceParams, DevicePrivate, DeviceState
from fastpath.tick.arbiter cimport CommandSum
from fastpath.tick.force_maps cimport clamp_norm

cdef enum:
    # N.s/m
    LARGEST_DAMPING = 20


cdef inline void position_force(
    DevicePrivate *d, const DeviceParams *p, const CommandSum *total, double dt, double *force, double *gated,
) noexcept nogil:
    """Held position: 500 N/m, 5 N.s/m, at most half the peak force, ramped in at 500 N/s; added to force (N)."""
    cdef double limit = 0.5 * p.peak_force, norm, scale
    cdef double spring[3]
    cdef int i
    if not total.has_position:
        d.position_ramp = 0
        return
    d.position_ramp += 500 * dt
    if d.position_ramp > limit:
        d.position_ramp = limit
    norm = 0
    for i in range(3):
        spring[i] = 500 * (d.position.now[i] - d.state.position[i]) - 5 * d.state.velocity[i]
        norm += spring[i] * spring[i]
    norm = sqrt(norm)
    scale = total.position_gain
    if norm > d.position_ramp:
        scale *= d.position_ramp / norm
    for i in range(3):
        force[i] += scale * spring[i]
        gated[i] += total.position_gate * scale * spring[i]


cdef inline void angle_torque(
    DevicePrivate *d, const DeviceParams *p, const CommandSum *total, double dt, double *torque, double *gated,
) noexcept nogil:
    """Held joint angles: 1,000 N.mm per degree, 10 N.mm.s per degree, at most half the torque limit, ramped in over 10 ms."""
    cdef double limit = 0.5 * p.torque_limit, want
    cdef int i
    if not total.has_angle:
        d.angle_ramp = 0
        return
    d.angle_ramp += limit / 0.010 * dt
    if d.angle_ramp > limit:
        d.angle_ramp = limit
    for i in range(3):
        want = 1000 * (d.angle.now[i] - d.state.joint[i]) - 10 * d.state.joint_velocity[i]
        if want > d.angle_ramp:
            want = d.angle_ramp
        elif want < -d.angle_ramp:
            want = -d.angle_ramp
        torque[i] += total.angle_gain * want
        gated[i] += total.angle_gate * total.angle_gain * want


cdef inline void damping_force(const DeviceParams *p, const DeviceState *s, const CommandSum *total, double dt, double *force) noexcept nogil:
    """Viscous force -b v along each device axis, b at most 20 N.s/m and half of what the sampled mass bears (b dt / m < 0.5)."""
    cdef double most = 0.5 * p.plant.mass / dt, b
    cdef int i
    if most > LARGEST_DAMPING:
        most = LARGEST_DAMPING
    for i in range(3):
        b = total.damping[i]
        if b > most:
            b = most
        force[i] -= b * s.velocity[i]


cdef inline void home_force(DevicePrivate *d, const DeviceParams *p, double gain, double dt, double *force) noexcept nogil:
    """Pull to the home position: 30 N/m, at most 1 N, eased in over 1 s; `gain` is that of the dead man's switch."""
    cdef double pull[3]
    cdef int i
    d.home_ease += dt
    if d.home_ease > 1:
        d.home_ease = 1
    for i in range(3):
        pull[i] = 30 * (p.home[i] - d.state.position[i])
    clamp_norm(pull, 1)
    for i in range(3):
        force[i] += gain * d.home_ease * pull[i]
