"""Convert the surface of a contact from application space to the device frame."""

from libc.math cimport fabs, isfinite, sqrt

from fastpath.layout.arena cimport Transform, View
from fastpath.layout.contact cimport CONTACT_SPHERE, Contact
from fastpath.space.spatial cimport basis_undo, position_to_device, rotate_back

cdef enum SurfaceFault:
    SURFACE_PLACED = 0
    SURFACE_FROZEN = 1
    SURFACE_NOT_ROUND = 2
    SURFACE_TOO_FAR = 3

cdef enum:
    # scales that differ by less than 1 / this are equal
    SAME_SCALE = 1000000000
    # m from the device's origin, above which a surface is no longer computed exactly
    FARTHEST = 1000000000


cdef inline bint is_uniform(const Transform *m) noexcept nogil:
    """Return whether a transform scales all axes alike."""
    cdef double most = m.s[0] / SAME_SCALE
    return fabs(m.s[1] - m.s[0]) <= most and fabs(m.s[2] - m.s[0]) <= most


cdef inline void normal_to_device(const View *view, const double *n, double *out) noexcept nogil:
    """Convert the normal of a plane: by the transpose of the map from device to application, any length."""
    cdef int i
    rotate_back(view.workspace.q, n, out)
    for i in range(3):
        out[i] *= view.workspace.s[i]
    rotate_back(view.mount.q, out, out)
    for i in range(3):
        out[i] *= view.mount.s[i]
    basis_undo(&view.basis, out, out)


cdef inline SurfaceFault place_surface(const View *view, const Contact *asked, Contact *out) noexcept nogil:
    """Convert a contact whose surface is given in application space; stiffness and damping stay. On a fault `out` is unchanged."""
    cdef Contact placed = asked[0]
    cdef double length = 0
    cdef int i
    if view.clutch <= 0:
        return SURFACE_FROZEN
    position_to_device(view, asked.point, placed.point)
    if asked.shape == CONTACT_SPHERE:
        if not (is_uniform(&view.workspace) and is_uniform(&view.mount)):
            return SURFACE_NOT_ROUND
        placed.radius = asked.radius / (view.workspace.s[0] * view.mount.s[0] * view.clutch)
    else:
        normal_to_device(view, asked.normal, placed.normal)
        for i in range(3):
            length += placed.normal[i] * placed.normal[i]
        length = sqrt(length)
        if not (isfinite(length) and length > 0):
            return SURFACE_TOO_FAR
        for i in range(3):
            placed.normal[i] /= length
    for i in range(3):
        if not fabs(placed.point[i]) <= FARTHEST:
            return SURFACE_TOO_FAR
    if not placed.radius <= FARTHEST:
        return SURFACE_TOO_FAR
    out[0] = placed
    return SURFACE_PLACED
