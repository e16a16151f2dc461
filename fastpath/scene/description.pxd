"""Declaration of Description: a Writer hands its scene to the loop through it."""

from fastpath.arena.memory cimport ArenaMemory
from fastpath.layout.arena cimport View
from fastpath.layout.scene cimport SCENE_FIELDS, Field, Scene

cdef class Description:
    cdef ArenaMemory memory
    # number of the scene's cell, counted from 1; 0: none is held
    cdef readonly int number
    # in the device frame, as the loop has it; and in application space, by the same places
    cdef Scene scene
    cdef Field[SCENE_FIELDS] asked
    # id to its place
    cdef dict places
    cdef int describe(self, fields, const View *view) except -1
    cdef void place(self, const View *view) noexcept
    cdef void release(self) noexcept
