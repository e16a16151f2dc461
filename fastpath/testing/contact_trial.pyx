"""Simulate a held device in three axes under the force laws of clients, with the tick's plant, hand and filter, without Python.

It calls the same inline functions as the tick, in its order: measured position and speed, commands of clients as they arrive,
springs of held positions, clamp, filter (or a reference in its place), bubble, slew limit. Metres, newtons, seconds.
"""

from libc.math cimport floor, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from fastpath.layout.arena cimport DeviceParams, DeviceState, Record
from fastpath.layout.constants cimport HAND_HOLD, HAND_NONE
from fastpath.layout.force cimport OscillationAxis, OscillationParams, OscillationRate, SetPoint
from fastpath.layout.navigation cimport NAVIGATION_BUBBLE, SOLID_SPHERE, Navigator
from fastpath.layout.simulation cimport HandParams, PlantParams, PlantState
from fastpath.navigation.bubble cimport bubble_step
from fastpath.plant.plant cimport hand_substep, low_pass_share, plant_substep, random_next
from fastpath.space.spatial cimport view_identity
from fastpath.testing.force_laws cimport LAW_HELD, LAW_TARGET, Law, Scene, is_driven, law_force, law_target
from fastpath.tick.force_chain cimport limit_step
from fastpath.tick.force_maps cimport clamp_norm
from fastpath.tick.oscillation cimport oscillation_begin, oscillation_rate, oscillation_step
from fastpath.tick.oscillation_defaults cimport oscillation_defaults
from fastpath.tick.set_points cimport set_point, set_point_now

LAW = np.dtype([
    ("kind", "i8"), ("form", "i8"), ("client", "i8"), ("scene", "i8"), ("normal", "f8", 3), ("at", "f8", 3),
    ("swing", "f8", 3), ("drift", "f8", 3), ("swing_hz", "f8"), ("swing_phase", "f8"), ("stiffness", "f8"),
    ("damping", "f8"), ("amplitude", "f8"), ("size", "f8"), ("frequency", "f8"), ("phase", "f8"), ("rate", "f8"),
    ("seconds", "f8"), ("share", "f8"), ("second", "f8"), ("mass", "f8"), ("begin", "f8"), ("end", "f8"), ("memory", "f8", 8),
], align=True)

CONTACT = np.dtype([
    ("x", "f8", 3), ("v", "f8", 3), ("position", "f8", 3), ("speed", "f8", 3), ("command", "f8", 3), ("output", "f8", 3),
    ("force", "f8", 3), ("ideal", "f8", 3), ("hand", "f8", 3), ("gain", "f8", 3), ("power", "f8"), ("stage", "f8"),
    ("entries", "f8"),
], align=True)

MODES = {"free": 0, "filter": 1, "passivity": 2, "brake": 3}
KINDS = {
    "wall": 0, "spring": 1, "periodic": 2, "vibration": 3, "pulses": 4, "transient": 5, "viscous": 6, "friction": 7, "mass": 8,
    "ball": 9, "snap": 10, "button": 11, "held": 12, "target": 13, "string": 14,
}
# the client index of laws that the loop, or a module in it, computes in each tick
LOOP = 2

cdef enum:
    MODE_FREE = 0
    MODE_FILTER = 1
    MODE_PASSIVITY = 2
    MODE_BRAKE = 3
    WIRE_CLIENTS = 2
    MOST_LAWS = 12
    QUEUE = 512
    MOST_LATENCY = 8
    VELOCITY_CUTOFF_HZ = 100
    FRESH_NS = 50000000

cdef struct Sample:
    double x[3]
    double v[3]
    double position[3]
    double speed[3]
    double command[3]
    double output[3]
    double force[3]
    double ideal[3]
    double hand[3]
    double gain[3]
    double power
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
    HandParams hand[2]
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
    Record record
    DeviceParams params
    DeviceState state
    Navigator navigator


