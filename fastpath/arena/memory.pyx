"""ArenaMemory: the arena and its clock, as the Runtime that owns it and the Readers and Writers of its cells share them."""

from libc.stdint cimport int64_t
from typing import NamedTuple

from fastpath.cells.cells cimport hd_load

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()


class Lease(NamedTuple):
    """The right to one slot: valid while the slot's generation is this one."""

    slot: int
    generation: int
    name: str


cdef class ArenaMemory:
    """Base class of Runtime, which allocates the arena and frees it."""

    cdef int64_t _now(self) noexcept:
        """Return the clock that stamps commands, ns: CLOCK_MONOTONIC, or the virtual one when stepping."""
        if self.arena.virtual_clock:
            return <int64_t>hd_load(&self.arena.virtual_ns)
        return hd_now_ns()
