"""What a device did in the last half second: moments of force, velocity and position in blocks of 10 ms, and features of them.

All of them are sums of dot products, or come from the three values of a covariance: they do not depend on the frame. Force (N,
what the filter gave in the period before) and position (m) pass a 100 Hz low-pass, as the velocity (m/s) has in its measurement, so
that their phases stay comparable, and all are averaged to samples of 1 ms, so that the features do not depend on the rate of the loop.
"""

from libc.math cimport M_PI, fabs, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from fastpath.layout.force cimport MOMENTS, MOTION_BLOCKS, MOTION_LAGS, MotionWindow

cdef enum:
    # Places of what is summed over a block, each sample weighted by its time: s, m/s, N, m and their products
    M_TIME = 0
    M_SPEED = 1
    M_FORCE = 4
    M_POSITION = 7
    # v v': xx, yy, zz, xy, xz, yz
    M_SPEEDS = 10
    # f f': xx, yy, zz
    M_FORCES = 16
    M_FORCE_SPEED = 19
    M_FORCE_POSITION = 20
    M_POSITION_POSITION = 21
    M_SPEED_POSITION = 22
    M_WHEN_POSITION = 23
    M_WHEN_FORCE = 26
    M_WHEN = 29
    M_WHEN_WHEN = 30
    M_PATH = 31
    M_WORK = 32
    M_GROSS_WORK = 33
    M_TURNS = 34
    M_ACCELERATION = 35
    # v(t) v(t - 4, 8, 16, 31 ms)
    M_LAGGED = 36
    FEATURES_OF_WINDOW = 23
    FEATURES = 69
    BLOCK_MS = 10
    SHARE_BLOCKS = 12
    MOTION_CUTOFF_HZ = 100
    # mm/s: a turn of the motion counts from here on
    TURN_MM_S = 4


cdef inline void motion_begin(MotionWindow *w) noexcept nogil:
    """Forget all motion; the force that is held stays."""
    w.filled = 0
    w.begun = 0
    w.newest = 0
    w.head = 0
    memset(&w.open, 0, sizeof(w.open))
    memset(w.last_speed, 0, sizeof(w.last_speed))
    memset(w.turn, 0, sizeof(w.turn))
    memset(w.sample_force, 0, sizeof(w.sample_force))
    memset(w.sample_speed, 0, sizeof(w.sample_speed))
    memset(w.sample_position, 0, sizeof(w.sample_position))
    w.sample_time = 0
    w.sample_work = 0


