"""Commands from the pages of clients on this machine, and the states that they read: what a tick does for shared memory.

A page is memory that its client may write at any time. A record is copied once and judged as a copy; one that is refused changes nothing, so
that the last one ages. Commands are in the device frame, whatever the session's view is, because the states are.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.arena.holding cimport HELD, goes_on_holding
from fastpath.cells.cells cimport hd_load, hd_seq_write, hd_store
from fastpath.layout.arena cimport Arena, DeviceState, LoopParams, Record, RecordCell
from fastpath.layout.constants cimport COMMANDS, MAX_DEVICES, SLOT_ACTIVE
from fastpath.layout.local cimport (
    HAPTICD_LOCAL_TAKEN, LocalCommands, hapticd_local_answer, hapticd_local_cell, hapticd_local_record, hapticd_local_state,
    hapticd_local_states,
)
from fastpath.layout.port cimport OLDEST_ORDER_NS

cdef extern from "local/page_read.h" nogil:
    uint64_t hd_local_newest(const hapticd_local_cell *cell)
    uint64_t hd_local_copy(const hapticd_local_cell *cell, hapticd_local_record *out)
    uint32_t hd_local_refusal(const hapticd_local_record *record, uint64_t sequence, uint64_t taken, uint32_t generation,
                              const double *largest, int commands)


cdef inline hapticd_local_states *local_states(Arena *a) noexcept nogil:
    """Return the area that clients on this machine read; NULL while there is none of them."""
    return <hapticd_local_states *>hd_load(&a.local.states)


cdef inline void begin_local(LocalCommands *local, const Record *record) noexcept nogil:
    """Forget what another session, or this one on another device, had here; what the page has already is not taken."""
    local.session_generation = record.session_generation
    local.device_generation = record.device_generation
    local.taken = 0
    local.looked_ns = 0
    local.given_up = hd_load(&local.gave_up)
    local.command_ns = 0
    local.commands = 0
    hd_store(&local.shown_commands, 0)


cdef inline bint may_hold_now(LocalCommands *local, const Record *record, int64_t now, int64_t timeout_ns) noexcept nogil:
    """Return whether the client may hold a position: it goes on, or the event loop has allowed it to begin, once."""
    cdef uint64_t begin = hd_load(&local.begin_ns)
    if record.duck <= 0:
        return False
    if goes_on_holding(local.commands, local.command_ns, now, timeout_ns):
        return True
    if begin != local.used_ns and now - <int64_t>begin <= timeout_ns // 2:
        return True
    hd_store(&local.wants, 1)
    return False


cdef inline void take_record(LocalCommands *local, const Record *record, const hapticd_local_record *given, int64_t now, int64_t timeout_ns) noexcept nogil:
    """Put a record in force that was not refused, but for what the device does not take and for a position that another session may hold."""
    cdef uint32_t commands = given.commands & <uint32_t>hd_load(&local.takes)
    cdef uint64_t begin = hd_load(&local.begin_ns)
    if commands & HELD and not may_hold_now(local, record, now, timeout_ns):
        commands &= ~<uint32_t>HELD
    local.commands = commands
    local.command_ns = now
    memcpy(local.set_points, given.set_points, sizeof(local.set_points))
    # In this order: who reads them on the event loop sees a permission as used only together with what it was used for.
    hd_store(&local.shown_ns, <uint64_t>now)
    hd_store(&local.shown_commands, commands)
    if commands & HELD:
        hd_store(&local.used_ns, begin)


cdef inline LocalCommands *local_commands(Arena *a, RecordCell *cell, const Record *record, int device, int64_t now, double timeout) noexcept nogil:
    """Take the newest record of a client's page, if it is new and right. Return the commands that are in force.

    None is taken while the event loop stands still: nobody could say stop. Nor is one that came while nobody looked: its age is not known.
    """
    cdef LocalCommands *local = &cell.local
    cdef const hapticd_local_cell *page = <const hapticd_local_cell *>hd_load(&local.cell)
    cdef hapticd_local_states *states = local_states(a)
    cdef hapticd_local_answer *answer
    cdef hapticd_local_record given
    cdef uint64_t sequence
    cdef uint32_t refusal
    if local.session_generation != record.session_generation or local.device_generation != record.device_generation:
        begin_local(local, record)
    if local.given_up != hd_load(&local.gave_up):
        local.given_up = hd_load(&local.gave_up)
        local.commands &= ~<uint32_t>HELD
        hd_store(&local.shown_commands, local.commands)
    if page == NULL or states == NULL or now - <int64_t>hd_load(&a.local.turned_ns) > <int64_t>hd_load(&a.local.longest_turn_ns):
        return local
    if now - local.looked_ns > OLDEST_ORDER_NS:
        local.seen = hd_local_newest(page)
    local.looked_ns = now
    if hd_local_newest(page) == local.seen:
        return local
    sequence = hd_local_copy(page, &given)
    if sequence == 0 or sequence == local.seen:
        return local
    answer = &states.seats[hd_load(&local.seat)].devices[device]
    local.seen = sequence
    refusal = hd_local_refusal(&given, sequence, local.taken, record.device_generation, a.local.largest, COMMANDS)
    if refusal != HAPTICD_LOCAL_TAKEN:
        answer.reason = refusal
        hd_store(&answer.refused, answer.refused + 1)
        return local
    local.taken = sequence
    take_record(local, record, &given, now, <int64_t>(timeout * 1e9))
    answer.in_force = local.commands
    answer.records += 1
    hd_store(&answer.taken, sequence)
    return local


cdef inline void drop_faded(Arena *a, LocalCommands *local, int device) noexcept nogil:
    """Release commands that have faded."""
    cdef hapticd_local_states *states = local_states(a)
    local.commands = 0
    hd_store(&local.shown_commands, 0)
    if states != NULL and hd_load(&local.cell) != 0:
        states.seats[hd_load(&local.seat)].devices[device].in_force = 0


cdef inline void show_local_state(const DeviceState *s, hapticd_local_state *out) noexcept nogil:
    """Fill in what clients read of a device."""
    out.tick = s.tick
    out.time_ns = s.time_ns
    out.generation = s.generation
    out.flags = s.flags
    out.mode = s.mode
    out.safety = s.safety
    memcpy(out.position, s.position, sizeof(out.position))
    memcpy(out.velocity, s.velocity, sizeof(out.velocity))
    memcpy(out.force, s.force, sizeof(out.force))
    memcpy(out.angles, s.joint, sizeof(out.angles))
    memcpy(out.angular_velocities, s.joint_velocity, sizeof(out.angular_velocities))
    memcpy(out.torques, s.torque, sizeof(out.torques))
    memcpy(out.orientation, s.orientation, sizeof(out.orientation))
    out.hall = s.hall
    out.buttons = s.buttons


cdef inline void show_local_device(Arena *a, hapticd_local_states *states, int index) noexcept nogil:
    """Show clients one device; nothing for a slot that has none."""
    cdef hapticd_local_state shown
    if a.devices[index].inner.state.generation != 0 and hd_load(&a.devices[index].state) == SLOT_ACTIVE:
        show_local_state(&a.devices[index].inner.state, &shown)
    else:
        memset(&shown, 0, sizeof(shown))
    hd_seq_write(&states.devices[index].sequence, &states.devices[index].state, &shown, sizeof(shown))


cdef inline void show_local_tick(Arena *a, hapticd_local_states *states, int64_t now) noexcept nogil:
    """Show clients that the states are those of this tick."""
    hd_store(<uint64_t *>&states.tick_ns, <uint64_t>now)
    hd_store(&states.tick, a.state.ticks)


cdef inline void show_local_rest(Arena *a, hapticd_local_states *states, const LoopParams *loop) noexcept nogil:
    """Show clients the loop's period and time-out, and which slots have no device."""
    cdef int index
    for index in range(MAX_DEVICES):
        if states.devices[index].state.generation != 0 and hd_load(&a.devices[index].state) != SLOT_ACTIVE:
            show_local_device(a, states, index)
    states.period_ns = <int64_t>(1e9 / loop.frequency)
    states.timeout_ns = <int64_t>(loop.command_timeout * 1e9)
