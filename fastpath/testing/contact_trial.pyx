"""Simulate a held device in three axes under the force laws of clients, with the tick's plant, hand and filter, without Python.

It calls the same inline functions as the tick, in its order: measured position and speed, commands of clients as they arrive,
springs of held positions, clamp, filter (or a reference in its place), bubble, slew limit. What a run shows are means over 1 ms.
Metres, newtons, seconds, watts.
"""

from libc.math cimport floor, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from fastpath.layout.arena cimport DeviceParams, DeviceState, Record
from fastpath.layout.constants cimport HAND_HOLD, HAND_NONE
from fastpath.layout.force cimport Chain, ForceChanges, MotionWindow, OscillationParams, OscillationRate, Rendering, SetPoint
from fastpath.layout.navigation cimport NAVIGATION_BUBBLE, SOLID_SPHERE, Navigator
from fastpath.layout.simulation cimport HandParams, PlantParams, PlantState
from fastpath.mechanisms.pose cimport Pose
from fastpath.navigation.bubble cimport bubble_step
from fastpath.plant.plant cimport SUBSTEP_RATE, hand_substep, low_pass_share, plant_substep, random_next
from fastpath.space.spatial cimport view_identity
from fastpath.testing.force_laws cimport LAW_HELD, LAW_TARGET, Law, Scene, is_driven, law_force, law_target
from fastpath.tick.force_chain cimport chain_begin, filter_and_gate, limit_step
from fastpath.tick.force_maps cimport clamp_norm
from fastpath.tick.measurement cimport VELOCITY_CUTOFF_HZ
from fastpath.tick.motion_window cimport FEATURES, motion_begin, motion_features, motion_hold, motion_step
from fastpath.tick.oscillation cimport oscillation_rate
from fastpath.tick.oscillation_defaults cimport oscillation_defaults
from fastpath.tick.oscillation_judge cimport oscillation_score
from fastpath.tick.rendering cimport follow_lag, most_damping
from fastpath.tick.set_points cimport set_point, set_point_now

LAW = np.dtype([
    ("kind", "i8"), ("form", "i8"), ("client", "i8"), ("scene", "i8"), ("normal", "f8", 3), ("at", "f8", 3),
    ("swing", "f8", 3), ("drift", "f8", 3), ("swing_hz", "f8"), ("swing_phase", "f8"), ("stiffness", "f8"),
    ("damping", "f8"), ("amplitude", "f8"), ("size", "f8"), ("frequency", "f8"), ("phase", "f8"), ("rate", "f8"),
    ("seconds", "f8"), ("share", "f8"), ("second", "f8"), ("mass", "f8"), ("begin", "f8"), ("end", "f8"), ("memory", "f8", 8),
], align=True)

CONTACT = np.dtype([
    ("x", "f8", 3), ("v", "f8", 3), ("position", "f8", 3), ("speed", "f8", 3), ("command", "f8", 3), ("asked", "f8", 3),
    ("output", "f8", 3), ("force", "f8", 3), ("hand", "f8", 3), ("fed", "f8"), ("excess", "f8"), ("given", "f8"),
    ("severity", "f8"), ("stage", "f8"), ("entries", "f8"),
], align=True)

MODES = {"free": 0, "filter": 1, "passivity": 2, "brake": 3}
KINDS = {
    "wall": 0, "spring": 1, "periodic": 2, "vibration": 3, "pulses": 4, "transient": 5, "viscous": 6, "friction": 7, "mass": 8,
    "ball": 9, "snap": 10, "button": 11, "held": 12, "target": 13, "string": 14, "step": 15,
}
# the client of laws that the loop, or a module in it, computes in each tick
LOOP = 2
# samples, points of paths and grips in 1 s
FEATURE_COUNT = FEATURES
SAMPLE_RATE = 1000

cdef enum:
    MODE_FREE = 0
    MODE_FILTER = 1
    MODE_PASSIVITY = 2
    MODE_BRAKE = 3
    WIRE_CLIENTS = 2
    MOST_LAWS = 12
    MOST_HANDS = 2
    QUEUE = 512
    MOST_LATENCY = 8
    # Hz of samples, as SAMPLE_RATE
    MEANS_HZ = 1000
    FRESH_NS = 50000000

