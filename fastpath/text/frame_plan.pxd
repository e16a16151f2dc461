"""One connection's frames as plain memory: `put_frame` writes a whole frame of the newest states, without the interpreter.

A FrameEncoder (`encoder.pyx`) lays the plan out and owns everything that it points to.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset
from posix.time cimport CLOCK_REALTIME, clock_gettime, timespec

from fastpath.arena.state_reads cimport read_navigated
from fastpath.cells.cells cimport hd_load
from fastpath.layout.arena cimport Arena, DeviceSlot, DeviceState, Record, RecordCell, View
from fastpath.layout.constants cimport SHAPE_CURSOR, SHAPE_FIELDS
from fastpath.layout.navigation cimport NAVIGATION_OFF, Navigated
from fastpath.text.shared_text cimport (
    DeviceText, SharedText, TextKey, commanded_by_others, find_text, keep_text,
)
from fastpath.text.state_text cimport (
    FrameOptions, put, put_arm, put_bytes, put_control, put_grip, put_integer, put_number, put_status, put_unsigned,
    rounded,
)

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()

cdef enum:
    MOST_NUMBERS = 32       # in the state of a kind with its own frame fields


cdef struct Text:
    const char *start
    size_t size

cdef struct FieldsPlan:
    # numbers of a device state at byte offsets, each with the text before it
    int count
    bint motors
    size_t offset[MOST_NUMBERS]
    double per_unit[MOST_NUMBERS]
    Text before[MOST_NUMBERS]

cdef struct EntryPlan:
    # text up to the entry's first member
    Text before
    int shape
    bint wireless
    bint ready
    int device
    # -1: not seen by a session
    int own_session
    const FieldsPlan *fields
    const DeviceSlot *slot
    # cell, record and home of the session's writer; NULL in device space
    const RecordCell *cell
    const Record *record
    const double *home
    const View *view
    # newest state, and the navigation of the session; or the text that another session has of that state
    DeviceState state
    Navigated navigated
    const DeviceText *text
    # the number of the state, odd if it is not known
    uint64_t sequence
    # the same device in an earlier group, NULL for its first; what this frame has of its state and status
    const EntryPlan *first
    const char *written
    size_t size
    uint64_t nulls

cdef struct Additions:
    # of one entry in one frame; without text: none
    Text config
    Text state

cdef struct FramePlan:
    const Arena *arena
    FrameOptions options
    bint timestamps
    Text opening
    Text closing
    int count
    EntryPlan *entries
    # bytes of a frame without additions, at most
    size_t longest
    # numbers that were written as `null`
    uint64_t nulls


cdef inline char *put_text(char *at, const Text *text) noexcept nogil:
    return put_bytes(at, text.start, text.size)


cdef inline char *put_fields(char *at, const FieldsPlan *fields, const DeviceState *s, const FrameOptions *options, uint64_t *nulls) noexcept nogil:
    cdef double value
    cdef int i
    for i in range(fields.count):
        value = (<const double *>(<const char *>s + fields.offset[i]))[0]
        at = put_number(put_text(at, &fields.before[i]), rounded(value, fields.per_unit[i]), nulls)
    at = put(at, b"}")
    if fields.motors:
        at = put_control(at, s, options)
    return put(at, b"}")


cdef inline bint has_motors(const EntryPlan *entry) noexcept nogil:
    return entry.shape == SHAPE_CURSOR or (entry.fields != NULL and entry.fields.motors)


cdef inline char *put_entry(char *at, EntryPlan *entry, const Text *more, const FrameOptions *options, uint64_t *nulls) noexcept nogil:
    """Append state (with `more` members before its brace) and status of one device, and the closing brace of its entry."""
    cdef const DeviceState *state = &entry.state
    cdef bint navigates = entry.record != NULL and entry.record.navigation.mode != NAVIGATION_OFF
    cdef double width = entry.record.navigation.width if navigates else 0
    cdef const Navigated *n = &entry.navigated if width > 0 else NULL
    cdef bint motors = has_motors(entry)
    if entry.shape == SHAPE_FIELDS:
        at = put_fields(at, entry.fields, state, options, nulls)
    elif entry.shape == SHAPE_CURSOR:
        at = put_arm(at, state, entry.view, n, width, options, nulls)
    else:
        at = put_grip(at, state, entry.view, entry.wireless, options, nulls)
    if more != NULL and more.size > 0:
        at = put(put_text(at - 1, more), b"}")
    at = put_status(at, state, motors, entry.ready, motors and commanded_by_others(state.live, entry.own_session), n != NULL, options)
    return put(at, b"}")


cdef inline int64_t wall_ns() noexcept nogil:
    """Return the wall time, ns since the epoch."""
    cdef timespec now
    clock_gettime(CLOCK_REALTIME, &now)
    return <int64_t>now.tv_sec * 1000000000 + now.tv_nsec


cdef inline int64_t arena_now(const Arena *arena) noexcept nogil:
    """Return the clock that stamps commands, ns: CLOCK_MONOTONIC, or the virtual one when stepping."""
    return <int64_t>hd_load(&arena.virtual_ns) if arena.virtual_clock else hd_now_ns()


cdef inline char *put_stamp(char *at, const FramePlan *plan) noexcept nogil:
    """Append the tick of the first device and the wall time of its state in s, in decimal: float32 would round it to minutes."""
    cdef int64_t wall = wall_ns()
    cdef int64_t micro, digit = 100000
    cdef uint64_t tick = 0
    if plan.count > 0:
        tick = plan.entries[0].state.tick
        if tick != 0:
            wall -= arena_now(plan.arena) - plan.entries[0].state.time_ns
    at = put_unsigned(put(at, b',"tick":'), tick)
    at = put(put_integer(put(at, b',"time":'), wall // 1000000000), b".")
    micro = wall // 1000 % 1000000
    while digit:
        at = put_integer(at, micro // digit % 10)
        digit //= 10
    return at


cdef inline bint may_share(const EntryPlan *entry) noexcept nogil:
    """Return whether the text depends on nothing but state, view and format: a session that navigates has its own."""
    return entry.record == NULL or entry.record.navigation.mode == NAVIGATION_OFF


cdef inline void key_of(const EntryPlan *entry, const FrameOptions *options, TextKey *key) noexcept nogil:
    """Fill in what the text of an entry depends on."""
    memset(key, 0, sizeof(TextKey))
    key.shape, key.wireless, key.ready = entry.shape, entry.wireless, entry.ready
    key.fields = entry.fields
    key.options = options[0]


cdef inline void read_entry(EntryPlan *entry, const FramePlan *plan, const SharedText *shared) noexcept nogil:
    """Take the newest state of one device in, or the text that there is of it."""
    cdef TextKey key
    entry.text = NULL
    entry.sequence = 1
    if shared != NULL and may_share(entry):
        key_of(entry, &plan.options, &key)
        entry.text = find_text(shared, entry.device, &entry.slot.sequence, &key, entry.view, has_motors(entry), entry.own_session)
        if entry.text != NULL:
            return
        entry.sequence = hd_load(&entry.slot.sequence)
    read_navigated(entry.slot, entry.cell, entry.record, entry.home, &entry.state, &entry.navigated)
    # A state that came while it was read has another number.
    if hd_load(&entry.slot.sequence) != entry.sequence:
        entry.sequence = 1


cdef inline char *put_shared(char *at, EntryPlan *entry, FramePlan *plan, SharedText *shared) noexcept nogil:
    """Append state and status of one device as `put_entry` does, from the text that there is, or keep the text for others."""
    cdef uint64_t nulls = plan.nulls
    cdef char *start = at
    cdef TextKey key
    if entry.text != NULL:
        plan.nulls += entry.text.nulls
        shared.taken += 1
        return put_bytes(at, entry.text.text, entry.text.size)
    at = put_entry(at, entry, NULL, &plan.options, &plan.nulls)
    if may_share(entry):
        key_of(entry, &plan.options, &key)
        key.in_use = has_motors(entry) and commanded_by_others(entry.state.live, entry.own_session)
        keep_text(shared, entry.device, entry.sequence, &key, entry.view, entry.state.live, plan.nulls - nulls, start, at - start)
    return at


cdef inline char *put_again(char *at, const EntryPlan *entry, uint64_t *nulls) noexcept nogil:
    """Append state and status of a device once more, as the frame shows them in an earlier group."""
    nulls[0] += entry.first.nulls
    return put_bytes(at, entry.first.written, entry.first.size)


cdef inline char *put_frame(char *at, FramePlan *plan, const Additions *additions, const Text *tail, SharedText *shared) noexcept nogil:
    """Write one whole frame; `additions`: one for each entry, or NULL; `tail`: text before the last brace, or NULL. Return the end.

    `shared`: the texts of the calling thread, or NULL; not with additions. The caller has room for `plan.longest` bytes, the
    additions and the tail.
    """
    cdef char *start = at
    cdef EntryPlan *entry
    cdef uint64_t nulls
    cdef int i
    if plan.timestamps or additions != NULL:
        shared = NULL
    for i in range(plan.count):
        if plan.entries[i].first == NULL:
            read_entry(&plan.entries[i], plan, shared)
    at = put_text(at, &plan.opening)
    if plan.timestamps:
        at = put_stamp(at, plan)
    for i in range(plan.count):
        entry = &plan.entries[i]
        at = put_text(at, &entry.before)
        if additions != NULL and additions[i].config.size > 0:
            at = put(put_text(put(at, b'"config":'), &additions[i].config), b",")
        if entry.first != NULL:
            at = put_again(at, entry, &plan.nulls)
            continue
        entry.written = at
        nulls = plan.nulls
        if shared != NULL:
            at = put_shared(at, entry, plan, shared)
        else:
            at = put_entry(at, entry, &additions[i].state if additions != NULL else NULL, &plan.options, &plan.nulls)
        entry.size, entry.nulls = at - entry.written, plan.nulls - nulls
    at = put_text(at, &plan.closing)
    if tail != NULL:
        at = put_text(at, tail)
    # Each member writes a comma before itself; the brace overwrites the first one.
    if at == start:
        at += 1
    start[0] = b"{"
    return put(at, b"}")
