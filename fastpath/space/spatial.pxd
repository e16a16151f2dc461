"""Coordinate transforms device -> local -> session -> application and back; the one implementation for loop, frames, HTTP and tests.

p_app = W.M.B.C.p with C the clutch, M, W = T(t).R(q).S(s) and B a signed permutation. Quaternions are Hamilton, w x y z, R(q) local -> parent.
Every function may be called with `out` equal to an input.
"""

from libc.math cimport sqrt

from fastpath.layout.arena cimport Basis, Transform, View


cdef inline void basis_apply(const Basis *b, const double *v, double *out) noexcept nogil:
    """v' = B v."""
    cdef double x = b.sign[0] * v[b.axis[0]], y = b.sign[1] * v[b.axis[1]], z = b.sign[2] * v[b.axis[2]]
    out[0] = x; out[1] = y; out[2] = z


cdef inline void basis_undo(const Basis *b, const double *v, double *out) noexcept nogil:
    """v = B' v'."""
    cdef double u[3]
    cdef int i
    for i in range(3):
        u[b.axis[i]] = b.sign[i] * v[i]
    out[0] = u[0]; out[1] = u[1]; out[2] = u[2]


cdef inline void basis_rotation(const Basis *b, const double *q, double *out) noexcept nogil:
    """q' = (w, det(B) B (x,y,z)): the rotation B R B'."""
    cdef double w = q[0]
    basis_apply(b, q + 1, out + 1)
    out[0] = w
    out[1] *= b.determinant; out[2] *= b.determinant; out[3] *= b.determinant


cdef inline void basis_rotation_back(const Basis *b, const double *q, double *out) noexcept nogil:
    """q = (w, det(B) B' (x,y,z)): the rotation B' R B."""
    cdef double w = q[0]
    basis_undo(b, q + 1, out + 1)
    out[0] = w
    out[1] *= b.determinant; out[2] *= b.determinant; out[3] *= b.determinant


cdef inline void basis_axial(const Basis *b, const double *v, double *out) noexcept nogil:
    """Axial vector (angular velocity, torque): w' = det(B) B w."""
    basis_apply(b, v, out)
    out[0] *= b.determinant; out[1] *= b.determinant; out[2] *= b.determinant


cdef inline void rotate(const double *q, const double *v, double *out) noexcept nogil:
    """R(q) v for a unit quaternion: v + 2w(u x v) + 2u x (u x v); never -0 for the identity."""
    cdef double a, b, c, x, y, z
    if q[1] == 0 and q[2] == 0 and q[3] == 0:
        out[0] = v[0] + 0.0; out[1] = v[1] + 0.0; out[2] = v[2] + 0.0
        return
    a = 2 * (q[2] * v[2] - q[3] * v[1])
    b = 2 * (q[3] * v[0] - q[1] * v[2])
    c = 2 * (q[1] * v[1] - q[2] * v[0])
    x = v[0] + q[0] * a + q[2] * c - q[3] * b
    y = v[1] + q[0] * b + q[3] * a - q[1] * c
    z = v[2] + q[0] * c + q[1] * b - q[2] * a
    out[0] = x; out[1] = y; out[2] = z


cdef inline void rotate_back(const double *q, const double *v, double *out) noexcept nogil:
    """R(q)' v."""
    cdef double conjugate[4]
    conjugate[0] = q[0]; conjugate[1] = -q[1]; conjugate[2] = -q[2]; conjugate[3] = -q[3]
    rotate(conjugate, v, out)


cdef inline void compose(const double *p, const double *q, double *out) noexcept nogil:
    """Hamilton product p q: first q, then p."""
    cdef double w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3]
    cdef double x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2]
    cdef double y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1]
    cdef double z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]
    out[0] = w; out[1] = x; out[2] = y; out[3] = z


cdef inline void compose_back(const double *p, const double *q, double *out) noexcept nogil:
    """p* q: undo a composition with p."""
    cdef double conjugate[4]
    conjugate[0] = p[0]; conjugate[1] = -p[1]; conjugate[2] = -p[2]; conjugate[3] = -p[3]
    compose(conjugate, q, out)


cdef inline void unit(double *q) noexcept nogil:
    """Normalise a quaternion in place; a zero one becomes the identity."""
    cdef double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if n > 0:
        q[0] /= n; q[1] /= n; q[2] /= n; q[3] /= n
    else:
        q[0] = 1; q[1] = 0; q[2] = 0; q[3] = 0


cdef inline void transform_identity(Transform *m) noexcept nogil:
    """Set the identity: position 0, rotation identity, scale 1."""
    cdef int i
    for i in range(3):
        m.t[i] = 0; m.s[i] = 1; m.q[i + 1] = 0
    m.q[0] = 1


cdef inline bint transform_is_identity(const Transform *m) noexcept nogil:
    return (m.t[0] == 0 and m.t[1] == 0 and m.t[2] == 0 and m.s[0] == 1 and m.s[1] == 1 and m.s[2] == 1
            and m.q[0] == 1 and m.q[1] == 0 and m.q[2] == 0 and m.q[3] == 0)


cdef inline void transform_point(const Transform *m, const double *p, double *out) noexcept nogil:
    """t + R (s * p)."""
    cdef double v[3]
    v[0] = m.s[0] * p[0]; v[1] = m.s[1] * p[1]; v[2] = m.s[2] * p[2]
    rotate(m.q, v, v)
    out[0] = m.t[0] + v[0]; out[1] = m.t[1] + v[1]; out[2] = m.t[2] + v[2]


