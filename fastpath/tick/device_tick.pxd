"""One device, one tick: every step in its order, from what sessions want to what the motors get and what the state shows."""

from libc.stdint cimport int64_t, uint32_t

from fastpath.tick.arbiter cimport Wish, arbitrate, show_wish
from fastpath.cells.cells cimport (
    hd_load, hd_seq_begin, hd_seq_end, hd_seq_put, hd_seq_write, hd_triple_front, hd_triple_take,
)
from fastpath.tick.force_chain cimport chain_begin, filter_and_gate, slew
from fastpath.tick.effects cimport add_effects
from fastpath.layout.arena cimport Arena, DeviceParams, DevicePrivate, DeviceSlot, DeviceState, LoopParams
from fastpath.layout.constants cimport (
    FLAG_ATTACHED, FLAG_MEASURED, FLAG_READY, FLAG_STOPPED, KIND_ARM, KIND_COMPACT, KIND_GRIP, KIND_PEN, MAX_DEVICES,
    MODE_IDLE, SAFETY_EBRAKE, SESSION_WORDS, SLOT_ACTIVE, SOURCE_PORT, STEP_ARBITER, STEP_CLAMP, STEP_FILTER,
    STEP_MONITOR, STEP_OUTPUT, STEP_PUBLISH, STEP_READ, STEP_TORQUE,
)
from fastpath.tick.monitors cimport (
    BRAKE, heat, limit_springs, monitors_begin, watch_grip, watch_object, watch_speed, watch_stall,
)
from fastpath.navigation.bubble cimport navigate, show_navigation
from fastpath.port.port_step cimport HEARD_AGAIN, HEARD_NOTHING, hear, order, read_port_arm, read_port_grip
from fastpath.mechanisms.pose cimport Pose, only_driven
from fastpath.tick.set_points cimport set_point, set_point_now
from fastpath.plant.simulation_controls cimport frozen
from fastpath.plant.simulated_reads cimport read_arm, read_grip
from fastpath.tick.force_maps cimport clamp_norm, clamp_torques, torque_map
from fastpath.tick.force_sources cimport angle_torque, damping_force, home_force, position_force
from fastpath.tick.measurement cimport weight

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()


cdef inline void lap(Arena *a, int step, int64_t *since) noexcept nogil:
    """Add the time since the last lap to a step, in the ticks that are sampled."""
    cdef int64_t now
    if a.measure:
        now = hd_now_ns()
        a.state.step_seconds[step] += (now - since[0]) * 1e-9
        since[0] = now


cdef inline bint let_go(Arena *a, const DeviceParams *p) noexcept nogil:
    """Whether the device has a grip that nobody holds; without one nobody can tell, nor of a slot that is somebody else's now."""
    cdef DeviceSlot *grip
    cdef const DeviceParams *of_grip
    if p.grip_slot < 0 or p.grip_slot >= MAX_DEVICES:
        return False
    grip = &a.devices[p.grip_slot]
    if hd_load(&grip.state) != SLOT_ACTIVE or <uint32_t>hd_load(&grip.generation) != grip.inner.state.generation:
        return False
    of_grip = <const DeviceParams *>hd_triple_front(&grip.params_cell, grip.params, sizeof(DeviceParams))
    return (of_grip.kind == KIND_GRIP or of_grip.kind == KIND_PEN) and grip.inner.state.flags & FLAG_ATTACHED == 0


cdef inline void start_anew(DevicePrivate *d) noexcept nogil:
    """Ramps, set-points and slew start again with what is commanded next."""
    cdef int i
    d.position_ramp = 0
    d.angle_ramp = 0
    d.home_ease = 0
    d.position.held = 0
    d.angle.held = 0
    d.chain.obeyed = 0
    for i in range(3):
        d.chain.slewed[i] = 0
        d.chain.slewed_torque[i] = 0


cdef inline void show_flags(DeviceSlot *slot, const DeviceParams *p, bint stopped) noexcept nogil:
    """What is known of a silent device otherwise than by its packets; never ready before the first of them."""
    cdef DeviceState *s = &slot.inner.state
    cdef uint32_t flags = p.flags | (s.flags & FLAG_MEASURED) | (FLAG_STOPPED if stopped else 0)
    if flags & FLAG_MEASURED == 0:
        flags &= ~<uint32_t>FLAG_READY
    if flags != s.flags:
        s.flags = flags
        hd_seq_write(&slot.sequence, &slot.shown, s, sizeof(DeviceState))


cdef inline void begin(DevicePrivate *d) noexcept nogil:
    """Nothing is put out: ramps, filter and slew start again with the next command."""
    start_anew(d)
    chain_begin(&d.chain, &d.state)


