"""Scenes that the loop renders: the forces of all fields of all sessions on one device.

Two passes: the first follows the hand with each proxy and adds up what is asked for, the second renders the share of it that the
device bears. Whatever a client adds, moves or takes away, the force of a scene changes at most at `STEP_RATE`, but with the hand's
own motion through a stiffness. Device frame, m, N, s; shifted by what a bubble has travelled. None allocates, locks, logs or knows Python.
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_load, hd_seq_put, hd_triple_front, hd_triple_take
from fastpath.layout.arena cimport Arena, DeviceParams, DeviceSlot, DeviceState, Record, RecordCell
from fastpath.layout.constants cimport MAX_DEVICES
from fastpath.layout.navigation cimport NAVIGATION_OFF
from fastpath.layout.scene cimport (
    FIELD_CONSTANT, FIELD_DAMPER, FIELD_SPRING, SCENE_FIELDS, Field, FieldMemory, Scene, SceneCell, SceneMemory, SceneShown,
)
from fastpath.scene.proxy cimport distance, follows, product
from fastpath.space.spatial cimport velocity_to_device
from fastpath.tick.rendering cimport MARGIN_PERCENT, bound_spring, least_damping, most_damping
from fastpath.tick.touch cimport touch_step

cdef extern from *:
    int lowest_field "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    # N/s: the force of a scene changes no faster than this, unless by the hand's own motion; by that as fast as STEP_PERCENT of it
    STEP_RATE = 3000
    STEP_PERCENT = 150
    # ms in which a scene fades and comes back, and in which a new field that is no surface comes in; longest way of a change
    GROW_MS = 100
    # a curl is at most the largest damping / this
    CURL_DIVISOR = 4
    # of the reach of an attraction, where its force begins to end
    INNER_PERCENT = 80
    # ms in which a share of what is asked for may rise from nothing
    SHARE_MS = 500


cdef struct Bearing:
    # what the device bears of all that is asked for: share of the stiffness and of the damping; damping (N.s/m) that is added for each N/m
    double share
    double damping_share
    double added
    # share of a curl, and the plain damping beside each N.s/m of it
    double curl_share
    double beside_curl


cdef inline SceneCell *scene_of(Arena *a, const Record *record, int session, int device) noexcept nogil:
    """Return a session's scene on a device if there is something to render, else NULL."""
    cdef SceneCell *cell
    cdef Scene *scene
    cdef double *force
    if record.scene == 0:
        return NULL
    cell = &a.scenes[record.scene - 1]
    hd_triple_take(&cell.cell)
    scene = <Scene *>hd_triple_front(&cell.cell, cell.buffers, sizeof(Scene))
    if (scene.session != <uint32_t>session or scene.device != <uint32_t>device or scene.session_generation != record.session_generation
            or scene.device_generation != record.device_generation):
        return NULL
    force = cell.memory.force
    if scene.used == 0 and force[0] == 0 and force[1] == 0 and force[2] == 0:
        cell.now.touched = 0
        return NULL
    return cell


cdef inline void begin_scene(SceneMemory *m, const Record *record, const double *x) noexcept nogil:
    """Forget what was: each field is met where the cursor is."""
    cdef int i
    m.session_generation = record.session_generation
    m.device_generation = record.device_generation
    m.way = 0
    m.fresh = 1
    m.revision = 0
    m.touching = 0
    for i in range(3):
        m.force[i] = 0
        m.position[i] = x[i]
    for i in range(SCENE_FIELDS):
        m.field[i].key = 0


cdef inline bint meet_surface(const Field *f, FieldMemory *fm, const double *x, double way) noexcept nogil:
    """Put a proxy at the cursor, or on the surface if that has appeared around it, and return which: it is then felt from where the cursor is."""
    cdef double normal[3]
    cdef double far = distance(f, x, normal)
    cdef int i
    fm.wake = way + far
    fm.touch.tick = 0
    for i in range(3):
        fm.proxy[i] = x[i] - (far * normal[i] if far < 0 else 0)
        fm.normal[i] = normal[i]
        fm.held[i] = 0
    fm.slides = 0
    return far < 0


