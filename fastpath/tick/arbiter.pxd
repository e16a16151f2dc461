"""Arbiter: sum the commands of all sessions for one device in this tick, and show them in its state.

Forces and torques of all sessions add. At most one session's position (or angles) is accepted at the edge at a time, so
the newest live one counts. A command is held until its session replaces it; older than the time-out it fades in 20 ms.
Damping acts while its session is open, commands or not; of several sessions the strongest counts on each axis.
Effects play while their session is open, and add. Scenes are counted here and rendered after the sums.
The duck gain scales a session's output; the gated sums are the part that force gates may take away.
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastpath.cells.cells cimport hd_exchange, hd_load, hd_store, hd_triple_front, hd_triple_take
from fastpath.layout.arena cimport (
    ACT_DAMPING, ACT_EFFECTS, ACT_NAVIGATION, ACT_SCENE, Arena, DeviceSlot, DeviceState, Record, RecordCell,
)
from fastpath.layout.constants cimport (
    COMMAND_ANGLE, COMMAND_FORCE, COMMAND_POSITION, COMMAND_TORQUE, DOMAIN_ANGULAR, DOMAIN_CARTESIAN,
    FADE_MILLISECONDS, MAX_DEVICES, MODE_FORCE, MODE_IDLE, MODE_POSITION,
)
from fastpath.layout.contact cimport CONTACT_COMMAND
from fastpath.layout.local cimport LocalCommands
from fastpath.navigation.bubble cimport held_position, restart_bubble
from fastpath.scene.render cimport scene_of
from fastpath.tick.effects cimport Played, play
from fastpath.tick.local_commands cimport drop_faded, local_commands

cdef extern from *:
    int lowest_bit "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    # m, degrees: a set-point beyond is none of a device; a session's transforms can make one of small numbers, or inf or nan
    LARGEST_POSITION = 1000
    LARGEST_ANGLE = 100000
    # of force gate and duck gain when they change
    RAMP_MILLISECONDS = 50


cdef struct CommandSum:
    double force[3]
    double torque[3]
    double position[3]
    double angle[3]
    double damping[3]
    # sums of gate times force and torque; gates of the sessions that hold a position and angles
    double gated_force[3]
    double gated_torque[3]
    double position_gate
    double angle_gate
    # vibrations, added behind the filter
    Played effect
    double position_gain
    double angle_gain
    int64_t position_ns
    int64_t angle_ns
    # stamp of the oldest command of a force or of torques, 0: none
    int64_t client_ns
    bint has_force
    bint has_torque
    bint has_position
    bint has_angle
    # sessions with a contact, and with a scene
    int contacts
    int scenes


cdef inline bint sound(const double *v, double largest) noexcept nogil:
    """Return whether every component is a number of at most that size."""
    return fabs(v[0]) <= largest and fabs(v[1]) <= largest and fabs(v[2]) <= largest


cdef inline bint is_number(const double *v) noexcept nogil:
    """Return whether every component is a number, and so small that sums of all sessions are numbers too."""
    return sound(v, 1e150)


cdef inline double hold_gain(int64_t age_ns, double timeout) noexcept nogil:
    """Return the gain of a command of an age (ns): 1 up to the time-out (s), then a ramp to 0 over 20 ms."""
    cdef double late = age_ns * 1e-9 - timeout
    if late <= 0:
        return 1
    if late >= 1e-3 * FADE_MILLISECONDS:
        return 0
    return 1 - late / (1e-3 * FADE_MILLISECONDS)


cdef inline double faded(DeviceSlot *slot, int session, int64_t command_ns, double gain, double dt) noexcept nogil:
    """Return the gain of a command; a fade that has begun goes on to 0 in 20 ms, also when the time-out grows meanwhile."""
    cdef double most
    if gain == 1 and slot.fading_ns[session] != command_ns:
        return 1
    most = slot.fading_gain[session] - dt / (1e-3 * FADE_MILLISECONDS)
    if slot.fading_ns[session] == command_ns and slot.fading_gain[session] < 1 and gain > most + 1e-6:
        gain = most
    if gain < 1:
        slot.fading_ns[session] = command_ns
        slot.fading_gain[session] = gain
    return gain


cdef inline double towards(double now, double wanted, double step) noexcept nogil:
    """Return `now` moved towards `wanted` by at most a step."""
    if wanted > now + step:
        return now + step
    return now - step if wanted < now - step else wanted


cdef inline void ramp(DeviceSlot *slot, int session, const Record *record, bint silent, double period) noexcept nogil:
    """Ramp gate and duck gain of a session to its record's values in at most 50 ms; at once while it has no output."""
    cdef double step
    if (slot.gate[session] == record.gate and slot.duck[session] == record.duck
            and slot.ramped_for[session] == record.session_generation):
        return
    step = period / (1e-3 * RAMP_MILLISECONDS)
    if silent or slot.ramped_for[session] != record.session_generation:
        slot.ramped_for[session] = record.session_generation
        step = 1
    slot.gate[session] = towards(slot.gate[session], record.gate, step)
    slot.duck[session] = towards(slot.duck[session], record.duck, step)


