"""Force laws of simulated clients: walls, springs, textures, virtual objects, and forces that are played over time.

A law maps position and velocity to force, as a client would. What it answers to the motion is feedback; what it plays on its own
(vibration, pulses, transients after a contact) is driven. Metres, newtons, seconds, kilograms.
"""

from libc.math cimport M_PI, exp, floor, sin, sqrt
from libc.stdint cimport int64_t, uint64_t

from fastpath.plant.plant cimport low_pass_share, random_gauss

cdef enum LawKind:
    # one-sided spring and damper with friction along it
    LAW_WALL = 0
    # spring and damper about a point, or along `normal`, outside of a dead zone of `size`, at most `amplitude`
    LAW_SPRING = 1
    # force that is periodic in position: `form` 0 sine, 1 bumps, 2 detents; at most `amplitude`, or `share` of the wall's force
    LAW_PERIODIC = 2
    # played: `form` 0 sine, 1 square, 2 noise below `frequency`; bursts at `rate`
    LAW_VIBRATION = 3
    # played: half-sines of `seconds` at `rate`
    LAW_PULSES = 4
    # played at each contact with the plane: sine of `frequency` that decays with `seconds`
    LAW_TRANSIENT = 5
    LAW_VISCOUS = 6
    # elastic to the anchor that it drags along, at most `amplitude`, or `share` of the wall's force
    LAW_FRICTION = 7
    # a mass on a spring and damper; `second` N/m is the wall that it meets at the plane
    LAW_MASS = 8
    # a mass that falls along -`normal` and bounces on the device
    LAW_BALL = 9
    # attraction of a well of width `size`
    LAW_SNAP = 10
    # spring that gives way at `size` by `share`, and a bottom of `second` N/m
    LAW_BUTTON = 11
    # spring to the held position or, with a normal, along one joint's direction; in the loop only
    LAW_HELD = 12
    # set-point for LAW_HELD: a moving point, or with `share` the device's position moved out of the plane
    LAW_TARGET = 13
    # force towards the plane that ends beyond `size`: a string that is plucked
    LAW_STRING = 14
    # played: a constant force from `begin` to `end`, which comes and goes at once
    LAW_STEP = 15

cdef struct Law:
    int64_t kind
    int64_t form
    # which client computes it; the loop itself and modules in it are the last one
    int64_t client
    # 1: acts on the position in a scene that a bubble moves
    int64_t scene
    # unit direction (none: all zero), point of the plane or anchor, its motion: swing sin(2 pi swing_hz t + swing_phase) + drift t
    double normal[3]
    double at[3]
    double swing[3]
    double drift[3]
    double swing_hz
    double swing_phase
    double stiffness
    double damping
    double amplitude
    double size
    double frequency
    double phase
    double rate
    double seconds
    double share
    double second
    double mass
    # s: comes and goes within EASE_MS
    double begin
    double end
    double memory[8]

cdef struct Scene:
    # N that the last wall pushes with; the set-point of held positions; random numbers
    double load
    double target[3]
    uint64_t random

cdef enum:
    EASE_MS = 30
    OBJECT_STEPS = 8
    # mm/s over which friction on a wall reverses
    FRICTION_MM_S = 10


cdef inline double dot(const double *a, const double *b) noexcept nogil:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline bint has_direction(const Law *l) noexcept nogil:
    """Return whether the law acts along its normal only."""
    return l.normal[0] != 0 or l.normal[1] != 0 or l.normal[2] != 0


cdef inline bint is_driven(const Law *l) noexcept nogil:
    """Return whether the law is played over time and does not answer to the motion."""
    return l.kind == LAW_VIBRATION or l.kind == LAW_PULSES or l.kind == LAW_TRANSIENT or l.kind == LAW_STEP


cdef inline double presence(const Law *l, double t) noexcept nogil:
    """Return the share (0 to 1) with which a law acts at a time: eased in after `begin`, out after `end`; a `begin` of 0 and steps at once."""
    cdef double share = 1, ease = 1e-3 * EASE_MS
    if l.kind == LAW_STEP:
        return 1 if l.begin <= t < l.end else 0
    if l.begin > 0:
        share = (t - l.begin) / ease
    if t > l.end - ease:
        share = min(share, (l.end - t) / ease)
    return 0 if share < 0 else 1 if share > 1 else share