cdef struct Sample:
    double x[3]
    double v[3]
    double position[3]
    double speed[3]
    double command[3]
    # N, the command as clamp and slew limit let it pass, and what went out
    double asked[3]
    double output[3]
    double force[3]
    double hand[3]
    # W: of the motors' force, what of it the laws without sampling and delay would not give, and of the hands
    double fed
    double excess
    double given
    double severity
    double stage
    double entries

cdef struct Order:
    # one command on its way: when it arrives (s), what answers to the motion and what is played (N), set-point (m)
    double arrival
    double feedback[3]
    double driven[3]
    double target[3]

cdef struct Client:
    # s: time between two commands, way of one of them; share by which both vary
    double period
    double delay
    double jitter
    double next
    double last
    long head
    long waiting
    bint targets
    Scene scene
    Order held
    Order queue[QUEUE]

cdef struct Reference:
    # J that came out of the rendered force, s at rest since; measured position and order of the last tick
    double energy
    double calm
    double before[3]
    double order[3]

cdef struct Trial:
    PlantParams plant
    HandParams hand[MOST_HANDS]
    double dt
    double encoder_step
    double peak
    double slew
    int hands
    int laws
    int mode
    int latency
    int noise
    bint bubble
    Law law[MOST_LAWS]
    Client client[3]
    SetPoint position
    uint64_t random
    Reference reference
    OscillationParams oscillation
    OscillationRate rate
    Chain chain
    ForceChanges changes
    Rendering rendering
    float *features
    long room
    long kept
    Pose pose
    Record record
    DeviceParams params
    DeviceState state
    Navigator navigator
    PlantState s
    # m, m/s: masses of further hands
    double hand_x[MOST_HANDS][3]
    double hand_v[MOST_HANDS][3]
    # N, orders of the last ticks, and what of them was played
    double sent[MOST_LATENCY][3]
    double played[MOST_LATENCY][3]
    double before[3]
    double slewed[3]
    double asked[3]