cdef inline double dot(const double *a, const double *b) noexcept nogil:
    """Return the scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline void end_sample(MotionWindow *w) noexcept nogil:
    """Add the mean of the last ms to the open block."""
    cdef double *m = w.open.moment
    cdef double t = w.sample_time, per = 1 / t, when
    cdef double x[3]
    cdef double v[3]
    cdef double f[3]
    cdef double change[3]
    cdef const double *old
    cdef int i
    for i in range(3):
        f[i] = w.sample_force[i] * per
        v[i] = w.sample_speed[i] * per
        x[i] = w.sample_position[i] * per
        w.sample_force[i] = 0; w.sample_speed[i] = 0; w.sample_position[i] = 0
    when = m[M_TIME] + 0.5 * t
    old = w.last_speed[w.newest]
    for i in range(3):
        change[i] = (v[i] - old[i]) * per
        m[M_SPEED + i] += t * v[i]
        m[M_FORCE + i] += t * f[i]
        m[M_POSITION + i] += t * x[i]
        m[M_SPEEDS + i] += t * v[i] * v[i]
        m[M_FORCES + i] += t * f[i] * f[i]
        m[M_WHEN_POSITION + i] += t * when * x[i]
        m[M_WHEN_FORCE + i] += t * when * f[i]
    m[M_SPEEDS + 3] += t * v[0] * v[1]
    m[M_SPEEDS + 4] += t * v[0] * v[2]
    m[M_SPEEDS + 5] += t * v[1] * v[2]
    m[M_FORCE_SPEED] += t * dot(f, v)
    m[M_FORCE_POSITION] += t * dot(f, x)
    m[M_POSITION_POSITION] += t * dot(x, x)
    m[M_SPEED_POSITION] += t * dot(v, x)
    m[M_WHEN] += t * when
    m[M_WHEN_WHEN] += t * when * when
    m[M_PATH] += t * sqrt(dot(v, v))
    m[M_WORK] += w.sample_work
    m[M_GROSS_WORK] += fabs(w.sample_work)
    m[M_ACCELERATION] += t * dot(change, change)
    m[M_LAGGED] += t * dot(v, w.last_speed[(w.newest + MOTION_LAGS - 3) % MOTION_LAGS])
    m[M_LAGGED + 1] += t * dot(v, w.last_speed[(w.newest + MOTION_LAGS - 7) % MOTION_LAGS])
    m[M_LAGGED + 2] += t * dot(v, w.last_speed[(w.newest + MOTION_LAGS - 15) % MOTION_LAGS])
    m[M_LAGGED + 3] += t * dot(v, w.last_speed[(w.newest + MOTION_LAGS - 30) % MOTION_LAGS])
    if dot(v, v) > 1e-6 * TURN_MM_S * TURN_MM_S:
        if dot(v, w.turn) <= 0:
            m[M_TURNS] += 1
            memcpy(w.turn, v, sizeof(v))
        elif dot(v, v) > dot(w.turn, w.turn):
            memcpy(w.turn, v, sizeof(v))
    m[M_TIME] += t
    w.newest = (w.newest + 1) % MOTION_LAGS
    memcpy(w.last_speed[w.newest], v, sizeof(v))
    w.sample_time = 0
    w.sample_work = 0


cdef inline void motion_hold(MotionWindow *w, const double *force) noexcept nogil:
    """Take the force (N) that the filter puts out until the next tick."""
    memcpy(w.held, force, sizeof(w.held))


cdef inline bint motion_step(MotionWindow *w, const double *velocity, const double *position, double dt) noexcept nogil:
    """Take one tick, `dt` s after the last one: velocity (m/s) and position (m) under the held force. Return whether a block has ended."""
    # 1 - exp(-x), by its Pade approximant
    cdef double x = 2 * M_PI * MOTION_CUTOFF_HZ * dt, share = x * (6 + x) / (6 + 4 * x + x * x) if x < 3 else 1
    cdef int i
    if w.begun == 0:
        w.begun = 1
        for i in range(3):
            w.origin[i] = position[i]; w.before[i] = position[i]
            w.position[i] = 0; w.force[i] = w.held[i]
            w.last_speed[w.newest][i] = velocity[i]
        return False
    for i in range(3):
        w.force[i] += share * (w.held[i] - w.force[i])
        w.position[i] += share * (position[i] - w.origin[i] - w.position[i])
        w.sample_force[i] += dt * w.force[i]
        w.sample_speed[i] += dt * velocity[i]
        w.sample_position[i] += dt * w.position[i]
        w.sample_work += w.held[i] * (position[i] - w.before[i])
        w.before[i] = position[i]
    w.sample_time += dt
    if w.sample_time < 0.00099:
        return False
    end_sample(w)
    if w.open.moment[M_TIME] < 1e-3 * BLOCK_MS - 5e-5:
        return False
    w.head = (w.head + 1) % MOTION_BLOCKS
    memcpy(&w.block[w.head], &w.open, sizeof(w.open))
    memset(&w.open, 0, sizeof(w.open))
    if w.filled < MOTION_BLOCKS:
        w.filled += 1
    return True


cdef inline double largest_share(const double *c) noexcept nogil:
    """Return the largest eigenvalue of a symmetric matrix (xx, yy, zz, xy, xz, yz) as a share of its trace; 1 without any."""
    cdef double q = (c[0] + c[1] + c[2]) / 3, p, r, a, b, d, angle
    a = c[0] - q; b = c[1] - q; d = c[2] - q
    p = sqrt((a * a + b * b + d * d + 2 * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5])) / 6)
    if not q > 1e-18:
        return 1
    if not p > 1e-9 * q:
        return 1.0 / 3
    r = (a * (b * d - c[5] * c[5]) - c[3] * (c[3] * d - c[5] * c[4]) + c[4] * (c[3] * c[5] - b * c[4])) / (2 * p * p * p)
    r = 1 if r > 1 else (-1 if r < -1 else r)
    # cos(acos(r) / 3) by its value at both ends: near enough for a feature
    angle = 0.5 + 0.5 * sqrt(0.5 * (1 + r))
    return (q + 2 * p * angle) / (3 * q)


cdef inline double over(double a, double b) noexcept nogil:
    """Return a / b; 0 when b is no more than nothing."""
    return a / b if b > 1e-18 else 0


cdef inline void window_features(const double *m, double recent, double mass, double *out) noexcept nogil:
    """Compute the features of the moments of a window; `recent`: its second half's energy of velocity; mass in kg."""
    cdef double per = 1 / m[M_TIME]
    cdef double speed[3]
    cdef double force[3]
    cdef double position[3]
    cdef double with_position[3]
    cdef double with_force[3]
    cdef double c[6]
    cdef double vv = 0, ff, fv, fx, xx, xv, when = m[M_WHEN] * per, spread = m[M_WHEN_WHEN] * per - when * when
    cdef double own_v = 0, own_f = 0, rms_v, rms_f, rms_x, acceleration, lag_mean
    cdef int i
    for i in range(3):
        speed[i] = m[M_SPEED + i] * per
        force[i] = m[M_FORCE + i] * per
        position[i] = m[M_POSITION + i] * per
        with_position[i] = m[M_WHEN_POSITION + i] * per - when * position[i]
        with_force[i] = m[M_WHEN_FORCE + i] * per - when * force[i]
        c[i] = m[M_SPEEDS + i] * per - speed[i] * speed[i]
        vv += c[i]
    c[3] = m[M_SPEEDS + 3] * per - speed[0] * speed[1]
    c[4] = m[M_SPEEDS + 4] * per - speed[0] * speed[2]
    c[5] = m[M_SPEEDS + 5] * per - speed[1] * speed[2]
    own_v = dot(speed, speed); own_f = dot(force, force)
    ff = (m[M_FORCES] + m[M_FORCES + 1] + m[M_FORCES + 2]) * per - own_f
    fv = m[M_FORCE_SPEED] * per - dot(force, speed)
    # of the position without what the mean velocity explains
    fx = m[M_FORCE_POSITION] * per - dot(force, position) - dot(speed, with_force)
    xx = m[M_POSITION_POSITION] * per - dot(position, position) - 2 * dot(speed, with_position) + own_v * spread
    xv = m[M_SPEED_POSITION] * per - dot(speed, position)
    vv = vv if vv > 0 else 0
    ff = ff if ff > 0 else 0
    xx = xx if xx > 0 else 0
    rms_v = sqrt(vv); rms_f = sqrt(ff); rms_x = sqrt(xx)
    acceleration = sqrt(m[M_ACCELERATION] * per)
    lag_mean = m[M_TIME] * own_v
    out[0] = rms_v
    out[1] = rms_f
    out[2] = over(rms_f, rms_v)
    out[3] = rms_x
    out[4] = over(fv, rms_f * rms_v)
    out[5] = over(fx, rms_f * rms_x)
    out[6] = m[M_WORK] * per
    out[7] = over(m[M_WORK], m[M_GROSS_WORK])
    out[8] = over(rms_v, rms_x)
    out[9] = over(acceleration, rms_v)
    out[10] = over(out[8], out[9])
    out[11] = m[M_TURNS] * per
    out[12] = over(recent, m[M_TIME] * (vv + own_v))
    out[13] = over(sqrt(own_v) * m[M_TIME], m[M_PATH])
    out[14] = largest_share(c)
    out[15] = over(sqrt(own_v), rms_v)
    out[16] = over(sqrt(own_f), rms_f)
    out[17] = over(mass * acceleration, rms_f)
    for i in range(4):
        out[18 + i] = over(m[M_LAGGED + i] - lag_mean, m[M_TIME] * vv)
    # damping of the force (N.s/m, over the mass: 1/s): its slope on velocity where that on position is taken out
    out[22] = over(fv * xx - fx * xv, mass * (vv * xx - xv * xv))


