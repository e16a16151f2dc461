"""Limit forces and torques, and map both to what the motors give.

No function allocates, locks, logs or calls Python; NaN and infinity never reach a motor.
"""

from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memset

from fastpath.layout.arena cimport DeviceParams
from fastpath.mechanisms.pose cimport Pose, cursor_force, joint_torque, only_driven


cdef inline uint32_t clamp_norm(double *force, double peak) noexcept nogil:
    """Limit the norm (N) and keep the direction; a force that is not finite becomes 0. Return 1 when the force changed."""
    cdef double norm = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    cdef double scale = 0
    cdef int i
    if norm <= peak:
        return 0
    if isfinite(norm):
        scale = peak / norm
    for i in range(3):
        force[i] = force[i] * scale if scale > 0 else 0
    return 1


cdef inline uint32_t only_finite(double *force, double *torque) noexcept nogil:
    """Set both to 0 unless every component is finite, so that no motor gets NaN or infinity; return 1 when they changed."""
    cdef int i
    for i in range(3):
        if not (isfinite(force[i]) and isfinite(torque[i])):
            memset(force, 0, 3 * sizeof(double))
            memset(torque, 0, 3 * sizeof(double))
            return 1
    return 0


cdef inline void clamp_torques(double *torque, double limit, bint together) noexcept nogil:
    """Limit torques (N.mm) in either direction, all scaled together or each clamped; NaN becomes 0."""
    cdef double largest = 0
    cdef int i
    if torque[0] == 0 and torque[1] == 0 and torque[2] == 0:
        return
    for i in range(3):
        if not isfinite(torque[i]):
            together = False
        elif fabs(torque[i]) > largest:
            largest = fabs(torque[i])
    for i in range(3):
        if together and largest > limit:
            torque[i] *= limit / largest
        elif torque[i] > limit:
            torque[i] = limit
        elif torque[i] < -limit:
            torque[i] = -limit
        elif not isfinite(torque[i]):
            torque[i] = 0


cdef inline uint32_t torque_map(
    const DeviceParams *p, const Pose *pose, double limit, double *force, double *torque,
) noexcept nogil:
    """Map cursor force (N) plus joint torques (N.mm) to the motor output, in both forms, in place; return 1 when motors saturate.

    With torque scaling the whole vector is scaled to the limit (N.mm) and keeps its direction; without it each joint is clamped.
    The resulting force at the cursor is at most the peak force, also where the arm is nearly stretched.
    """
    cdef double total[3]
    cdef double largest = 0, norm, scale = 1
    cdef bint angular = torque[0] != 0 or torque[1] != 0 or torque[2] != 0
    cdef uint32_t saturated = 0
    cdef int i
    only_driven(pose, force)
    only_driven(pose, torque)
    joint_torque(pose, force, total)
    for i in range(3):
        total[i] = 1000 * total[i] + torque[i]
        if fabs(total[i]) > largest:
            largest = fabs(total[i])
    if largest > limit:
        saturated = 1
        for i in range(3):
            if p.torque_scaling:
                total[i] *= limit / largest
            elif total[i] > limit:
                total[i] = limit
            elif total[i] < -limit:
                total[i] = -limit
    if angular or (saturated and not p.torque_scaling):
        for i in range(3):
            force[i] = 0.001 * total[i]
        cursor_force(pose, force, force)
    elif saturated:
        for i in range(3):
            force[i] *= limit / largest
    norm = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    if norm > p.peak_force:
        scale = p.peak_force / norm
    for i in range(3):
        force[i] *= scale
        torque[i] = scale * total[i]
    return saturated | only_finite(force, torque)