def contact_trial(
    device, hands, paths, grips, laws, clients, *, double frequency, double encoder_step, long latency=0, double peak=10,
    double slew=3000, mode="free", long noise=0, unsigned long long seed=1, bubble=None,
):
    """Return one sample of dtype CONTACT for each tick of `paths`, the hands' intended positions (m): hands x (ticks + 1) x 3.

    `device`: kg, N.s/m, N; each of the (at most two) `hands`: kg and N/m, N.s/m of grip and arm; `grips` (hands x ticks) scales
    its grip. `laws`: rows of dtype LAW; `clients`: period (s), delay (s), jitter (share) of at most two on the wire. `latency`:
    ticks from order to motor; `peak`: N; `slew`: N/s; `noise`: counts. `bubble`: radius, width (m), speed (m/s), or None. ValueError.
    """
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} is unknown: use one of {', '.join(MODES)}")
    cdef double[:, :, ::1] wanted = np.ascontiguousarray(paths, dtype=np.float64)
    cdef double[:, ::1] grip = np.ascontiguousarray(grips, dtype=np.float64)
    cdef long ticks = wanted.shape[1] - 1
    rows = np.ascontiguousarray(laws, dtype=LAW)
    if not (len(hands) <= 2 and wanted.shape[0] >= max(1, len(hands)) and wanted.shape[2] == 3 and ticks >= 1):
        raise ValueError("at most two hands, and for each a path of three axes with one more position than ticks are needed")
    if grip.shape[0] < len(hands) or (len(hands) and grip.shape[1] < ticks):
        raise ValueError("each hand needs a grip for each tick")
    if not (1 <= frequency <= 32000 and encoder_step > 0 and 0 <= latency < MOST_LATENCY):
        raise ValueError(f"a loop of 1 to 32000 Hz, an encoder step and a latency of 0 to {MOST_LATENCY - 1} ticks are needed")
    if len(rows) > MOST_LAWS or len(clients) > WIRE_CLIENTS:
        raise ValueError(f"at most {MOST_LAWS} laws and {WIRE_CLIENTS} clients on the wire are simulated")
    if len(rows) and not all(row["client"] == LOOP or row["client"] < len(clients) for row in rows):
        raise ValueError(f"each law needs a client of this trial, or {LOOP} for the loop")
    out = np.empty(ticks, dtype=CONTACT)
    cdef Sample[::1] samples = out
    cdef Trial *t = <Trial *>malloc(sizeof(Trial))
    if t == NULL:
        raise MemoryError
    cdef Law[::1] given
    cdef int i
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
        t.dt = 1 / frequency
        t.encoder_step = encoder_step
        t.peak = peak
        t.slew = slew
        t.latency = <int>latency
        t.noise = <int>noise
        t.mode = MODES[mode]
        t.random = seed * <uint64_t>0x9E3779B97F4A7C15 + 1
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
        if bubble is not None:
            t.bubble = True
            start_bubble(t, bubble[0], bubble[1], bubble[2])
        with nogil:
            run(t, &wanted[0, 0, 0], &grip[0, 0] if t.hands else NULL, wanted.shape[1], grip.shape[1], &samples[0], ticks)
    finally:
        free(t)
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
    t.params.plant.mass = t.plant.mass
    view_identity(&t.record.view)


cdef void compute(Trial *t, int index, const double *x, const double *v, const double *offset, double now, Order *order) noexcept nogil:
    """Compute a client's command (N, m) from the position and velocity that it has; its objects move on."""
    cdef Client *c = &t.client[index]
    cdef double force[3]
    cdef double moved[3]
    cdef double *sum
    cdef Law *l
    cdef int k, i
    memset(order.feedback, 0, sizeof(order.feedback)); memset(order.driven, 0, sizeof(order.driven))
    c.scene.load = 0
    for i in range(3):
        moved[i] = x[i] + offset[i]
    for k in range(t.laws):
        l = &t.law[k]
        if l.client != index:
            continue
        if l.kind == LAW_TARGET:
            law_target(l, x, now, order.target)
            c.targets = True
            continue
        law_force(l, moved if l.scene else x, v, now, now - c.last if now > c.last else c.period, True, &c.scene, force)
        sum = order.driven if is_driven(l) else order.feedback
        for i in range(3):
            sum[i] += force[i]
    c.last = now


cdef void send(Trial *t, int index, const double *x, const double *v, const double *offset, double now) noexcept nogil:
    """Let a client on the wire compute when its time has come, and take what has arrived from it."""
    cdef Client *c = &t.client[index]
    cdef Order *order
    cdef double late
    while c.next <= now + 1e-12:
        if c.waiting < QUEUE:
            order = &c.queue[(c.head + c.waiting) % QUEUE]
            compute(t, index, x, v, offset, now, order)
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