def contact_trial(
    device, hands, paths, grips, laws, clients, *, long frequency, double encoder_step, long latency=0, double peak=10,
    double slew=3000, mode="free", long noise=0, unsigned long long seed=1, bubble=None, float[:, ::1] features=None,
):
    """Return one sample of dtype CONTACT for each ms: means over it; severity, stage and entries of the filter at its end.

    `device`: kg, N.s/m, N; each of at most two `hands`: kg and N/m, N.s/m of grip and arm. `paths`: the hands' intended positions
    (m) at each ms, hands x (samples + 1) x 3; `grips` (hands x samples) scales stiffness and damping of their grip. `laws`: rows of
    dtype LAW; `clients`: period (s), delay (s), jitter (share) of at most two on the wire. `latency`: ticks from order to motor;
    `noise`: counts; `peak`: N; `slew`: N/s. `bubble`: radius, width (m), speed (m/s), or None.
    `features`: a row for each 10 ms that is filled with what the filter would decide on, in mode "free". ValueError.
    """
    if features is not None and features.shape[1] != FEATURES:
        raise ValueError(f"give features rows of {FEATURES} numbers")
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} is unknown: use one of {', '.join(MODES)}")
    cdef double[:, :, ::1] wanted = np.ascontiguousarray(paths, dtype=np.float64)
    cdef double[:, ::1] grip = np.ascontiguousarray(grips, dtype=np.float64)
    cdef long count = wanted.shape[1] - 1
    rows = np.ascontiguousarray(laws, dtype=LAW)
    if not (len(hands) <= MOST_HANDS and wanted.shape[0] >= max(1, len(hands)) and wanted.shape[2] == 3 and count >= 1):
        raise ValueError("give at most two hands, and for each a path of three axes with one point more than samples")
    if len(hands) and (grip.shape[0] < len(hands) or grip.shape[1] < count):
        raise ValueError("give each hand a grip for each sample")
    if not (MEANS_HZ <= frequency <= 32000 and frequency % MEANS_HZ == 0):
        raise ValueError("give a loop of 1000 to 32000 Hz, a multiple of 1000")
    if not (encoder_step > 0 and 0 <= latency < MOST_LATENCY):
        raise ValueError(f"give an encoder step above 0 m and a latency of 0 to {MOST_LATENCY - 1} ticks")
    if len(rows) > MOST_LAWS or len(clients) > WIRE_CLIENTS:
        raise ValueError(f"give at most {MOST_LAWS} laws and {WIRE_CLIENTS} clients on the wire")
    if not all(row["client"] == LOOP or 0 <= row["client"] < len(clients) for row in rows):
        raise ValueError(f"give each law a client of this trial, or {LOOP} for the loop")
    out = np.empty(count, dtype=CONTACT)
    cdef Sample[::1] samples = out
    cdef Trial *t = <Trial *>malloc(sizeof(Trial))
    cdef Law[::1] given
    cdef int i
    if t == NULL:
        raise MemoryError
    try:
        memset(t, 0, sizeof(Trial))
        t.plant.mass, t.plant.viscous, t.plant.coulomb = device
        for i in range(3):
            t.plant.low[i] = -1e3
            t.plant.high[i] = 1e3
        t.hand[0].path = HAND_NONE
        for i in range(len(hands)):
            h = hands[i]
            t.hand[i].mass, t.hand[i].grip_stiffness, t.hand[i].grip_damping, t.hand[i].arm_stiffness, t.hand[i].arm_damping = h
            t.hand[i].path = HAND_HOLD
        t.hands = len(hands)
        t.dt = 1.0 / frequency
        t.encoder_step = encoder_step
        t.peak = peak
        t.slew = slew
        t.latency = <int>latency
        t.noise = <int>noise
        t.mode = MODES[mode]
        t.random = (seed + 1) * <uint64_t>0x9E3779B97F4A7C15 | 1
        t.laws = len(rows)
        if t.laws:
            given = rows
            memcpy(t.law, &given[0], t.laws * sizeof(Law))
        for i in range(3):
            t.client[i].scene.random = t.random + 0x1234567 * (i + 1)
            t.client[i].period = t.dt
        for i in range(len(clients)):
            t.client[i].period, t.client[i].delay, t.client[i].jitter = clients[i]
            t.client[i].period = max(t.client[i].period, t.dt)
        t.params.plant.mass = t.plant.mass
        t.params.peak_force = peak
        t.params.encoder_step = encoder_step
        follow_lag(&t.rendering, 0, t.dt)
        if features is not None:
            t.features = &features[0, 0]
            t.room = features.shape[0]
        if bubble is not None:
            t.bubble = True
            start_bubble(t, bubble[0], bubble[1], bubble[2])
        with nogil:
            run(t, &wanted[0, 0, 0], &grip[0, 0] if t.hands else NULL, wanted.shape[1], grip.shape[1], &samples[0], count)
    finally:
        free(t)
    return out


def window_features(force, velocity, position, *, double dt, double mass):
    """Return the features of a motion, a row for each 10 ms: force (N), velocity (m/s), position (m) of each tick of dt s; kg."""
    cdef double[:, ::1] f = np.ascontiguousarray(force, dtype=np.float64)
    cdef double[:, ::1] v = np.ascontiguousarray(velocity, dtype=np.float64)
    cdef double[:, ::1] x = np.ascontiguousarray(position, dtype=np.float64)
    cdef double found[FEATURES]
    cdef MotionWindow window
    cdef long k
    rows = []
    memset(&window, 0, sizeof(window))
    motion_begin(&window)
    for k in range(min(f.shape[0], v.shape[0], x.shape[0])):
        if motion_step(&window, &v[k, 0], &x[k, 0], dt):
            motion_features(&window, mass, found)
            rows.append([found[i] for i in range(FEATURES)])
        motion_hold(&window, &f[k, 0])
    return np.array(rows).reshape(-1, FEATURES)


def window_score(features):
    """Return the logarithm of the odds of an oscillation that the shipped trees give a row of features."""
    cdef double[::1] row = np.ascontiguousarray(features, dtype=np.float64)
    if row.shape[0] != FEATURES:
        raise ValueError(f"give {FEATURES} features")
    return oscillation_score(&row[0])