cdef inline void no_commands(CommandSum *total) noexcept nogil:
    """Reset a sum. One by one: the compiler would make of a memset an instruction that takes longer than the rest of an idle device."""
    cdef int i
    for i in range(3):
        total.torque[i] = 0; total.position[i] = 0; total.angle[i] = 0; total.damping[i] = 0; total.gated_torque[i] = 0
        total.effect.force[i] = 0
    total.effect.size = 0; total.effect.speed = 0; total.effect.way = 0
    total.has_force = False; total.has_torque = False; total.has_position = False; total.has_angle = False
    total.contacts = 0; total.scenes = 0
    total.position_gain = 0; total.angle_gain = 0; total.position_gate = 0; total.angle_gate = 0
    total.position_ns = 0; total.angle_ns = 0; total.client_ns = 0


cdef inline void add_acts(
    Arena *arena, DeviceSlot *slot, RecordCell *cell, const Record *record, int device, int session, uint64_t bit, bint moves,
    int64_t now, double period, CommandSum *total,
) noexcept nogil:
    """Add what a session does beside its commands: damping, a bubble if it `moves` commands, effects, a scene."""
    cdef int word = session >> 6, i
    if record.acts & ACT_DAMPING:
        slot.damped[word] |= bit
        for i in range(3):
            total.damping[i] = max(total.damping[i], slot.duck[session] * record.damping[i])
    if record.acts & ACT_NAVIGATION and moves:
        slot.navigating[word] |= bit
        restart_bubble(&cell.navigator, record)
    if record.acts & ACT_EFFECTS:
        slot.playing[word] |= bit
        play(record.effects, slot.duck[session], now, period, &total.effect)
    if record.acts & ACT_SCENE and scene_of(arena, record, session, device) != NULL:
        slot.scened[word] |= bit
        total.scenes += 1
        total.has_force = True


cdef inline void add_commands(
    DeviceSlot *slot, RecordCell *cell, const Record *record, const double (*points)[3], uint32_t commands, int64_t command_ns,
    int session, double gain, bint moves, CommandSum *total,
) noexcept nogil:
    """Add the commands of a session other than its force, with the gain of its fade and its duck gain; a bubble `moves` a held position."""
    cdef double gate = slot.gate[session]
    cdef int i
    if commands >> CONTACT_COMMAND & 1:
        total.has_force = True
        total.contacts += 1
        cell.touch.gain = gain
    if commands >> COMMAND_TORQUE & 1 and is_number(points[<int>COMMAND_TORQUE]):
        total.has_torque = True
        for i in range(3):
            total.torque[i] += gain * points[<int>COMMAND_TORQUE][i]
            total.gated_torque[i] += gate * gain * points[<int>COMMAND_TORQUE][i]
    if commands >> COMMAND_POSITION & 1 and gain > total.position_gain and sound(points[<int>COMMAND_POSITION], LARGEST_POSITION):
        total.has_position = True
        total.position_gain = gain
        total.position_gate = gate
        total.position_ns = command_ns
        if moves:
            held_position(&cell.navigator, record, total.position)
            total.has_position = sound(total.position, LARGEST_POSITION)
        else:
            for i in range(3):
                total.position[i] = points[<int>COMMAND_POSITION][i]
    if commands >> COMMAND_ANGLE & 1 and gain > total.angle_gain and sound(points[<int>COMMAND_ANGLE], LARGEST_ANGLE):
        total.has_angle = True
        total.angle_gain = gain
        total.angle_gate = gate
        total.angle_ns = command_ns
        for i in range(3):
            total.angle[i] = points[<int>COMMAND_ANGLE][i]


