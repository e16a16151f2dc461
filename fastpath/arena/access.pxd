"""Declarations of Reader and Writer: the frame encoder reads a Reader's state and a Writer's view through them."""

from fastpath.arena.memory cimport ArenaMemory
from fastpath.layout.arena cimport DeviceState, Record
from fastpath.layout.contact cimport Contact
from fastpath.layout.navigation cimport Navigated
from fastpath.scene.description cimport Description

cdef class Writer:
    cdef ArenaMemory memory
    cdef readonly int session
    cdef readonly int device
    cdef Record record
    cdef double[3] home
    # as it was set: its surface in application space
    cdef Contact contact
    # None until there is a scene; and whose it is
    cdef Description description
    cdef object session_lease
    cdef object device_lease
    cdef readonly bint revoked
    cdef void place_scene(self) noexcept

cdef class Reader:
    cdef ArenaMemory memory
    cdef readonly int device
    cdef DeviceState state
    cdef void refresh(self) noexcept
    cdef bint refresh_for(self, Writer writer, Navigated *out) noexcept