def law_forces(laws, path, *, double dt, unsigned long long seed=1):
    """Return the force (N) of one client's laws, rows of dtype LAW, at each point (m) of a path that is walked in steps of dt s."""
    cdef double[:, ::1] points = np.ascontiguousarray(path, dtype=np.float64)
    cdef Law[::1] rows = np.array(laws, dtype=LAW).reshape(-1)
    cdef Scene scene
    cdef double v[3]
    cdef double force[3]
    cdef long k
    cdef int i, j
    memset(&scene, 0, sizeof(Scene)); memset(v, 0, sizeof(v))
    scene.random = seed
    out = np.zeros((points.shape[0], 3))
    cdef double[:, ::1] forces = out
    for k in range(points.shape[0]):
        for i in range(3):
            v[i] = (points[k, i] - points[max(k - 1, 0), i]) / dt
        scene.load = 0
        for j in range(rows.shape[0]):
            law_force(&rows[j], &points[k, 0], v, k * dt, dt, True, &scene, force)
            for i in range(3):
                forces[k, i] += force[i]
    return out


cdef void start_bubble(Trial *t, double radius, double width, double speed) noexcept nogil:
    """Fill in the record of a session whose bubble is a sphere about 0, with the defaults of `fastpath.navigation.values.Bubble`."""
    t.record.navigation.mode = NAVIGATION_BUBBLE
    t.record.navigation.revision = 1
    t.record.navigation.placed = 1
    t.record.navigation.shape.solid = SOLID_SPHERE
    t.record.navigation.shape.radius[0] = radius
    t.record.navigation.width = width
    t.record.navigation.speed = speed
    t.record.navigation.exponent = 3
    t.record.navigation.smoothing = 0.05
    t.record.navigation.stiffness = 80
    t.record.navigation.wall_stiffness = 600
    t.record.navigation.damping = 2
    t.record.navigation.dead_damping = 0.5
    t.record.navigation.collides = 1
    t.record.navigation.threshold = 0.5
    t.record.navigation.release = 0.3
    t.record.navigation.full_stop = 2
    t.record.navigation.hysteresis = 0.001
    view_identity(&t.record.view)


cdef void compute(Trial *t, int index, double now, Order *order) noexcept nogil:
    """Compute a client's command (N, m) from the position and velocity that it has; its objects move on."""
    cdef Client *c = &t.client[index]
    cdef double *x = t.state.position
    cdef double *v = t.state.velocity
    cdef double force[3]
    cdef double moved[3]
    cdef double *sum
    cdef Law *l
    cdef int k, i
    memset(order.feedback, 0, sizeof(order.feedback)); memset(order.driven, 0, sizeof(order.driven))
    c.scene.load = 0
    for i in range(3):
        moved[i] = x[i] + t.navigator.now.offset[i]
    for k in range(t.laws):
        l = &t.law[k]
        if l.client != index:
            continue
        if l.kind == LAW_TARGET:
            law_target(l, x, now, order.target)
            c.targets = True
            continue
        law_force(l, &moved[0] if l.scene else x, v, now, now - c.last if now > c.last else c.period, True, &c.scene, force)
        sum = &order.driven[0] if is_driven(l) else &order.feedback[0]
        for i in range(3):
            sum[i] += force[i]
    c.last = now


cdef void send(Trial *t, int index, double now) noexcept nogil:
    """Let a client on the wire compute when its time has come, and take what has arrived from it."""
    cdef Client *c = &t.client[index]
    cdef Order *order
    cdef double late
    while c.next <= now + 1e-12:
        if c.waiting < QUEUE:
            order = &c.queue[(c.head + c.waiting) % QUEUE]
            compute(t, index, now, order)
            late = c.delay * (1 + c.jitter * uneven(&t.random))
            order.arrival = now + max(late, t.dt)
            if c.waiting > 0:
                order.arrival = max(order.arrival, c.queue[(c.head + c.waiting - 1) % QUEUE].arrival)
            c.waiting += 1
        c.next += max(t.dt, c.period * (1 + 0.5 * c.jitter * uneven(&t.random)))
        if c.next <= now:
            c.next = now + 0.5 * t.dt
    while c.waiting > 0 and c.queue[c.head].arrival <= now + 1e-9:
        c.held = c.queue[c.head]
        c.head = (c.head + 1) % QUEUE
        c.waiting -= 1
        if c.targets:
            set_point(&t.position, c.held.target, <int64_t>(1e9 * c.held.arrival), <int64_t>(1e9 * now), FRESH_NS)


cdef inline double uneven(uint64_t *state) noexcept nogil:
    """Draw a number of -1 to 1."""
    return 2 * ((random_next(state) >> 11) * (1.0 / 9007199254740992.0)) - 1


