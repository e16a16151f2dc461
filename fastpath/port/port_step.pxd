"""Steps of the tick for a device at a port: take its newest packet, fill its state, write the order for the port thread.

A device whose packets stop is silent: its order is zero, and its state keeps the time of the last packet. The actors decide
what follows.
"""

from libc.math cimport M_PI, NAN
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_load, hd_seq_write, hd_triple_front, hd_triple_publish, hd_triple_take
from fastpath.layout.arena cimport DeviceParams, DeviceSlot, DeviceState
from fastpath.layout.constants cimport MECHANISM_CURSOR, PORT_HOMED
from fastpath.layout.initial_state cimport reset_measurement
from fastpath.layout.port cimport PortInner, PortOrder, PortSample
from fastpath.mechanisms.pose cimport Pose, joint_velocity, pose_clear
from fastpath.plant.plant cimport low_pass_share
from fastpath.space.spatial cimport unit
from fastpath.tick.measurement cimport VELOCITY_CUTOFF_HZ, arm_still, follow_joints, grip_still

cdef enum:
    PACKET_NONE = 0
    PACKET_FRESH = 1
    PACKET_RESUMED = 2


cdef inline PortSample *newest(DeviceSlot *slot) noexcept nogil:
    return <PortSample *>hd_triple_front(&slot.sample_cell, slot.samples, sizeof(PortSample))


cdef inline void order(DeviceSlot *slot, uint64_t tick, int64_t now, const double *force, const double *torque) noexcept nogil:
    """Write the order for the port's thread: force (N, device frame) and joint torques (N.mm)."""
    cdef PortOrder out
    out.tick = tick
    out.time_ns = now
    out.generation = hd_load(&slot.generation)
    memcpy(out.force, force, sizeof(out.force))
    memcpy(out.torque, torque, sizeof(out.torque))
    out.gaps = slot.inner.port.gaps
    hd_triple_publish(&slot.order_cell, slot.orders, &out, sizeof(PortOrder))


cdef inline void order_zero(DeviceSlot *slot, uint64_t tick, int64_t now) noexcept nogil:
    cdef double nothing[3]
    memset(nothing, 0, sizeof(nothing))
    order(slot, tick, now, nothing, nothing)


cdef inline void begin_lease(DeviceSlot *slot, uint32_t generation, uint64_t tick, int64_t now) noexcept nogil:
    """Reset the state of a newly leased device and publish it; it is silent until its first packet."""
    cdef DeviceState *s = &slot.inner.state
    memset(&slot.inner.port, 0, sizeof(PortInner))
    slot.inner.port.generation = generation
    slot.inner.posed[0] = NAN
    reset_measurement(s)
    s.generation = generation
    s.tick = tick
    s.time_ns = now
    order_zero(slot, tick, now)
    hd_seq_write(&slot.sequence, &slot.shown, s, sizeof(DeviceState))


cdef inline void enter_silence(DeviceSlot *slot, uint64_t tick, int64_t now) noexcept nogil:
    """Order zero force and publish a state at rest with the time of the last packet."""
    cdef DeviceState *s = &slot.inner.state
    slot.inner.port.fresh = 0
    memset(s.force, 0, sizeof(s.force))
    memset(s.torque, 0, sizeof(s.torque))
    memset(s.velocity, 0, sizeof(s.velocity))
    memset(s.joint_velocity, 0, sizeof(s.joint_velocity))
    s.silences += 1
    s.time_ns = slot.inner.port.time_ns
    order_zero(slot, tick, now)
    hd_seq_write(&slot.sequence, &slot.shown, s, sizeof(DeviceState))


cdef inline int take_packet(DeviceSlot *slot, const DeviceParams *p, uint64_t tick, int64_t now) noexcept nogil:
    """Take the newest packet: PACKET_NONE when it is older than the silence limit, PACKET_RESUMED for the first after a silence.

    The first after orders came to the device too late is PACKET_RESUMED too: nobody knows which of them it had meanwhile.
    """
    cdef uint32_t generation = <uint32_t>hd_load(&slot.generation)
    cdef uint64_t gaps
    cdef PortSample *sample
    if slot.inner.port.generation != generation:
        begin_lease(slot, generation, tick, now)
    hd_triple_take(&slot.sample_cell)
    sample = newest(slot)
    if sample.count == 0 or sample.generation != generation or (now - sample.time_ns) * 1e-9 > p.silence:
        if slot.inner.port.fresh:
            enter_silence(slot, tick, now)
        return PACKET_NONE
    gaps = hd_load(&slot.order_gaps)
    if slot.inner.port.fresh and gaps == slot.inner.port.gaps:
        return PACKET_FRESH
    slot.inner.port.gaps = gaps
    if slot.inner.port.fresh:
        return PACKET_RESUMED
    slot.inner.port.fresh = 1
    slot.inner.port.count = 0
    return PACKET_RESUMED


