"""Kinematics of one motorised rotation axis, such as a knob: the cursor's x is the arc length along the rim.

x = shoulder_x + r a, a the angle of the axis and r its radius (`link[0]`), so a force F along x is a torque r F and
every step of the loop (plant, damping, monitors, limits) works on the rim. The other axes and joints are at rest and without
motor. Metres, radians.
"""

from fastpath.layout.arena cimport MechanismParams
from fastpath.mechanisms.pose cimport Pose, pose_clear


cdef inline void hinge_inverse(const MechanismParams *m, const double *p, double *angles) noexcept nogil:
    """Arc length along the rim (m) -> angle of the axis (rad); 0 without a radius."""
    angles[0] = (p[0] - m.shoulder[0]) / m.link[0] if m.link[0] > 0 else 0.0
    angles[1] = 0
    angles[2] = 0


cdef inline void hinge_pose(const MechanismParams *m, const double *angles, Pose *pose) noexcept nogil:
    """Angle of the axis (rad) -> arc length along the rim (m) and pose; without a radius no axis is driven."""
    cdef int i
    pose_clear(pose, 1 if m.link[0] > 0 else 0)
    for i in range(3):
        pose.position[i] = m.shoulder[i]
    pose.position[0] += m.link[0] * angles[0]
    if m.link[0] > 0:
        pose.jacobian[0] = m.link[0]
        pose.inverse[0] = 1 / m.link[0]
