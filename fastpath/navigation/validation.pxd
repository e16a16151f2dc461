"""Validate a bubble's values and copy them into its C struct: every primitive becomes one of the solids of signed_distance.pxd.

Vertical is +y of shape space; a vertical capsule stands on the origin, other shapes without end points are centred on it.
"""

from libc.math cimport isfinite, sqrt
from libc.string cimport memset

from fastpath.layout.navigation cimport (
    NAVIGATION_BUBBLE, SOLID_BOX, SOLID_CAPPED_CONE, SOLID_ELLIPSOID, SOLID_PLANE, SOLID_ROUNDED_CONE, SOLID_SPHERE,
    SOLID_TORUS, Navigation, Shape,
)

cdef enum:
    # an axis or a direction shorter than 1 m / this has no direction
    SHORTEST_PART = 1000000


cdef inline double number_of(dict given, str name) except? -1:
    """Return a finite parameter by name."""
    cdef double value = given[name]
    if not isfinite(value):
        raise ValueError(f"{name} must be a finite number")
    return value


cdef inline double size_of(dict given, str name) except? -1:
    """Return a finite parameter of 0 or more by name."""
    cdef double value = number_of(given, name)
    if value < 0:
        raise ValueError(f"{name} must not be negative")
    return value


cdef inline int vector_of(dict given, str name, double *out) except -1:
    """Copy a parameter of three finite numbers by name."""
    cdef int i
    if len(given[name]) != 3:
        raise ValueError(f"{name} needs three numbers")
    for i in range(3):
        out[i] = given[name][i]
        if not isfinite(out[i]):
            raise ValueError(f"{name} must be finite numbers")
    return 0


cdef inline int direction_of(double *v, str what) except -1:
    """Normalise a vector in place; raise ValueError when it is too short."""
    cdef double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if not length * SHORTEST_PART >= 1:
        raise ValueError(what)
    v[0] /= length; v[1] /= length; v[2] /= length
    return 0


cdef inline int fill_axis(Shape *s, dict given) except -1:
    """Fill in the axis from `a` to `b`."""
    cdef double end[3]
    cdef int i
    vector_of(given, "a", s.origin)
    vector_of(given, "b", end)
    for i in range(3):
        s.axis[i] = end[i] - s.origin[i]
    s.length = sqrt(s.axis[0] * s.axis[0] + s.axis[1] * s.axis[1] + s.axis[2] * s.axis[2])
    return direction_of(s.axis, "a and b must lie apart")


cdef inline int fill_extent(Shape *s, dict given, str name) except -1:
    """Copy half-extents or semi-axes, all above 0."""
    vector_of(given, name, s.extent)
    if not (s.extent[0] > 0 and s.extent[1] > 0 and s.extent[2] > 0):
        raise ValueError(f"{name} must be three numbers above 0")
    return 0


cdef inline int fill_shape(Shape *out, str primitive, dict given) except -1:
    """Copy a primitive in; raise ValueError for parameters that form no shape, KeyError for a missing one."""
    cdef Shape s
    cdef int i
    memset(&s, 0, sizeof(Shape))
    s.axis[1] = 1
    if primitive == "sphere":
        s.solid = SOLID_SPHERE
        s.radius[0] = size_of(given, "r")
    elif primitive == "plane":
        s.solid = SOLID_PLANE
        vector_of(given, "n", s.axis)
        direction_of(s.axis, "n must not be zero")
        s.radius[0] = number_of(given, "h")
    elif primitive == "ellipsoid":
        s.solid = SOLID_ELLIPSOID
        fill_extent(&s, given, "a")
    elif primitive in ("box", "rounded_box"):
        s.solid = SOLID_BOX
        fill_extent(&s, given, "b")
        s.radius[0] = size_of(given, "r") if primitive == "rounded_box" else 0
        for i in range(3):
            s.extent[i] -= s.radius[0]
            if s.extent[i] < 0:
                raise ValueError("r must not be larger than the smallest of b")
    elif primitive == "torus":
        s.solid = SOLID_TORUS
        s.radius[0] = size_of(given, "r1"); s.radius[1] = size_of(given, "r2")
    elif primitive in ("capsule", "capsule_vertical", "rounded_cone"):
        s.solid = SOLID_ROUNDED_CONE
    elif primitive in ("capped_cylinder", "capped_cylinder_vertical", "capped_cone"):
        s.solid = SOLID_CAPPED_CONE
    else:
        raise ValueError(f"{primitive} is no primitive")
    if s.solid == SOLID_ROUNDED_CONE or s.solid == SOLID_CAPPED_CONE:
        if primitive.endswith("_vertical"):
            s.length = size_of(given, "h")
            if primitive == "capped_cylinder_vertical":
                s.origin[1] = -s.length
                s.length *= 2
            if not s.length * SHORTEST_PART >= 1:
                raise ValueError("h must be above 0")
        else:
            fill_axis(&s, given)
        if primitive.endswith("_cone"):
            s.radius[0] = size_of(given, "r1"); s.radius[1] = size_of(given, "r2")
        else:
            s.radius[0] = size_of(given, "r"); s.radius[1] = s.radius[0]
        if s.solid == SOLID_CAPPED_CONE and s.radius[0] == 0 and s.radius[1] == 0:
            raise ValueError("one end needs a radius above 0")
    out[0] = s
    return 0


cdef inline double part_of(object bubble, str name) except? -1:
    """Return a finite attribute of 0 or more."""
    cdef double value = getattr(bubble, name)
    if not (isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number of 0 or more")
    return value


cdef inline int fill_navigation(Navigation *out, object bubble) except -1:
    """Copy a Bubble in, without the revision; raise ValueError when it is invalid."""
    cdef Navigation b
    cdef int i
    memset(&b, 0, sizeof(Navigation))
    b.mode = NAVIGATION_BUBBLE
    b.revision = out.revision
    fill_shape(&b.shape, bubble.shape.primitive, dict(bubble.shape.parameters))
    b.drifts = bubble.drifts
    b.placed = bubble.position is not None
    if b.placed:
        for i in range(3):
            b.centre[i] = bubble.position[i]
            if not isfinite(b.centre[i]):
                raise ValueError("the position of a bubble must be finite numbers")
    b.drift_gain = part_of(bubble, "drift_gain")
    b.drift_ratio = part_of(bubble, "drift_max_ratio")
    b.width = part_of(bubble, "zone_width")
    b.speed = part_of(bubble, "max_speed")
    b.exponent = part_of(bubble, "exponent")
    b.smoothing = part_of(bubble, "smoothing")
    b.stiffness = part_of(bubble, "stiffness")
    b.wall_stiffness = part_of(bubble, "wall_stiffness")
    b.damping = part_of(bubble, "damping")
    b.dead_damping = part_of(bubble, "dead_zone_damping")
    b.collides = bool(bubble.collides)
    b.threshold = part_of(bubble, "threshold")
    b.release = part_of(bubble, "release")
    b.full_stop = part_of(bubble, "full_stop")
    b.inflate = part_of(bubble, "extra_inflate")
    b.hysteresis = part_of(bubble, "hysteresis")
    if not (b.width > 0 and b.full_stop > 0):
        raise ValueError("zone_width and full_stop must be above 0")
    out[0] = b
    return 0
