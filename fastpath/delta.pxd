"""Offset delta of the Novint Falcon: inverse and forward kinematics, Jacobian, joint velocities and the torque map.

Metres, radians, newton-metres. Of the device frame: x right, y away from the user, z up; the mechanism's own frame has z
towards the user and y up, so p = base + (x, -z, y). Each leg stands in the plane u, v, w of its angle around z:
u = x cos f + y sin f - r, v = -x sin f + y cos f - s, w = z; crank (a) and forearm (m, as long as the parallelogram leaves it
at v) close it by (u + c - a cos t)^2 + (w - a sin t)^2 = m^2, m = d + e + sqrt(b^2 - (v + f)^2). Geometry after Stamper's
thesis as libnifalcon has it; rows of the Jacobian are the gradient of that equation, -G_x / G_t.
"""

from libc.math cimport acos, atan2, cos, fabs, sin, sqrt

cdef extern from *:
    """
    #define DELTA_CRANK 0.060
    #define DELTA_FOREARM 0.1025
    #define DELTA_PLATFORM 0.01443
    #define DELTA_OFFSETS 0.0225
    #define DELTA_SHIFT -0.025
    #define DELTA_RADIUS 0.0400
    #define DELTA_SIDE -0.02309
    /* legs stand at 105, -15 and -135 degrees */
    static const double delta_cos[3] = {-0.25881904510252076, 0.96592582628906829, -0.70710678118654752};
    static const double delta_sin[3] = {0.96592582628906829, -0.25881904510252076, -0.70710678118654752};
    #define DELTA_MIDDLE 0.12
    #define DELTA_NEAREST 0.01
    #define DELTA_FARTHEST 0.25
    """
    const double DELTA_CRANK
    const double DELTA_FOREARM
    const double DELTA_PLATFORM
    const double DELTA_OFFSETS
    const double DELTA_SHIFT
    const double DELTA_RADIUS
    const double DELTA_SIDE
    const double delta_cos[3]
    const double delta_sin[3]
    # m along the mechanism's own z: where a cold start begins, and between what the search stays
    const double DELTA_MIDDLE
    const double DELTA_NEAREST
    const double DELTA_FARTHEST

cdef enum:
    # Newton steps from one start; twice that from the last pose and then from the middle is the most that a tick takes
    DELTA_STEPS = 24


cdef struct DeltaPose:
    # d(joint)/d(cursor), rad/m in rows of joints, device frame; its inverse times its determinant; no good where det is 0
    double rows[9]
    double cofactors[9]
    double determinant


cdef inline void delta_own(const double *base, const double *p, double *own) noexcept nogil:
    """Device frame -> the mechanism's own."""
    own[0] = p[0] - base[0]
    own[1] = p[2] - base[2]
    own[2] = base[1] - p[1]


cdef inline void delta_shown(const double *base, const double *own, double *p) noexcept nogil:
    """The mechanism's own frame -> device frame."""
    p[0] = base[0] + own[0]
    p[1] = base[1] - own[2]
    p[2] = base[2] + own[1]


cdef inline bint delta_leg(int k, const double *own, double *reach, double *forearm, double *slope) noexcept nogil:
    """u + c and the forearm's length m with dm/dv of one leg; False where the parallelogram cannot lean so far."""
    cdef double v = -own[0] * delta_sin[k] + own[1] * delta_cos[k] - DELTA_SIDE + DELTA_SHIFT
    cdef double square = (DELTA_FOREARM - v) * (DELTA_FOREARM + v), root
    reach[0] = own[0] * delta_cos[k] + own[1] * delta_sin[k] - DELTA_RADIUS + DELTA_PLATFORM
    if not square > 1e-6:
        forearm[0] = DELTA_OFFSETS
        slope[0] = 0
        return False
    root = sqrt(square)
    forearm[0] = DELTA_OFFSETS + root
    slope[0] = -v / root
    return True


cdef inline bint delta_inverse(const double *base, const double *p, double *angles) noexcept nogil:
    """Cursor (m) -> crank angles (rad); False out of reach, with the angle of a leg that points at it."""
    cdef double own[3]
    cdef double reach, forearm, slope, span, c
    cdef bint inside = True
    cdef int k
    delta_own(base, p, own)
    for k in range(3):
        if not delta_leg(k, own, &reach, &forearm, &slope):
            inside = False
        span = sqrt(reach * reach + own[2] * own[2])
        c = (span * span + DELTA_CRANK * DELTA_CRANK - forearm * forearm) / (2 * DELTA_CRANK * span) if span > 0 else 2
        if not -1 <= c <= 1:
            c = -1 if c < -1 else 1
            inside = False
        angles[k] = atan2(own[2], reach) - acos(c)
    return inside


cdef inline void delta_invert(DeltaPose *pose) noexcept nogil:
    """Cofactors and determinant of the rows."""
    cdef const double *g = pose.rows
    pose.cofactors[0] = g[4] * g[8] - g[5] * g[7]
    pose.cofactors[1] = g[2] * g[7] - g[1] * g[8]
    pose.cofactors[2] = g[1] * g[5] - g[2] * g[4]
    pose.cofactors[3] = g[5] * g[6] - g[3] * g[8]
    pose.cofactors[4] = g[0] * g[8] - g[2] * g[6]
    pose.cofactors[5] = g[2] * g[3] - g[0] * g[5]
    pose.cofactors[6] = g[3] * g[7] - g[4] * g[6]
    pose.cofactors[7] = g[1] * g[6] - g[0] * g[7]
    pose.cofactors[8] = g[0] * g[4] - g[1] * g[3]
    pose.determinant = g[0] * pose.cofactors[0] + g[1] * pose.cofactors[3] + g[2] * pose.cofactors[6]