cdef inline void enter_surface(FieldMemory *fm, const Record *record, const DeviceState *s, uint64_t tick) noexcept nogil:
    """Begin a touch that the hand itself has entered in this tick: all of its depth counts."""
    fm.touch.session_generation = record.session_generation
    fm.touch.device_generation = record.device_generation
    fm.touch.revision = fm.revision
    fm.touch.tick = tick - 1
    fm.touch.depth = 0
    fm.touch.yielded = 0
    fm.touch.stiffness = INFINITY
    fm.touch.damper = 0
    fm.touch.damper_limit = 0
    memcpy(fm.touch.normal, fm.normal, sizeof(fm.normal))
    memcpy(fm.touch.position, s.position, sizeof(fm.touch.position))
    fm.slides = 0
    memset(fm.held, 0, sizeof(fm.held))


cdef inline bint follow_surface(
    const Field *f, FieldMemory *fm, const SceneMemory *m, bint touching, const Record *record, const DeviceState *s, const double *x,
    uint64_t tick,
) noexcept nogil:
    """Advance the proxy of one surface by one tick, and return whether it is touched; `m.position` is still that of the last tick."""
    cdef double normal[3]
    cdef double far = 0
    cdef bint before
    cdef int i
    if fm.key != f.key or (fm.revision != f.revision and not touching):
        fm.key = f.key
        touching = meet_surface(f, fm, x, m.way)
    elif fm.revision != f.revision:
        far = distance(f, fm.proxy, normal)
        for i in range(3):
            fm.proxy[i] -= far * normal[i]
    elif not touching:
        if m.way < fm.wake:
            return False
        memcpy(fm.proxy, m.position, sizeof(fm.proxy))
    fm.revision = f.revision
    before = touching
    touching = follows(f, fm.proxy, before, x, normal, &far)
    if not touching:
        fm.wake = m.way + far
        return False
    for i in range(3):
        fm.normal[i] = fm.proxy[i] - x[i]
    fm.depth = sqrt(product(fm.normal, fm.normal))
    for i in range(3):
        fm.normal[i] = fm.normal[i] / fm.depth if fm.depth > 1e-9 else normal[i]
    if not before:
        enter_surface(fm, record, s, tick)
    return True


cdef inline void follow_scene(uint64_t tick, SceneCell *cell, const RecordCell *of, const Record *record, const DeviceState *s) noexcept nogil:
    """First pass: move the proxies of a scene, and add up what it asks for."""
    cdef SceneMemory *m = &cell.memory
    cdef const Scene *scene = <const Scene *>hd_triple_front(&cell.cell, cell.buffers, sizeof(Scene))
    cdef const Field *f
    cdef uint64_t bits, bit
    cdef double x[3]
    cdef double step[3]
    cdef int number, i
    # Where the cursor is in the space of the scene.
    memcpy(x, s.position, sizeof(step))
    if record.navigation.mode != NAVIGATION_OFF:
        velocity_to_device(&record.view, of.navigator.now.offset, step)
        for i in range(3):
            x[i] += step[i]
    if (m.tick + 1 != tick or m.session_generation != record.session_generation
            or m.device_generation != record.device_generation):
        begin_scene(m, record, x)
    for i in range(3):
        step[i] = x[i] - m.position[i]
    m.way += sqrt(product(step, step))
    m.stiffness = 0
    m.damping = 0
    m.curl = 0
    # What is far is looked at again when the hand's way could have led there.
    bits = m.touching
    if m.revision != scene.revision or m.way >= m.wake:
        bits = scene.surfaces
        m.wake = INFINITY
        m.touching &= bits
    m.revision = scene.revision
    while bits != 0:
        number = lowest_field(bits)
        bit = bits & (~bits + 1)
        bits ^= bit
        f = &scene.field[number]
        if follow_surface(f, &m.field[number], m, m.touching & bit != 0, record, s, x, tick):
            m.touching |= bit
            m.stiffness += f.stiffness
            m.damping += f.damping
        else:
            m.touching &= ~bit
            if m.field[number].wake < m.wake:
                m.wake = m.field[number].wake
    bits = scene.used & ~scene.surfaces
    while bits != 0:
        f = &scene.field[lowest_field(bits)]
        bits &= bits - 1
        m.stiffness += f.stiffness
        m.damping += f.damping
        m.curl += f.curl
    memcpy(m.position, x, sizeof(step))


