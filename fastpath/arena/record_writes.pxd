"""What a Writer does to its record, without the interpreter: set-points in, and the record to the loop."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastpath.cells.cells cimport hd_load, hd_or, hd_triple_publish
from fastpath.layout.arena cimport Arena, Record, RecordCell
from fastpath.layout.constants cimport COMMAND_FORCE, MAX_DEVICES
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


cdef inline bint is_leased(const Arena *arena, const Record *record, int session, int device) noexcept nogil:
    """Return whether both leases of a record hold."""
    return (hd_load(&arena.sessions[session].generation) == record.session_generation
            and hd_load(&arena.devices[device].generation) == record.device_generation)


cdef inline void hand_over(Arena *arena, Record *record, int session, int device) noexcept nogil:
    """Hand a record to the loop."""
    cdef RecordCell *cell = &arena.records[session * MAX_DEVICES + device]
    record.revision += 1
    hd_triple_publish(&cell.cell, cell.buffers, record, sizeof(Record))
    hd_or(&arena.devices[device].fresh[session >> 6], <uint64_t>1 << (session & 63))