cdef void ideal_force(Trial *t, const double *offset, const double *x, const double *v, double now, double *out) noexcept nogil:
    """Compute what the laws would do without sampling, delay and encoder; forces played over time are taken as they are held."""
    cdef Scene scene
    cdef Law *l
    cdef double force[3]
    cdef double moved[3]
    cdef double target[3]
    cdef int k, i, index
    memcpy(target, t.position.now, sizeof(target))
    for i in range(3):
        out[i] = t.client[0].held.driven[i] + t.client[1].held.driven[i] + t.client[2].held.driven[i]
        moved[i] = x[i] + offset[i]
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
                law_force(l, moved if l.scene else x, v, now, 0, False, &scene, force)
                for i in range(3):
                    out[i] += force[i]
    clamp_norm(out, t.peak)


cdef void passivity(Trial *t, const double *position, const double *speed, double *force) noexcept nogil:
    """Time-domain passivity controller (Hannaford and Ryu 2002) over three axes: damp while the rendered force has given energy out.

    Energy of a step is the held force times the way of the encoders; damping is at most 20 N.s/m and a quarter of what the sampled
    mass bears; the sum begins again after 50 ms without force.
    """
    cdef Reference *r = &t.reference
    cdef double square = 0, size = 0, damping
    cdef int i
    for i in range(3):
        r.energy += r.order[i] * (position[i] - r.before[i])
        square += speed[i] * speed[i]
        size += force[i] * force[i]
    r.calm = r.calm + t.dt if size < 0.05 * 0.05 else 0
    if r.calm > 0.05:
        r.energy = 0
    if r.energy > 0 and square > 0:
        damping = min(r.energy / (t.dt * square), min(20.0, 0.25 * t.plant.mass / t.dt))
        for i in range(3):
            force[i] -= damping * speed[i]


cdef void brake(Trial *t, const double *speed, double *force) noexcept nogil:
    """Velocity brake: damping that grows from 0 at 50 mm/s to its limit (that of `passivity`) at 150 mm/s, while there is force."""
    cdef double along = sqrt(speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2])
    cdef double size = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    cdef double share = min(1.0, max(0.0, (along - 0.05) / 0.1)), damping = min(20.0, 0.25 * t.plant.mass / t.dt)
    cdef int i
    if size > 0.05:
        for i in range(3):
            force[i] -= share * damping * speed[i]


