"""Copy a field of a scene into its C struct, in application space, and convert it to the device frame.

Positions and lengths follow the session's transforms; forces, stiffness and damping are those at the device, so only their
directions turn. None but `fill_field` knows Python.
"""

from libc.math cimport fabs, isfinite, sqrt
from libc.string cimport memset

from fastpath.layout.arena cimport View
from fastpath.layout.navigation cimport SOLID_BOX, SOLID_CAPPED_CONE, SOLID_PLANE, SOLID_ROUNDED_CONE, SOLID_SPHERE
from fastpath.layout.scene cimport FIELD_CONSTANT, FIELD_DAMPER, FIELD_SPRING, FIELD_SURFACE, Field
from fastpath.space.spatial cimport force_to_device, position_to_device, rotate
from fastpath.space.surface cimport (
    FARTHEST, SURFACE_FROZEN, SURFACE_NOT_ROUND, SURFACE_PLACED, SURFACE_TOO_FAR, SurfaceFault, is_uniform, normal_to_device,
)
from fastpath.space.validation cimport fill_vector


cdef inline double number_in(dict given, str name) except? -1:
    """Return a finite number by name."""
    cdef double value = given[name]
    if not isfinite(value):
        raise ValueError(f"{name} must be a finite number")
    return value


cdef inline int fill_segment(Field *f, dict given) except -1:
    """Fill in a shape that begins at `start` and ends at `end`."""
    cdef double end[3]
    cdef double length = 0
    cdef int i
    fill_vector(f.place, given["start"], 3)
    fill_vector(end, given["end"], 3)
    for i in range(3):
        f.shape.axis[i] = end[i] - f.place[i]
        length += f.shape.axis[i] * f.shape.axis[i]
    f.shape.length = sqrt(length)
    if not f.shape.length * 1e6 >= 1:
        raise ValueError("start and end must lie apart")
    for i in range(3):
        f.shape.axis[i] /= f.shape.length
    f.shape.radius[0] = number_in(given, "radius")
    f.shape.radius[1] = f.shape.radius[0]
    return 0


cdef inline int fill_box(Field *f, dict given) except -1:
    """Fill in a box about `centre`, turned by `rotation`."""
    cdef double turn[4]
    cdef double unit[3]
    cdef double norm = 0
    cdef int i, k
    f.shape.solid = SOLID_BOX
    fill_vector(f.place, given["centre"], 3)
    fill_vector(f.shape.extent, given["size"], 3)
    fill_vector(turn, given["rotation"], 4)
    for i in range(4):
        norm += turn[i] * turn[i]
    if not norm > 1e-12:
        raise ValueError("the rotation must not be zero")
    for i in range(4):
        turn[i] /= sqrt(norm)
    for i in range(3):
        f.shape.extent[i] *= 0.5
        for k in range(3):
            unit[k] = 1 if k == i else 0
        rotate(turn, unit, &f.matrix[3 * i])
    f.turned = 1
    return 0


cdef inline int fill_surface(Field *f, str kind, dict given) except -1:
    """Fill in shape, stiffness and friction of a surface."""
    cdef double length
    cdef int i
    f.kind = FIELD_SURFACE
    if kind == "plane":
        f.shape.solid = SOLID_PLANE
        fill_vector(f.place, given["point"], 3)
        fill_vector(f.shape.axis, given["normal"], 3)
        length = max(fabs(f.shape.axis[0]), fabs(f.shape.axis[1]), fabs(f.shape.axis[2]))
        if not length > 0:
            raise ValueError("the normal is zero: send the direction from the surface to the free side")
        for i in range(3):
            f.shape.axis[i] /= length
    elif kind == "sphere":
        f.shape.solid = SOLID_SPHERE
        fill_vector(f.place, given["centre"], 3)
        f.shape.radius[0] = number_in(given, "radius")
    elif kind == "box":
        fill_box(f, given)
    elif kind == "capsule" or kind == "cylinder":
        f.shape.solid = SOLID_ROUNDED_CONE if kind == "capsule" else SOLID_CAPPED_CONE
        fill_segment(f, given)
    else:
        raise ValueError(f"{kind} is no field")
    f.inside = bool(given.get("inside", False))
    f.stiffness = number_in(given, "stiffness")
    f.damping = number_in(given, "damping")
    f.friction_static, f.friction_dynamic = given["friction"]
    return 0