cdef inline void anchor(const Law *l, double t, double *at, double *at_v) noexcept nogil:
    """Compute the position (m) and velocity (m/s) of the law's plane or point."""
    cdef double phase = 2 * M_PI * l.swing_hz * t + l.swing_phase
    cdef double along = sin(phase), rate = 2 * M_PI * l.swing_hz * sin(phase + 0.5 * M_PI)
    cdef int i
    for i in range(3):
        at[i] = l.at[i] + l.swing[i] * along + l.drift[i] * t
        at_v[i] = l.swing[i] * rate + l.drift[i]


cdef inline double periodic(const Law *l, double s) noexcept nogil:
    """Return the force of a periodic field of amplitude 1 at a position s (m) along it."""
    cdef double u = s / l.size
    if l.form == 0:
        return sin(2 * M_PI * u)
    u -= floor(u + 0.5)
    if l.form == 1:
        # Gaussian bumps whose width is 0.12 of the period: they push away from their tops.
        return u / 0.12 * exp(0.5 * (1 - u * u / (0.12 * 0.12)))
    # A spring to the nearest notch, steep from one to the next.
    return -2 * u * min(1.0, (0.5 - abs(u)) / 0.05)


cdef inline double waveform(Law *l, double t, double dt, Scene *scene) noexcept nogil:
    """Return the value (about -1 to 1) of a played vibration at a time."""
    cdef double value, phase = 2 * M_PI * l.frequency * t + l.phase, share
    if l.rate > 0 and l.rate * t - floor(l.rate * t) > l.share:
        return 0
    if l.form == 2:
        share = low_pass_share(l.frequency, dt)
        l.memory[0] += share * (random_gauss(&scene.random) - l.memory[0])
        return 0.5 * l.memory[0] * sqrt((2 - share) / share)
    value = sin(phase)
    return value if l.form == 0 else 1 if value > 0 else -1


cdef inline double played(Law *l, double depth, double speed, double t, double dt, Scene *scene) noexcept nogil:
    """Return the force (N) that a driven law plays; `depth` (m) behind its plane and `speed` (m/s) into it start a transient."""
    cdef double since
    if l.kind == LAW_VIBRATION:
        return l.amplitude * waveform(l, t, dt, scene)
    if l.kind == LAW_STEP:
        return l.amplitude
    if l.kind == LAW_PULSES:
        since = t - floor(t * l.rate) / l.rate
        return l.amplitude * sin(M_PI * since / l.seconds) if since < l.seconds else 0
    if depth > 0 and l.memory[0] == 0:
        l.memory[0] = 1
        l.memory[1] = t
        l.memory[2] = min(1.0, 10 * abs(speed))
    elif depth < -l.size:
        l.memory[0] = 0
    since = t - l.memory[1]
    if l.memory[2] == 0 or since > 8 * l.seconds:
        return 0
    return l.amplitude * l.memory[2] * exp(-since / l.seconds) * sin(2 * M_PI * l.frequency * since)


cdef inline void friction(Law *l, const double *x, const double *v, bint advance, double limit, double *force) noexcept nogil:
    """Compute the force (N) of an anchor that sticks until the spring to it reaches `limit`, and is dragged along then."""
    cdef double apart[3]
    cdef double pull, along
    cdef int i
    for i in range(3):
        if l.memory[3] == 0:
            if advance:
                l.memory[i] = x[i]
            apart[i] = 0
        else:
            apart[i] = x[i] - l.memory[i]
    if advance:
        l.memory[3] = 1
    if has_direction(l):
        along = dot(apart, l.normal)
        for i in range(3):
            apart[i] -= along * l.normal[i]
    pull = l.stiffness * sqrt(dot(apart, apart))
    for i in range(3):
        if pull > limit and pull > 0:
            apart[i] *= limit / pull
        if advance:
            l.memory[i] = x[i] - apart[i]
        force[i] = -l.stiffness * apart[i] - l.damping * v[i]


