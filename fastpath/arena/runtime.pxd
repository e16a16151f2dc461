"""Declarations of Runtime, its arena and its leases for other Cython modules."""

from libc.stdint cimport uint64_t

from fastpath.arena.memory cimport ArenaMemory

cdef class Runtime(ArenaMemory):
    cdef void *stack
    cdef void *thread
    cdef readonly bint realtime
    cdef readonly bint stepping
    cdef readonly int max_sessions
    cdef dict _sessions
    cdef dict _devices
    cdef object _lock
    cdef uint64_t revision
    cdef void _join(self) noexcept
    cdef bint _lock_memory(self) except -1
    cdef int _find(self, dict names, str name, int count, bint devices) except -1
    cdef void _sweep(self) noexcept
