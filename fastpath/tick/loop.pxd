"""Declarations of the control loop, which `runtime.pyx` starts, stops and steps."""

from fastpath.layout.arena cimport Arena

cdef int loop_start(Arena *arena, void **thread, void *stack) noexcept nogil
cdef void loop_join(Arena *arena, void *thread) noexcept nogil
cdef void loop_step(Arena *arena, long long ticks, bint beat, long long missed) noexcept nogil
cdef void loop_sweep(Arena *arena) noexcept nogil
