"""Proxy of a surface: the point that stays on its free side where the cursor cannot (a constraint-based proxy, or god object).

The proxy is where a cursor would be that no surface lets through; it goes to the point nearest to the cursor that it can reach, by
its own way: never through a plate however thin, and around an edge only with the cursor. A move that would take it away from the
cursor is left out, so whatever it does takes energy out (C. Zilles and J. K. Salisbury 1995, with distances as constraints). Every
solid is convex: inside of it, and on the free side of a plane, the nearest point is the only one that counts.
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
    # a step along the tangent that leaves the surface by more than 1 m / this has left it; a way that comes so near has met it
    SHORTEST_STEP = 100000
    SURFACES_PER_M = 1000000000


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
    """Move a proxy straight towards the cursor, outside of a convex solid; True when it came there, at `far` from the surface.

    Else it is on the surface, with its normal. The distance along the way is convex: where it grows it goes on growing, and a step to
    where its tangent is 0 never passes the surface.
    """
    cdef double way[3]
    cdef double q[3]
    cdef double length, at = 0, away, nearer
    cdef int i, _k
    for i in range(3):
        way[i] = x[i] - p[i]
        q[i] = p[i]
    length = sqrt(product(way, way))
    far[0] = distance(f, x, normal)
    away = 0
    if far[0] < length:
        for _k in range(TRACE_STEPS):
            away = distance(f, q, normal)
            nearer = -product(way, normal)
            if nearer <= 0:
                break
            if away * SURFACES_PER_M <= 1:
                for i in range(3):
                    p[i] = q[i] - away * normal[i]
                return False
            at += away / nearer
            if at >= 1:
                break
            for i in range(3):
                q[i] = p[i] + at * way[i]
        else:
            # Undecided: as close as that it is no matter, unless the cursor is inside.
            if far[0] < 0:
                for i in range(3):
                    p[i] = q[i] - away * normal[i]
                return False
    for i in range(3):
        p[i] = x[i]
    return True


cdef inline bint nearest(const Field *f, double *p, const double *x, double *normal, double *far) noexcept nogil:
    """Move a proxy whose free side is convex to the place of it that is nearest to the cursor, which has no other; True on the surface."""
    cdef int i
    far[0] = distance(f, x, normal)
    for i in range(3):
        p[i] = x[i] - (far[0] * normal[i] if far[0] < 0 else 0)
    return far[0] < 0


cdef inline bint follows(const Field *f, double *p, bint touching, const double *x, double *normal, double *far) noexcept nogil:
    """Move a proxy to the point nearest to the cursor that it reaches in this tick; True when it is on the surface, else `far` from it (m)."""
    cdef double apart[3]
    cdef double q[3]
    cdef double at_q[3]
    cdef double along, over, way, before, after
    cdef int i, _k
    if f.inside or f.shape.solid == SOLID_PLANE:
        return nearest(f, p, x, normal, far)
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
