"""Yaw-pitch-pitch arm: inverse and forward kinematics, joint velocities and the torque map. Metres, radians, newton-metres.

The shoulder stands at `shoulder`; yaw 0 points along -y (towards the user), positive yaw towards +x; the first pitch is
measured above the horizontal, the second from the first link (negative: the elbow is up). In the vertical plane of the arm
r = l1 cos a + l2 cos(a+b), h = l1 sin a + l2 sin(a+b).
"""

from libc.math cimport M_PI, acos, atan2, cos, floor, sin, sqrt

from fastpath.layout cimport MechanismParams


cdef inline void arm_inverse(const MechanismParams *m, const double *p, double *angles) noexcept nogil:
    """Cursor (m) -> joint angles (rad); out of reach: the stretched or folded arm that points at it."""
    cdef double x = p[0] - m.shoulder[0], y = p[1] - m.shoulder[1], h = p[2] - m.shoulder[2]
    cdef double r = sqrt(x * x + y * y), l1 = m.link[0], l2 = m.link[1]
    cdef double c = (r * r + h * h - l1 * l1 - l2 * l2) / (2 * l1 * l2)
    if c > 1:
        c = 1
    elif c < -1:
        c = -1
    angles[0] = atan2(x, -y) if r > 0 else 0.0
    angles[1] = atan2(h, r) + atan2(l2 * sqrt((1 - c) * (1 + c)), l1 + l2 * c)
    angles[2] = -acos(c)


cdef inline void arm_forward(const MechanismParams *m, const double *angles, double *p) noexcept nogil:
    """Joint angles (rad) -> cursor (m)."""
    cdef double r = m.link[0] * cos(angles[1]) + m.link[1] * cos(angles[1] + angles[2])
    p[2] = m.shoulder[2] + m.link[0] * sin(angles[1]) + m.link[1] * sin(angles[1] + angles[2])
    p[0] = m.shoulder[0] + r * sin(angles[0])
    p[1] = m.shoulder[1] - r * cos(angles[0])


cdef struct Pose:
    # what the Jacobian needs of one pose: radius and height over the shoulder, far link, sine and cosine of yaw, determinant
    double r
    double h
    double far_r
    double far_h
    double yaw_sin
    double yaw_cos
    double determinant


cdef inline void arm_pose(const MechanismParams *m, const double *angles, Pose *pose) noexcept nogil:
    pose.far_r = m.link[1] * cos(angles[1] + angles[2])
    pose.far_h = m.link[1] * sin(angles[1] + angles[2])
    pose.r = m.link[0] * cos(angles[1]) + pose.far_r
    pose.h = m.link[0] * sin(angles[1]) + pose.far_h
    pose.yaw_sin = sin(angles[0])
    pose.yaw_cos = cos(angles[0])
    pose.determinant = pose.r * pose.far_h - pose.h * pose.far_r


cdef inline bint arm_singular(const Pose *pose) noexcept nogil:
    """Stretched, folded or on the yaw axis: forces have no unique torque there."""
    return -1e-6 < pose.determinant < 1e-6 or -1e-6 < pose.r < 1e-6


cdef inline void arm_torque(const Pose *pose, const double *f, double *torque) noexcept nogil:
    """J' f: cursor force (N) -> joint torques (N.m)."""
    cdef double radial = f[0] * pose.yaw_sin - f[1] * pose.yaw_cos
    torque[0] = pose.r * (f[0] * pose.yaw_cos + f[1] * pose.yaw_sin)
    torque[1] = -pose.h * radial + pose.r * f[2]
    torque[2] = -pose.far_h * radial + pose.far_r * f[2]


cdef inline void arm_force(const Pose *pose, const double *torque, double *f) noexcept nogil:
    """J'^-1 torque: joint torques (N.m) -> cursor force (N); zero at a singular pose."""
    cdef double radial, tangential
    if arm_singular(pose):
        f[0] = 0; f[1] = 0; f[2] = 0
        return
    tangential = torque[0] / pose.r
    radial = (pose.far_r * torque[1] - pose.r * torque[2]) / pose.determinant
    f[2] = (pose.far_h * torque[1] - pose.h * torque[2]) / pose.determinant
    f[0] = tangential * pose.yaw_cos + radial * pose.yaw_sin
    f[1] = tangential * pose.yaw_sin - radial * pose.yaw_cos


cdef inline void arm_joint_velocity(const Pose *pose, const double *v, double *rate) noexcept nogil:
    """J^-1 v: cursor velocity (m/s) -> joint velocities (rad/s); zero at a singular pose."""
    cdef double radial = v[0] * pose.yaw_sin - v[1] * pose.yaw_cos
    if arm_singular(pose):
        rate[0] = 0; rate[1] = 0; rate[2] = 0
        return
    rate[0] = (v[0] * pose.yaw_cos + v[1] * pose.yaw_sin) / pose.r
    rate[1] = (pose.far_r * radial + pose.far_h * v[2]) / pose.determinant
    rate[2] = (-pose.r * radial - pose.h * v[2]) / pose.determinant


cdef inline void quantise(double counts_per_turn, double *angles) noexcept nogil:
    """Encoder: each angle (rad) down to a whole count; 0 counts per turn = ideal encoder."""
    cdef double step
    cdef int i
    if counts_per_turn <= 0:
        return
    step = 2 * M_PI / counts_per_turn
    for i in range(3):
        angles[i] = floor(angles[i] / step) * step