cdef void run(
    Trial *t, const double *wanted, const double *grips, long stride, long grip_stride, Sample *out, long ticks,
) noexcept nogil:
    cdef PlantState s
    cdef OscillationParams params
    cdef OscillationRate rate
    cdef OscillationAxis axis[3]
    cdef HandParams hand[2]
    cdef double other_x[3]
    cdef double other_v[3]
    cdef double sent[MOST_LATENCY][3]
    cdef double position[3]
    cdef double speed[3]
    cdef double before[3]
    cdef double command[3]
    cdef double order[3]
    cdef double force[3]
    cdef double pushed[3]
    cdef double want[3]
    cdef double want_v[3]
    cdef double want_2[3]
    cdef double want_v2[3]
    cdef double slewed[3]
    cdef double offset[3]
    cdef double scene[3]
    cdef double share = low_pass_share(VELOCITY_CUTOFF_HZ, t.dt), now, step, pull
    cdef int substeps = <int>(t.dt * 32000 + 0.999999), i, j, _step
    cdef long k
    cdef Sample *o
    memset(&s, 0, sizeof(PlantState)); memset(sent, 0, sizeof(sent)); memset(slewed, 0, sizeof(slewed))
    memset(offset, 0, sizeof(offset)); memset(speed, 0, sizeof(speed))
    memset(other_v, 0, sizeof(other_v))
    oscillation_defaults(&params)
    oscillation_rate(&rate, &params, t.dt)
    step = t.dt / substeps
    for i in range(3):
        oscillation_begin(&axis[i])
        s.x[i] = wanted[i]
        s.hand_x[i] = wanted[i]
        other_x[i] = wanted[3 * stride + i] if t.hands > 1 else 0
        before[i] = floor(s.x[i] / t.encoder_step) * t.encoder_step
        t.reference.before[i] = before[i]
    for k in range(ticks):
        o = &out[k]
        now = k * t.dt
        for i in range(3):
            position[i] = floor(s.x[i] / t.encoder_step) * t.encoder_step
            if t.noise > 0:
                position[i] += t.encoder_step * <double>(random_next(&t.random) % <uint64_t>(t.noise + 1))
            speed[i] += share * ((position[i] - before[i]) / t.dt - speed[i])
            before[i] = position[i]
        for i in range(WIRE_CLIENTS):
            send(t, i, position, speed, offset, now)
        set_point_now(&t.position, <int64_t>(1e9 * now), 0, t.dt)
        memcpy(t.client[2].scene.target, t.position.now, sizeof(t.position.now))
        loop_client(t, position, speed, offset, now)
        for i in range(3):
            command[i] = 0
            for j in range(3):
                command[i] += t.client[j].held.feedback[i] + t.client[j].held.driven[i]
            scene[i] = command[i]
        clamp_norm(command, t.peak)
        ideal_force(t, offset, s.x, s.v, now, o.ideal)
        o.power = 0; o.stage = 8; o.entries = 0
        for i in range(3):
            o.gain[i] = oscillation_step(&axis[i], &params, &rate, command[i], speed[i], position[i], t.encoder_step)
            order[i] = command[i] * o.gain[i] if t.mode == MODE_FILTER else command[i]
            if axis[i].since == 0 and axis[i].power > o.power:
                o.power = axis[i].power
            o.stage = min(o.stage, <double>axis[i].stage)
            o.entries += <double>axis[i].entries
        if t.mode == MODE_PASSIVITY:
            passivity(t, position, speed, order)
        elif t.mode == MODE_BRAKE:
            brake(t, speed, order)
        if t.bubble:
            memcpy(t.state.position, position, sizeof(position)); memcpy(t.state.velocity, speed, sizeof(speed))
            bubble_step(&t.navigator, &t.record, &t.params, &t.state, scene, 1, t.dt, pushed)
            for i in range(3):
                order[i] += pushed[i]
                command[i] += pushed[i]
                o.ideal[i] += pushed[i]
                offset[i] = t.navigator.now.offset[i]
        clamp_norm(order, t.peak)
        limit_step(slewed, order, t.slew * t.dt)
        memcpy(t.reference.before, position, sizeof(position)); memcpy(t.reference.order, order, sizeof(order))
        for i in range(3):
            sent[k % MOST_LATENCY][i] = order[i]
            force[i] = sent[(k + MOST_LATENCY - t.latency) % MOST_LATENCY][i]
            o.x[i] = s.x[i]; o.v[i] = s.v[i]; o.position[i] = position[i]; o.speed[i] = speed[i]
            o.command[i] = command[i]; o.output[i] = order[i]; o.force[i] = force[i]
            want[i] = wanted[3 * k + i]
            want_v[i] = (wanted[3 * k + 3 + i] - want[i]) / t.dt
            want[i] += 0.5 * step * want_v[i]
            o.hand[i] = 0
        for j in range(t.hands):
            hand[j] = t.hand[j]
            hand[j].grip_stiffness *= grips[j * grip_stride + k]
            hand[j].grip_damping *= grips[j * grip_stride + k]
        if t.hands == 0:
            hand[0] = t.hand[0]
        if t.hands > 1:
            for i in range(3):
                want_2[i] = wanted[3 * (stride + k) + i]
                want_v2[i] = (wanted[3 * (stride + k) + 3 + i] - want_2[i]) / t.dt
                want_2[i] += 0.5 * step * want_v2[i]
        for _step in range(substeps):
            for i in range(3):
                pushed[i] = force[i]
                if t.hands > 1:
                    pull = hand_substep(
                        &other_x[i], &other_v[i], &hand[1], want_2[i], want_v2[i], s.x[i] + 0.5 * step * s.v[i], s.v[i],
                        0.5 * step, step / hand[1].mass)
                    pushed[i] += pull
                    want_2[i] += step * want_v2[i]
                    o.hand[i] += pull / substeps
            plant_substep(&s, &t.plant, &hand[0], want, want_v, pushed, 0, step)
            for i in range(3):
                want[i] += step * want_v[i]
                o.hand[i] += s.hand_force[i] / substeps


cdef void loop_client(Trial *t, const double *position, const double *speed, const double *offset, double now) noexcept nogil:
    """Compute the laws of the loop and of modules in it, as each tick does."""
    cdef Client *c = &t.client[2]
    cdef int k
    if not t.position.held:
        for k in range(t.laws):
            if t.law[k].kind == LAW_HELD:
                memcpy(c.scene.target, position, sizeof(t.position.now))
    compute(t, 2, position, speed, offset, now, &c.held)
