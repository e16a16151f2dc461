"""Runtime and its capabilities, for the other extensions: `wire.pyx` reads a Reader's state and a Writer's view directly."""

from libc.stdint cimport int64_t

from fastpath.layout cimport Arena, Basis, DeviceState, Record, Transform

cdef class Runtime:
    cdef Arena *arena
    cdef void *stack
    cdef void *thread
    cdef readonly bint realtime
    cdef readonly bint stepping
    cdef readonly int max_sessions
    cdef dict _sessions
    cdef dict _devices
    cdef object _lock
    cdef int64_t _now(self) noexcept
    cdef void _join(self) noexcept
    cdef bint _lock_memory(self) except -1
    cdef int _find(self, dict names, str name, int count, bint devices) except -1
    cdef void _sweep(self) noexcept

cdef class Writer:
    cdef Runtime runtime
    cdef readonly int session
    cdef readonly int device
    cdef Record record
    cdef readonly bint revoked

cdef class Reader:
    cdef Runtime runtime
    cdef readonly int device
    cdef DeviceState state
    cdef void refresh(self) noexcept

cdef int fill_basis(Basis *basis, axes, signs) except -1
cdef int fill_transform(Transform *m, position, rotation, scale) except -1
