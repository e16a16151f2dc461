"""Optional monitors of one device, each off unless a setting asks for it: limits of energy and power, a stiffness warning,
a latched e-brake, a stop that brakes first, an enabling button.

While all are off, nothing here changes a bit of the output (docs/force-path.md, "Optional monitors"). J, W, N, N.s/m, m, s.
"""

from libc.math cimport M_PI, fabs
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_load, hd_triple_front
from fastpath.layout.arena cimport Arena, DeviceParams, DevicePrivate, DeviceSlot, DeviceState
from fastpath.layout.constants cimport (
    FLAG_ATTACHED, IS_HANDLE, MAX_DEVICES, MECHANISM_CURSOR, PORT_HOMED, SAFETY_DISABLED, SAFETY_STIFF, SAFETY_WAITING,
    SLOT_ACTIVE, SOURCE_PORT, TRIP_CONTACT, TRIP_ENABLE, TRIP_KINETIC, TRIP_POWER, TRIP_STIFFNESS, TRIP_STOP,
)
from fastpath.layout.force cimport OptionalMemory
from fastpath.layout.port cimport OLDEST_ORDER_NS
from fastpath.mechanisms.pose cimport Pose, cursor_force
from fastpath.plant.plant cimport share_at
from fastpath.tick.arbiter cimport CommandSum
from fastpath.tick.force_chain cimport chain_begin, limit_step
from fastpath.tick.force_maps cimport clamp_norm, torque_map
from fastpath.tick.force_sources cimport session_damping
from fastpath.tick.monitors cimport AT_REST, BRAKE, latch, norm3, trip
from fastpath.tick.rendering cimport most_before_scale, most_damping
from fastpath.tick.trip_log cimport note_trip

cdef extern from "tick/monitors.h" nogil:
    const double BRAKE_ONSET "HD_BRAKE_ONSET"

cdef extern from "tick/optional_monitors.h" nogil:
    const double POWER_CUTOFF_HZ "HD_POWER_CUTOFF_HZ"
    const double MOST_TURN "HD_MOST_TURN"
    const double MOST_WAY "HD_MOST_WAY"
    const double HAND_DAMPING "HD_HAND_DAMPING"
    const double STIFFNESS_CUTOFF_HZ "HD_STIFFNESS_CUTOFF_HZ"
    const double STIFFNESS_MOTION "HD_STIFFNESS_MOTION"
    const double STIFFNESS_STEPS "HD_STIFFNESS_STEPS"
    const double STIFFNESS_FORCE "HD_STIFFNESS_FORCE"
    const double STIFFNESS_FIT "HD_STIFFNESS_FIT"
    const double STIFF_SECONDS "HD_STIFF_SECONDS"
    const double STIFF_AGAIN "HD_STIFF_AGAIN"
    const double STOP_BRAKE_SECONDS "HD_STOP_BRAKE_SECONDS"
    const double ENABLE_RAMP "HD_ENABLE_RAMP"
    const double ENABLE_STALE "HD_ENABLE_STALE"

cdef enum:
    # ms without a tick of the device after which a contact has ended
    CONTACT_GAP_MS = 250
    # us between two samples of the fit of a stiffness, a little less than 1 ms
    FIT_EVERY_US = 900


# ---------------------------------------------------------------- work of the motors

cdef inline double motor_work(const OptionalMemory *o, const DeviceParams *p, const DeviceState *s) noexcept nogil:
    """Return the work (J) that the motors put out since the last tick under the output of that tick; exact while it was held.

    Torque times angle over the joints, or force times way where the mechanism has none. What no device can do in a tick is a
    shift of coordinates, and no work.
    """
    cdef double work = 0, way
    cdef int i
    for i in range(3):
        if p.mechanism.kind == MECHANISM_CURSOR:
            way = s.position[i] - o.position[i]
            if not fabs(way) <= MOST_WAY:
                return 0
            work += s.force[i] * way
        else:
            way = s.joint[i] - o.joint[i]
            if not fabs(way) <= MOST_TURN:
                return 0
            work += 1e-3 * s.torque[i] * way * (M_PI / 180)
    return work


