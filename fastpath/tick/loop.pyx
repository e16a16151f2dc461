"""The control loop: a C thread with absolute deadlines that reads cells, runs one tick per device, and writes cells.

From start to stop it takes no GIL and no lock, allocates no memory, and makes no system call except sleep and clock. A late tick
is skipped and counted, never replayed; `ready_after` decides what a gap changes. `loop_step` runs the same tick on a virtual
clock, with or without gaps, with identical bits in each run.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from fastpath.cells.cells cimport hd_and, hd_exchange, hd_load, hd_seq_write, hd_store, hd_triple_front, hd_triple_take
from fastpath.layout.arena cimport Arena, DeviceSlot, DeviceState, LoopParams, LoopState
from fastpath.layout.constants cimport (
    FIRST_LATENESS_NS, LATENESS_BUCKETS, MAX_DEVICES, MODE_IDLE, SESSION_WORDS, SLOT_ACTIVE, SLOT_FREE, SLOT_RETIRING,
)
from fastpath.layout.initial_state cimport reset_state
from fastpath.layout.local cimport hapticd_local_states
from fastpath.layout.port cimport OLDEST_ORDER_NS
from fastpath.port.port_step cimport order_zero
from fastpath.tick.arbiter cimport lowest_bit
from fastpath.tick.device_tick cimport LONGEST_GAP_NS, device_tick
from fastpath.tick.force_chain cimport chain_begin, chain_interrupt
from fastpath.tick.gaps cimport note_gap, show_gaps
from fastpath.tick.local_commands cimport local_states, show_local_device, show_local_rest, show_local_tick
from fastpath.tick.monitors cimport forget_times
from fastpath.tick.oscillation cimport oscillation_rate

cdef extern from "platform/realtime.h" nogil:
    ctypedef unsigned long pthread_t
    int pthread_join(pthread_t thread, void **result)
    int64_t hd_now_ns()
    void hd_sleep_until(int64_t ns)
    void hd_wait_until(int64_t ns, int64_t margin_ns)
    void hd_flush_denormals()
    void hd_thread_setup(const char *name)
    int hd_request_fifo(int priority)
    int hd_request_short_slice()
    int hd_pin(int cpu)
    int hd_thread_start(pthread_t *thread, void *(*run)(void *) noexcept nogil, void *argument, void *stack)

cdef enum:
    PROBES = 128
    SAMPLE_EVERY = 64

cdef int64_t SECOND = 1000000000
cdef double RAMP_SECONDS = 0.050
cdef double DEAD_MAN_SECONDS = 0.500
cdef double DEAD_MAN_BACK_SECONDS = 0.200


# ---------------------------------------------------------------- one tick

cdef inline void retire_sessions(Arena *a) noexcept nogil:
    """Free the session slots that were released; the generation has made their records invalid already."""
    cdef uint64_t bits, mask
    cdef int word, device
    for word in range(<int>a.session_words):
        if hd_load(&a.retiring_sessions[word]) == 0:
            continue
        bits = hd_exchange(&a.retiring_sessions[word], 0)
        for device in range(MAX_DEVICES):
            a.devices[device].live[word] &= ~bits
            a.devices[device].damped[word] &= ~bits
            a.devices[device].navigating[word] &= ~bits
            a.devices[device].playing[word] &= ~bits
            a.devices[device].scened[word] &= ~bits
            hd_and(&a.devices[device].local[word], ~bits)
        while bits != 0:
            mask = bits & (~bits + 1)
            hd_store(&a.sessions[word * 64 + lowest_bit(bits)].state, SLOT_FREE)
            bits &= ~mask


cdef inline void device_retire(DeviceSlot *slot) noexcept nogil:
    """Zero the output, reset all memory of the device, free the slot."""
    cdef int word
    memset(&slot.inner, 0, sizeof(slot.inner))
    reset_state(&slot.inner.state)
    for word in range(SESSION_WORDS):
        slot.live[word] = 0
        slot.damped[word] = 0
        slot.navigating[word] = 0
        slot.playing[word] = 0
        slot.scened[word] = 0
        hd_exchange(&slot.local[word], 0)
        hd_exchange(&slot.fresh[word], 0)
    hd_seq_write(&slot.sequence, &slot.shown, &slot.inner.state, sizeof(DeviceState))
    show_gaps(slot, 0)
    hd_store(&slot.state, SLOT_FREE)


cdef inline void dead_man(Arena *a, int64_t now, double dt, double period) noexcept nogil:
    """Dead man's switch: without a beat for 500 ms, ramp the loop's own forces to zero in 50 ms; back 200 ms after the beat.

    The way to zero takes the true time `dt` (s), the way back one nominal `period` (s) in each tick.
    """
    cdef int64_t age = now - <int64_t>hd_load(&a.beat_ns)
    if age > <int64_t>(DEAD_MAN_SECONDS * 1e9):
        if a.dead_man_back_ns == 0:
            a.state.dead_man_trips += 1
        a.dead_man_back_ns = now + <int64_t>(DEAD_MAN_BACK_SECONDS * 1e9)
    if a.dead_man_back_ns != 0 and now >= a.dead_man_back_ns:
        a.dead_man_back_ns = 0
    if a.dead_man_back_ns != 0:
        a.dead_man_gain -= dt / RAMP_SECONDS
        if a.dead_man_gain < 0:
            a.dead_man_gain = 0
    else:
        a.dead_man_gain += period / RAMP_SECONDS
        if a.dead_man_gain > 1:
            a.dead_man_gain = 1


cdef void interrupt(Arena *a) noexcept nogil:
    """Let the slew of every device start from zero: stage, ceiling and gain of its filter stay, votes do not."""
    cdef int index
    for index in range(MAX_DEVICES):
        chain_interrupt(&a.devices[index].inner.chain)


cdef void begin_again(Arena *a) noexcept nogil:
    """Begin output, filters and times of the monitors anew, after a start or a long gap; the output ramps up from zero."""
    cdef int index
    a.output_gain = 0
    for index in range(MAX_DEVICES):
        chain_begin(&a.devices[index].inner.chain, &a.devices[index].inner.state)
        forget_times(&a.devices[index].inner.monitors)
    interrupt(a)


cdef void change_rate(Arena *a, double frequency, bint starts) noexcept nogil:
    """Let the output ramp up from zero at a new rate (Hz): filters keep their stage, but begin anew when the loop starts."""
    if starts:
        begin_again(a)
    else:
        interrupt(a)
        a.output_gain = 0
    a.state.target_frequency = frequency


cdef int64_t ready_after(Arena *a, int64_t missed, double frequency) noexcept nogil:
    """Apply the gap rule before a tick that comes after missed periods: return by how many periods the tick advances.

    Up to OLDEST_ORDER_NS the motors hold their last order and the tick advances by the whole gap. Longer: the thread of a port has
    sent zero, so the slew starts from zero. Beyond LONGEST_GAP_NS everything begins anew, and the tick advances by one period.
    """
    cdef double gap_ns = 1e9 * (1 + missed) / frequency
    if missed == 0 or gap_ns <= OLDEST_ORDER_NS:
        return 1 + missed
    a.state.gaps += 1
    if gap_ns > LONGEST_GAP_NS:
        begin_again(a)
        return 1
    interrupt(a)
    return 1 + missed


cdef void take_rate(Arena *a, const LoopParams *loop) noexcept nogil:
    """Compute the filter's coefficients for a new rate or new parameters."""
    a.oscillation = loop.oscillation
    oscillation_rate(&a.oscillation_rate, &a.oscillation, 1 / loop.frequency)
    a.loop_revision = loop.revision


