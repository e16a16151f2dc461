"""Declarations of ArenaMemory for other Cython modules."""

from libc.stdint cimport int64_t

from fastpath.layout.arena cimport Arena

cdef class ArenaMemory:
    cdef Arena *arena
    cdef int64_t _now(self) noexcept