cdef inline void bear(const DeviceState *s, double mass, double stiffness, double damping, double curl, Bearing *out) noexcept nogil:
    """Compute the share of what all scenes ask for together (N/m, N.s/m) that the device bears.

    A curl w that acts tv late takes w^2 tv / m of damping away: beside it goes that damping by the margin, and w is at most a part of `most_damping`.
    """
    cdef double borne = stiffness, least, sum, most
    out.share = 1
    out.damping_share = 1
    out.added = 0
    out.curl_share = 1
    out.beside_curl = 0
    if stiffness <= 0 and damping <= 0 and curl <= 0:
        return
    if curl > 0:
        most = most_damping(&s.rendering, mass) / CURL_DIVISOR
        if curl > most:
            out.curl_share = most / curl
        out.beside_curl = curl * out.curl_share * s.rendering.velocity_lag / (1e-2 * MARGIN_PERCENT * mass)
        damping += curl * out.curl_share * out.beside_curl
    if stiffness > 0:
        least = least_damping(&s.rendering, mass, stiffness)
        if damping < least:
            out.added = (least - damping) / stiffness
            damping = least
    sum = damping
    bound_spring(&s.rendering, mass, &borne, &damping)
    if stiffness > 0:
        out.share = borne / stiffness
    if sum > 0:
        out.damping_share = damping / sum


cdef inline void rub(
    const Field *f, FieldMemory *fm, const DeviceState *s, double push, double before, double damping, double *force,
) noexcept nogil:
    """Add the friction of a surface: a spring that holds the tangential way, and slips where it leaves the cone of the normal force `push` (N)."""
    cdef double stiffness = fm.touch.stiffness, along, length, most, size
    cdef double tangent[3]
    cdef int i
    if stiffness > before and stiffness > 0:
        for i in range(3):
            fm.held[i] *= before / stiffness
    for i in range(3):
        fm.held[i] += s.position[i] - fm.last[i]
    along = product(fm.held, fm.normal)
    for i in range(3):
        fm.held[i] -= along * fm.normal[i]
    length = sqrt(product(fm.held, fm.held))
    most = (f.friction_dynamic if fm.slides else f.friction_static) * push
    if stiffness * length > most:
        fm.slides = 1
        most = f.friction_dynamic * push
        for i in range(3):
            fm.held[i] *= most / (stiffness * length)
    elif fm.slides and stiffness * length < 0.99 * most:
        fm.slides = 0
        most = f.friction_static * push
    along = product(s.velocity, fm.normal)
    for i in range(3):
        tangent[i] = -stiffness * fm.held[i] - damping * (s.velocity[i] - along * fm.normal[i])
    size = sqrt(product(tangent, tangent))
    if size > most:
        for i in range(3):
            tangent[i] *= most / size
    for i in range(3):
        force[i] += tangent[i]


cdef inline void surface_force(
    const Field *f, FieldMemory *fm, const Record *record, const DeviceState *s, const Bearing *b, bint travels, double gain,
    double peak, double period, uint64_t tick, double *force,
) noexcept nogil:
    """Add the force of a touched surface (N)."""
    cdef double damping = b.damping_share * (f.damping + b.added * f.stiffness), before = fm.touch.stiffness, push
    cdef bint goes_on = fm.touch.tick + 1 == tick
    cdef int i
    push = touch_step(&fm.touch, record, s, f.revision, travels, fm.normal, fm.depth, f.stiffness, b.share, damping, gain, peak, period, tick)
    for i in range(3):
        force[i] += push * fm.normal[i]
    if f.friction_static > 0 or f.friction_dynamic > 0:
        if not goes_on or before == INFINITY:
            memcpy(fm.last, s.position, sizeof(fm.last))
            before = fm.touch.stiffness
        rub(f, fm, s, push, before, gain * damping, force)
        memcpy(fm.last, s.position, sizeof(fm.last))


cdef inline void spring_force(
    const Field *f, double share, double damping, const double *x, const double *velocity, double *force,
) noexcept nogil:
    """Compute a spring with a dead zone, and its damper; each has at most the largest force, and both end over the last part of its reach."""
    cdef double apart[3]
    cdef double speed[3]
    cdef double length, pull, size, fade
    cdef int i
    if f.turned:
        for i in range(3):
            force[i] = x[i] - f.place[i]
        for i in range(3):
            apart[i] = product(&f.matrix[3 * i], force)
            speed[i] = product(&f.matrix[3 * i], velocity)
    else:
        for i in range(3):
            apart[i] = x[i] - f.place[i]
            speed[i] = velocity[i]
    length = sqrt(product(apart, apart))
    memset(force, 0, sizeof(apart))
    if not length > f.dead_zone:
        return
    pull = share * f.stiffness * (length - f.dead_zone)
    if pull > f.largest:
        pull = f.largest
    if f.reach > 0 and length > 1e-2 * INNER_PERCENT * f.reach:
        fade = (f.reach - length) / ((1 - 1e-2 * INNER_PERCENT) * f.reach)
        if not fade > 0:
            return
        pull *= fade
        damping *= fade
    size = damping * damping * product(speed, speed)
    if size > f.largest * f.largest:
        damping *= f.largest / sqrt(size)
    for i in range(3):
        force[i] = -pull * apart[i] / length - damping * speed[i]


