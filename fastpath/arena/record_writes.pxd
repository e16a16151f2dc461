"""What a Writer does to its record, without the interpreter: set-points in, and the record to the loop."""

from libc.math cimport M_PI, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastpath.cells.cells cimport hd_load, hd_or, hd_triple_publish
from fastpath.layout.arena cimport ACT_DAMPING, ACT_EFFECTS, ACT_NAVIGATION, ACT_SCENE, Arena, Record, RecordCell
from fastpath.layout.constants cimport COMMAND_FORCE, MAX_DEVICES
from fastpath.layout.force cimport Effect
from fastpath.layout.navigation cimport NAVIGATION_OFF
from fastpath.space.spatial cimport force_to_device


cdef inline void write_set_point(Record *record, int command, const double *v) noexcept nogil:
    """Set the three numbers of a command; a force keeps its direction at the device when the view changes later."""
    cdef double *numbers = record.set_points[command]
    cdef int i
    if command == COMMAND_FORCE:
        force_to_device(&record.view, v, numbers)
    else:
        for i in range(3):
            numbers[i] = v[i]
    record.commands |= <uint32_t>1 << command


cdef inline void write_effect(Record *record, int number, const double *force, double frequency, int64_t now_ns) noexcept nogil:
    """Begin a vibration with a peak force (N, application space), or end it with 0 Hz."""
    cdef Effect *e = &record.effects[number]
    cdef double turn = 2 * M_PI * frequency
    force_to_device(&record.view, force, e.force)
    e.frequency = frequency
    e.begun_ns = now_ns
    e.size = sqrt(e.force[0] * e.force[0] + e.force[1] * e.force[1] + e.force[2] * e.force[2])
    e.speed = e.size / turn if frequency > 0 else 0
    e.way = e.speed / turn if frequency > 0 else 0


cdef inline bint is_leased(const Arena *arena, const Record *record, int session, int device) noexcept nogil:
    """Return whether both leases of a record hold."""
    return (hd_load(&arena.sessions[session].generation) == record.session_generation
            and hd_load(&arena.devices[device].generation) == record.device_generation)


cdef inline uint32_t acts_of(const Record *record) noexcept nogil:
    """Return the Act bits of a record."""
    cdef uint32_t acts = 0
    if record.damping[0] > 0 or record.damping[1] > 0 or record.damping[2] > 0:
        acts |= ACT_DAMPING
    if record.navigation.mode != NAVIGATION_OFF:
        acts |= ACT_NAVIGATION
    if record.effects[0].frequency > 0 or record.effects[1].frequency > 0:
        acts |= ACT_EFFECTS
    if record.scene != 0:
        acts |= ACT_SCENE
    return acts


cdef inline void hand_over(Arena *arena, Record *record, int session, int device) noexcept nogil:
    """Hand a record to the loop."""
    cdef RecordCell *cell = &arena.records[session * MAX_DEVICES + device]
    record.revision += 1
    record.acts = acts_of(record)
    hd_triple_publish(&cell.cell, cell.buffers, record, sizeof(Record))
    hd_or(&arena.devices[device].fresh[session >> 6], <uint64_t>1 << (session & 63))
