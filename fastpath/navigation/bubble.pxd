"""Bubble navigation: inside a shape the hand moves the cursor, outside of it the scene moves (Dominjon et al. 2005).

Values are in local space (after the mount); N, the translation that moves the scene, is in application space. Metres, seconds,
newtons. One session's bubble on one device is a Navigator; the arbiter starts it from a record, `navigate` advances it by a tick.
"""

from libc.math cimport acos, cos, exp, pow, sin, sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells.cells cimport hd_seq_put, hd_triple_front
from fastpath.layout.arena cimport Arena, DeviceParams, DeviceSlot, DeviceState, Record, RecordCell, View
from fastpath.layout.constants cimport COMMAND_FORCE, COMMAND_POSITION, MAX_DEVICES, ZONE_DEAD, ZONE_VELOCITY, ZONE_WALL
from fastpath.layout.navigation cimport NAVIGATION_OFF, Navigated, Navigation, Navigator
from fastpath.navigation.signed_distance cimport length_of, normalise, sdf
from fastpath.space.spatial cimport (
    basis_apply, basis_undo, position_to_device, rotate, rotate_back, transform_point, transform_velocity,
)

cdef extern from *:
    int first_bit "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    RAMP_MILLISECONDS = 500
    # rad/s that the direction of the push turns at most (5 degrees in 1 ms), and mm/s below which a hand is at rest
    FASTEST_TURN = 87
    REST_SPEED = 5
    # N/m that a spring and a wall may have
    LARGEST_SPRING = 1000
    LARGEST_WALL = 2000


cdef inline void restart_bubble(Navigator *n, const Record *record) noexcept nogil:
    """Reset navigation for a new revision, session or device: N is 0, nothing moves, forces ramp in."""
    cdef Navigated *now = &n.now
    if (now.revision != record.navigation.revision or now.session_generation != record.session_generation
            or now.device_generation != record.device_generation):
        memset(n, 0, sizeof(Navigator))
        now.revision = record.navigation.revision
        now.session_generation = record.session_generation
        now.device_generation = record.device_generation


cdef inline void held_position(const Navigator *n, const Record *record, double *out) noexcept nogil:
    """Convert the position that a record holds (m) from application space, moved by N, to the device frame."""
    cdef int i
    for i in range(3):
        out[i] = record.set_points[<int>COMMAND_POSITION][i]
        if record.navigation.mode != NAVIGATION_OFF:
            out[i] -= n.now.offset[i]
    position_to_device(&record.view, out, out)


cdef inline void to_local(const View *view, const double *v, double *out) noexcept nogil:
    """Convert a force from device frame to local space: rotated, never scaled."""
    basis_apply(&view.basis, v, out)
    rotate(view.mount.q, out, out)


cdef inline void place_centre(Navigator *n, const Record *record, const double *home) noexcept nogil:
    """Place the bubble at its configured centre, by default the reach centre; after a move its forces ramp in again."""
    cdef const Navigation *b = &record.navigation
    cdef double asked[3]
    cdef bint moved = False
    cdef int i
    memcpy(asked, b.centre, sizeof(asked))
    if b.placed == 0:
        basis_apply(&record.view.basis, home, asked)
        transform_point(&record.view.mount, asked, asked)
    for i in range(3):
        if asked[i] != n.asked[i] or (b.drifts == 0 and asked[i] != n.now.centre[i]):
            moved = True
    if moved:
        memcpy(n.asked, asked, sizeof(asked))
        memcpy(n.now.centre, asked, sizeof(asked))
        n.ramp = 0


cdef inline void drift(Navigator *n, const Navigation *b, const double *p, const double *v, double dt) noexcept nogil:
    """Move the centre towards the cursor: gain |v| (p - c), at most a share of |v|; only in the dead zone and while the hand moves."""
    cdef double speed = length_of(v), share, apart = 0
    cdef int i
    if b.drifts == 0 or n.now.zone != ZONE_DEAD or speed < 1e-3 * REST_SPEED:
        return
    for i in range(3):
        apart += (p[i] - n.now.centre[i]) * (p[i] - n.now.centre[i])
    apart = sqrt(apart)
    share = b.drift_gain
    if share * apart > b.drift_ratio:
        share = b.drift_ratio / apart
    for i in range(3):
        n.now.centre[i] += share * speed * (p[i] - n.now.centre[i]) * dt


