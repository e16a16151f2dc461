"""Forces that the loop makes by itself: springs of held positions and angles, damping of sessions, home return.

Device frame, N; joints in N.mm; `period`: s, nominal period of the loop, by which ramps advance. None allocates, locks, logs or knows Python.
"""

from libc.math cimport sqrt

from fastpath.layout.arena cimport DeviceParams, DevicePrivate, DeviceState
from fastpath.layout.constants cimport LARGEST_DAMPING
from fastpath.layout.force cimport Rendering
from fastpath.mechanisms.pose cimport Pose, cursor_force
from fastpath.tick.arbiter cimport CommandSum
from fastpath.tick.force_maps cimport clamp_norm
from fastpath.tick.rendering cimport bound_spring

cdef enum:
    # held position: spring N/m, damper N.s/m, growth of its largest force N/s
    POSITION_STIFFNESS = 500
    POSITION_DAMPING = 5
    POSITION_RAMP = 500
    # held angles: N.mm and N.mm.s per degree, ms until their largest torque
    ANGLE_STIFFNESS = 1000
    ANGLE_DAMPING = 10
    ANGLE_RAMP_MILLISECONDS = 10
    # held positions and angles have at most 1 / HELD_DIVISOR of the peak force and of the torque limit
    HELD_DIVISOR = 2
    # home return: spring N/m, largest force N, s until its full force
    HOME_STIFFNESS = 30
    HOME_FORCE = 1
    HOME_EASE = 1


cdef inline void position_force(
    DevicePrivate *d, const DeviceParams *p, const CommandSum *total, double period, double *force, double *gated,
) noexcept nogil:
    """Held position: a spring and a damper, limited to a share of the peak force and ramped in; added to force (N)."""
    cdef double limit = p.peak_force / HELD_DIVISOR, norm, scale, stiffness = POSITION_STIFFNESS, damping = POSITION_DAMPING
    cdef double spring[3]
    cdef int i
    if not total.has_position:
        d.position_ramp = 0
        return
    d.position_ramp += POSITION_RAMP * period
    if d.position_ramp > limit:
        d.position_ramp = limit
    norm = 0
    bound_spring(&d.state.rendering, p.plant.mass, &stiffness, &damping)
    for i in range(3):
        spring[i] = stiffness * (d.position.now[i] - d.state.position[i]) - damping * d.state.velocity[i]
        norm += spring[i] * spring[i]
    norm = sqrt(norm)
    scale = total.position_gain
    if norm > d.position_ramp:
        scale *= d.position_ramp / norm
    for i in range(3):
        force[i] += scale * spring[i]
        gated[i] += total.position_gate * scale * spring[i]


cdef inline void angle_torque(
    DevicePrivate *d, const DeviceParams *p, const Pose *pose, const CommandSum *total, double period, double *torque, double *gated,
) noexcept nogil:
    """Held joint angles: a spring and a damper, limited to a share of the torque limit and, at the cursor, of the peak force, and ramped in.

    Added to torque (N.mm).
    """
    cdef double limit = p.torque_limit / HELD_DIVISOR, stiffness = POSITION_STIFFNESS, damping = POSITION_DAMPING, size, scale
    cdef double want[3]
    cdef double at_cursor[3]
    cdef int i
    if not total.has_angle:
        d.angle_ramp = 0
        return
    d.angle_ramp += limit / (1e-3 * ANGLE_RAMP_MILLISECONDS) * period
    if d.angle_ramp > limit:
        d.angle_ramp = limit
    # At a joint as much less as at the cursor: its inertia depends on the pose.
    bound_spring(&d.state.rendering, p.plant.mass, &stiffness, &damping)
    stiffness *= <double>ANGLE_STIFFNESS / POSITION_STIFFNESS
    damping *= <double>ANGLE_DAMPING / POSITION_DAMPING
    for i in range(3):
        want[i] = stiffness * (d.angle.now[i] - d.state.joint[i]) - damping * d.state.joint_velocity[i]
        if want[i] > d.angle_ramp:
            want[i] = d.angle_ramp
        elif want[i] < -d.angle_ramp:
            want[i] = -d.angle_ramp
        at_cursor[i] = 1e-3 * want[i]
    if p.left_handed:
        at_cursor[0] = 0 - at_cursor[0]
    cursor_force(pose, at_cursor, at_cursor)
    size = sqrt(at_cursor[0] * at_cursor[0] + at_cursor[1] * at_cursor[1] + at_cursor[2] * at_cursor[2])
    scale = total.angle_gain
    if size > p.peak_force / HELD_DIVISOR:
        scale *= p.peak_force / HELD_DIVISOR / size
    for i in range(3):
        torque[i] += scale * want[i]
        gated[i] += total.angle_gate * scale * want[i]


cdef inline double session_damping(const CommandSum *total, double most, int axis) noexcept nogil:
    """Return the sessions' damping of an axis (N.s/m): at most 20, and what the bare mass bears (`most_before_scale`)."""
    if most > LARGEST_DAMPING:
        most = LARGEST_DAMPING
    return total.damping[axis] if total.damping[axis] < most else most


cdef inline void damping_force(const DeviceState *s, const CommandSum *total, double most, double *force) noexcept nogil:
    """Viscous force -b v along each device axis; `most`: what the bare mass bears, N.s/m."""
    cdef int i
    for i in range(3):
        force[i] -= session_damping(total, most, i) * s.velocity[i]


cdef inline void home_force(DevicePrivate *d, const DeviceParams *p, double gain, double period, double *force) noexcept nogil:
    """Pull to the home position by a weak spring that is eased in; `gain` is that of the dead man's switch."""
    cdef double pull[3]
    cdef int i
    d.home_ease += period / HOME_EASE
    if d.home_ease > 1:
        d.home_ease = 1
    for i in range(3):
        pull[i] = HOME_STIFFNESS * (p.home[i] - d.state.position[i])
    clamp_norm(pull, HOME_FORCE)
    for i in range(3):
        force[i] += gain * d.home_ease * pull[i]
