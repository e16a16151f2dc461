"""Kinematics of every mechanism through one interface, chosen by `mechanism.kind`: pose and inverse. Metres, radians.

A mechanism is a file with these two functions: `pose` takes joint angles to the cursor in the device frame, Jacobian and its
inverse, `inverse` goes back, for simulated devices; `pose.pxd` has the maps that the loop computes with them.
"""

from libc.math cimport M_PI, floor

from fastpath.layout.arena cimport MechanismParams
from fastpath.layout.constants cimport MECHANISM_DELTA, MECHANISM_FIVE_BAR, MECHANISM_HINGE
from fastpath.mechanisms.delta_robot cimport delta_inverse, delta_pose
from fastpath.mechanisms.five_bar cimport five_bar_inverse, five_bar_pose
from fastpath.mechanisms.hinge cimport hinge_inverse, hinge_pose
from fastpath.mechanisms.pose cimport Pose
from fastpath.mechanisms.serial_arm cimport arm_inverse, arm_pose


cdef inline void inverse(const MechanismParams *m, const double *p, double *angles) noexcept nogil:
    """Cursor (m) -> joint angles (rad); out of reach: the angles at which the mechanism points at the cursor."""
    if m.kind == MECHANISM_FIVE_BAR:
        five_bar_inverse(m, p, angles)
    elif m.kind == MECHANISM_DELTA:
        delta_inverse(m, p, angles)
    elif m.kind == MECHANISM_HINGE:
        hinge_inverse(m, p, angles)
    else:
        arm_inverse(m, p, angles)


cdef inline void take_pose(const MechanismParams *m, const double *angles, Pose *pose) noexcept nogil:
    """Joint angles (rad) -> cursor, Jacobian and its inverse."""
    if m.kind == MECHANISM_FIVE_BAR:
        five_bar_pose(m, angles, pose)
    elif m.kind == MECHANISM_DELTA:
        delta_pose(m, angles, pose)
    elif m.kind == MECHANISM_HINGE:
        hinge_pose(m, angles, pose)
    else:
        arm_pose(m, angles, pose)


cdef inline void quantise(double counts_per_turn, double *angles) noexcept nogil:
    """Quantise each angle (rad) down to a whole encoder count; 0 counts per turn = ideal encoder."""
    cdef double step
    cdef int i
    if counts_per_turn <= 0:
        return
    step = 2 * M_PI / counts_per_turn
    for i in range(3):
        angles[i] = floor(angles[i] / step) * step