cdef void tick(Arena *a, int64_t now, int64_t missed, const LoopParams *loop) noexcept nogil:
    """Run the tick of every device, after a number of missed periods."""
    cdef int64_t begun = 0, periods = ready_after(a, missed, loop.frequency)
    cdef double period = 1 / loop.frequency, dt = periods * period
    cdef hapticd_local_states *shows = local_states(a)
    cdef uint64_t state
    cdef int index
    a.measure = a.state.ticks % SAMPLE_EVERY == 0 and a.virtual_clock == 0
    if a.measure:
        begun = hd_now_ns()
    if a.loop_revision != loop.revision:
        take_rate(a, loop)
    retire_sessions(a)
    dead_man(a, now, dt, period)
    a.output_gain += period / RAMP_SECONDS
    if a.output_gain > 1:
        a.output_gain = 1
    a.state.ticks += 1
    a.state.tick_ns = now
    for index in range(MAX_DEVICES):
        state = hd_load(&a.devices[index].state)
        if state == SLOT_ACTIVE:
            note_gap(&a.devices[index], now, a.state.started_ns, loop.frequency)
            device_tick(a, index, now, dt, <int>periods, loop)
            if shows != NULL:
                show_local_device(a, shows, index)
        elif state == SLOT_RETIRING:
            device_retire(&a.devices[index])
            if shows != NULL:
                show_local_device(a, shows, index)
    if shows != NULL:
        if a.state.ticks % SAMPLE_EVERY == 0:
            show_local_rest(a, shows, loop)
        show_local_tick(a, shows, now)
    if a.measure:
        a.state.tick_seconds += (hd_now_ns() - begun) * 1e-9
        a.state.step_samples += 1


