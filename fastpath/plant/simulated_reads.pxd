"""Read a simulated device: advance its plant under the last output and fill its state; handles sway and discharge their battery.

Each works on the device's private memory; none allocates, locks, logs or calls Python.
"""

from libc.math cimport M_PI, NAN, cos, sin

from fastpath.layout.arena cimport DeviceParams, DevicePrivate, DeviceState
from fastpath.layout.constants cimport FLAG_AWAKE, HAND_CIRCLE
from fastpath.layout.port cimport OLDEST_ORDER_NS
from fastpath.layout.simulation cimport SimDevice
from fastpath.mechanisms.kinematics cimport inverse, quantise
from fastpath.mechanisms.pose cimport Pose, joint_velocity
from fastpath.plant.plant cimport hand_target, plant_advance, random_gauss, share_at
from fastpath.plant.simulation_controls cimport apply_controls, fixed_orientation, plant_force
from fastpath.space.spatial cimport compose, unit
from fastpath.tick.measurement cimport VELOCITY_CUTOFF_HZ, arm_still, follow_joints, grip_still, weight

cdef enum:
    HANDLE_RATE_HZ = 50


cdef inline double half_radians(double degrees) noexcept nogil:
    """Return half an angle (degrees) in radians: the vector part of a small rotation's quaternion."""
    return degrees * (M_PI / 360)


cdef inline void sim_begin(SimDevice *d, const DeviceParams *p) noexcept nogil:
    """Place the plant at its hand's intended position, at rest."""
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


cdef inline void advance_plant(SimDevice *sim, const DeviceParams *p, double dt) noexcept nogil:
    """Advance the plant by dt seconds under the last output, which a device holds as long as the thread of a port sends it."""
    cdef double force[3]
    cdef double held = dt
    if held > 1e-9 * OLDEST_ORDER_NS:
        held = 1e-9 * OLDEST_ORDER_NS
    plant_force(sim, p, force)
    plant_advance(sim, &p.plant, &p.hand, force, weight(p), held)
    if dt > held:
        plant_advance(sim, &p.plant, &p.hand, p.simulation.external, weight(p), dt - held)


cdef inline void read_arm(DevicePrivate *d, const DeviceParams *p, double dt) noexcept nogil:
    """Advance the plant under the last output, read its encoders, and fill position, velocity, joints of the state."""
    cdef double angles[3]
    cdef double rate[3]
    cdef double share
    cdef Pose *pose = &d.pose
    cdef SimDevice *sim = &d.sim
    cdef DeviceState *s = &d.state
    cdef int i
    if sim.started == 0 or sim.plant_revision != p.plant_revision:
        sim_begin(sim, p)
        d.posed[0] = NAN
    apply_controls(sim, p)
    advance_plant(sim, p, dt)
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
    fixed_orientation(p, s.orientation)
    arm_still(s, dt)
    s.buttons = 0
    if p.left_handed:
        s.joint[0] = 0 - s.joint[0]
        s.joint_velocity[0] = 0 - s.joint_velocity[0]


cdef inline void read_grip(DevicePrivate *d, const DeviceParams *p, double dt) noexcept nogil:
    """Fill the state of a handle: orientation at 50 Hz with 0.2 degrees rms noise and slow yaw drift; the battery drains linearly."""
    cdef SimDevice *sim = &d.sim
    cdef DeviceState *s = &d.state
    cdef double tilt[4]
    cdef double yaw[4]
    cdef double angle
    cdef int i
    if sim.started == 0 or sim.plant_revision != p.plant_revision:
        sim_begin(sim, p)
    apply_controls(sim, p)
    sim.phase_time += dt
    sim.noise_wait -= dt
    if fixed_orientation(p, sim.orientation) or p.flags & FLAG_AWAKE == 0:
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