cdef inline void brake_for(DeviceSlot *slot, int64_t now, bint braked, uint64_t *count, int cause, double value, double limit) noexcept nogil:
    """Engage the e-brake; count and log the trip unless the device brakes already and nobody has asked it to resume."""
    cdef DevicePrivate *d = &slot.inner
    trip(&d.monitors, &d.state)
    if not braked or d.optional.asked:
        count[0] += 1
        d.optional.braked = 1
        note_trip(slot, now, cause, value, limit)


cdef inline void watch_energy(
    DeviceSlot *slot, const DeviceParams *p, int64_t now, double dt, double contact, double contact_end,
) noexcept nogil:
    """Limits of kinetic energy, of the motors' power, and of their net work in a contact: each engages the e-brake.

    In a gap of more than OLDEST_ORDER_NS the motors had no order: it is no work, and the power begins at 0.
    """
    cdef DevicePrivate *d = &slot.inner
    cdef OptionalMemory *o = &d.optional
    cdef DeviceState *s = &d.state
    cdef double kinetic, work = 0, speed = norm3(s.velocity)
    cdef bint braked = d.monitors.ebrake != 0, over
    cdef bint broken = o.measured == 0 or d.chain.interrupted != 0 or o.since > 1e-9 * OLDEST_ORDER_NS
    cdef uint64_t coordinates = <uint64_t>(p.left_handed != 0) << 32 | (s.port_bits & PORT_HOMED)
    o.braked = 0
    if p.optional.kinetic_energy > 0:
        kinetic = 0.5 * p.plant.mass * speed * speed
        over = kinetic > p.optional.kinetic_energy
        if over:
            if o.over_kinetic:
                trip(&d.monitors, s)
            else:
                brake_for(slot, now, braked, &s.kinetic_trips, TRIP_KINETIC, kinetic, p.optional.kinetic_energy)
        o.over_kinetic = over
    else:
        o.over_kinetic = 0
    if p.optional.power <= 0 and p.optional.contact_energy <= 0:
        o.measured = 0
        o.power = 0
        o.over_power = 0
        o.contact_energy = 0
        return
    if not broken and coordinates == o.coordinates:
        work = motor_work(o, p, s)
    o.coordinates = coordinates
    memcpy(o.joint, s.joint, sizeof(o.joint))
    memcpy(o.position, s.position, sizeof(o.position))
    o.measured = 1
    if broken:
        o.power = 0
    else:
        o.power += share_at(&o.power_share, POWER_CUTOFF_HZ, dt) * (work / dt - o.power)
    over = p.optional.power > 0 and o.power > p.optional.power
    if over:
        if o.over_power:
            trip(&d.monitors, s)
        else:
            brake_for(slot, now, braked, &s.power_trips, TRIP_POWER, o.power, p.optional.power)
    o.over_power = over
    if broken:
        o.released += o.since
        if o.since > 1e-3 * CONTACT_GAP_MS:
            o.released = contact_end + o.since
    elif o.commanded < contact:
        o.released += dt
    else:
        o.released = 0
    if braked or o.released > contact_end or p.optional.contact_energy <= 0:
        o.contact_energy = 0
        return
    o.contact_energy += work
    if o.contact_energy > p.optional.contact_energy:
        brake_for(slot, now, braked, &s.contact_trips, TRIP_CONTACT, o.contact_energy, p.optional.contact_energy)
        o.contact_energy = 0


# ---------------------------------------------------------------- latched brake