cdef void show(Arena *a, int64_t now) noexcept nogil:
    """Publish the loop's counters; the achieved rate is that of the last whole second."""
    if now - a.window_ns >= SECOND:
        a.state.frequency = (a.state.ticks - a.window_ticks) * 1e9 / (now - a.window_ns)
        a.window_ticks = a.state.ticks
        a.window_ns = now
    hd_seq_write(&a.sequence, &a.shown, &a.state, sizeof(LoopState))


cdef inline void note_lateness(LoopState *s, int64_t late_ns) noexcept nogil:
    """Count a lateness in the histogram: bucket b is below 2^b FIRST_LATENESS_NS."""
    cdef int bucket = 0
    while bucket < LATENESS_BUCKETS - 1 and late_ns >= <int64_t>FIRST_LATENESS_NS << bucket:
        bucket += 1
    s.lateness[bucket] += 1
    s.lateness_sum += late_ns * 1e-9
    if late_ns * 1e-9 > s.lateness_max:
        s.lateness_max = late_ns * 1e-9


cdef LoopParams *loop_params(Arena *a) noexcept nogil:
    hd_triple_take(&a.params_cell)
    return <LoopParams *>hd_triple_front(&a.params_cell, a.params, sizeof(LoopParams))


cdef void all_zero(Arena *a) noexcept nogil:
    """Order zero force on every device and publish it; the last action of the loop."""
    cdef hapticd_local_states *shows = local_states(a)
    cdef DeviceSlot *slot
    cdef int index, i
    for index in range(MAX_DEVICES):
        slot = &a.devices[index]
        if hd_load(&slot.state) == SLOT_RETIRING:
            device_retire(slot)
        if hd_load(&slot.state) != SLOT_ACTIVE:
            continue
        for i in range(3):
            slot.inner.state.force[i] = 0
            slot.inner.state.torque[i] = 0
            slot.inner.sim.force[i] = 0
        slot.inner.state.mode = MODE_IDLE
        for i in range(SESSION_WORDS):
            slot.inner.state.live[i] = 0
            slot.live[i] = 0
        order_zero(slot, a.state.ticks, a.state.tick_ns)
        hd_seq_write(&slot.sequence, &slot.shown, &slot.inner.state, sizeof(DeviceState))
        if shows != NULL:
            show_local_device(a, shows, index)
    if shows != NULL:
        show_local_tick(a, shows, a.state.tick_ns)


# ---------------------------------------------------------------- the thread

