"""Parts of a device's measurement that simulated and real devices share: pose, weight, seconds without motion."""

from libc.math cimport cos, fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from fastpath.layout.arena cimport DeviceParams, DevicePrivate, DeviceState
from fastpath.layout.constants cimport FLAG_AWAKE
from fastpath.layout.simulation cimport SimDevice
from fastpath.mechanisms.kinematics cimport take_pose

cdef enum:
    # Hz, cutoff of the low-pass of measured velocities
    VELOCITY_CUTOFF_HZ = 100
    # mm/s and degrees; s between two reference orientations of a handle, so that slow drift does not count as motion
    STILL_SPEED = 20
    STILL_ANGLE = 3
    STILL_LOOK = 10


cdef inline double weight(const DeviceParams *p) noexcept nogil:
    """Return the weight (N) that gravity compensation leaves, at standard gravity 9.80665 m/s2."""
    return p.plant.gravity_mass * 9.80665 * (1 - p.gravity_scale)


cdef inline void follow_joints(DevicePrivate *d, const DeviceParams *p, const double *angles) noexcept nogil:
    """Compute the pose of joint angles (rad); skip it while they are those of the last pose."""
    cdef int i
    cdef bint moved = False
    for i in range(3):
        if not angles[i] == d.posed[i]:
            moved = True
        d.posed[i] = angles[i]
    if moved:
        take_pose(&p.mechanism, angles, &d.pose)


cdef inline void arm_still(DeviceState *s, double dt) noexcept nogil:
    """Count the seconds since the cursor was faster than STILL_SPEED."""
    cdef double speed = sqrt(s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1] + s.velocity[2] * s.velocity[2])
    s.still = 0 if speed > 1e-3 * STILL_SPEED else s.still + dt


cdef inline void grip_still(SimDevice *d, DeviceState *s, const DeviceParams *p, uint64_t buttons, double dt) noexcept nogil:
    """Count the seconds since a handle turned by STILL_ANGLE within STILL_LOOK seconds, a button changed, or it was woken."""
    cdef double along = 0
    cdef bint moved = d.buttons != buttons or (s.flags & FLAG_AWAKE) != (p.flags & FLAG_AWAKE)
    cdef int i
    d.buttons = buttons
    for i in range(4):
        along += d.rest[i] * s.orientation[i]
    if fabs(along) < cos(STILL_ANGLE * 3.141592653589793 / 360):
        moved = True
    d.rest_age += dt
    if moved or d.rest_age >= STILL_LOOK:
        memcpy(d.rest, s.orientation, sizeof(d.rest))
        d.rest_age = 0
    s.still = 0 if moved else s.still + dt
