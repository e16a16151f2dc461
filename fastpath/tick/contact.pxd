"""Contacts that the loop renders: a spring and a damper at a surface, which push out of it and never pull.

Device frame, m, N, s. None allocates, locks, logs or knows Python.
"""

from libc.math cimport sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_triple_front
from fastpath.layout.arena cimport Arena, DeviceParams, DeviceSlot, DeviceState, Record, RecordCell
from fastpath.layout.constants cimport MAX_DEVICES
from fastpath.layout.contact cimport CONTACT_COMMAND, CONTACT_SPHERE, Contact, Touch
from fastpath.layout.force cimport Rendering
from fastpath.layout.navigation cimport NAVIGATION_OFF
from fastpath.space.spatial cimport velocity_to_device
from fastpath.tick.rendering cimport bound_spring, least_damping
from fastpath.tick.touch cimport dot, goes_on, touch_step

cdef extern from *:
    int lowest_contact "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    # a normal that turns in one tick so that 100 times its cosine is below this is that of another surface
    TURNED_PERCENT = 50


cdef inline double contact_depth(const Contact *c, const double *apart, double *normal) noexcept nogil:
    """Return the depth (m, positive inside) at a place relative to the contact's point; `normal` keeps its value at a sphere's centre."""
    cdef double away
    cdef int i
    if c.shape != CONTACT_SPHERE:
        memcpy(normal, c.normal, 3 * sizeof(double))
        return -dot(c.normal, apart)
    away = sqrt(dot(apart, apart))
    if away > 1e-9:
        for i in range(3):
            normal[i] = apart[i] / away
    return c.radius - away


cdef inline void contact_step(
    Touch *t, const Record *record, const double *offset, const DeviceState *s, double gain, double share, double damping,
    double peak, double period, uint64_t tick, double *force,
) noexcept nogil:
    """Compute the force of one contact (N) and advance its memory; `offset`: m from the contact's point to where it is now, if not NULL.

    `share` of the stiffness and `damping` (N.s/m) are what the device bears; `gain` scales both.
    """
    cdef const Contact *c = &record.contact
    cdef double apart[3]
    cdef double normal[3]
    cdef double depth, push
    cdef bint known = goes_on(t, record, tick), moved
    cdef int i
    memset(normal, 0, sizeof(normal))
    if known:
        memcpy(normal, t.normal, sizeof(normal))
    for i in range(3):
        apart[i] = s.position[i] - c.point[i] - (offset[i] if offset != NULL else 0)
    depth = contact_depth(c, apart, normal)
    moved = offset != NULL or (t.depth > 0 and 100 * dot(normal, t.normal) < TURNED_PERCENT)
    push = touch_step(t, record, s, c.revision, moved, normal, depth, c.stiffness, share, damping, gain, peak, period, tick)
    for i in range(3):
        force[i] = push * normal[i]


cdef inline void contact_forces(
    Arena *a, int index, const DeviceParams *p, const Rendering *r, int count, double mass, double period, double *force, double *gated,
) noexcept nogil:
    """Add the contacts of all sessions, `count` of them, to both sums (N); each is as stiff as its part of the bare `mass` (kg) bears."""
    cdef DeviceSlot *slot = &a.devices[index]
    cdef RecordCell *cell
    cdef Record *record
    cdef uint64_t bits
    cdef double push[3]
    cdef double offset[3]
    cdef double stiffness, damping, least, share, gain
    cdef bint travels
    cdef int word, session, i, left = count
    for word in range(<int>a.session_words):
        bits = slot.live[word]
        while bits != 0 and left > 0:
            session = word * 64 + lowest_contact(bits)
            bits &= bits - 1
            cell = &a.records[session * MAX_DEVICES + index]
            record = <Record *>hd_triple_front(&cell.cell, cell.buffers, sizeof(Record))
            if record.commands >> CONTACT_COMMAND & 1 == 0:
                continue
            left -= 1
            stiffness = record.contact.stiffness
            damping = record.contact.damping
            least = least_damping(r, mass, stiffness)
            if damping < least:
                damping = least
            bound_spring(r, mass, &stiffness, &damping)
            travels = record.navigation.mode != NAVIGATION_OFF
            if travels:
                velocity_to_device(&record.view, cell.navigator.now.offset, offset)
                for i in range(3):
                    offset[i] = -offset[i]
            gain = cell.touch.gain * a.dead_man_gain
            share = stiffness / record.contact.stiffness if record.contact.stiffness > 0 else 1
            contact_step(&cell.touch, record, offset if travels else NULL, &slot.inner.state, gain, share, damping,
                         p.peak_force, period, a.state.ticks, push)
            for i in range(3):
                force[i] += push[i]
                gated[i] += slot.gate[session] * push[i]