cdef double probe_margin() noexcept nogil:
    """Measure the lateness of sleeps: the 90th percentile, s."""
    cdef int64_t late[PROBES]
    cdef int64_t want, lateness
    cdef int i, place
    for i in range(PROBES):
        want = hd_now_ns() + 200000
        hd_sleep_until(want)
        lateness = hd_now_ns() - want
        place = i
        while place > 0 and late[place - 1] > lateness:
            late[place] = late[place - 1]
            place -= 1
        late[place] = lateness
    return late[PROBES * 9 // 10] * 1e-9


cdef inline double spin_margin(double probed, double period, uint64_t spin) noexcept nogil:
    """Return the seconds to spin before a deadline: at most 25 us, 10 % of a period below 16 kHz, 60 % above."""
    cdef double share = 0.1 if period > 1.0 / 16000 else 0.6
    if spin == 0:
        return 0
    if probed > 25e-6:
        probed = 25e-6
    if probed > share * period:
        probed = share * period
    return probed


cdef inline bint starved(Arena *a, double duty) noexcept nogil:
    """Return whether this tick is skipped on purpose, so that only the share `duty` of ticks runs."""
    a.duty_due += duty
    if a.duty_due < 1:
        return True
    a.duty_due -= 1
    return False


cdef void *hd_loop_main(void *argument) noexcept nogil:
    """Body of the thread `hd-loop`; returns after its last zero output."""
    cdef Arena *a = <Arena *>argument
    cdef LoopParams *loop
    cdef double probed, frequency = 0
    cdef int64_t period = 0, deadline = 0, now, late, skipped, margin = 0, held = 0
    hd_thread_setup(b"hd-loop")
    hd_flush_denormals()
    a.state.fifo = a.priority > 0 and hd_request_fifo(<int>a.priority) != 0
    a.state.pinned = a.state.fifo != 0 and a.cpu >= 0 and hd_pin(<int>a.cpu) != 0
    if not a.state.fifo:
        hd_request_short_slice()
    probed = probe_margin()
    now = hd_now_ns()
    a.state.started_ns = now
    a.state.running = 1
    a.state.frequency = 0
    a.output_gain = 0
    a.window_ns = now
    a.window_ticks = a.state.ticks
    while hd_load(&a.halt) == 0:
        loop = loop_params(a)
        if loop.frequency != frequency:
            change_rate(a, loop.frequency, frequency == 0)
            frequency = loop.frequency
            period = <int64_t>(1e9 / frequency)
            margin = <int64_t>(spin_margin(probed, 1 / frequency, loop.spin) * 1e9)
            deadline = hd_now_ns() + period
            held = 0
            a.state.margin = margin * 1e-9
        hd_wait_until(deadline, margin)
        now = hd_now_ns()
        late = now - deadline
        skipped = late // period
        if skipped > 0:
            a.state.missed += skipped
            deadline += skipped * period
            held += skipped
        deadline += period
        if starved(a, loop.duty):
            a.state.missed += 1
            held += 1
            show(a, now)
            continue
        note_lateness(&a.state, late)
        tick(a, now, held, loop)
        held = 0
        show(a, now)
    all_zero(a)
    a.state.running = 0
    show(a, hd_now_ns())
    return NULL


# ---------------------------------------------------------------- called by runtime.pyx

cdef int loop_start(Arena *arena, void **thread, void *stack) noexcept nogil:
    """Start the thread on the given stack; return 0 or an errno."""
    cdef pthread_t made
    cdef int error
    hd_store(&arena.halt, 0)
    hd_store(&arena.beat_ns, <uint64_t>hd_now_ns())
    error = hd_thread_start(&made, hd_loop_main, arena, stack)
    thread[0] = <void *>made
    return error


cdef void loop_join(Arena *arena, void *thread) noexcept nogil:
    """Stop the thread and wait until its last zero output is written."""
    hd_store(&arena.halt, 1)
    pthread_join(<pthread_t>thread, NULL)


cdef void loop_step(Arena *arena, long long ticks, bint beat, long long missed) noexcept nogil:
    """Run ticks on the caller's thread at exact periods of the virtual clock, with or without the timekeeper's beat.

    Before the first one `missed` periods pass without a tick.
    """
    cdef LoopParams *loop
    cdef long long _i
    cdef int64_t now
    for _i in range(ticks):
        loop = loop_params(arena)
        if loop.frequency != arena.state.target_frequency:
            change_rate(arena, loop.frequency, arena.state.target_frequency == 0)
        now = <int64_t>hd_load(&arena.virtual_ns) + (1 + missed) * <int64_t>(1e9 / loop.frequency)
        hd_store(&arena.virtual_ns, <uint64_t>now)
        if beat:
            hd_store(&arena.beat_ns, <uint64_t>now)
        arena.state.missed += missed
        tick(arena, now, missed, loop)
        missed = 0
        show(arena, now)


cdef void loop_sweep(Arena *arena) noexcept nogil:
    """Free retired slots while no loop runs."""
    cdef int index
    retire_sessions(arena)
    for index in range(MAX_DEVICES):
        if hd_load(&arena.devices[index].state) == SLOT_RETIRING:
            device_retire(&arena.devices[index])
    hd_seq_write(&arena.sequence, &arena.shown, &arena.state, sizeof(LoopState))