cdef inline void soft_force(
    const Field *f, FieldMemory *fm, const DeviceState *s, const Bearing *b, const double *x, double gain, int64_t now, double period,
    double *force,
) noexcept nogil:
    """Add the force of a field without a surface (N): new, it comes in within GROW_MS; changed, it goes over in the time between the last two changes."""
    cdef double raw[3]
    cdef double part, part_of_all
    cdef bint changed = False
    cdef int i
    if fm.key != f.key:
        fm.key = f.key
        fm.grown = 0
        fm.left = 0
        fm.share = b.share
        fm.changed_ns = now
        memset(fm.residual, 0, sizeof(fm.residual))
        memcpy(fm.matrix, f.matrix, sizeof(fm.matrix))
    elif fm.revision != f.revision:
        changed = True
        fm.left = 1e-9 * (now - fm.changed_ns)
        if fm.left > 1e-3 * GROW_MS:
            fm.left = 1e-3 * GROW_MS
        fm.changed_ns = now
    fm.revision = f.revision
    if fm.grown < 1:
        fm.grown += period / (1e-3 * GROW_MS)
        if fm.grown > 1:
            fm.grown = 1
    if fm.share != b.share:
        fm.share += period / (1e-3 * SHARE_MS)
        if fm.share > b.share:
            fm.share = b.share
    # What is left of the way to the newest values, after this tick.
    part = (fm.left - period) / fm.left if fm.left > period else 0
    if f.kind == FIELD_CONSTANT:
        memcpy(raw, f.place, sizeof(raw))
    elif f.kind == FIELD_SPRING:
        spring_force(f, fm.share, b.damping_share * (f.damping + b.added * f.stiffness), x, s.velocity, raw)
    else:
        if fm.left > 0:
            for i in range(9):
                fm.matrix[i] = f.matrix[i] + part * (fm.matrix[i] - f.matrix[i])
        part_of_all = b.damping_share * (b.curl_share if f.curl > 0 else 1)
        for i in range(3):
            raw[i] = -part_of_all * (product(&fm.matrix[3 * i], s.velocity) + b.beside_curl * f.curl * s.velocity[i])
    if fm.left > 0:
        if f.kind != FIELD_DAMPER:
            for i in range(3):
                if changed:
                    fm.residual[i] = fm.force[i] - raw[i]
                fm.residual[i] *= part
                raw[i] += fm.residual[i]
        fm.left -= period
        if fm.left < 0:
            fm.left = 0
    for i in range(3):
        fm.force[i] = raw[i]
        force[i] += gain * fm.grown * raw[i]


cdef inline void limit_step(SceneMemory *m, const DeviceState *s, double period, double *force) noexcept nogil:
    """Let the force of a scene (N) change by no more than its rate in this tick."""
    cdef double change[3]
    cdef double size, most = 1e-2 * STEP_PERCENT * m.stiffness * sqrt(product(s.velocity, s.velocity))
    cdef int i
    if most < STEP_RATE:
        most = STEP_RATE
    most *= period
    for i in range(3):
        change[i] = force[i] - m.force[i]
    size = product(change, change)
    if size > most * most:
        size = most / sqrt(size)
        for i in range(3):
            force[i] = m.force[i] + size * change[i]
    memcpy(m.force, force, sizeof(change))