cdef inline void follow(DevicePrivate *d, const DeviceParams *p, Wish *wish, int64_t now, double dt, double timeout) noexcept nogil:
    """Go on to the set-points that are held; a position that was not held starts where the device is, if its speed is limited."""
    cdef int64_t fresh_ns = <int64_t>(timeout * 1e9)
    if wish.has_position:
        if d.position.held == 0 and p.safe_speed > 0:
            set_point(&d.position, d.state.position, wish.position_ns, now, fresh_ns)
        set_point(&d.position, wish.position, wish.position_ns, now, fresh_ns)
        set_point_now(&d.position, now, p.safe_speed, dt)
    else:
        d.position.held = 0
    if wish.has_angle:
        set_point(&d.angle, wish.angle, wish.angle_ns, now, fresh_ns)
        set_point_now(&d.angle, now, 0, dt)
    else:
        d.angle.held = 0


cdef inline void output(Arena *a, DeviceSlot *slot, const DeviceParams *p, const Pose *pose, Wish *wish,
                        double dt, int times, int64_t *since, double *force, double *torque) noexcept nogil:
    """The chain of a device that obeys: sources in the wish, force (N) and joint torques (N.mm) out."""
    cdef DevicePrivate *d = &slot.inner
    cdef DeviceState *s = &d.state
    cdef double limit = p.torque_limit * s.derating
    cdef uint32_t saturated
    cdef int i
    for i in range(3):
        force[i] = wish.force[i]
        torque[i] = wish.torque[i]
    # 4 set-points: what they pull with
    position_force(d, p, wish, dt, force, wish.gated_force)
    angle_torque(d, p, wish, dt, torque, wish.gated_torque)
    if p.home_return and s.mode == MODE_IDLE:
        home_force(d, p, a.dead_man_gain, dt, force)
    else:
        d.home_ease = 0
    if p.left_handed:
        torque[0] = 0 - torque[0]
        wish.gated_torque[0] = 0 - wish.gated_torque[0]
    only_driven(pose, force)
    only_driven(pose, torque)
    only_driven(pose, wish.gated_force)
    only_driven(pose, wish.gated_torque)
    # 5 clamp
    s.clamped += clamp_norm(force, p.peak_force)
    clamp_norm(wish.gated_force, p.peak_force)
    clamp_torques(torque, p.torque_limit, p.torque_scaling != 0)
    clamp_torques(wish.gated_torque, p.torque_limit, p.torque_scaling != 0)
    # 6 filter
    filter_and_gate(&d.chain, &a.oscillation, &a.oscillation_rate, p, s, pose,
                    wish.gated_force, wish.gated_torque, times, force, torque)
    lap(a, STEP_FILTER, since)
    # 7 damping
    damping_force(p, s, wish, dt, force)
    # 8 scale
    for i in range(3):
        force[i] *= p.force_scale
    add_effects(&wish.effect, p, a.dead_man_gain, force)
    # 9 monitors act, 10 clamp
    if s.safety & SAFETY_EBRAKE:
        for i in range(3):
            force[i] = -BRAKE * s.velocity[i]
            torque[i] = 0
        clamp_norm(force, p.peak_force)
        start_anew(d)
    else:
        limit_springs(p, s, force)
        for i in range(3):
            force[i] *= d.guard.fod_gain * d.guard.grip_gain
            torque[i] *= d.guard.fod_gain * d.guard.grip_gain
        s.clamped += clamp_norm(force, p.peak_force)
    lap(a, STEP_CLAMP, since)
    # 11 torque map, 12 slew
    saturated = torque_map(p, pose, limit, force, torque)
    if not s.safety & SAFETY_EBRAKE and slew(&d.chain, p, s, dt, force, torque):
        saturated |= torque_map(p, pose, limit, force, torque)
    s.saturated += saturated
    # 13 ramp
    for i in range(3):
        force[i] *= a.output_gain
        torque[i] *= a.output_gain
    lap(a, STEP_TORQUE, since)


cdef inline void watch(Arena *a, DeviceSlot *slot, const DeviceParams *p, double dt) noexcept nogil:
    """Every monitor once, on what the device did under the last output."""
    cdef DevicePrivate *d = &slot.inner
    cdef bint alone = let_go(a, p)
    if d.guard.begun == 0:
        monitors_begin(&d.guard)
        chain_begin(&d.chain, &d.state)
    watch_object(&d.guard, p, &d.state, alone, weight(p), dt)
    watch_speed(&d.guard, &d.state, dt)
    watch_stall(&d.guard, p, &d.state, dt)
    watch_grip(&d.guard, p, &d.state, alone, dt)
    heat(&d.thermal, p, &d.state, dt)