cdef inline void watch_latch(DeviceSlot *slot, const DeviceParams *p) noexcept nogil:
    """Let an engaged e-brake wait for a request that names it; a trip after the request waits for the next one.

    Motion that trips nothing does not take a request back: the brake ends once the device is slow.
    """
    cdef DevicePrivate *d = &slot.inner
    cdef OptionalMemory *o = &d.optional
    cdef DeviceState *s = &d.state
    cdef bint again = d.monitors.tripped != 0 and o.tripped == 0
    o.tripped = d.monitors.tripped
    d.monitors.tripped = 0
    if p.optional.brake_latch == 0 or not d.monitors.ebrake:
        o.waiting = 0
        o.asked = 0
    else:
        if again:
            o.asked = 0
        if o.waiting != 0:
            if hd_load(&slot.resume) == (hd_load(&slot.generation) << 32 | o.waiting):
                o.waiting = 0
                o.asked = 1
        elif not o.asked:
            o.brakes += 1
            o.waiting = o.brakes
            s.ebrake_waits += 1
    s.waiting = o.waiting
    latch(s, SAFETY_WAITING, o.waiting != 0)


# ---------------------------------------------------------------- enabling button

cdef inline bint button_held(Arena *a, const DeviceParams *p, const DeviceState *s, int64_t now, double dt) noexcept nogil:
    """Return whether an enabling button is held: on the device's own handle, or on its paired grip while that is attached and not stale."""
    cdef DeviceSlot *grip
    cdef DeviceState *of_grip
    if s.buttons & p.optional.enable_button:
        return True
    if p.grip_slot < 0 or p.grip_slot >= MAX_DEVICES:
        return False
    grip = &a.devices[p.grip_slot]
    of_grip = &grip.inner.state
    if hd_load(&grip.state) != SLOT_ACTIVE or <uint32_t>hd_load(&grip.generation) != of_grip.generation:
        return False
    if (<const DeviceParams *>hd_triple_front(&grip.params_cell, grip.params, sizeof(DeviceParams))).capabilities & IS_HANDLE == 0:
        return False
    return (of_grip.flags & FLAG_ATTACHED != 0 and of_grip.buttons & p.optional.enable_button != 0
            and now - of_grip.time_ns <= <int64_t>(1e9 * (ENABLE_STALE + dt)))


cdef inline void watch_button(Arena *a, DeviceSlot *slot, const DeviceParams *p, int64_t now, double dt, double period) noexcept nogil:
    """Ramp the output to 0 in ENABLE_RAMP while no enabling button is held, and back at one `period` (s) of the loop in each tick."""
    cdef OptionalMemory *o = &slot.inner.optional
    cdef DeviceState *s = &slot.inner.state
    cdef bint held = p.optional.enable_button == 0 or button_held(a, p, s, now, dt)
    if o.enabled and not held:
        s.enable_drops += 1
        note_trip(slot, now, TRIP_ENABLE, 0, 0)
    o.enabled = held
    o.enable_gain += (period if held else -dt) / ENABLE_RAMP
    if o.enable_gain > 1:
        o.enable_gain = 1
    elif o.enable_gain < 0:
        o.enable_gain = 0
    latch(s, SAFETY_DISABLED, not held)


# ---------------------------------------------------------------- all that looks at the response

cdef inline void optional_begin(OptionalMemory *o, const DeviceParams *p) noexcept nogil:
    """Reset: nothing latched; with an enabling button the output begins at 0."""
    memset(o, 0, sizeof(OptionalMemory))
    o.enable_gain = 0 if p.optional.enable_button else 1
    o.enabled = p.optional.enable_button == 0
    o.begun = 1


cdef inline void watch_optional(Arena *a, DeviceSlot *slot, const DeviceParams *p, int64_t now, double dt, double period) noexcept nogil:
    """Run the optional monitors of step 2, before the e-brake's own: on the measurement under the last output."""
    cdef OptionalMemory *o = &slot.inner.optional
    if o.begun == 0:
        optional_begin(o, p)
    o.since = 1e-9 * (now - o.time_ns) if o.time_ns != 0 else 0
    o.time_ns = now
    watch_button(a, slot, p, now, dt, period)
    watch_energy(slot, p, now, dt, a.oscillation.contact, a.oscillation.contact_end)
    watch_latch(slot, p)