cdef inline void render_scene(
    Arena *a, SceneCell *cell, const Record *record, const DeviceState *s, const Bearing *b, double peak, double duck, bint alive,
    int64_t now, double period, double *force,
) noexcept nogil:
    """Second pass: compute the force of a scene (N), and what frames show of it."""
    cdef SceneMemory *m = &cell.memory
    cdef SceneShown *shown = &cell.now
    cdef const Scene *scene = <const Scene *>hd_triple_front(&cell.cell, cell.buffers, sizeof(Scene))
    cdef FieldMemory *fm
    cdef uint64_t soft = scene.used & ~scene.surfaces, bits = m.touching, tick = a.state.ticks
    cdef double step = period / (1e-3 * GROW_MS), gain
    cdef bint travels = record.navigation.mode != NAVIGATION_OFF
    cdef int number, i
    # A scene that is new comes in by its fields.
    if m.fresh:
        m.gain = alive
        m.fresh = 0
    m.gain += step if alive else -step
    m.gain = 1 if m.gain > 1 else (0 if m.gain < 0 else m.gain)
    gain = m.gain * duck
    shown.touched = m.touching
    shown.depth = 0
    memset(force, 0, 3 * sizeof(double))
    while soft != 0:
        number = lowest_field(soft)
        soft &= soft - 1
        soft_force(&scene.field[number], &m.field[number], s, b, m.position, gain, now, period, force)
    while bits != 0:
        number = lowest_field(bits)
        bits &= bits - 1
        fm = &m.field[number]
        surface_force(&scene.field[number], fm, record, s, b, travels, gain, peak, period, tick, force)
        if fm.depth >= shown.depth:
            shown.depth = fm.depth
            for i in range(3):
                shown.proxy[i] = s.position[i] + fm.proxy[i] - m.position[i]
    limit_step(m, s, period, force)
    m.tick = tick
    for i in range(3):
        force[i] *= a.dead_man_gain
        shown.force[i] = force[i]
    shown.session_generation = record.session_generation
    shown.device_generation = record.device_generation
    shown.tick = tick


cdef inline SceneCell *next_scene(Arena *a, int index, int word, uint64_t *bits, int *session, RecordCell **of, Record **record) noexcept nogil:
    """Return the next scene of a word of sessions, and whose it is."""
    session[0] = word * 64 + lowest_field(bits[0])
    bits[0] &= bits[0] - 1
    of[0] = &a.records[session[0] * MAX_DEVICES + index]
    record[0] = <Record *>hd_triple_front(&of[0].cell, of[0].buffers, sizeof(Record))
    return &a.scenes[record[0].scene - 1]


cdef inline bint is_heard(const Arena *a, const DeviceSlot *slot, const RecordCell *of, int session, int64_t now, double timeout) noexcept nogil:
    """Return whether a session's client gave a sign of life within the time-out (s)."""
    cdef int64_t heard = <int64_t>hd_load(&a.sessions[session].heard_ns)
    if of.local.command_ns > heard and slot.local[session >> 6] >> (session & 63) & 1:
        heard = of.local.command_ns
    return now - heard <= <int64_t>(timeout * 1e9)


cdef inline void scene_forces(
    Arena *a, int index, const DeviceParams *p, int64_t now, double mass, double period, double timeout, double *force, double *gated,
) noexcept nogil:
    """Add the scenes of all sessions to both sums (N); together they are as stiff as their part of the bare `mass` (kg) bears."""
    cdef DeviceSlot *slot = &a.devices[index]
    cdef DeviceState *s = &slot.inner.state
    cdef RecordCell *of
    cdef Record *record
    cdef SceneCell *cell
    cdef Bearing b
    cdef uint64_t bits
    cdef double push[3]
    cdef double stiffness = 0, damping = 0, curl = 0
    cdef int word, session, i
    for word in range(<int>a.session_words):
        bits = slot.scened[word]
        while bits != 0:
            cell = next_scene(a, index, word, &bits, &session, &of, &record)
            follow_scene(a.state.ticks, cell, of, record, s)
            stiffness += cell.memory.stiffness
            damping += cell.memory.damping
            curl += cell.memory.curl
    bear(s, mass, stiffness, damping, curl, &b)
    for word in range(<int>a.session_words):
        bits = slot.scened[word]
        while bits != 0:
            cell = next_scene(a, index, word, &bits, &session, &of, &record)
            render_scene(a, cell, record, s, &b, p.peak_force, slot.duck[session],
                         is_heard(a, slot, of, session, now, timeout), now, period, push)
            for i in range(3):
                force[i] += push[i]
                gated[i] += slot.gate[session] * push[i]


cdef inline void show_scenes(Arena *a, int index) noexcept nogil:
    """Publish what is touched of each session's scene under the sequence of the device's state."""
    cdef RecordCell *of
    cdef Record *record
    cdef SceneCell *cell
    cdef uint64_t bits
    cdef int word, session
    for word in range(<int>a.session_words):
        bits = a.devices[index].scened[word]
        while bits != 0:
            cell = next_scene(a, index, word, &bits, &session, &of, &record)
            hd_seq_put(&cell.shown, &cell.now, sizeof(SceneShown))