cdef inline void motion_features(MotionWindow *w, double mass, double *out) noexcept nogil:
    """Compute the features of the last 60, 120 and 480 ms, as far as they are there."""
    cdef double sum[MOMENTS]
    cdef const double *m
    cdef double t, recent = 0
    cdef int k, i
    cdef int64_t at = w.head
    memset(sum, 0, sizeof(sum))
    for k in range(1, MOTION_BLOCKS + 1):
        if k <= w.filled:
            m = w.block[at].moment
            # the times of this block count back from the end of the newest one
            t = sum[M_TIME] + m[M_TIME]
            for i in range(3):
                sum[M_WHEN_POSITION + i] -= t * m[M_POSITION + i]
                sum[M_WHEN_FORCE + i] -= t * m[M_FORCE + i]
            sum[M_WHEN_WHEN] += t * (t * m[M_TIME] - 2 * m[M_WHEN])
            sum[M_WHEN] -= t * m[M_TIME]
            for i in range(MOMENTS):
                sum[i] += m[i]
            at = at - 1 if at > 0 else MOTION_BLOCKS - 1
        if k == 3 or k == 6 or k == 24:
            if k == 6:
                window_features(sum, recent, mass, out)
            recent = sum[M_SPEEDS] + sum[M_SPEEDS + 1] + sum[M_SPEEDS + 2]
        elif k == 12:
            window_features(sum, recent, mass, out + FEATURES_OF_WINDOW)
        elif k == 48:
            window_features(sum, recent, mass, out + 2 * FEATURES_OF_WINDOW)


cdef inline void motion_shares(MotionWindow *w, double *share) noexcept nogil:
    """Compute the share of each axis in rms force times rms velocity of the last 120 ms, both without their means."""
    cdef double time = 0, all = 0
    cdef double sum[MOMENTS]
    cdef const double *m
    cdef int64_t at = w.head
    cdef int i, _k
    memset(sum, 0, sizeof(sum))
    for _k in range(SHARE_BLOCKS if w.filled > SHARE_BLOCKS else <int>w.filled):
        m = w.block[at].moment
        for i in range(MOMENTS):
            sum[i] += m[i]
        at = at - 1 if at > 0 else MOTION_BLOCKS - 1
    time = sum[M_TIME]
    for i in range(3):
        share[i] = (sum[M_SPEEDS + i] - over(sum[M_SPEED + i] * sum[M_SPEED + i], time)) * (
            sum[M_FORCES + i] - over(sum[M_FORCE + i] * sum[M_FORCE + i], time))
        share[i] = sqrt(share[i]) if share[i] > 0 else 0
        all += share[i]
    for i in range(3):
        share[i] = over(share[i], all)
