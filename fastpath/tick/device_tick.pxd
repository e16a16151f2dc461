"""One tick of one device: every step in its order, from the sessions' commands to the motors' torques and the published state."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastpath.cells.cells cimport (
    hd_load, hd_seq_begin, hd_seq_end, hd_seq_put, hd_seq_write, hd_triple_front, hd_triple_take,
)
from fastpath.layout.arena cimport Arena, DeviceParams, DevicePrivate, DeviceSlot, DeviceState, LoopParams
from fastpath.layout.constants cimport (
    FLAG_ATTACHED, FLAG_MEASURED, FLAG_READY, FLAG_STOPPED, HAS_CURSOR, HAS_MOTORS, IS_HANDLE, MAX_DEVICES,
    MODE_IDLE, SAFETY_EBRAKE, SESSION_WORDS, SLOT_ACTIVE, SOURCE_PORT, STEP_ARBITER, STEP_CLAMP, STEP_FILTER,
    STEP_MONITOR, STEP_OUTPUT, STEP_PUBLISH, STEP_READ, STEP_TORQUE,
)
from fastpath.layout.force cimport BY_MONITORS
from fastpath.layout.port cimport OLDEST_ORDER_NS
from fastpath.mechanisms.pose cimport Pose, cursor_force, only_driven
from fastpath.navigation.bubble cimport navigate, show_navigation
from fastpath.plant.simulated_reads cimport read_arm, read_grip
from fastpath.plant.simulation_controls cimport frozen
from fastpath.port.port_step cimport PACKET_NONE, PACKET_RESUMED, order, read_port_arm, read_port_grip, take_packet
from fastpath.scene.render cimport scene_forces, show_scenes
from fastpath.tick.arbiter cimport CommandSum, arbitrate, show_commands
from fastpath.tick.contact cimport contact_forces
from fastpath.tick.effects cimport add_effects
from fastpath.tick.force_chain cimport chain_begin, chain_interrupt, filter_and_gate, slew
from fastpath.tick.force_changes cimport note_change
from fastpath.tick.force_maps cimport clamp_norm, clamp_torques, torque_map
from fastpath.tick.force_sources cimport angle_torque, damping_force, home_force, position_force, session_damping
from fastpath.tick.measurement cimport weight
from fastpath.tick.monitors cimport (
    BRAKE, heat, limit_springs, monitors_begin, observe_anew, watch_grip, watch_object, watch_speed, watch_stall,
)
from fastpath.tick.optional_monitors cimport (
    brake_before_stop, note_command, stop_brakes, watch_optional, watch_stiffness,
)
from fastpath.tick.rendering cimport follow_lag, most_before_scale, most_damping
from fastpath.tick.set_points cimport answers_interruption, note_interruption, set_point, set_point_now, set_point_return
from fastpath.tick.trip_log cimport begin_trips, note_monitors, take_sample

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()


cdef inline void lap(Arena *a, int step, int64_t *since) noexcept nogil:
    """Add the time since the last lap to a step, in the ticks that are sampled."""
    cdef int64_t now
    if a.measure:
        now = hd_now_ns()
        a.state.step_seconds[step] += (now - since[0]) * 1e-9
        since[0] = now


cdef inline bint grip_released(Arena *a, const DeviceParams *p) noexcept nogil:
    """Return whether the paired grip is not held; False without a grip, and after its slot was leased to another device."""
    cdef DeviceSlot *grip
    cdef const DeviceParams *of_grip
    if p.grip_slot < 0 or p.grip_slot >= MAX_DEVICES:
        return False
    grip = &a.devices[p.grip_slot]
    if hd_load(&grip.state) != SLOT_ACTIVE or <uint32_t>hd_load(&grip.generation) != grip.inner.state.generation:
        return False
    of_grip = <const DeviceParams *>hd_triple_front(&grip.params_cell, grip.params, sizeof(DeviceParams))
    return of_grip.capabilities & IS_HANDLE and grip.inner.state.flags & FLAG_ATTACHED == 0


cdef enum:
    # ns without a tick after which output, filter and monitors begin anew
    LONGEST_GAP_NS = 250000000
    # growth of the speed at which a set-point returns after an interruption: mm/s each s, degrees/s each s
    RETURN_MM_S2 = 50
    RETURN_DEGREES_S2 = 11


cdef inline void restart_ramps(DevicePrivate *d) noexcept nogil:
    """Reset ramps and set-points: the next command grows at the slow limit of the slew."""
    d.position_ramp = 0
    d.angle_ramp = 0
    d.home_ease = 0
    d.position.held = 0
    d.angle.held = 0
    d.position.interrupted_ns = 0
    d.angle.interrupted_ns = 0
    d.chain.obeyed = 0


cdef inline void show_flags(DeviceSlot *slot, const DeviceParams *p, bint stopped) noexcept nogil:
    """Publish the flags of a device without packets; not ready before its first packet."""
    cdef DeviceState *s = &slot.inner.state
    cdef uint32_t flags = p.flags | (s.flags & FLAG_MEASURED) | (FLAG_STOPPED if stopped else 0)
    if flags & FLAG_MEASURED == 0:
        flags &= ~<uint32_t>FLAG_READY
    if flags != s.flags:
        s.flags = flags
        hd_seq_write(&slot.sequence, &slot.shown, s, sizeof(DeviceState))


cdef inline void reset_output(DevicePrivate *d) noexcept nogil:
    """Reset ramps, filter and slew while the output is zero."""
    restart_ramps(d)
    chain_begin(&d.chain, &d.state)


cdef inline void resume_output(DevicePrivate *d, int64_t now, int64_t silent_ns) noexcept nogil:
    """Let the output of a device that was silent or frozen grow from zero; after a long time its filter begins anew."""
    cdef uint64_t position = d.position.held, angle = d.angle.held
    restart_ramps(d)
    if position:
        d.position.interrupted_ns = now
    if angle:
        d.angle.interrupted_ns = now
    if silent_ns > LONGEST_GAP_NS:
        chain_begin(&d.chain, &d.state)
    chain_interrupt(&d.chain)


cdef inline void advance_set_points(DevicePrivate *d, const DeviceParams *p, CommandSum *total, int64_t now, double dt, double timeout) noexcept nogil:
    """Advance held set-points by one tick; with a limited speed a new position starts at the device, and each does after an interruption.

    That is one of the loop, also when the command has timed out in it, of the device's packets, or of the way that joint angles are counted.
    """
    cdef int64_t fresh_ns = <int64_t>(timeout * 1e9)
    cdef double silent = dt - 1e-9 * OLDEST_ORDER_NS
    if d.chain.interrupted:
        # A tick after a long gap advances by one period only.
        if silent < 0:
            silent = 1e-9 * LONGEST_GAP_NS
        note_interruption(&d.position, now, silent)
        note_interruption(&d.angle, now, silent)
    if p.left_handed != d.left_handed:
        d.left_handed = p.left_handed
        note_interruption(&d.angle, now, 1e-9 * LONGEST_GAP_NS)
        d.angle_ramp = 0
    if total.has_position:
        if answers_interruption(&d.position, now):
            set_point_return(&d.position, d.state.position, d.position.silent, total.position_ns)
        elif d.position.held == 0 and p.safe_speed > 0:
            set_point(&d.position, d.state.position, total.position_ns, now, fresh_ns)
        set_point(&d.position, total.position, total.position_ns, now, fresh_ns)
        set_point_now(&d.position, now, p.safe_speed, 1e-3 * RETURN_MM_S2, dt)
    else:
        d.position.held = 0
    if total.has_angle:
        if answers_interruption(&d.angle, now):
            set_point_return(&d.angle, d.state.joint, d.angle.silent, total.angle_ns)
        set_point(&d.angle, total.angle, total.angle_ns, now, fresh_ns)
        set_point_now(&d.angle, now, 0, RETURN_DEGREES_S2, dt)
    else:
        d.angle.held = 0


cdef inline void at_cursor(const Pose *pose, const double *force, const double *torque, double peak, double *total) noexcept nogil:
    """Compute the sum of a force (N) and of what joint torques (N.mm) come to at the cursor, at most the peak."""
    cdef double part[3]
    cdef int i
    for i in range(3):
        total[i] = force[i]
        part[i] = 0.001 * torque[i]
    if part[0] != 0 or part[1] != 0 or part[2] != 0:
        cursor_force(pose, part, part)
        for i in range(3):
            total[i] += part[i]
    clamp_norm(total, peak)


cdef inline void output(Arena *a, DeviceSlot *slot, const DeviceParams *p, const Pose *pose, CommandSum *total,
                        double period, int times, int64_t *since, double *force, double *torque) noexcept nogil:
    """Run steps 4 to 13 for a device that accepts commands: command sums in, force (N) and joint torques (N.mm) out.

    Ramps and slew advance by the nominal `period` of the loop (s), the filter by `times` periods.
    """
    cdef DevicePrivate *d = &slot.inner
    cdef DeviceState *s = &d.state
    cdef double limit = p.torque_limit * s.derating, most = most_before_scale(&d.state.rendering, p.plant.mass, p.force_scale), brake, gain
    # A brake takes all of it itself.
    cdef double returns = 1 if s.safety & SAFETY_EBRAKE else d.monitors.return_gain
    cdef double bears[3]
    cdef double before[3]
    cdef double after[3]
    cdef uint32_t saturated
    cdef int i
    for i in range(3):
        force[i] = total.force[i]
        torque[i] = total.torque[i]
    # 4 set-points: their forces and torques
    position_force(d, p, total, period, force, total.gated_force)
    angle_torque(d, p, pose, total, period, torque, total.gated_torque)
    if p.home_return and s.mode == MODE_IDLE:
        home_force(d, p, a.dead_man_gain, period, force)
    else:
        d.home_ease = 0
    if p.left_handed:
        torque[0] = 0 - torque[0]
        total.gated_torque[0] = 0 - total.gated_torque[0]
    only_driven(pose, force)
    only_driven(pose, torque)
    only_driven(pose, total.gated_force)
    only_driven(pose, total.gated_torque)
    # 5 clamp
    s.clamped += clamp_norm(force, p.peak_force)
    clamp_norm(total.gated_force, p.peak_force)
    clamp_torques(torque, p.torque_limit, p.torque_scaling != 0)
    clamp_torques(total.gated_torque, p.torque_limit, p.torque_scaling != 0)
    note_command(&d.optional, p, pose, force, torque)
    # 6 filter
    for i in range(3):
        bears[i] = most - session_damping(total, most, i)
    filter_and_gate(&d.chain, &a.oscillation, &a.oscillation_rate, p, s, pose,
                    total.gated_force, total.gated_torque, times, bears, total.effect.size > 0, &d.gaps.changes, force, torque)
    lap(a, STEP_FILTER, since)
    # 7 ramp
    for i in range(3):
        force[i] *= a.output_gain
        torque[i] *= a.output_gain
    if returns < 1:
        at_cursor(pose, force, torque, p.peak_force, before)
        for i in range(3):
            force[i] *= returns
            torque[i] *= returns
        at_cursor(pose, force, torque, p.peak_force, after)
        note_change(&d.gaps.changes, BY_MONITORS, before, after, p.force_scale * times * period)
    # 8 damping
    damping_force(s, total, most, force)
    # 9 scale
    for i in range(3):
        force[i] *= p.force_scale
    add_effects(&total.effect, p, a.output_gain * returns * a.dead_man_gain, force)
    # 10 monitors act, 11 clamp
    if s.safety & SAFETY_EBRAKE:
        at_cursor(pose, force, torque, p.peak_force, before)
        brake = most_damping(&d.state.rendering, p.plant.mass)
        if brake > BRAKE:
            brake = BRAKE
        for i in range(3):
            force[i] = -brake * s.velocity[i]
            torque[i] = 0
        clamp_norm(force, p.peak_force)
        note_change(&d.gaps.changes, BY_MONITORS, before, force, times * period)
        restart_ramps(d)
    else:
        memcpy(before, force, sizeof(before))
        limit_springs(p, s, &d.state.rendering, force)
        gain = d.monitors.fod_gain * d.monitors.grip_gain * d.optional.enable_gain
        if gain != 1 or before[0] != force[0] or before[1] != force[1] or before[2] != force[2]:
            at_cursor(pose, before, torque, p.peak_force, before)
            for i in range(3):
                force[i] *= gain
                torque[i] *= gain
            at_cursor(pose, force, torque, p.peak_force, after)
            note_change(&d.gaps.changes, BY_MONITORS, before, after, times * period)
        s.clamped += clamp_norm(force, p.peak_force)
    lap(a, STEP_CLAMP, since)
    # 12 torque map, 13 slew
    saturated = torque_map(p, pose, limit, force, torque)
    if slew(&d.chain, p, s, period, force, torque):
        saturated |= torque_map(p, pose, limit, force, torque)
    s.saturated += saturated
    lap(a, STEP_TORQUE, since)


cdef inline void run_monitors(Arena *a, DeviceSlot *slot, const DeviceParams *p, int64_t now, double dt, double period) noexcept nogil:
    """Run every monitor once, on the measurement under the last output."""
    cdef DevicePrivate *d = &slot.inner
    cdef bint alone = grip_released(a, p)
    if d.monitors.begun == 0:
        monitors_begin(&d.monitors)
        chain_begin(&d.chain, &d.state)
    if d.chain.interrupted:
        observe_anew(&d.monitors, &d.state)
    watch_optional(a, slot, p, now, dt, period)
    watch_object(&d.monitors, p, &d.state, alone, weight(p), dt)
    watch_speed(&d.monitors, &d.state, dt, period)
    watch_stall(&d.monitors, p, &d.state, dt)
    watch_grip(&d.monitors, p, &d.state, alone, dt, period)
    heat(&d.thermal, p, &d.state, dt)


cdef inline void device_tick(Arena *a, int index, int64_t now, double dt, int times, const LoopParams *loop) noexcept nogil:
    """Run one tick of a device, `dt` seconds after the last one; the filter runs for `times` periods. The steps, in this order:

     1  read          newest packet of a device at a port, or the simulated plant advanced by dt; encoders, velocity
     2  monitors      e-brake, foreign object, stall, grip, heat: check the device's response to the last output
     3  sum           forces and torques of all sessions: fade by age, ducking gain; separate sums of the parts with a force gate
     4  set-points    bubbles, contacts and scenes add their forces to both sums; linear interpolation between messages;
                      springs of held positions and angles; home return
     5  clamp         |F| <= peak, |torque| <= limit: the filter sees only what the motors can give
     6  filter        out = g (u - h sum(gate F)), one g for each axis: oscillation filter and force gates
     7  ramp          F times the output gain: 50 ms after a start, a gap of more than 250 ms or a change of rate
     8  damping       - b v of the sessions; never filtered
     9  scale         F times the force scale; effects are added, bounded in power; never filtered
    10  monitors act  e-brake replaces the force; else limit springs are added, foreign object and dropped grip scale it
    11  clamp         |F| <= peak
    12  torque map    torque = J' F + commanded torque, saturated in its direction, |F at the cursor| <= peak
    13  slew          |dF/dt| <= 3,000 N/s away from zero, of the total output; a limited output passes step 12 again
    14  output        to the simulated plant, or as an order to the thread of the device's port
    15  publish       state, navigation and what is touched of scenes, under one sequence

    Grips and pens have steps 1, 3 and 15. A device that is stopped or accepts no commands gets zero output instead of steps 5 to
    13, and its ramps, filter and set-points are reset. Of a silent device at a port only the flags are published. Ramps and slew
    advance by one nominal period of the loop in each tick, also after a gap; all else takes the true time.
    """
    cdef DeviceSlot *slot = &a.devices[index]
    cdef DeviceState *s = &slot.inner.state
    cdef DeviceParams *p
    cdef CommandSum total
    cdef Pose *pose = &slot.inner.pose
    cdef int64_t since = 0
    cdef double force[3]
    cdef double torque[3]
    cdef double period = 1 / loop.frequency, age = 0, mass
    cdef bint stopped, obeys, has_motors, is_handle, real, was_frozen
    cdef int packet, i
    if a.measure:
        since = hd_now_ns()
    hd_triple_take(&slot.params_cell)
    p = <DeviceParams *>hd_triple_front(&slot.params_cell, slot.params, sizeof(DeviceParams))
    stopped = hd_load(&slot.stop) != 0
    real = p.source == SOURCE_PORT
    # 1 read
    if real:
        packet = take_packet(slot, p, a.state.ticks, now)
        if packet == PACKET_NONE:
            show_flags(slot, p, stopped)
            return
        if packet == PACKET_RESUMED:
            resume_output(&slot.inner, now, now - slot.inner.port.time_ns)
    else:
        was_frozen = slot.inner.sim.frozen != 0
        if frozen(slot, p):
            return
        if was_frozen:
            resume_output(&slot.inner, now, now - s.time_ns)
    has_motors = p.capabilities & HAS_MOTORS != 0
    is_handle = p.capabilities & IS_HANDLE != 0
    if has_motors:
        if real:
            read_port_arm(slot, p, dt)
            age = 1e-9 * (now - slot.inner.port.time_ns)
        else:
            read_arm(&slot.inner, p, dt)
        follow_lag(&slot.inner.state.rendering, age, period)
        lap(a, STEP_READ, &since)
        # 2 monitors
        begin_trips(slot)
        run_monitors(a, slot, p, now, dt, period)
        lap(a, STEP_MONITOR, &since)
    elif is_handle:
        if real:
            read_port_grip(slot, p, dt)
        else:
            read_grip(&slot.inner, p, dt)
        lap(a, STEP_READ, &since)
    # 3 sum
    arbitrate(a, index, now, dt, period, loop.command_timeout, &total)
    total.position_gain *= a.dead_man_gain
    total.angle_gain *= a.dead_man_gain
    obeys = p.accepts_commands != 0 and not stopped
    show_commands(s, &total, obeys)
    if has_motors:
        watch_stiffness(a, slot, p, &total, now, dt, period, age, loop.command_timeout)
    # 4 set-points
    if p.capabilities & HAS_CURSOR:
        navigate(a, index, p, dt, period, most_damping(&slot.inner.state.rendering, p.plant.mass), obeys, total.force, total.gated_force)
        if total.contacts + total.scenes > 0 and obeys and s.safety & SAFETY_EBRAKE == 0:
            # Each contact and all scenes together have an equal part of the mass.
            mass = p.plant.mass / ((total.contacts + (total.scenes > 0)) * (p.force_scale if p.force_scale > 1 else 1))
            if total.contacts > 0:
                contact_forces(a, index, p, &s.rendering, total.contacts, mass, period, total.force, total.gated_force)
            if total.scenes > 0:
                scene_forces(a, index, p, now, mass, period, loop.scene_timeout, total.force, total.gated_force)
    advance_set_points(&slot.inner, p, &total, now, dt, loop.command_timeout)
    lap(a, STEP_ARBITER, &since)
    if has_motors:
        # 4 to 13
        if obeys:
            output(a, slot, p, pose, &total, period, times, &since, force, torque)
        elif stop_brakes(slot, p, now, stopped):
            restart_ramps(&slot.inner)
            brake_before_stop(&slot.inner, p, pose, period, force, torque)
        else:
            reset_output(&slot.inner)
            for i in range(3):
                force[i] = 0
                torque[i] = 0
        # 14 output
        for i in range(3):
            slot.inner.sim.force[i] = force[i]
            s.force[i] = force[i]
            s.torque[i] = torque[i]
        if real:
            order(slot, a.state.ticks, now, force, torque)
        if p.left_handed:
            s.torque[0] = 0 - s.torque[0]
        lap(a, STEP_OUTPUT, &since)
    # 15 publish
    if has_motors:
        note_monitors(slot, p, now)
        take_sample(slot, now, period)
    s.tick = a.state.ticks
    s.time_ns = now
    s.generation = <uint32_t>hd_load(&slot.generation)
    s.flags = p.flags | (FLAG_MEASURED if has_motors or is_handle else 0) | (FLAG_STOPPED if stopped else 0)
    for i in range(SESSION_WORDS):
        s.live[i] = slot.live[i]
    hd_seq_begin(&slot.sequence)
    hd_seq_put(&slot.shown, s, sizeof(DeviceState))
    show_navigation(a, index)
    if total.scenes > 0:
        show_scenes(a, index)
    hd_seq_end(&slot.sequence)
    lap(a, STEP_PUBLISH, &since)
