"""The steps of one device's tick: read, arbiter, clamp, torque map, output. `loop.pyx` calls them in this order.

Each works on the device's private memory and on values handed in; none allocates, locks, logs or knows Python.
"""

from libc.math cimport M_PI, NAN, cos, fabs, isfinite, sin, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memset

from fastpath.tick.arbiter cimport Wish
from fastpath.mechanisms.kinematics cimport inverse, quantise, take_pose
from fastpath.layout.arena cimport DevicePrivate, DeviceParams, DeviceState
from fastpath.layout.constants cimport FLAG_AWAKE, HAND_CIRCLE
from fastpath.plant.plant cimport hand_target, plant_advance, random_gauss, share_at
from fastpath.mechanisms.pose cimport Pose, cursor_force, joint_torque, joint_velocity, only_driven
from fastpath.plant.simulation_controls cimport arm_still, given_orientation, grip_still, obey_orders, pushed
from fastpath.layout.simulation cimport SimDevice
from fastpath.space.spatial cimport compose, unit

cdef enum:
    VELOCITY_CUTOFF_HZ = 100
    HANDLE_RATE_HZ = 50
    LARGEST_DAMPING = 20


cdef inline double weight(const DeviceParams *p) noexcept nogil:
    """N downwards that gravity compensation leaves, at standard gravity 9.80665 m/s2."""
    return p.plant.gravity_mass * 9.80665 * (1 - p.gravity_scale)


cdef inline double half_radians(double degrees) noexcept nogil:
    """Half an angle (degrees) in radians: the vector part of a small rotation's quaternion."""
    return degrees * (M_PI / 360)


cdef inline void sim_begin(SimDevice *d, const DeviceParams *p) noexcept nogil:
    """Put the plant where its hand wants it, at rest; draw nothing yet."""
    cdef double want_v[3]
    cdef int i
    if d.started == 0:
        d.random = p.seed if p.seed != 0 else 1
        for i in range(3):
            d.hold[i] = p.hand.centre[i]
        hand_target(&p.hand, d.hold, 0, d.plant.x, want_v)
        for i in range(3):
            d.plant.v[i] = 0
            d.plant.hand_x[i] = d.plant.x[i]
            d.plant.hand_v[i] = 0
            d.measured[i] = d.plant.x[i]
            d.filtered_velocity[i] = 0
            d.force[i] = 0
        d.orientation[0] = 1
        d.orientation[1] = 0; d.orientation[2] = 0; d.orientation[3] = 0
        d.phase_time = 0
        d.noise_wait = 0
        d.started = 1
    else:
        for i in range(3):
            d.hold[i] = d.plant.x[i]
    d.plant_revision = p.plant_revision


cdef inline void follow_joints(DevicePrivate *d, const DeviceParams *p, const double *angles) noexcept nogil:
    """Take the pose of these joint angles (rad), unless no encoder has counted since the last one."""
    cdef int i
    cdef bint moved = False
    for i in range(3):
        if not angles[i] == d.posed[i]:
            moved = True
        d.posed[i] = angles[i]
    if moved:
        take_pose(&p.mechanism, angles, &d.pose)


cdef inline void read_arm(DevicePrivate *d, const DeviceParams *p, double dt) noexcept nogil:
    """Advance the plant under the last output, read its encoders, and fill position, velocity, joints of the state."""
    cdef double angles[3]
    cdef double rate[3]
    cdef double force[3]
    cdef double share
    cdef Pose *pose = &d.pose
    cdef SimDevice *sim = &d.sim
    cdef DeviceState *s = &d.state
    cdef int i
    if sim.started == 0 or sim.plant_revision != p.plant_revision:
        sim_begin(sim, p)
        d.posed[0] = NAN
    obey_orders(sim, p)
    pushed(sim, p, force)
    plant_advance(sim, &p.plant, &p.hand, force, weight(p), dt)
    inverse(&p.mechanism, sim.plant.x, angles)
    quantise(p.mechanism.counts_per_turn, angles)
    follow_joints(d, p, angles)
    share = share_at(&sim.velocity_share, VELOCITY_CUTOFF_HZ, dt)
    for i in range(3):
        sim.filtered_velocity[i] += share * ((pose.position[i] - sim.measured[i]) / dt - sim.filtered_velocity[i])
        sim.measured[i] = pose.position[i]
        s.position[i] = pose.position[i]
        s.velocity[i] = sim.filtered_velocity[i]
        s.hand_force[i] = sim.plant.hand_force[i]
        s.joint[i] = angles[i] * (180 / M_PI)
    joint_velocity(pose, s.velocity, rate)
    for i in range(3):
        s.joint_velocity[i] = rate[i] * (180 / M_PI)
        s.orientation[i + 1] = 0
    s.orientation[0] = 1
    given_orientation(p, s.orientation)
    arm_still(s, dt)
    s.buttons = 0
    if p.left_handed:
        s.joint[0] = 0 - s.joint[0]
        s.joint_velocity[0] = 0 - s.joint_velocity[0]


