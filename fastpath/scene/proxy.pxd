"""Proxy of a surface: the point that stays on its free side where the cursor cannot (a constraint-based proxy, or god object).

The proxy is where a cursor would be that no surface lets through; it goes to the point nearest to the cursor that it can reach, by
its own way: never through a plate however thin, and around an edge only with the cursor. A move that would take it away from the
cursor is left out, so whatever it does takes energy out (C. Zilles and J. K. Salisbury 1995, with distances as constraints).
Device frame, m. None allocates, locks, logs or knows Python.
"""

from libc.math cimport sqrt

from fastpath.layout.navigation cimport SOLID_BOX, SOLID_PLANE
from fastpath.layout.scene cimport Field
from fastpath.navigation.signed_distance cimport sdf

cdef enum:
    # moves of a proxy in one tick, and steps along one of them
    PROXY_MOVES = 3
    TRACE_STEPS = 12
    # shortest step along a way: 1 m / this
    SHORTEST_STEP = 100000


cdef inline double product(const double *a, const double *b) noexcept nogil:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline double distance(const Field *f, const double *x, double *normal) noexcept nogil:
    """Return how far a place is from a field's surface, positive on its free side, and its unit normal towards that side."""
    cdef double apart[3]
    cdef double local[3]
    cdef double d
    cdef int i
    for i in range(3):
        apart[i] = x[i] - f.place[i]
    if f.shape.solid == SOLID_PLANE:
        for i in range(3):
            normal[i] = f.shape.axis[i]
        return product(apart, f.shape.axis)
    if f.shape.solid == SOLID_BOX and f.turned:
        for i in range(3):
            local[i] = product(&f.matrix[3 * i], apart)
        d = sdf(&f.shape, local, apart)
        for i in range(3):
            normal[i] = f.matrix[i] * apart[0] + f.matrix[3 + i] * apart[1] + f.matrix[6 + i] * apart[2]
    else:
        d = sdf(&f.shape, apart, normal)
    if f.inside:
        for i in range(3):
            normal[i] = -normal[i]
        return -d
    return d


cdef inline bint goes_free(const Field *f, double *p, const double *x, double *normal, double *far) noexcept nogil:
    """Move a proxy straight towards the cursor; True when it came there, at `far` from the surface. Else it is on the surface, with its normal."""
    cdef double way[3]
    cdef double q[3]
    cdef double length, at = 0, step = 0
    cdef int i, _k
    for i in range(3):
        way[i] = x[i] - p[i]
    length = sqrt(product(way, way))
    # The ball around the cursor that no surface enters.
    far[0] = distance(f, x, normal)
    if far[0] >= length:
        for i in range(3):
            p[i] = x[i]
        return True
    for _k in range(TRACE_STEPS):
        at += step if step * SHORTEST_STEP > 1 else 1.0 / SHORTEST_STEP
        if at > length:
            at = length
        for i in range(3):
            q[i] = x[i] if at >= length else p[i] + way[i] * (at / length)
        step = distance(f, q, normal)
        if step < 0:
            break
        if at >= length:
            for i in range(3):
                p[i] = x[i]
            far[0] = step
            return True
    for i in range(3):
        p[i] = q[i] - step * normal[i]
    return False


cdef inline bint follows(const Field *f, double *p, bint touching, const double *x, double *normal, double *far) noexcept nogil:
    """Move a proxy to the point nearest to the cursor that it reaches in this tick; True when it is on the surface, else `far` from it (m)."""
    cdef double apart[3]
    cdef double q[3]
    cdef double at_q[3]
    cdef double along, over, way, before, after
    cdef int i, _k
    if not touching:
        if goes_free(f, p, x, normal, far):
            return False
    else:
        distance(f, p, normal)
    for _k in range(PROXY_MOVES):
        for i in range(3):
            apart[i] = x[i] - p[i]
        along = product(apart, normal)
        if along >= 0:
            if goes_free(f, p, x, normal, far):
                return False
            continue
        before = product(apart, apart)
        way = 0
        for i in range(3):
            q[i] = apart[i] - along * normal[i]
            way += q[i] * q[i]
            q[i] += p[i]
        if way < 1e-14:
            break
        over = distance(f, q, at_q)
        if over * SHORTEST_STEP > 1:
            if goes_free(f, q, x, at_q, far):
                for i in range(3):
                    p[i] = x[i]
                return False
        else:
            for i in range(3):
                q[i] -= over * at_q[i]
        after = 0
        for i in range(3):
            after += (x[i] - q[i]) * (x[i] - q[i])
        if after > before:
            break
        for i in range(3):
            p[i] = q[i]
            normal[i] = at_q[i]
    return True
