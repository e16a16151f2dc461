"""Kinematics of a yaw-pitch-pitch arm: inverse, forward and pose. Metres, radians.

The shoulder stands at `shoulder`; yaw 0 points along -y (towards the user), positive yaw towards +x; the first pitch is
measured above the horizontal, the second from the first link (negative: the elbow is up). In the vertical plane of the arm
r = l1 cos a + l2 cos(a+b), h = l1 sin a + l2 sin(a+b).
"""

from libc.math cimport M_PI, acos, atan2, cos, sin, sqrt
from libc.string cimport memset

from fastpath.layout.arena cimport MechanismParams
from fastpath.mechanisms.pose cimport Pose


cdef inline void arm_inverse(const MechanismParams *m, const double *p, double *angles) noexcept nogil:
    """Cursor (m) -> joint angles (rad); out of reach: the stretched or folded arm that points at the cursor."""
    cdef double x = p[0] - m.shoulder[0], y = p[1] - m.shoulder[1], h = p[2] - m.shoulder[2]
    cdef double r = sqrt(x * x + y * y), l1 = m.link[0], l2 = m.link[1]
    cdef double along, across
    cdef double c = (r * r + h * h - l1 * l1 - l2 * l2) / (2 * l1 * l2)
    if c > 1:
        c = 1
    elif c < -1:
        c = -1
    angles[0] = atan2(x, -y) if r > 0 else 0.0
    # the sum of the angles of (r, h) and of (along, across), from -pi/2 to 3 pi/2
    along = l1 + l2 * c
    across = l2 * sqrt((1 - c) * (1 + c))
    angles[1] = atan2(h * along + r * across, r * along - h * across)
    if angles[1] < -M_PI / 2:
        angles[1] += 2 * M_PI
    angles[2] = -acos(c)


cdef inline void arm_pose(const MechanismParams *m, const double *angles, Pose *pose) noexcept nogil:
    """Joint angles (rad) -> cursor and pose. The arm is singular when stretched, folded or on its yaw axis: forces have no unique
    torque there."""
    cdef double far_r = m.link[1] * cos(angles[1] + angles[2]), far_h = m.link[1] * sin(angles[1] + angles[2])
    cdef double r = m.link[0] * cos(angles[1]) + far_r, h = m.link[0] * sin(angles[1]) + far_h
    cdef double s = sin(angles[0]), c = cos(angles[0])
    cdef double determinant = r * far_h - h * far_r, k
    pose.driven = 3
    pose.position[0] = m.shoulder[0] + r * s
    pose.position[1] = m.shoulder[1] - r * c
    pose.position[2] = m.shoulder[2] + h
    pose.jacobian[0] = r * c; pose.jacobian[1] = -h * s; pose.jacobian[2] = -far_h * s
    pose.jacobian[3] = r * s; pose.jacobian[4] = h * c; pose.jacobian[5] = far_h * c
    pose.jacobian[6] = 0; pose.jacobian[7] = r; pose.jacobian[8] = far_r
    if -1e-6 < determinant < 1e-6 or -1e-6 < r < 1e-6:
        memset(pose.inverse, 0, sizeof(pose.inverse))
        return
    k = 1 / r
    pose.inverse[0] = k * c; pose.inverse[1] = k * s; pose.inverse[2] = 0
    k = 1 / determinant
    pose.inverse[3] = k * far_r * s; pose.inverse[4] = -k * far_r * c; pose.inverse[5] = k * far_h
    pose.inverse[6] = -k * r * s; pose.inverse[7] = k * r * c; pose.inverse[8] = -k * h