cdef inline void read_grip(DevicePrivate *d, const DeviceParams *p, double dt) noexcept nogil:
    """A handle that sways with the hand: orientation at 50 Hz with 0.2 degrees rms noise and slow yaw drift; battery drains linearly."""
    cdef SimDevice *sim = &d.sim
    cdef DeviceState *s = &d.state
    cdef double tilt[4]
    cdef double yaw[4]
    cdef double angle
    cdef int i
    if sim.started == 0 or sim.plant_revision != p.plant_revision:
        sim_begin(sim, p)
    obey_orders(sim, p)
    sim.phase_time += dt
    sim.noise_wait -= dt
    if given_orientation(p, sim.orientation) or p.flags & FLAG_AWAKE == 0:
        sim.noise_wait = 0
    elif sim.noise_wait <= 0:
        sim.noise_wait += 1.0 / HANDLE_RATE_HZ
        angle = half_radians(0.5 / 60 * sim.phase_time)
        yaw[0] = cos(angle); yaw[1] = 0; yaw[2] = 0; yaw[3] = sin(angle)
        angle = half_radians(10 if p.hand.path == HAND_CIRCLE else 0)
        tilt[0] = 1
        tilt[1] = angle * sin(2 * M_PI * sim.phase_time / 6) + random_gauss(&sim.random) * half_radians(0.2)
        tilt[2] = angle * sin(2 * M_PI * sim.phase_time / 9) + random_gauss(&sim.random) * half_radians(0.2)
        tilt[3] = random_gauss(&sim.random) * half_radians(0.2)
        unit(tilt)
        compose(yaw, tilt, sim.orientation)
    for i in range(4):
        s.orientation[i] = sim.orientation[i]
    grip_still(sim, s, p, p.buttons, dt)
    s.buttons = p.buttons
    s.hall = 0
    s.battery_level = p.battery_start
    if p.battery_life > 0:
        s.battery_level -= (sim.phase_time - sim.battery_since) / p.battery_life
    if s.battery_level < 0:
        s.battery_level = 0
    s.battery_voltage = 3.3 + 0.9 * s.battery_level


cdef inline void position_force(
    DevicePrivate *d, const DeviceParams *p, const Wish *wish, double dt, double *force, double *gated,
) noexcept nogil:
    """Held position: 500 N/m, 5 N.s/m, at most half the peak force, ramped in at 500 N/s; added to force (N)."""
    cdef double limit = 0.5 * p.peak_force, norm, scale
    cdef double spring[3]
    cdef int i
    if not wish.has_position:
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
    scale = wish.position_gain
    if norm > d.position_ramp:
        scale *= d.position_ramp / norm
    for i in range(3):
        force[i] += scale * spring[i]
        gated[i] += wish.position_gate * scale * spring[i]


cdef inline void angle_torque(
    DevicePrivate *d, const DeviceParams *p, const Wish *wish, double dt, double *torque, double *gated,
) noexcept nogil:
    """Held joint angles: 1,000 N.mm per degree, 10 N.mm.s per degree, at most half the torque limit, ramped in over 10 ms."""
    cdef double limit = 0.5 * p.torque_limit, want
    cdef int i
    if not wish.has_angle:
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
        torque[i] += wish.angle_gain * want
        gated[i] += wish.angle_gate * wish.angle_gain * want