cdef inline void note_command(OptionalMemory *o, const DeviceParams *p, const Pose *pose, const double *force, const double *torque) noexcept nogil:
    """Keep the size of a command behind the first clamp (N at the cursor), and that a stop may brake from now on."""
    cdef double from_torque[3]
    cdef int i
    o.stop_left = STOP_BRAKE_SECONDS if p.optional.stop_brake else 0
    o.stopping = 0
    if p.optional.contact_energy <= 0:
        return
    if torque[0] == 0 and torque[1] == 0 and torque[2] == 0:
        o.commanded = norm3(force)
        return
    for i in range(3):
        from_torque[i] = 0.001 * torque[i]
    cursor_force(pose, from_torque, from_torque)
    for i in range(3):
        from_torque[i] += force[i]
    o.commanded = norm3(from_torque)


# ---------------------------------------------------------------- stiffness that clients render

cdef inline void fit_begin(OptionalMemory *o) noexcept nogil:
    """Forget the motion and the force of a contact."""
    o.fitting = 0
    o.stiff = 0
    o.unseen = 0
    o.covariance = 0
    o.variance = 0
    o.force_variance = 0


cdef inline double fit_stiffness(OptionalMemory *o, const DeviceParams *p, const double *x, const double *f, double share) noexcept nogil:
    """Take a sample of position (m) and clients' force (N); return the stiffness (N/m) that explains the force, 0 while none does."""
    cdef double dx, df, along = 0, way = 0, size = 0, least = STIFFNESS_STEPS * p.encoder_step
    cdef int i
    for i in range(3):
        dx = x[i] - o.mean_position[i]
        df = f[i] - o.mean_force[i]
        o.mean_position[i] += share * dx
        o.mean_force[i] += share * df
        along += dx * df
        size += df * df
    # Along the change of the force alone: what slides along a wall renders no stiffness.
    if size > 0:
        way = along * along / size
    o.covariance = (1 - share) * (o.covariance + share * along)
    o.variance = (1 - share) * (o.variance + share * way)
    o.force_variance = (1 - share) * (o.force_variance + share * size)
    if least < STIFFNESS_MOTION:
        least = STIFFNESS_MOTION
    if o.covariance >= 0 or o.variance < least * least or o.force_variance < STIFFNESS_FORCE * STIFFNESS_FORCE:
        return 0
    if o.covariance * o.covariance < STIFFNESS_FIT * o.variance * o.force_variance:
        return 0
    return -o.covariance / o.variance


