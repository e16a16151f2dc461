"""Kinematics of the Novint Falcon, an offset delta: three cranks around the axis that points at the user, each with a parallelogram.

The mechanism's frame has x right, y up and z towards the user: device = shoulder + (x, -z, y). Each leg is computed in axes u, v, w turned by its angle around z:
u = x cos f + y sin f - r, v = -x sin f + y cos f - s, w = z; crank (a) and forearm (m, its length in the plane where the parallelogram
is at v) close the leg by (u + c - a cos t)^2 + (w - a sin t)^2 = m^2, m = d + e + sqrt(b^2 - (v + f)^2). Geometry after Stamper's
thesis and libnifalcon; dt/dx is the gradient of that equation, -G_x / G_t. Metres, radians.
"""

from libc.math cimport acos, atan2, cos, fabs, sin, sqrt

from fastpath.layout.arena cimport MechanismParams
from fastpath.mechanisms.pose cimport Pose, pose_clear

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
    # m along the mechanism's z: start of the search, and its two bounds
    const double DELTA_MIDDLE
    const double DELTA_NEAREST
    const double DELTA_FARTHEST

cdef enum:
    # Newton steps of one search: six find every pose that a Falcon can reach; the limit bounds the time of a search without a solution
    DELTA_STEPS = 24
    # a sine or a volume below 1 / this counts as zero
    DELTA_SINGULAR = 50


cdef inline void delta_own(const MechanismParams *m, const double *p, double *own) noexcept nogil:
    """Device frame -> mechanism's frame."""
    own[0] = p[0] - m.shoulder[0]
    own[1] = p[2] - m.shoulder[2]
    own[2] = m.shoulder[1] - p[1]


cdef inline bint delta_leg(int k, const double *own, double *reach, double *forearm, double *slope) noexcept nogil:
    """Compute u + c, the forearm's length m and dm/dv of one leg; False where the parallelogram cannot lean so far."""
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


cdef inline bint delta_inverse(const MechanismParams *m, const double *p, double *angles) noexcept nogil:
    """Cursor (m) -> crank angles (rad); False out of reach: then the angles of legs that point at the cursor."""
    cdef double own[3]
    cdef double reach, forearm, slope, span, c
    cdef bint inside = True
    cdef int k
    delta_own(m, p, own)
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


cdef inline double delta_cofactors(const double *g, double *c) noexcept nogil:
    """Compute the adjugate (inverse times determinant) of a matrix given by rows; return the determinant."""
    c[0] = g[4] * g[8] - g[5] * g[7]; c[1] = g[2] * g[7] - g[1] * g[8]; c[2] = g[1] * g[5] - g[2] * g[4]
    c[3] = g[5] * g[6] - g[3] * g[8]; c[4] = g[0] * g[8] - g[2] * g[6]; c[5] = g[2] * g[3] - g[0] * g[5]
    c[6] = g[3] * g[7] - g[4] * g[6]; c[7] = g[1] * g[6] - g[0] * g[7]; c[8] = g[0] * g[4] - g[1] * g[3]
    return g[0] * c[0] + g[1] * c[3] + g[2] * c[6]


cdef inline bint delta_search(const double *angles, double *own) noexcept nogil:
    """Find the cursor at which the legs close (mechanism's frame), by Newton's method from the middle; False and the middle without one."""
    cdef double crank[6]
    cdef double g[9]
    cdef double c[9]
    cdef double off[3]
    cdef double step[3]
    cdef double reach, forearm, slope, u, w, bend, determinant, square
    cdef int i, k, _step
    cdef bint known = True
    own[0] = 0; own[1] = 0; own[2] = DELTA_MIDDLE
    for k in range(3):
        if not -7 < angles[k] < 7:
            return False
        crank[2 * k] = DELTA_CRANK * cos(angles[k])
        crank[2 * k + 1] = DELTA_CRANK * sin(angles[k])
    for _step in range(DELTA_STEPS):
        bend = 1
        for k in range(3):
            known = known and delta_leg(k, own, &reach, &forearm, &slope)
            u = reach - crank[2 * k]
            w = own[2] - crank[2 * k + 1]
            off[k] = u * u + w * w - forearm * forearm
            g[3 * k] = 2 * (u * delta_cos[k] + forearm * slope * delta_sin[k])
            g[3 * k + 1] = 2 * (u * delta_sin[k] - forearm * slope * delta_cos[k])
            g[3 * k + 2] = 2 * w
            u = w * crank[2 * k] - u * crank[2 * k + 1]
            if u < bend:
                bend = u
        determinant = delta_cofactors(g, c)
        if not known or not fabs(determinant) > 1e-9:
            break
        square = 0
        for i in range(3):
            step[i] = -(c[3 * i] * off[0] + c[3 * i + 1] * off[1] + c[3 * i + 2] * off[2]) / determinant
            square += step[i] * step[i]
        for i in range(3):
            # At most 20 mm at once.
            own[i] += step[i] if square < 4e-4 else step[i] * 0.02 / sqrt(square)
        if own[2] < DELTA_NEAREST:
            own[2] = DELTA_NEAREST
        elif own[2] > DELTA_FARTHEST:
            own[2] = DELTA_FARTHEST
        if square < 1e-18:
            # Elbows bend outwards only; the other solution cannot be assembled.
            if bend > 0:
                return True
            break
    own[0] = 0; own[1] = 0; own[2] = DELTA_MIDDLE
    return False


cdef inline bint delta_pose(const MechanismParams *m, const double *angles, Pose *pose) noexcept nogil:
    """Crank angles (rad) -> cursor (m; the middle where the legs do not close) and pose: row k of its inverse is (G_x, -G_z, G_y)
    of leg k over its G_t; False, and all zero, at the edge of the reach and outside.

    A crank in one line with its forearm, or legs that leave the cursor a way to give: nothing is defined or driven.
    """
    cdef double own[3]
    cdef double c[9]
    cdef double reach, forearm, slope, u, w, turn, determinant, volume = 1
    cdef double *g = pose.inverse
    cdef int i, k
    cdef bint inside = delta_search(angles, own)
    pose_clear(pose, 3)
    pose.position[0] = m.shoulder[0] + own[0]
    pose.position[1] = m.shoulder[1] - own[2]
    pose.position[2] = m.shoulder[2] + own[1]
    for k in range(3):
        inside = inside and delta_leg(k, own, &reach, &forearm, &slope)
        if not inside:
            break
        u = reach - DELTA_CRANK * cos(angles[k])
        w = own[2] - DELTA_CRANK * sin(angles[k])
        turn = DELTA_CRANK * (w * cos(angles[k]) - u * sin(angles[k]))
        if not turn > DELTA_CRANK * forearm / DELTA_SINGULAR:
            inside = False
            break
        g[3 * k] = (u * delta_cos[k] + forearm * slope * delta_sin[k]) / turn
        g[3 * k + 1] = -w / turn
        g[3 * k + 2] = (u * delta_sin[k] - forearm * slope * delta_cos[k]) / turn
        volume *= sqrt(g[3 * k] * g[3 * k] + g[3 * k + 1] * g[3 * k + 1] + g[3 * k + 2] * g[3 * k + 2])
    determinant = delta_cofactors(g, c) if inside else 0
    if not fabs(determinant) * DELTA_SINGULAR > volume:
        pose_clear(pose, 0)
        return False
    for i in range(9):
        pose.jacobian[i] = c[i] / determinant
    return True