cdef inline void arbitrate(
    Arena *arena, int device, int64_t now, double dt, double period, double timeout, CommandSum *total,
) noexcept nogil:
    """Take new records, drop those of closed sessions, and sum the rest; device frame, N, N.mm, m, degrees.

    Fades take the true time `dt` since the last tick (s), ramps the nominal `period` of the loop (s).
    """
    cdef DeviceSlot *slot = &arena.devices[device]
    cdef uint64_t fresh, seen, live, local, bits, bit
    cdef RecordCell *cell
    cdef Record *record
    cdef LocalCommands *from_page
    cdef const double (*points)[3]
    cdef uint32_t commands
    cdef int64_t command_ns, timeout_ns = <int64_t>(timeout * 1e9)
    cdef double gain, gate
    cdef double force[3]
    cdef double gated[3]
    cdef int word, session, i
    no_commands(total)
    for i in range(3):
        force[i] = 0
        gated[i] = 0
    for word in range(<int>arena.session_words):
        fresh = 0
        if hd_load(&slot.fresh[word]) != 0:
            fresh = hd_exchange(&slot.fresh[word], 0)
        local = hd_load(&slot.local[word])
        seen = slot.live[word] | slot.damped[word] | slot.navigating[word] | slot.playing[word] | slot.scened[word]
        bits = seen | fresh | local
        if bits == 0:
            continue
        live = 0
        slot.damped[word] = 0
        slot.navigating[word] = 0
        slot.playing[word] = 0
        slot.scened[word] = 0
        while bits != 0:
            bit = bits & (~bits + 1)
            bits ^= bit
            session = word * 64 + lowest_bit(bit)
            cell = &arena.records[session * MAX_DEVICES + device]
            hd_triple_take(&cell.cell)
            record = <Record *>hd_triple_front(&cell.cell, cell.buffers, sizeof(Record))
            if (record.device_generation != hd_load(&slot.generation)
                    or record.session_generation != hd_load(&arena.sessions[session].generation)):
                continue
            ramp(slot, session, record, seen & bit == 0, period)
            # Commands from a page are in the device frame: no bubble moves them.
            if record.acts != 0:
                add_acts(arena, slot, cell, record, device, session, bit, local & bit == 0, now, period, total)
            commands = record.commands
            command_ns = record.command_ns
            points = record.set_points
            if local & bit:
                from_page = local_commands(arena, cell, record, device, now, timeout)
                commands = from_page.commands
                command_ns = from_page.command_ns
                points = from_page.set_points
            if commands == 0:
                continue
            gain = 1
            if now - command_ns > timeout_ns or slot.fading_ns[session] == command_ns:
                gain = faded(slot, session, command_ns, hold_gain(now - command_ns, timeout), dt)
                if gain <= 0:
                    slot.inner.state.faded += 1
                    if local & bit:
                        drop_faded(arena, &cell.local, device)
                    continue
            live |= bit
            gain *= slot.duck[session]
            gate = slot.gate[session]
            if (commands & (1 << COMMAND_FORCE | 1 << COMMAND_TORQUE)
                    and (total.client_ns == 0 or command_ns < total.client_ns)):
                total.client_ns = command_ns
            if commands >> COMMAND_FORCE & 1 and is_number(points[<int>COMMAND_FORCE]):
                total.has_force = True
                for i in range(3):
                    force[i] += gain * points[<int>COMMAND_FORCE][i]
                if gate != 0:
                    for i in range(3):
                        gated[i] += gate * gain * points[<int>COMMAND_FORCE][i]
            if commands != 1 << COMMAND_FORCE:
                add_commands(slot, cell, record, points, commands, command_ns, session, gain, local & bit == 0, total)
        slot.live[word] = live
    for i in range(3):
        total.force[i] = force[i]
        total.gated_force[i] = gated[i]


cdef inline void show_commands(DeviceState *s, const CommandSum *total, bint obeys) noexcept nogil:
    """Write domain, mode and set-points to the state; without commands the domain keeps its last value."""
    cdef int i
    s.mode = MODE_IDLE
    for i in range(3):
        s.target[i] = total.position[i]
        s.target_joint[i] = total.angle[i]
    if not obeys:
        return
    if total.has_position or total.has_angle:
        s.mode = MODE_POSITION
    elif total.has_force or total.has_torque:
        s.mode = MODE_FORCE
    if total.has_position or (total.has_force and not total.has_angle):
        s.domain = DOMAIN_CARTESIAN
    elif total.has_angle or total.has_torque:
        s.domain = DOMAIN_ANGULAR
