"""What makes a simulated device do what a test wants: a push, a lock, a lasting force, an orientation, a charge, data that freeze.

`tick/steps.pxd` calls these when it reads a simulated device; each works on the device's private memory and allocates nothing.
"""

from libc.math cimport cos, fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_seq_write
from fastpath.layout.arena cimport DeviceParams, DeviceSlot, DeviceState
from fastpath.layout.constants cimport FLAG_AWAKE
from fastpath.layout.simulation cimport SimDevice

cdef enum:
    # mm/s and degrees; seconds between two looks at a handle, so that its drift is no motion
    STILL_SPEED = 20
    STILL_ANGLE = 3
    STILL_LOOK = 10


cdef inline void obey_orders(SimDevice *d, const DeviceParams *p) noexcept nogil:
    """Take up a new push, lock or charge."""
    cdef int i
    if d.push_revision != p.simulation.push_revision:
        d.push_revision = p.simulation.push_revision
        for i in range(3):
            d.plant.v[i] += p.simulation.push[i]
    if d.plant.lock_stiffness != p.simulation.lock_stiffness:
        if d.plant.lock_stiffness == 0:
            memcpy(d.plant.lock_x, d.plant.x, sizeof(d.plant.x))
        d.plant.lock_stiffness = p.simulation.lock_stiffness
    if d.battery_revision != p.simulation.battery_revision:
        d.battery_revision = p.simulation.battery_revision
        d.battery_since = d.phase_time


cdef inline void pushed(const SimDevice *d, const DeviceParams *p, double *force) noexcept nogil:
    """What acts on the plant besides the hand, N: the last output and the lasting force."""
    cdef int i
    for i in range(3):
        force[i] = d.force[i] + p.simulation.external[i]


cdef inline bint given_orientation(const DeviceParams *p, double *q) noexcept nogil:
    """The orientation that was asked for, if one was."""
    if p.simulation.orientation[0] == 0 and p.simulation.orientation[1] == 0 \
            and p.simulation.orientation[2] == 0 and p.simulation.orientation[3] == 0:
        return False
    memcpy(q, p.simulation.orientation, 4 * sizeof(double))
    return True


cdef inline void arm_still(DeviceState *s, double dt) noexcept nogil:
    """Seconds since the cursor was faster than STILL_SPEED."""
    cdef double speed = sqrt(s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1] + s.velocity[2] * s.velocity[2])
    s.still = 0 if speed > 1e-3 * STILL_SPEED else s.still + dt


cdef inline void grip_still(SimDevice *d, DeviceState *s, const DeviceParams *p, uint64_t buttons, double dt) noexcept nogil:
    """Seconds since a handle turned by STILL_ANGLE within STILL_LOOK seconds, or a button changed, or it was woken."""
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


cdef inline bint frozen(DeviceSlot *slot, const DeviceParams *p) noexcept nogil:
    """Whether its data stand still: they end with zero force, and their tick and time are those of the last tick before."""
    cdef SimDevice *d = &slot.inner.sim
    cdef DeviceState *s = &slot.inner.state
    if p.simulation.frozen != 0 and d.frozen == 0:
        memset(s.force, 0, sizeof(s.force))
        memset(s.torque, 0, sizeof(s.torque))
        memset(d.force, 0, sizeof(d.force))
        hd_seq_write(&slot.sequence, &slot.shown, s, sizeof(DeviceState))
    d.frozen = p.simulation.frozen
    return d.frozen != 0