cdef inline void damping_force(const DeviceParams *p, const DeviceState *s, const Wish *wish, double dt, double *force) noexcept nogil:
    """Viscous force -b v along each device axis, b at most 20 N.s/m and half of what the sampled mass bears (b dt / m < 0.5)."""
    cdef double most = 0.5 * p.plant.mass / dt, b
    cdef int i
    if most > LARGEST_DAMPING:
        most = LARGEST_DAMPING
    for i in range(3):
        b = wish.damping[i]
        if b > most:
            b = most
        force[i] -= b * s.velocity[i]


cdef inline void home_force(DevicePrivate *d, const DeviceParams *p, double gain, double dt, double *force) noexcept nogil:
    """Pull to the home position: 30 N/m, at most 1 N, eased in over 1 s; `gain` is the dead man's."""
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


cdef inline uint32_t clamp_norm(double *force, double peak) noexcept nogil:
    """Limit the norm (N) and keep the direction; no finite force is no force. 1 when it had to act."""
    cdef double norm = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    cdef double scale = 0
    cdef int i
    if norm <= peak:
        return 0
    if isfinite(norm):
        scale = peak / norm
    for i in range(3):
        force[i] = force[i] * scale if scale > 0 else 0
    return 1


cdef inline uint32_t only_finite(double *force, double *torque) noexcept nogil:
    """Zero both unless every part is a finite number; 1 when it had to: what goes to motors is never NaN or infinite."""
    cdef int i
    for i in range(3):
        if not (isfinite(force[i]) and isfinite(torque[i])):
            memset(force, 0, 3 * sizeof(double))
            memset(torque, 0, 3 * sizeof(double))
            return 1
    return 0


cdef inline void clamp_torques(double *torque, double limit, bint together) noexcept nogil:
    """Torques (N.mm) within the limit either way, all shrunk together or each by itself; what is no number is none."""
    cdef double largest = 0
    cdef int i
    for i in range(3):
        if not isfinite(torque[i]):
            together = False
        elif fabs(torque[i]) > largest:
            largest = fabs(torque[i])
    for i in range(3):
        if together and largest > limit:
            torque[i] *= limit / largest
        elif torque[i] > limit:
            torque[i] = limit
        elif torque[i] < -limit:
            torque[i] = -limit
        elif not isfinite(torque[i]):
            torque[i] = 0


cdef inline uint32_t torque_map(
    const DeviceParams *p, const Pose *pose, double limit, double *force, double *torque,
) noexcept nogil:
    """Cursor force (N) and joint torques (N.mm) in, what the motors give out in both forms; 1 when they saturate.

    With torque scaling the whole vector shrinks to the limit (N.mm) and keeps its direction; without it each joint clamps by
    itself. What the motors come to at the cursor is at most the peak force, also where the arm is nearly stretched.
    """
    cdef double total[3]
    cdef double largest = 0, norm, scale = 1
    cdef bint angular = torque[0] != 0 or torque[1] != 0 or torque[2] != 0
    cdef uint32_t saturated = 0
    cdef int i
    only_driven(pose, force)
    only_driven(pose, torque)
    joint_torque(pose, force, total)
    for i in range(3):
        total[i] = 1000 * total[i] + torque[i]
        if fabs(total[i]) > largest:
            largest = fabs(total[i])
    if largest > limit:
        saturated = 1
        for i in range(3):
            if p.torque_scaling:
                total[i] *= limit / largest
            elif total[i] > limit:
                total[i] = limit
            elif total[i] < -limit:
                total[i] = -limit
    if angular or (saturated and not p.torque_scaling):
        for i in range(3):
            force[i] = 0.001 * total[i]
        cursor_force(pose, force, force)
    elif saturated:
        for i in range(3):
            force[i] *= limit / largest
    norm = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    if norm > p.peak_force:
        scale = p.peak_force / norm
    for i in range(3):
        force[i] *= scale
        torque[i] = scale * total[i]
    return saturated | only_finite(force, torque)