cdef void ideal_force(Trial *t, double now, double *out) noexcept nogil:
    """Compute what the laws that answer to the motion would do without sampling, delay and encoder (N, not clamped)."""
    cdef double *x = t.s.x
    cdef double *v = t.s.v
    cdef Scene scene
    cdef Law *l
    cdef double force[3]
    cdef double moved[3]
    cdef double target[3]
    cdef int k, i, index
    memcpy(target, t.position.now, sizeof(target))
    for i in range(3):
        out[i] = 0
        moved[i] = x[i] + t.navigator.now.offset[i]
    for k in range(t.laws):
        if t.law[k].kind == LAW_TARGET and t.law[k].share > 0:
            law_target(&t.law[k], x, now, target)
    for index in range(3):
        scene = t.client[index].scene
        scene.load = 0
        memcpy(scene.target, target, sizeof(target))
        for k in range(t.laws):
            l = &t.law[k]
            if l.client == index and not is_driven(l) and (l.kind != LAW_HELD or t.position.held):
                law_force(l, &moved[0] if l.scene else x, v, now, 0, False, &scene, force)
                for i in range(3):
                    out[i] += force[i]


cdef void passivity(Trial *t, double *force) noexcept nogil:
    """Time-domain passivity controller (Hannaford and Ryu 2002) over three axes: damp while the rendered force has given energy out.

    Energy of a step is the held force times the way of the encoders; damping is at most 20 N.s/m and a quarter of what the sampled
    mass bears; the sum begins again after 50 ms without force.
    """
    cdef Reference *r = &t.reference
    cdef const double *speed = t.state.velocity
    cdef double square = 0, size = 0, damping
    cdef int i
    for i in range(3):
        r.energy += r.order[i] * (t.state.position[i] - r.before[i])
        square += speed[i] * speed[i]
        size += force[i] * force[i]
    r.calm = r.calm + t.dt if size < 0.05 * 0.05 else 0
    if r.calm > 0.05:
        r.energy = 0
    if r.energy > 0 and square > 0:
        damping = min(r.energy / (t.dt * square), min(20.0, 0.25 * t.plant.mass / t.dt))
        for i in range(3):
            force[i] -= damping * speed[i]


cdef void brake(Trial *t, double *force) noexcept nogil:
    """Velocity brake: damping that grows from 0 at 50 mm/s to its limit (that of `passivity`) at 150 mm/s, while there is force."""
    cdef const double *speed = t.state.velocity
    cdef double along = sqrt(speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2])
    cdef double size = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    cdef double share = min(1.0, max(0.0, (along - 0.05) / 0.1)), damping = min(20.0, 0.25 * t.plant.mass / t.dt)
    cdef int i
    if size > 0.05:
        for i in range(3):
            force[i] -= share * damping * speed[i]


cdef double ideal_work(Trial *t, const double *begin, const double *end, const double *driven, const double *way) noexcept nogil:
    """Return the work (J) on a way (m) of the mean of two ideal forces (N) with a played one, each clamped."""
    cdef double first[3]
    cdef double last[3]
    cdef double work = 0
    cdef int i
    for i in range(3):
        first[i] = begin[i] + driven[i]
        last[i] = end[i] + driven[i]
    clamp_norm(first, t.peak)
    clamp_norm(last, t.peak)
    for i in range(3):
        work += 0.5 * (first[i] + last[i]) * way[i]
    return work


cdef void measure(Trial *t) noexcept nogil:
    """Take the position as encoders give it, and the low-passed speed from it, into the device's state."""
    cdef double share = low_pass_share(VELOCITY_CUTOFF_HZ, t.dt), x
    cdef int i
    for i in range(3):
        x = floor(t.s.x[i] / t.encoder_step) * t.encoder_step
        if t.noise > 0:
            x += t.encoder_step * <double>(random_next(&t.random) % <uint64_t>(t.noise + 1))
        t.state.velocity[i] += share * ((x - t.before[i]) / t.dt - t.state.velocity[i])
        t.state.position[i] = x
        t.before[i] = x