cdef inline void coupled_mass(
    Law *l, const double *x, const double *v, const double *at, double dt, bint advance, double *force,
) noexcept nogil:
    """Compute the force (N) of a mass on a spring and damper, which may meet a wall; advance the mass by dt (s)."""
    cdef double step = dt / OBJECT_STEPS, depth
    cdef double pull[3]
    cdef double apart[3]
    cdef int i, _k
    if l.memory[6] == 0:
        for i in range(3):
            l.memory[i] = x[i]
            l.memory[3 + i] = 0
        l.memory[6] = 1
    for i in range(3):
        force[i] = l.stiffness * (l.memory[i] - x[i]) + l.damping * (l.memory[3 + i] - v[i])
    if not advance:
        return
    for _k in range(OBJECT_STEPS):
        for i in range(3):
            apart[i] = at[i] - l.memory[i]
        depth = dot(apart, l.normal) if l.second > 0 else 0
        for i in range(3):
            pull[i] = l.stiffness * (x[i] - l.memory[i]) + l.damping * (v[i] - l.memory[3 + i])
            if depth > 0:
                pull[i] += l.second * depth * l.normal[i] - 0.2 * sqrt(l.second * l.mass) * l.memory[3 + i]
            l.memory[3 + i] += step * pull[i] / l.mass
            l.memory[i] += step * l.memory[3 + i]


cdef inline double bounced(Law *l, double s, double v, double dt, bint advance) noexcept nogil:
    """Return the force (N) of a ball on a device at s (m) along the normal; advance the ball by dt (s)."""
    cdef double step = dt / OBJECT_STEPS, depth, push
    cdef int _k
    if l.memory[2] == 0:
        l.memory[0] = s + l.size + 0.02
        l.memory[1] = 0
        l.memory[2] = 1
    depth = s + l.size - l.memory[0]
    push = max(0.0, l.stiffness * depth - l.damping * (l.memory[1] - v)) if depth > 0 else 0
    if advance:
        for _k in range(OBJECT_STEPS):
            depth = s + l.size - l.memory[0]
            push = max(0.0, l.stiffness * depth - l.damping * (l.memory[1] - v)) if depth > 0 else 0
            l.memory[1] += step * (push / l.mass - 9.80665 * l.share)
            l.memory[0] += step * l.memory[1]
        # A ball that the paddle has passed is put back on it.
        if l.memory[0] < s:
            l.memory[0] = s
    return -push


cdef inline double pressed(const Law *l, double depth, double speed) noexcept nogil:
    """Return the force (N) of a button pressed by `depth` (m) at `speed` (m/s)."""
    cdef double force, way = 0.2 * l.size
    if depth <= 0:
        return 0
    if depth < l.size:
        force = l.stiffness * depth
    elif depth < l.size + way:
        force = l.stiffness * l.size * (1 - l.share * (depth - l.size) / way)
    else:
        force = l.stiffness * l.size * (1 - l.share) + l.second * (depth - l.size - way)
    return max(0.0, force + l.damping * speed)


cdef inline void toward(const Law *l, const double *apart, const double *apart_v, double *force) noexcept nogil:
    """Compute spring and damper (N) against a way `apart` (m) from an anchor: in space, or along the normal; dead zone, limit."""
    cdef double reach, pull, along
    cdef int i
    if has_direction(l):
        along = dot(apart, l.normal)
        reach = abs(along)
        pull = l.stiffness * (reach - l.size) if reach > l.size else 0
        pull = -(pull if along > 0 else -pull) - (l.damping * dot(apart_v, l.normal) if reach >= l.size else 0)
        if l.amplitude > 0 and abs(pull) > l.amplitude:
            pull = l.amplitude if pull > 0 else -l.amplitude
        for i in range(3):
            force[i] = pull * l.normal[i]
        return
    reach = sqrt(dot(apart, apart))
    for i in range(3):
        force[i] = 0
        if reach >= l.size:
            force[i] = -l.damping * apart_v[i]
            if reach > 0:
                force[i] -= l.stiffness * (reach - l.size) * apart[i] / reach
    pull = sqrt(dot(force, force))
    if l.amplitude > 0 and pull > l.amplitude:
        for i in range(3):
            force[i] *= l.amplitude / pull