cdef inline void update_velocity(PortInner *d, const PortSample *sample, const double *position) noexcept nogil:
    """Update the velocity from a new position (m) and its packet's time: first-order low-pass, independent of the port's rate."""
    cdef double dt = (sample.time_ns - d.time_ns) * 1e-9 + 1e-9, share
    cdef int i
    if d.count == 0:
        memset(d.velocity, 0, sizeof(d.velocity))
        return
    share = low_pass_share(VELOCITY_CUTOFF_HZ, dt)
    for i in range(3):
        d.velocity[i] += share * ((position[i] - d.measured[i]) / dt - d.velocity[i])


cdef inline void copy_status(DeviceState *s, const PortSample *sample) noexcept nogil:
    """Copy orientation, buttons, hall, battery, bits, faults and count of a sample to the state."""
    cdef int i
    if sample.orientation[0] == 0 and sample.orientation[1] == 0 and sample.orientation[2] == 0 and sample.orientation[3] == 0:
        s.orientation[0] = 1
        for i in range(1, 4):
            s.orientation[i] = 0
    else:
        memcpy(s.orientation, sample.orientation, sizeof(s.orientation))
        unit(s.orientation)
    s.buttons = sample.buttons
    s.hall = sample.hall
    s.battery_level = sample.battery_level
    s.battery_voltage = sample.battery_voltage
    s.port_bits = sample.bits
    s.port_faults = sample.faults
    s.samples = sample.count


cdef inline void read_port_arm(DeviceSlot *slot, const DeviceParams *p, double dt) noexcept nogil:
    """Fill position, velocity, joints and pose from the newest packet."""
    cdef PortInner *d = &slot.inner.port
    cdef DeviceState *s = &slot.inner.state
    cdef PortSample *sample = newest(slot)
    cdef Pose *pose = &slot.inner.pose
    cdef double angles[3]
    cdef double rate[3]
    cdef int i
    for i in range(3):
        angles[i] = sample.joint[i] * (M_PI / 180)
        s.joint[i] = sample.joint[i]
    if p.mechanism.kind == MECHANISM_CURSOR:
        memcpy(pose.position, sample.position, sizeof(pose.position))
        pose_clear(pose, 3)
    else:
        follow_joints(&slot.inner, p, angles)
    memcpy(s.position, pose.position, sizeof(s.position))
    if sample.count != d.count:
        if (s.port_bits ^ sample.bits) & PORT_HOMED:
            # Homing has shifted the coordinates: the device did not move.
            d.count = 0
        update_velocity(d, sample, s.position)
        memcpy(d.measured, s.position, sizeof(d.measured))
        d.count = sample.count
        d.time_ns = sample.time_ns
    memcpy(s.velocity, d.velocity, sizeof(s.velocity))
    joint_velocity(pose, s.velocity, rate)
    for i in range(3):
        s.joint_velocity[i] = rate[i] * (180 / M_PI)
    copy_status(s, sample)
    arm_still(s, dt)
    if p.left_handed:
        s.joint[0] = 0 - s.joint[0]
        s.joint_velocity[0] = 0 - s.joint_velocity[0]


cdef inline void read_port_grip(DeviceSlot *slot, const DeviceParams *p, double dt) noexcept nogil:
    """Fill orientation, buttons, hall and battery of a handle from its newest packet."""
    cdef PortInner *d = &slot.inner.port
    cdef PortSample *sample = newest(slot)
    d.count = sample.count
    d.time_ns = sample.time_ns
    copy_status(&slot.inner.state, sample)
    grip_still(&slot.inner.sim, &slot.inner.state, p, sample.buttons, dt)
