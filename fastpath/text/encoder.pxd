"""Declarations of the frame encoder: the streaming thread writes frames by its plan."""

cimport cython

from fastpath.arena.access cimport Reader, Writer
from fastpath.layout.arena cimport View
from fastpath.text.frame_plan cimport EntryPlan, FieldsPlan, FramePlan, Text
from fastpath.text.shared_text cimport SharedText


@cython.final
cdef class Buffer:
    cdef char *start
    cdef size_t used
    cdef size_t capacity
    cdef char *room(self, size_t size) except NULL
    cdef void keep(self, const char *end) noexcept
    cdef bytes text(self)


@cython.final
cdef class StateFields:
    cdef FieldsPlan plan
    cdef list before


@cython.final
cdef class FrameEntry:
    cdef readonly str device_id
    cdef readonly int shape
    cdef readonly StateFields fields
    cdef readonly Reader reader
    cdef readonly Writer writer
    cdef readonly bint wireless, ready
    cdef View identity
    cdef void lay_out(self, EntryPlan *plan) noexcept


@cython.final
cdef class SharedTexts:
    cdef SharedText *texts


@cython.final
cdef class FrameEncoder:
    cdef FramePlan plan
    cdef list entries, groups, texts
    cdef Buffer out
    cdef Text kept(self, bytes text)
    cdef int lay_out(self, groups) except -1