cdef inline void turn_slowly(Navigator *n, double *normal, double period) noexcept nogil:
    """Limit the turning rate of the push direction to FASTEST_TURN, so that an edge of the shape gives no jerk."""
    cdef double along = 0, most = FASTEST_TURN * period, nearly = 1 - 0.5 * most * most
    cdef double aside[3]
    cdef int i
    for i in range(3):
        along += normal[i] * n.normal[i]
    # The cosine of `most` is at least `nearly` and less than its fourth power more: only beyond that the angle is worked out.
    if n.turned and along < nearly + most * most * most * most and acos(along if along > -1 else -1) > most:
        for i in range(3):
            aside[i] = normal[i] - along * n.normal[i]
        if normalise(aside):
            for i in range(3):
                normal[i] = cos(most) * n.normal[i] + sin(most) * aside[i]
            normalise(normal)
    memcpy(n.normal, normal, 3 * sizeof(double))


cdef inline void change_zone(Navigator *n, const Navigation *b, double d) noexcept nogil:
    """Change the zone when the distance passes a border by the hysteresis."""
    if n.now.zone == ZONE_DEAD:
        if d > b.hysteresis:
            n.now.zone = ZONE_VELOCITY
    elif d < -b.hysteresis:
        n.now.zone = ZONE_DEAD
    if n.now.zone == ZONE_VELOCITY and d > b.width + b.hysteresis:
        n.now.zone = ZONE_WALL
    elif n.now.zone == ZONE_WALL and d < b.width - b.hysteresis:
        n.now.zone = ZONE_VELOCITY


cdef inline double contact_share(Navigator *n, const Navigation *b, const double *normal, const double *scene) noexcept nogil:
    """Return the share of the speed that remains in contact with the scene, from the scene's force (N, local)."""
    cdef double along = scene[0] * normal[0] + scene[1] * normal[1] + scene[2] * normal[2], left
    if b.collides == 0:
        n.contact = 0
    elif along < -b.threshold:
        n.contact = 1
    elif along > -b.release:
        n.contact = 0
    if n.contact == 0:
        return 1
    left = 1 - length_of(scene) / b.full_stop
    return left if left > 0 else 0


cdef inline void bubble_force(const Navigator *n, const Navigation *b, const double *normal, double d, const double *v,
                              double most, double scale, double *force) noexcept nogil:
    """Compute the bubble's force (N, local): springs towards the surface, damping outwards; light damping inside. `most`: stable limit, N.s/m.

    `scale`: local metres for each metre of the device, by which a spring and a damper are felt harder. Above 1 they are bounded as if
    their largest values were commanded at 1.
    """
    cdef double outwards = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2], size, spring = b.stiffness, wall = b.wall_stiffness
    cdef int i
    if scale > 1:
        most /= scale
        spring = min(spring, LARGEST_SPRING / scale)
        wall = min(wall, LARGEST_WALL / scale)
    if d <= 0:
        for i in range(3):
            force[i] = -n.ramp * min(b.dead_damping, most) * v[i]
        return
    size = spring * min(d, b.width)
    if outwards > 0:
        size += min(b.damping, most) * outwards
    if d > b.width:
        size += wall * (d - b.width)
    for i in range(3):
        force[i] = -n.ramp * size * normal[i]


cdef inline double smoothing_share(Navigator *n, double smoothing, double dt) noexcept nogil:
    """Return the share of the new velocity after dt seconds; the exponential is kept while both times stay the same."""
    if dt != n.share_dt or smoothing != n.share_smoothing:
        n.share_dt = dt
        n.share_smoothing = smoothing
        n.share = 1 - exp(-dt / smoothing)
    return n.share


