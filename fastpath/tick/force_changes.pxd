"""Count what filter, damper and monitors do to the commanded force of a device: N.s that they take from it, and that they add.

The difference between a force before and after one of them is split: its part against the force before, at most as long as that,
is taken; the rest is added. A push the other way round takes the whole force, and adds the rest.
"""

from libc.math cimport sqrt

from fastpath.layout.force cimport ForceChanges


cdef inline void note_change(
    ForceChanges *changes, int by, const double *before, const double *after, double seconds,
) noexcept nogil:
    """Add the difference between a force (N) before and after, which acts for `seconds`, to the counts of one of them."""
    cdef double difference[3]
    cdef double square = 0, along = 0, taken = 0, rest = 0, part
    cdef int i
    if before[0] == after[0] and before[1] == after[1] and before[2] == after[2]:
        return
    for i in range(3):
        difference[i] = after[i] - before[i]
        square += before[i] * before[i]
        along -= difference[i] * before[i]
    if square > 0 and along > 0:
        taken = along / square if along < square else 1
    for i in range(3):
        part = difference[i] + taken * before[i]
        rest += part * part
    changes.taken[by] += seconds * taken * sqrt(square)
    changes.added[by] += seconds * sqrt(rest)
