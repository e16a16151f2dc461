"""Apply the controls of a simulated device: a push, a lock, a lasting force, an orientation, a charge, a frozen state.

`simulated_reads.pxd` calls these; each works on the device's private memory and allocates nothing.
"""

from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_seq_write
from fastpath.layout.arena cimport DeviceParams, DeviceSlot, DeviceState
from fastpath.layout.simulation cimport SimDevice


cdef inline void apply_controls(SimDevice *d, const DeviceParams *p) noexcept nogil:
    """Apply a new push, lock or charge."""
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


cdef inline void plant_force(const SimDevice *d, const DeviceParams *p, double *force) noexcept nogil:
    """Fill in the force on the plant besides the hand (N): the last output and the lasting force."""
    cdef int i
    for i in range(3):
        force[i] = d.force[i] + p.simulation.external[i]


cdef inline bint fixed_orientation(const DeviceParams *p, double *q) noexcept nogil:
    """Copy the requested orientation; False when none was requested."""
    if p.simulation.orientation[0] == 0 and p.simulation.orientation[1] == 0 \
            and p.simulation.orientation[2] == 0 and p.simulation.orientation[3] == 0:
        return False
    memcpy(q, p.simulation.orientation, 4 * sizeof(double))
    return True


cdef inline bint frozen(DeviceSlot *slot, const DeviceParams *p) noexcept nogil:
    """Return whether the state is frozen; it is published once more with zero force, at its last tick and time."""
    cdef SimDevice *d = &slot.inner.sim
    cdef DeviceState *s = &slot.inner.state
    if p.simulation.frozen != 0 and d.frozen == 0:
        memset(s.force, 0, sizeof(s.force))
        memset(s.torque, 0, sizeof(s.torque))
        memset(d.force, 0, sizeof(d.force))
        hd_seq_write(&slot.sequence, &slot.shown, s, sizeof(DeviceState))
    d.frozen = p.simulation.frozen
    return d.frozen != 0