cdef void clients_turn(Trial *t, double now, double *command) noexcept nogil:
    """Let every client compute that is due, and sum what the device has been sent by them (N), clamped."""
    cdef Client *c = &t.client[2]
    cdef int i, j
    for i in range(WIRE_CLIENTS):
        send(t, i, now)
    set_point_now(&t.position, <int64_t>(1e9 * now), 0, 0, t.dt)
    memcpy(c.scene.target, &t.position.now[0] if t.position.held else &t.state.position[0], sizeof(c.scene.target))
    compute(t, 2, now, &c.held)
    for i in range(3):
        command[i] = 0
        for j in range(3):
            command[i] += t.client[j].held.feedback[i] + t.client[j].held.driven[i]
    clamp_norm(command, t.peak)


cdef void keep_features(Trial *t) noexcept nogil:
    """Write a row of features, while there is room."""
    cdef double found[FEATURES]
    cdef int i
    if t.kept >= t.room:
        return
    motion_features(&t.chain.motion, t.params.plant.mass, found)
    for i in range(FEATURES):
        t.features[t.kept * FEATURES + i] = <float>found[i]
    t.kept += 1


cdef void render(Trial *t, double *command, double *ideal, double *order) noexcept nogil:
    """Turn the command (N) into the motors' order as the mode has it; the bubble's push is added to all three."""
    cdef double no_torque[3]
    cdef double nothing[3]
    cdef double scene[3]
    cdef double asked[3]
    cdef double pushed[3]
    cdef double bears[3]
    cdef int i
    memset(no_torque, 0, sizeof(no_torque)); memset(nothing, 0, sizeof(nothing))
    memcpy(scene, command, sizeof(scene))
    for i in range(3):
        bears[i] = most_damping(&t.rendering, t.params.plant.mass)
    if t.bubble:
        bubble_step(&t.navigator, &t.record, &t.params, &t.state, scene, 1, t.dt, t.dt, most_damping(&t.rendering, t.params.plant.mass), pushed)
        for i in range(3):
            command[i] += pushed[i]
            ideal[i] += pushed[i]
        clamp_norm(command, t.peak)
    memcpy(order, command, sizeof(scene))
    if t.mode == MODE_FILTER:
        filter_and_gate(
            &t.chain, &t.oscillation, &t.rate, &t.params, &t.state, &t.pose, nothing, nothing, 1, bears, False, &t.changes, order, no_torque)
    elif t.mode == MODE_PASSIVITY:
        passivity(t, order)
    elif t.mode == MODE_BRAKE:
        brake(t, order)
    elif t.features != NULL:
        if motion_step(&t.chain.motion, t.state.velocity, t.state.position, t.dt):
            keep_features(t)
        motion_hold(&t.chain.motion, order)
    clamp_norm(order, t.peak)
    limit_step(t.slewed, order, t.slew * t.dt)
    memcpy(asked, command, sizeof(asked))
    limit_step(t.asked, asked, t.slew * t.dt)
    memcpy(t.reference.before, t.state.position, sizeof(t.reference.before))
    memcpy(t.reference.order, order, sizeof(t.reference.order))


cdef void advance(
    Trial *t, const double *force, const double *want, const double *want_v, const double *grips, long grip_stride, double *pulled,
) noexcept nogil:
    """Advance device and hands by a tick; `want` (m), `want_v` (m/s) of each hand; adds the mean of their force (N) to `pulled`."""
    cdef HandParams hand[MOST_HANDS]
    cdef double at[MOST_HANDS][3]
    cdef double pushed[3]
    cdef double pull, step
    cdef int substeps = <int>(t.dt * SUBSTEP_RATE + 0.999999), i, j, _step
    step = t.dt / substeps
    hand[0] = t.hand[0]
    for j in range(t.hands):
        hand[j] = t.hand[j]
        hand[j].grip_stiffness *= grips[j * grip_stride]
        hand[j].grip_damping *= grips[j * grip_stride]
        for i in range(3):
            at[j][i] = want[3 * j + i] + 0.5 * step * want_v[3 * j + i]
    for _step in range(substeps):
        for i in range(3):
            pushed[i] = force[i]
            for j in range(1, t.hands):
                pull = hand_substep(
                    &t.hand_x[j][i], &t.hand_v[j][i], &hand[j], at[j][i], want_v[3 * j + i], t.s.x[i] + 0.5 * step * t.s.v[i],
                    t.s.v[i], 0.5 * step, step / hand[j].mass)
                pushed[i] += pull
                pulled[i] += pull / substeps
                at[j][i] += step * want_v[3 * j + i]
        plant_substep(&t.s, &t.plant, &hand[0], at[0], want_v, pushed, 0, step)
        for i in range(3):
            at[0][i] += step * want_v[i]
            pulled[i] += t.s.hand_force[i] / substeps


