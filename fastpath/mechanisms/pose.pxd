"""Pose of a mechanism (cursor, Jacobian and its inverse), and maps of forces and velocities through it.

Each mechanism fills a pose in its own file; `kinematics.pxd` chooses by `mechanism.kind`. Rows of the Jacobian are device axes
(m/rad), columns joints. What is undefined at a singular pose is zero, so that nothing here is ever NaN, infinite or huge.
"""

from libc.stdint cimport int64_t
from libc.string cimport memset

cdef struct Pose:
    # cursor in the device frame, m
    double position[3]
    # dP/dtheta, row by row, m/rad; dtheta/dP, row by row, rad/m
    double jacobian[9]
    double inverse[9]
    # number of axes, and of joints, that motors drive at this pose: 2 for a planar mechanism, 0 where no force has torques
    int64_t driven


cdef inline void pose_clear(Pose *pose, int driven) noexcept nogil:
    """Zero the Jacobian and its inverse; the cursor stays."""
    memset(pose.jacobian, 0, sizeof(pose.jacobian))
    memset(pose.inverse, 0, sizeof(pose.inverse))
    pose.driven = driven


cdef inline void times_matrix(const double *m, const double *v, double *out) noexcept nogil:
    """m v; `out` may be v."""
    cdef double x = m[0] * v[0] + m[1] * v[1] + m[2] * v[2]
    cdef double y = m[3] * v[0] + m[4] * v[1] + m[5] * v[2]
    out[2] = m[6] * v[0] + m[7] * v[1] + m[8] * v[2]
    out[0] = x; out[1] = y


cdef inline void times_transposed(const double *m, const double *v, double *out) noexcept nogil:
    """m' v; `out` may be v."""
    cdef double x = m[0] * v[0] + m[3] * v[1] + m[6] * v[2]
    cdef double y = m[1] * v[0] + m[4] * v[1] + m[7] * v[2]
    out[2] = m[2] * v[0] + m[5] * v[1] + m[8] * v[2]
    out[0] = x; out[1] = y


cdef inline void joint_torque(const Pose *pose, const double *f, double *torque) noexcept nogil:
    """J' f: cursor force (N) -> joint torques (N.m); `torque` may be f."""
    times_transposed(pose.jacobian, f, torque)


cdef inline void cursor_force(const Pose *pose, const double *torque, double *f) noexcept nogil:
    """J'^-1 torque: joint torques (N.m) -> cursor force (N), zero at a singular pose; `f` may be torque."""
    times_transposed(pose.inverse, torque, f)


cdef inline void joint_velocity(const Pose *pose, const double *v, double *rate) noexcept nogil:
    """J^-1 v: cursor velocity (m/s) -> joint velocities (rad/s), zero at a singular pose; `rate` may be v."""
    times_matrix(pose.inverse, v, rate)


cdef inline void only_driven(const Pose *pose, double *v) noexcept nogil:
    """Zero the components of axes without a motor."""
    cdef int i
    for i in range(pose.driven, 3):
        v[i] = 0