cdef inline bint delta_newton(const double *cranks, double *own) noexcept nogil:
    """Move a cursor (own frame) to where the legs close at cos and sin of the crank angles; False when it does not get there."""
    cdef DeltaPose pose
    cdef double off[3]
    cdef double step[3]
    cdef double reach, forearm, slope, u, w, bend, length
    cdef int i, k, _try
    for _try in range(DELTA_STEPS):
        bend = 1
        for k in range(3):
            if not delta_leg(k, own, &reach, &forearm, &slope):
                return False
            u = reach - DELTA_CRANK * cranks[2 * k]
            w = own[2] - DELTA_CRANK * cranks[2 * k + 1]
            off[k] = u * u + w * w - forearm * forearm
            pose.rows[3 * k] = 2 * (u * delta_cos[k] + forearm * slope * delta_sin[k])
            pose.rows[3 * k + 1] = 2 * (u * delta_sin[k] - forearm * slope * delta_cos[k])
            pose.rows[3 * k + 2] = 2 * w
            u = w * cranks[2 * k] - u * cranks[2 * k + 1]
            if u < bend:
                bend = u
        delta_invert(&pose)
        if fabs(pose.determinant) < 1e-9:
            return False
        length = 0
        for i in range(3):
            step[i] = -(pose.cofactors[3 * i] * off[0] + pose.cofactors[3 * i + 1] * off[1]
                        + pose.cofactors[3 * i + 2] * off[2]) / pose.determinant
            length += step[i] * step[i]
        if not length < 1e12:
            return False
        if length > 4e-4:
            for i in range(3):
                step[i] *= 0.02 / sqrt(length)
        for i in range(3):
            own[i] += step[i]
        if own[2] < DELTA_NEAREST:
            own[2] = DELTA_NEAREST
        elif own[2] > DELTA_FARTHEST:
            own[2] = DELTA_FARTHEST
        if length < 1e-18:
            # The elbows bend outwards only: the other solution is a mechanism turned inside out.
            return bend > 0
    return False


cdef inline bint delta_forward(const double *base, const double *angles, double *p) noexcept nogil:
    """Crank angles (rad) -> cursor (m), from where `p` is, else from the middle; False and `p` as it was when the legs do not close."""
    cdef double cranks[6]
    cdef double own[3]
    cdef int k
    for k in range(3):
        if not -7 < angles[k] < 7:
            return False
        cranks[2 * k] = cos(angles[k])
        cranks[2 * k + 1] = sin(angles[k])
    delta_own(base, p, own)
    if not delta_newton(cranks, own):
        own[0] = 0; own[1] = 0; own[2] = DELTA_MIDDLE
        if not delta_newton(cranks, own):
            return False
    delta_shown(base, own, p)
    return True


cdef inline bint delta_pose(const double *base, const double *angles, const double *p, DeltaPose *pose) noexcept nogil:
    """The Jacobian where cursor (m) and crank angles (rad) belong together; False, and of no use, at the edge of the reach."""
    cdef double own[3]
    cdef double reach, forearm, slope, u, w, turn
    cdef int k
    delta_own(base, p, own)
    for k in range(3):
        if not delta_leg(k, own, &reach, &forearm, &slope):
            pose.determinant = 0
            return False
        u = reach - DELTA_CRANK * cos(angles[k])
        w = own[2] - DELTA_CRANK * sin(angles[k])
        turn = DELTA_CRANK * (w * cos(angles[k]) - u * sin(angles[k]))
        if not turn > 1e-7:
            pose.determinant = 0
            return False
        pose.rows[3 * k] = (u * delta_cos[k] + forearm * slope * delta_sin[k]) / turn
        pose.rows[3 * k + 1] = -w / turn
        pose.rows[3 * k + 2] = (u * delta_sin[k] - forearm * slope * delta_cos[k]) / turn
    delta_invert(pose)
    return True


cdef inline bint delta_singular(const DeltaPose *pose) noexcept nogil:
    """Where the legs leave the cursor a way to give: forces have no unique torque there."""
    return not fabs(pose.determinant) > 1.0


cdef inline void delta_torque(const DeltaPose *pose, const double *f, double *torque) noexcept nogil:
    """J'^-1 f with J the rows: cursor force (N) -> crank torques (N.m); zero at a singular pose."""
    cdef int k
    for k in range(3):
        torque[k] = 0 if delta_singular(pose) else (
            pose.cofactors[k] * f[0] + pose.cofactors[3 + k] * f[1] + pose.cofactors[6 + k] * f[2]) / pose.determinant


cdef inline void delta_force(const DeltaPose *pose, const double *torque, double *f) noexcept nogil:
    """J' torque: crank torques (N.m) -> cursor force (N); zero at a singular pose."""
    cdef int i
    for i in range(3):
        f[i] = 0 if delta_singular(pose) else (
            pose.rows[i] * torque[0] + pose.rows[3 + i] * torque[1] + pose.rows[6 + i] * torque[2])


cdef inline void delta_joint_velocity(const DeltaPose *pose, const double *v, double *rate) noexcept nogil:
    """J v: cursor velocity (m/s) -> crank velocities (rad/s); zero at a singular pose."""
    cdef int k
    for k in range(3):
        rate[k] = 0 if delta_singular(pose) else (
            pose.rows[3 * k] * v[0] + pose.rows[3 * k + 1] * v[1] + pose.rows[3 * k + 2] * v[2])