cdef void start(Trial *t, const double *wanted, long stride) noexcept nogil:
    """Put device and hands where the paths begin, and the filter to free."""
    cdef int i, j
    oscillation_defaults(&t.oscillation)
    oscillation_rate(&t.rate, &t.oscillation, t.dt)
    chain_begin(&t.chain, &t.state)
    for i in range(3):
        t.s.x[i] = wanted[i]
        t.s.hand_x[i] = wanted[i]
        for j in range(t.hands):
            t.hand_x[j][i] = wanted[3 * j * stride + i]
        t.before[i] = floor(t.s.x[i] / t.encoder_step) * t.encoder_step
        t.reference.before[i] = t.before[i]


cdef void run(
    Trial *t, const double *wanted, const double *grips, long stride, long grip_stride, Sample *out, long count,
) noexcept nogil:
    cdef double want[MOST_HANDS * 3]
    cdef double want_v[MOST_HANDS * 3]
    cdef double command[3]
    cdef double order[3]
    cdef double force[3]
    cdef double ideal[3]
    cdef double ideal_before[3]
    cdef double driven[3]
    cdef double way[3]
    cdef double x[3]
    cdef double pulled[3]
    cdef int every = <int>(1 / (MEANS_HZ * t.dt) + 0.5), i, j, m
    cdef double now, share = 1.0 / every, mean = <double>MEANS_HZ, work = 0
    cdef long k, tick = 0
    cdef Sample *o
    start(t, wanted, stride)
    memset(driven, 0, sizeof(driven)); memset(way, 0, sizeof(way)); memset(ideal_before, 0, sizeof(ideal_before))
    memset(want, 0, sizeof(want)); memset(want_v, 0, sizeof(want_v))
    for k in range(count):
        o = &out[k]
        memset(o, 0, sizeof(Sample))
        for m in range(every):
            now = tick * t.dt
            measure(t)
            clients_turn(t, now, command)
            ideal_force(t, now, ideal)
            o.excess += mean * (work - ideal_work(t, ideal_before, ideal, driven, way))
            render(t, command, ideal, order)
            memcpy(t.sent[tick % MOST_LATENCY], order, sizeof(order))
            memcpy(force, t.sent[(tick + MOST_LATENCY - t.latency) % MOST_LATENCY], sizeof(force))
            for j in range(max(1, t.hands)):
                for i in range(3):
                    want_v[3 * j + i] = mean * (wanted[3 * (j * stride + k + 1) + i] - wanted[3 * (j * stride + k) + i])
                    want[3 * j + i] = wanted[3 * (j * stride + k) + i] + m * t.dt * want_v[3 * j + i]
            for i in range(3):
                t.played[tick % MOST_LATENCY][i] = (
                    t.client[0].held.driven[i] + t.client[1].held.driven[i] + t.client[2].held.driven[i])
            memcpy(driven, t.played[(tick + MOST_LATENCY - t.latency) % MOST_LATENCY], sizeof(driven))
            memcpy(x, t.s.x, sizeof(x)); memset(pulled, 0, sizeof(pulled))
            for i in range(3):
                o.x[i] += share * x[i]; o.v[i] += share * t.s.v[i]
                o.position[i] += share * t.state.position[i]; o.speed[i] += share * t.state.velocity[i]
                o.command[i] += share * command[i]; o.asked[i] += share * t.asked[i]
                o.output[i] += share * order[i]; o.force[i] += share * force[i]
            advance(t, force, want, want_v, grips + k if t.hands else NULL, grip_stride, pulled)
            work = 0
            for i in range(3):
                way[i] = t.s.x[i] - x[i]
                work += force[i] * way[i]
                ideal_before[i] = ideal[i]
                o.hand[i] += share * pulled[i]
                o.given += mean * pulled[i] * way[i]
            o.fed += mean * work
            tick += 1
        o.severity = t.state.severity
        o.stage = <double>t.state.oscillation_stage
        o.entries = <double>t.state.oscillations
