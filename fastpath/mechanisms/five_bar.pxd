"""Kinematics of a planar five-bar (pantograph): two motors side by side, two proximal links l, two distal links L that meet at the cursor.

In the plane of the mechanism motor 1 is at (0, 0), motor 2 at (d, 0), angles count counter-clockwise from +x and the cursor is
on the +y side: A = l (cos t1, sin t1), B = (d, 0) + l (cos t2, sin t2), P = A + h/2 + sqrt(L^2 - |h|^2/4) (-h_y, h_x)/|h|, h = B - A.
The board lies on the table with its motors at the far side, so the plane is the device's x-y plane turned half round about z:
device = shoulder - (x, y), `shoulder` is motor 1. The third joint and z are at rest and without motor. Metres, radians.
"""

from libc.math cimport acos, atan2, cos, fabs, sin, sqrt

from fastpath.layout.arena cimport MechanismParams
from fastpath.mechanisms.pose cimport Pose, pose_clear

cdef enum:
    # a sine below 1 / this counts as zero: 1.1 degrees
    SINGULAR = 50


cdef inline void elbows(const MechanismParams *m, const double *angles, double *a, double *b, double *p) noexcept nogil:
    """Compute A, B and P in the mechanism's plane. Elbows too far apart: P is half-way between them; elbows on one point: P straight on."""
    cdef double hx, hy, apart, rest
    a[0] = m.link[0] * cos(angles[0]); a[1] = m.link[0] * sin(angles[0])
    b[0] = m.base + m.link[0] * cos(angles[1]); b[1] = m.link[0] * sin(angles[1])
    hx = b[0] - a[0]
    hy = b[1] - a[1]
    apart = sqrt(hx * hx + hy * hy)
    rest = m.link[1] * m.link[1] - 0.25 * apart * apart
    rest = sqrt(rest) if rest > 0 else 0.0
    if apart < 1e-9:
        hx = a[1]
        hy = 0.5 * m.base - a[0]
        apart = sqrt(hx * hx + hy * hy)
        if apart < 1e-9:
            hx = 1; hy = 0; apart = 1
        p[0] = a[0] - rest * hy / apart
        p[1] = a[1] + rest * hx / apart
        return
    p[0] = a[0] + 0.5 * hx - rest * hy / apart
    p[1] = a[1] + 0.5 * hy + rest * hx / apart


cdef inline double opening(double proximal, double distal, double reach) noexcept nogil:
    """Return the angle at a motor between its proximal link and the line to the cursor; out of reach: the nearest possible one."""
    cdef double c
    if reach < 1e-9:
        return 0
    c = (proximal * proximal + reach * reach - distal * distal) / (2 * proximal * reach)
    return acos(1.0 if c > 1 else -1.0 if c < -1 else c)


cdef inline void five_bar_inverse(const MechanismParams *m, const double *p, double *angles) noexcept nogil:
    """Cursor (m, device frame) -> joint angles (rad), both elbows outwards; z is ignored."""
    cdef double x = m.shoulder[0] - p[0], y = m.shoulder[1] - p[1]
    cdef double u = x - m.base
    angles[0] = atan2(y, x) + opening(m.link[0], m.link[1], sqrt(x * x + y * y))
    angles[1] = atan2(y, u) - opening(m.link[0], m.link[1], sqrt(u * u + y * y))
    angles[2] = 0


cdef inline void five_bar_pose(const MechanismParams *m, const double *angles, Pose *pose) noexcept nogil:
    """Joint angles (rad) -> cursor (m, device frame) and J = [r1; r2]^-1 diag(n1, n2), r1 = P - A, r2 = P - B, n = r . (proximal link turned by 90 degrees).

    Distal links within about one degree of one line: nothing is defined, all zero, and nothing is driven. A proximal link in one line with its distal
    one: velocities and forces have no unique joint side, the inverse is zero.
    """
    cdef double a[2]
    cdef double b[2]
    cdef double p[2]
    cdef double r1x, r1y, r2x, r2y, n1, n2, determinant
    cdef double smallest = m.link[0] * m.link[1] / SINGULAR
    pose_clear(pose, 2)
    elbows(m, angles, a, b, p)
    pose.position[0] = m.shoulder[0] - p[0]
    pose.position[1] = m.shoulder[1] - p[1]
    pose.position[2] = m.shoulder[2]
    r1x = p[0] - a[0]; r1y = p[1] - a[1]
    r2x = p[0] - b[0]; r2y = p[1] - b[1]
    determinant = r1x * r2y - r1y * r2x
    if not fabs(determinant) > m.link[1] * m.link[1] / SINGULAR:
        pose.driven = 0
        return
    n1 = -r1x * a[1] + r1y * a[0]
    n2 = -r2x * b[1] + r2y * (b[0] - m.base)
    pose.jacobian[0] = -r2y * n1 / determinant; pose.jacobian[1] = r1y * n2 / determinant
    pose.jacobian[3] = r2x * n1 / determinant; pose.jacobian[4] = -r1x * n2 / determinant
    if not (fabs(n1) > smallest and fabs(n2) > smallest):
        return
    pose.inverse[0] = -r1x / n1; pose.inverse[1] = -r1y / n1
    pose.inverse[3] = -r2x / n2; pose.inverse[4] = -r2y / n2