cdef inline void bubble_step(Navigator *n, const Record *record, const DeviceParams *p, const DeviceState *s,
                             const double *scene, double gain, double dt, double period, double most, double *force) noexcept nogil:
    """Advance one session's bubble by a tick: update N, return its force (N, device frame). With `gain` 0 nothing moves or pushes.

    The scene moves for the true time `dt` since the last tick (s); what limits the force takes the nominal `period` (s);
    `most`: the largest damping, N.s/m.
    """
    cdef const Navigation *b = &record.navigation
    cdef double point[3]
    cdef double v[3]
    cdef double apart[3]
    cdef double normal[3]
    cdef double d, share = 1, pace = 0
    cdef int i
    place_centre(n, record, p.home)
    basis_apply(&record.view.basis, s.position, point)
    transform_point(&record.view.mount, point, point)
    basis_apply(&record.view.basis, s.velocity, v)
    transform_velocity(&record.view.mount, v, v)
    drift(n, b, point, v, dt)
    for i in range(3):
        apart[i] = point[i] - n.now.centre[i]
    d = sdf(&b.shape, apart, normal) - n.now.inflated
    turn_slowly(n, normal, period)
    n.turned = d > 0
    change_zone(n, b, d)
    pace = contact_share(n, b, normal, scene)
    if b.smoothing > 0:
        share = smoothing_share(n, b.smoothing, dt)
    n.now.inflated += share * ((b.inflate if n.contact else 0) - n.now.inflated)
    if n.now.zone == ZONE_DEAD or d <= 0:
        pace = 0
    else:
        pace *= gain * b.speed * pow(min(d / b.width, 1), b.exponent)
    for i in range(3):
        n.velocity[i] += share * (pace * normal[i] - n.velocity[i])
    if pace == 0 and length_of(n.velocity) < 1e-6:
        memset(n.velocity, 0, sizeof(n.velocity))
    transform_velocity(&record.view.workspace, n.velocity, n.now.rate)
    for i in range(3):
        n.now.offset[i] += dt * n.now.rate[i]
    n.ramp = min(n.ramp + period / (1e-3 * RAMP_MILLISECONDS), 1)
    if gain <= 0:
        n.ramp = 0
    bubble_force(n, b, normal, d, v, most, max(record.view.mount.s[0], max(record.view.mount.s[1], record.view.mount.s[2])), force)
    rotate_back(record.view.mount.q, force, force)
    basis_undo(&record.view.basis, force, force)
    for i in range(3):
        force[i] *= gain


cdef inline void navigate(Arena *a, int index, const DeviceParams *p, double dt, double period, double most, bint obeys,
                          double *force, double *gated) noexcept nogil:
    """Advance the bubble of every session on this device and add its force to the sums (N, device frame); `most`: largest damping, N.s/m."""
    cdef DeviceSlot *slot = &a.devices[index]
    cdef RecordCell *cell
    cdef Record *record
    cdef uint64_t bits
    cdef double scene[3]
    cdef double push[3]
    cdef double gain
    cdef int word, session, i, bubbles = 0
    for word in range(<int>a.session_words):
        bits = slot.navigating[word]
        while bits != 0:
            bubbles += 1
            bits &= bits - 1
    if bubbles == 0:
        return
    # Bubbles of several sessions add: they share what the device bears.
    most /= bubbles
    for word in range(<int>a.session_words):
        bits = slot.navigating[word]
        while bits != 0:
            session = word * 64 + first_bit(bits)
            cell = &a.records[session * MAX_DEVICES + index]
            record = <Record *>hd_triple_front(&cell.cell, cell.buffers, sizeof(Record))
            memset(scene, 0, sizeof(scene))
            if slot.live[word] & bits & (~bits + 1) and record.commands >> COMMAND_FORCE & 1:
                to_local(&record.view, record.set_points[<int>COMMAND_FORCE], scene)
            gain = slot.duck[session] * a.dead_man_gain if obeys else 0
            bubble_step(&cell.navigator, record, p, &slot.inner.state, scene, gain, dt, period, most, push)
            for i in range(3):
                force[i] += push[i]
                gated[i] += slot.gate[session] * push[i]
            bits &= bits - 1


cdef inline void show_navigation(Arena *a, int index) noexcept nogil:
    """Publish the navigation of each session under the sequence of the device's state."""
    cdef RecordCell *cell
    cdef uint64_t bits
    cdef int word
    for word in range(<int>a.session_words):
        bits = a.devices[index].navigating[word]
        while bits != 0:
            cell = &a.records[(word * 64 + first_bit(bits)) * MAX_DEVICES + index]
            hd_seq_put(&cell.shown, &cell.navigator.now, sizeof(Navigated))
            bits &= bits - 1


cdef inline void initial_bubble(const Record *record, const double *home, Navigated *out) noexcept nogil:
    """Fill in the navigation state of a bubble that the loop has not started: N is 0, centre from the record or `home` (m, device frame)."""
    memset(out, 0, sizeof(Navigated))
    memcpy(out.centre, record.navigation.centre, sizeof(out.centre))
    if record.navigation.placed == 0:
        basis_apply(&record.view.basis, home, out.centre)
        transform_point(&record.view.mount, out.centre, out.centre)


cdef inline bint is_current(const Navigated *shown, const Record *record) noexcept nogil:
    """Return whether the published navigation belongs to this record."""
    cdef uint32_t revision = record.navigation.revision
    return (record.navigation.mode != NAVIGATION_OFF and shown.revision == revision
            and shown.session_generation == record.session_generation
            and shown.device_generation == record.device_generation)