cdef inline void law_force(
    Law *l, const double *x, const double *v, double t, double dt, bint advance, Scene *scene, double *force,
) noexcept nogil:
    """Compute a law's force (N) at a position (m) and velocity (m/s); with `advance` its objects move on by dt (s)."""
    cdef double at[3]
    cdef double at_v[3]
    cdef double apart[3]
    cdef double apart_v[3]
    cdef double size, along, slip, share = presence(l, t)
    cdef int i
    for i in range(3):
        force[i] = 0
    if share == 0 or l.kind == LAW_TARGET:
        return
    anchor(l, t, at, at_v)
    if l.kind == LAW_HELD:
        for i in range(3):
            at[i] = scene.target[i]
            at_v[i] = 0
    for i in range(3):
        apart[i] = x[i] - at[i]
        apart_v[i] = v[i] - at_v[i]
    along = dot(apart, l.normal)
    size = 0
    if is_driven(l):
        size = played(l, -along, dot(apart_v, l.normal), t, dt, scene)
    elif l.kind == LAW_WALL:
        scene.load = 0
        if along < 0:
            size = max(0.0, -l.stiffness * along - l.damping * dot(apart_v, l.normal))
            scene.load = share * size
            if l.share > 0:
                slip = dot(apart_v, l.normal)
                for i in range(3):
                    force[i] = apart_v[i] - slip * l.normal[i]
                slip = sqrt(dot(force, force)) + 1e-3 * FRICTION_MM_S
                for i in range(3):
                    force[i] *= -l.share * size / slip
    elif l.kind == LAW_SPRING or l.kind == LAW_HELD:
        toward(l, apart, apart_v, force)
    elif l.kind == LAW_PERIODIC:
        size = (l.share * scene.load if l.share > 0 else l.amplitude) * periodic(l, along)
    elif l.kind == LAW_VISCOUS:
        size = -l.damping * dot(v, l.normal)
        if not has_direction(l):
            for i in range(3):
                force[i] = -l.damping * v[i]
    elif l.kind == LAW_FRICTION:
        friction(l, x, v, advance, l.share * scene.load if l.share > 0 else l.amplitude, force)
    elif l.kind == LAW_MASS:
        coupled_mass(l, x, v, at, dt, advance, force)
    elif l.kind == LAW_BALL:
        size = bounced(l, along, dot(v, l.normal), dt, advance)
    elif l.kind == LAW_SNAP:
        slip = sqrt(dot(apart, apart)) / l.size
        for i in range(3):
            force[i] = -l.amplitude * apart[i] / l.size * exp(0.5 * (1 - slip * slip))
    elif l.kind == LAW_BUTTON:
        size = pressed(l, -along, -dot(apart_v, l.normal))
    elif l.kind == LAW_STRING:
        if advance:
            if -along > l.size:
                l.memory[0] = 1
            elif along > 0:
                l.memory[0] = 0
        if along < 0 and l.memory[0] == 0:
            size = -l.stiffness * along
    for i in range(3):
        force[i] = share * (force[i] + size * l.normal[i])


cdef inline void law_target(const Law *l, const double *x, double t, double *target) noexcept nogil:
    """Compute the set-point (m) that a LAW_TARGET commands: its own point, or x moved out of the plane by `share` of its depth."""
    cdef double at[3]
    cdef double at_v[3]
    cdef double depth = 0
    cdef int i
    anchor(l, t, at, at_v)
    if l.share <= 0:
        for i in range(3):
            target[i] = at[i]
        return
    for i in range(3):
        depth += (at[i] - x[i]) * l.normal[i]
    for i in range(3):
        target[i] = x[i] + (l.share * depth * l.normal[i] if depth > 0 else 0)
