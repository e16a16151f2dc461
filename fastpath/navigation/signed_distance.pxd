"""Signed distances of the navigation shapes: metres, negative inside, with exact unit gradient.

Every primitive is one of seven solids; `validation.pxd` fills them in. Shape space is local space about the bubble's
centre. Where the gradient is undefined (a crease, an axis), it is one of its limits. Distances after I. Quilez.
"""

from libc.math cimport fabs, hypot, sqrt

from fastpath.layout.navigation cimport (
    SOLID_BOX, SOLID_CAPPED_CONE, SOLID_ELLIPSOID, SOLID_PLANE, SOLID_ROUNDED_CONE, SOLID_SPHERE, Shape,
)

cdef enum:
    ELLIPSOID_STEPS = 40


cdef inline double side(double x) noexcept nogil:
    """Return the sign of a number, +1 at 0."""
    return -1 if x < 0 else 1


cdef inline double length_of(const double *v) noexcept nogil:
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


cdef inline bint normalise(double *v) noexcept nogil:
    """Normalise a vector of any length above 0; +y and False for zero."""
    cdef double n = length_of(v), largest = fabs(v[0])
    cdef int i
    if 1e-100 < n < 1e100:
        for i in range(3):
            v[i] /= n
        return True
    # Beyond that squares overflow or vanish.
    for i in range(1, 3):
        if fabs(v[i]) > largest:
            largest = fabs(v[i])
    if not largest > 0:
        v[0] = 0; v[1] = 1; v[2] = 0
        return False
    for i in range(3):
        v[i] /= largest
    n = length_of(v)
    for i in range(3):
        v[i] /= n
    return True


cdef inline double box_distance(const Shape *s, const double *p, double *g) noexcept nogil:
    """Distance from a box with rounded edges. Inside, the nearest face counts; of equally near ones, that of the first axis."""
    cdef double q[3]
    cdef double square = 0
    cdef int i, k = 0
    for i in range(3):
        q[i] = fabs(p[i]) - s.extent[i]
        g[i] = 0
        if q[i] > q[k]:
            k = i
        if q[i] > 0:
            square += q[i] * q[i]
    if square > 0:
        for i in range(3):
            if q[i] > 0:
                g[i] = side(p[i]) * q[i]
        normalise(g)
        return sqrt(square) - s.radius[0]
    g[k] = side(p[k])
    return q[k] - s.radius[0]


cdef inline double ellipsoid_distance(const Shape *s, const double *p, double *g) noexcept nogil:
    """True distance: the nearest point is e_i^2 y_i / (t + e_i^2) for the t with |e_i y_i / (t + e_i^2)| = 1 (D. Eberly).

    Newton's method on 1/|.|, which is concave, converges to t from below; with w_i = y_i / (t + e_i^2) the distance is t |w|.
    """
    cdef double y[3]
    cdef double w[3]
    cdef double least = s.extent[0], over, start, part, norm, slope
    cdef int i, _k
    for i in range(3):
        if s.extent[i] < least:
            least = s.extent[i]
    over = 0
    for i in range(3):
        y[i] = fabs(p[i])
        if s.extent[i] == least and y[i] < 1e-13 * least:
            y[i] = 1e-13 * least
        start = s.extent[i] * y[i] - (s.extent[i] - least) * (s.extent[i] + least)
        if start > over:
            over = start
    for _k in range(ELLIPSOID_STEPS):
        norm = 0
        slope = 0
        for i in range(3):
            w[i] = y[i] / (over + (s.extent[i] - least) * (s.extent[i] + least))
            part = s.extent[i] * w[i]
            norm += part * part
            slope += part * part / (over + (s.extent[i] - least) * (s.extent[i] + least))
        part = sqrt(norm) - 1
        if part < 1e-15:
            break
        over += norm * part / slope
    norm = length_of(w)
    for i in range(3):
        g[i] = side(p[i]) * w[i] / norm
    return (over - least * least) * norm


cdef inline double along_axis(const Shape *s, const double *p, double *radial, double *t) noexcept nogil:
    """Compute the distance from the axis, the unit vector away from it, and the position along it (m)."""
    cdef double apart
    cdef int i, k = 0
    t[0] = 0
    for i in range(3):
        radial[i] = p[i] - s.origin[i]
        t[0] += radial[i] * s.axis[i]
    for i in range(3):
        radial[i] -= t[0] * s.axis[i]
        if fabs(s.axis[i]) < fabs(s.axis[k]):
            k = i
    apart = length_of(radial)
    if apart > 0:
        normalise(radial)
        return apart
    for i in range(3):
        radial[i] = (1 if i == k else 0) - s.axis[k] * s.axis[i]
    normalise(radial)
    return 0