cdef inline void transform_point_back(const Transform *m, const double *p, double *out) noexcept nogil:
    """(R' (p - t)) / s."""
    cdef double v[3]
    v[0] = p[0] - m.t[0]; v[1] = p[1] - m.t[1]; v[2] = p[2] - m.t[2]
    rotate_back(m.q, v, v)
    out[0] = v[0] / m.s[0]; out[1] = v[1] / m.s[1]; out[2] = v[2] / m.s[2]


cdef inline void transform_velocity(const Transform *m, const double *v, double *out) noexcept nogil:
    """R (s * v): the linear part only."""
    cdef double u[3]
    u[0] = m.s[0] * v[0]; u[1] = m.s[1] * v[1]; u[2] = m.s[2] * v[2]
    rotate(m.q, u, out)


cdef inline void transform_velocity_back(const Transform *m, const double *v, double *out) noexcept nogil:
    """(R' v) / s: the linear part only."""
    rotate_back(m.q, v, out)
    out[0] /= m.s[0]; out[1] /= m.s[1]; out[2] /= m.s[2]


# ---------------------------------------------------------------- a session's view

cdef inline void view_identity(View *view) noexcept nogil:
    cdef int i
    for i in range(3):
        view.basis.axis[i] = i
        view.basis.sign[i] = 1
    view.basis.determinant = 1
    view.basis.spare = 0
    view.clutch = 1
    for i in range(3):
        view.anchor[i] = 0
    transform_identity(&view.mount)
    transform_identity(&view.workspace)


cdef inline void position_to_application(const View *view, const double *p, double *out) noexcept nogil:
    """Convert a position (m) from device frame to application space."""
    cdef double e[3]
    cdef int i
    if view.clutch != 1:
        for i in range(3):
            e[i] = view.anchor[i] + view.clutch * (p[i] - view.anchor[i])
        p = e
    basis_apply(&view.basis, p, out)
    transform_point(&view.mount, out, out)
    transform_point(&view.workspace, out, out)


cdef inline void position_to_device(const View *view, const double *p, double *out) noexcept nogil:
    """Convert a position (m) from application space to device frame; with a frozen clutch the result is its anchor."""
    cdef int i
    transform_point_back(&view.workspace, p, out)
    transform_point_back(&view.mount, out, out)
    basis_undo(&view.basis, out, out)
    if view.clutch != 1:
        for i in range(3):
            out[i] = view.anchor[i] + ((out[i] - view.anchor[i]) / view.clutch if view.clutch > 0 else 0)


cdef inline void shift_to_application(const View *view, const double *d, double *out) noexcept nogil:
    """Convert a difference of two positions (m) from device frame to application space, without the clutch."""
    basis_apply(&view.basis, d, out)
    transform_velocity(&view.mount, out, out)
    transform_velocity(&view.workspace, out, out)


cdef inline void clutch_offset(const View *view, const double *p, double *out) noexcept nogil:
    """Compute the offset of a clutched position from a released one: (ratio - 1)(p - anchor), m, application space."""
    cdef double d[3]
    cdef int i
    for i in range(3):
        d[i] = (view.clutch - 1) * (p[i] - view.anchor[i])
    shift_to_application(view, d, out)


cdef inline void velocity_to_application(const View *view, const double *v, double *out) noexcept nogil:
    """Convert a velocity (m/s) from device frame to application space; scaled."""
    cdef int i
    shift_to_application(view, v, out)
    if view.clutch != 1:
        for i in range(3):
            out[i] *= view.clutch


cdef inline void velocity_to_device(const View *view, const double *v, double *out) noexcept nogil:
    """Convert a velocity (m/s) from application space to device frame; unscaled."""
    cdef int i
    transform_velocity_back(&view.workspace, v, out)
    transform_velocity_back(&view.mount, out, out)
    basis_undo(&view.basis, out, out)
    if view.clutch != 1:
        for i in range(3):
            out[i] = out[i] / view.clutch if view.clutch > 0 else 0


cdef inline void force_to_application(const View *view, const double *f, double *out) noexcept nogil:
    """Convert a force (N) from device frame to application space: rotated, never scaled."""
    basis_apply(&view.basis, f, out)
    rotate(view.mount.q, out, out)
    rotate(view.workspace.q, out, out)


cdef inline void force_to_device(const View *view, const double *f, double *out) noexcept nogil:
    """Convert a force (N) from application space to device frame: rotated, never scaled."""
    rotate_back(view.workspace.q, f, out)
    rotate_back(view.mount.q, out, out)
    basis_undo(&view.basis, out, out)


cdef inline void rotation_to_application(const View *view, const double *q, double *out) noexcept nogil:
    """Convert an orientation from device frame to application space: basis, then the rotations of mount and workspace."""
    basis_rotation(&view.basis, q, out)
    compose(view.mount.q, out, out)
    compose(view.workspace.q, out, out)


cdef inline void rotation_to_device(const View *view, const double *q, double *out) noexcept nogil:
    """Convert an orientation from application space to device frame."""
    compose_back(view.workspace.q, q, out)
    compose_back(view.mount.q, out, out)
    basis_rotation_back(&view.basis, out, out)