cdef inline void device_tick(Arena *a, int index, int64_t now, double dt, int times, const LoopParams *loop) noexcept nogil:
    """The last tick was dt seconds ago, which is so many periods. The steps, in this order:

     1  read          newest packet of a device at a port, or the simulated plant advanced by dt; encoders, velocity
     2  monitors      e-brake, foreign object, stall, grip, heat: what the device did under the last output
     3  sum           forces and torques of all sessions: fade by age, duck gain; the gated share of both beside them
     4  set-points    bubbles add their forces to both sums; straight lines between messages;
                      springs of held positions and angles; home return
     5  clamp         |F| <= peak, |torque| <= limit: what the filter sees is what can be put out
     6  filter        out = g (u - h sum(gate F)), one g for each axis: oscillation filter and force gates
     7  damping       - b v of the sessions; never filtered
     8  scale         F times the force scale; effects are added, bounded in power; never filtered
     9  monitors act  e-brake replaces the force; else limit springs are added, foreign object and dropped grip scale it
    10  clamp         |F| <= peak
    11  torque map    torque = J' F + commanded torque, saturated in its direction, |F at the cursor| <= peak
    12  slew          |dF/dt| <= 3,000 N/s away from zero, of all that is felt together; what is cut short passes 11 again
    13  ramp          F times the output gain: 50 ms after a start, a gap or a change of rate
    14  output        to the simulated plant, or as an order to the thread of the device's port
    15  publish       state and navigation, under one sequence

    Grips and pens have steps 1, 3 and 15. A device that is stopped or takes no commands gets zero instead of steps 5 to 13,
    and whatever remembers starts again. A silent device at a port shows its flags alone.
    """
    cdef DeviceSlot *slot = &a.devices[index]
    cdef DeviceState *s = &slot.inner.state
    cdef DeviceParams *p
    cdef Wish wish
    cdef Pose *pose = &slot.inner.pose
    cdef int64_t since = 0
    cdef double force[3]
    cdef double torque[3]
    cdef bint stopped, obeys, moves, handle, real
    cdef int heard, i
    if a.measure:
        since = hd_now_ns()
    hd_triple_take(&slot.params_cell)
    p = <DeviceParams *>hd_triple_front(&slot.params_cell, slot.params, sizeof(DeviceParams))
    stopped = hd_load(&slot.stop) != 0
    real = p.source == SOURCE_PORT
    # 1 read
    if real:
        heard = hear(slot, p, a.state.ticks, now)
        if heard == HEARD_NOTHING:
            show_flags(slot, p, stopped)
            return
        if heard == HEARD_AGAIN:
            begin(&slot.inner)
    elif frozen(slot, p):
        return
    moves = p.kind == KIND_ARM or p.kind == KIND_COMPACT
    handle = p.kind == KIND_GRIP or p.kind == KIND_PEN
    if moves:
        if real:
            read_port_arm(slot, p, dt)
        else:
            read_arm(&slot.inner, p, dt)
        lap(a, STEP_READ, &since)
        # 2 monitors
        watch(a, slot, p, dt)
        lap(a, STEP_MONITOR, &since)
    elif handle:
        if real:
            read_port_grip(slot, p, dt)
        else:
            read_grip(&slot.inner, p, dt)
        lap(a, STEP_READ, &since)
    # 3 sum
    arbitrate(a, index, now, dt, loop.command_timeout, &wish)
    wish.position_gain *= a.dead_man_gain
    wish.angle_gain *= a.dead_man_gain
    obeys = p.accepts_commands != 0 and not stopped
    show_wish(s, &wish, obeys)
    # 4 set-points
    if moves:
        navigate(a, index, p, dt, obeys, wish.force, wish.gated_force)
    follow(&slot.inner, p, &wish, now, dt, loop.command_timeout)
    lap(a, STEP_ARBITER, &since)
    if moves:
        # 4 to 13
        if obeys:
            output(a, slot, p, pose, &wish, dt, times, &since, force, torque)
        else:
            begin(&slot.inner)
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
    s.tick = a.state.ticks
    s.time_ns = now
    s.generation = <uint32_t>hd_load(&slot.generation)
    s.flags = p.flags | (FLAG_MEASURED if moves or handle else 0) | (FLAG_STOPPED if stopped else 0)
    for i in range(SESSION_WORDS):
        s.live[i] = slot.live[i]
    hd_seq_begin(&slot.sequence)
    hd_seq_put(&slot.shown, s, sizeof(DeviceState))
    show_navigation(a, index)
    hd_seq_end(&slot.sequence)
    lap(a, STEP_PUBLISH, &since)