cdef inline int fill_field(Field *out, str kind, dict given) except -1:
    """Copy a field in, in application space; ValueError for values that form none, KeyError for a missing one."""
    cdef Field f
    cdef double size = 0, turn = 0
    cdef int i, k
    memset(&f, 0, sizeof(Field))
    if kind == "constant":
        f.kind = FIELD_CONSTANT
        fill_vector(f.place, given["force"], 3)
    elif kind == "spring" or kind == "attract":
        f.kind = FIELD_SPRING
        fill_vector(f.place, given["centre"], 3)
        for i in range(3):
            f.matrix[4 * i] = "xyz"[i] in given["axes"]
        f.turned = len(given["axes"]) < 3
        f.stiffness = number_in(given, "stiffness")
        f.damping = number_in(given, "damping")
        if kind == "spring":
            f.dead_zone = number_in(given, "dead_zone")
        else:
            f.reach = number_in(given, "range")
        f.largest = number_in(given, "largest")
    elif kind == "damper":
        f.kind = FIELD_DAMPER
        f.turned = 1
        if "matrix" in given:
            fill_vector(f.matrix, given["matrix"], 9)
        else:
            damping = given["damping"]
            for i in range(3):
                f.matrix[4 * i] = damping if isinstance(damping, (int, float)) else damping[i]
        for i in range(3):
            for k in range(3):
                size += 0.25 * (f.matrix[3 * i + k] + f.matrix[3 * k + i]) ** 2
                turn += 0.125 * (f.matrix[3 * i + k] - f.matrix[3 * k + i]) ** 2
        f.damping = sqrt(size)
        f.curl = sqrt(turn)
        if not (isfinite(f.damping) and isfinite(f.curl)):
            raise ValueError("the damping must be finite numbers")
    else:
        fill_surface(&f, kind, given)
    out[0] = f
    return 0


cdef inline void turn_matrix(const View *view, double *matrix) noexcept nogil:
    """Turn a matrix that maps vectors of application space to one that maps those of the device frame: T A T'."""
    cdef double turn[3][3]
    cdef double half[9]
    cdef double unit[3]
    cdef int i, k, l
    for i in range(3):
        for k in range(3):
            unit[k] = 1 if k == i else 0
        # turn[i]: the device's direction of an axis of application space
        force_to_device(view, unit, turn[i])
    for i in range(3):
        for k in range(3):
            half[3 * i + k] = 0
            for l in range(3):
                half[3 * i + k] += turn[l][i] * matrix[3 * l + k]
    for i in range(3):
        for k in range(3):
            matrix[3 * i + k] = 0
            for l in range(3):
                matrix[3 * i + k] += half[3 * i + l] * turn[l][k]


cdef inline SurfaceFault place_field(const View *view, const Field *asked, Field *out) noexcept nogil:
    """Convert a field to the device frame. On a fault `out` is unchanged."""
    cdef Field f = asked[0]
    cdef double scale = view.workspace.s[0] * view.mount.s[0] * view.clutch, length = 0
    cdef int i
    if f.kind == FIELD_CONSTANT:
        force_to_device(view, asked.place, f.place)
        out[0] = f
        return SURFACE_PLACED
    if f.kind == FIELD_DAMPER:
        turn_matrix(view, f.matrix)
        out[0] = f
        return SURFACE_PLACED
    if view.clutch <= 0:
        return SURFACE_FROZEN
    if f.shape.solid != SOLID_PLANE and not (is_uniform(&view.workspace) and is_uniform(&view.mount)):
        return SURFACE_NOT_ROUND
    position_to_device(view, asked.place, f.place)
    if f.kind == FIELD_SPRING:
        if f.turned:
            turn_matrix(view, f.matrix)
        f.dead_zone /= scale
        f.reach /= scale
        length = max(f.dead_zone, f.reach)
    elif f.shape.solid == SOLID_PLANE:
        normal_to_device(view, asked.shape.axis, f.shape.axis)
        for i in range(3):
            length += f.shape.axis[i] * f.shape.axis[i]
        length = sqrt(length)
        if not (isfinite(length) and length > 0):
            return SURFACE_TOO_FAR
        for i in range(3):
            f.shape.axis[i] /= length
        length = 0
    else:
        f.shape.length /= scale
        f.shape.radius[0] /= scale
        f.shape.radius[1] /= scale
        for i in range(3):
            f.shape.extent[i] /= scale
            length = max(length, f.shape.extent[i])
        length = max(length, f.shape.length, f.shape.radius[0])
        if f.shape.solid == SOLID_BOX:
            for i in range(3):
                force_to_device(view, &asked.matrix[3 * i], &f.matrix[3 * i])
        else:
            force_to_device(view, asked.shape.axis, f.shape.axis)
    for i in range(3):
        if not fabs(f.place[i]) <= FARTHEST:
            return SURFACE_TOO_FAR
    if not length <= FARTHEST:
        return SURFACE_TOO_FAR
    out[0] = f
    return SURFACE_PLACED