cdef inline void watch_stiffness(
    Arena *a, DeviceSlot *slot, const DeviceParams *p, const CommandSum *total, int64_t now, double dt, double period, double age,
    double timeout,
) noexcept nogil:
    """Warn where K (period / 2 + interval of the client + age of the sample) passes the damping of device and sessions and HAND_DAMPING.

    Only a sample that is new to the loop counts, and only a command within its time-out (s). Nothing is limited.
    """
    cdef DevicePrivate *d = &slot.inner
    cdef OptionalMemory *o = &d.optional
    cdef DeviceState *s = &d.state
    cdef double force[3]
    cdef double from_torque[3]
    cdef double share, stiffness, needed, damping, most, least = 0, command = 1e-9 * (now - total.client_ns)
    cdef uint64_t sample = s.samples if p.source == SOURCE_PORT else a.state.ticks
    cdef int i
    o.warned = o.warned - dt if o.warned > dt else 0
    latch(s, SAFETY_STIFF, o.warned > 0)
    if p.optional.stiffness_warning == 0 or total.client_ns == 0 or command > timeout or d.chain.interrupted:
        fit_begin(o)
        return
    o.unseen += dt
    # The mean age of a command that is replaced in time is half the interval between two.
    share = 2 * M_PI * STIFFNESS_CUTOFF_HZ * dt
    o.command_age += share * (command - o.command_age)
    if sample == o.sample:
        return
    o.sample = sample
    o.sample_age += share * (age - o.sample_age)
    if o.fitting and o.unseen < 1e-6 * FIT_EVERY_US:
        return
    memcpy(force, total.force, sizeof(force))
    if total.has_torque:
        for i in range(3):
            from_torque[i] = 0.001 * total.torque[i]
        if p.left_handed:
            from_torque[0] = 0 - from_torque[0]
        cursor_force(&d.pose, from_torque, from_torque)
        for i in range(3):
            force[i] += from_torque[i]
    clamp_norm(force, p.peak_force)
    if not o.fitting:
        memcpy(o.mean_position, s.position, sizeof(o.mean_position))
        memcpy(o.mean_force, force, sizeof(o.mean_force))
        o.command_age = command
        o.sample_age = age
        o.fitting = 1
        o.unseen = 0
        return
    share = share_at(&o.stiffness_share, STIFFNESS_CUTOFF_HZ, o.unseen)
    stiffness = fit_stiffness(o, p, s.position, force, share) * p.force_scale
    most = most_before_scale(&d.state.rendering, p.plant.mass, p.force_scale)
    for i in range(3):
        damping = session_damping(total, most, i)
        if i == 0 or damping < least:
            least = damping
    damping = p.plant.viscous + least * p.force_scale + HAND_DAMPING
    needed = stiffness * (0.5 * period + 2 * o.command_age + o.sample_age)
    o.stiff = o.stiff + o.unseen if needed > damping else 0
    o.unseen = 0
    if o.stiff >= STIFF_SECONDS and o.warned == 0:
        o.warned = STIFF_AGAIN
        s.stiffness_warnings += 1
        latch(s, SAFETY_STIFF, True)
        note_trip(slot, now, TRIP_STIFFNESS, needed, damping)


# ---------------------------------------------------------------- a stop that brakes

cdef inline bint stop_brakes(DeviceSlot *slot, const DeviceParams *p, int64_t now, bint stopped) noexcept nogil:
    """Return whether a device that obeyed until it was stopped still brakes: until it is slower than AT_REST, at most STOP_BRAKE_SECONDS."""
    cdef OptionalMemory *o = &slot.inner.optional
    cdef double speed = norm3(slot.inner.state.velocity)
    o.commanded = 0
    if not stopped or p.accepts_commands == 0 or p.optional.stop_brake == 0 or speed < AT_REST:
        o.stop_left = 0
    o.stop_left -= o.since
    if o.stop_left <= 0:
        o.stop_left = 0
        o.stopping = 0
        return False
    if not o.stopping:
        o.stopping = 1
        slot.inner.state.stop_brakes += 1
        note_trip(slot, now, TRIP_STOP, speed, AT_REST)
    return True


cdef inline void brake_before_stop(DevicePrivate *d, const DeviceParams *p, const Pose *pose, double period, double *force, double *torque) noexcept nogil:
    """Put out the force of the e-brake, -b v, under its own slew; filter and ramps begin anew, as under a stop that does not brake."""
    cdef double last[3]
    cdef double brake = most_damping(&d.state.rendering, p.plant.mass), limit = p.torque_limit * d.state.derating
    cdef int i
    memcpy(last, d.chain.slewed, sizeof(last))
    chain_begin(&d.chain, &d.state)
    if brake > BRAKE:
        brake = BRAKE
    for i in range(3):
        force[i] = -brake * d.state.velocity[i]
        torque[i] = 0
    clamp_norm(force, p.peak_force)
    d.state.saturated += torque_map(p, pose, limit, force, torque)
    if limit_step(last, force, p.peak_force / BRAKE_ONSET * period):
        memset(torque, 0, 3 * sizeof(double))
        torque_map(p, pose, limit, force, torque)
    memcpy(d.chain.slewed, last, sizeof(last))