cdef inline double rounded_cone_profile(const Shape *s, double out, double t, double *g) noexcept nogil:
    """Distance from the convex hull of two balls; a ball inside the other does not count. `g`: gradient outwards and along the axis."""
    cdef double r1 = s.radius[0], r2 = s.radius[1]
    cdef double tilt, upright, place, d
    if fabs(r1 - r2) >= s.length:
        place = 0 if r1 >= r2 else s.length
    else:
        tilt = (r1 - r2) / s.length
        upright = sqrt((1 - tilt) * (1 + tilt))
        place = upright * t - tilt * out
        if 0 < place < s.length * upright:
            g[0] = upright; g[1] = tilt
            return upright * out + tilt * t - r1
        place = 0 if place <= 0 else s.length
    d = hypot(out, t - place)
    g[0] = 1; g[1] = 0
    if d > 0:
        g[0] = out / d; g[1] = (t - place) / d
    return d - (r1 if place == 0 else r2)


cdef inline double capped_cone_profile(const Shape *s, double out, double t, double *g) noexcept nogil:
    """Distance from a truncated cone: its nearest face or rim. `g`: gradient outwards and along the axis."""
    cdef double r1 = s.radius[0], r2 = s.radius[1], wider = r2 - r1, slant = hypot(s.length, r2 - r1)
    cdef double flank = ((out - r1) * s.length - t * wider) / slant
    cdef double place = ((out - r1) * wider + t * s.length) / (slant * slant)
    cdef double over = t - s.length, first, second, d
    if flank <= 0 and over <= 0 and t >= 0:
        if flank >= over and flank >= -t:
            g[0] = s.length / slant; g[1] = -wider / slant
            return flank
        g[0] = 0
        g[1] = 1 if over >= -t else -1
        return over if over >= -t else -t
    if t < 0 and out <= r1:
        g[0] = 0; g[1] = -1
        return -t
    if over > 0 and out <= r2:
        g[0] = 0; g[1] = 1
        return over
    if flank > 0 and 0 <= place <= 1:
        g[0] = s.length / slant; g[1] = -wider / slant
        return flank
    first = hypot(out - r1, t)
    second = hypot(out - r2, over)
    d = first if first < second else second
    g[0] = 1; g[1] = 0
    if d > 0:
        g[0] = (out - r1 if first < second else out - r2) / d
        g[1] = (t if first < second else over) / d
    return d


cdef inline double torus_profile(const Shape *s, double out, double t, double *g) noexcept nogil:
    """Distance from a torus: ring radius[0] about the axis, tube radius[1]. `g`: gradient outwards and along the axis."""
    cdef double d = hypot(out - s.radius[0], t)
    g[0] = 1; g[1] = 0
    if d > 0:
        g[0] = (out - s.radius[0]) / d; g[1] = t / d
    return d - s.radius[1]


cdef inline double sdf(const Shape *s, const double *p, double *g) noexcept nogil:
    """Return the distance of a point from the surface (m) and compute the unit gradient `g`."""
    cdef double radial[3]
    cdef double profile[2]
    cdef double t, out, d = 0
    cdef int i
    if s.solid == SOLID_SPHERE:
        for i in range(3):
            g[i] = p[i]
        d = length_of(p) - s.radius[0]
        normalise(g)
        return d
    if s.solid == SOLID_PLANE:
        for i in range(3):
            g[i] = s.axis[i]
            d += p[i] * s.axis[i]
        return d + s.radius[0]
    if s.solid == SOLID_BOX:
        return box_distance(s, p, g)
    if s.solid == SOLID_ELLIPSOID:
        return ellipsoid_distance(s, p, g)
    out = along_axis(s, p, radial, &t)
    if s.solid == SOLID_ROUNDED_CONE:
        d = rounded_cone_profile(s, out, t, profile)
    elif s.solid == SOLID_CAPPED_CONE:
        d = capped_cone_profile(s, out, t, profile)
    else:
        d = torus_profile(s, out, t, profile)
    for i in range(3):
        g[i] = profile[0] * radial[i] + profile[1] * s.axis[i]
    normalise(g)
    return d
