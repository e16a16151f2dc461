"""The loop of a streaming thread: wait, serve whoever sent something, and make way for the event loop."""

from libc.stdint cimport int64_t, uint64_t

from fastpath.cells.cells cimport hd_load, hd_or
from fastpath.stream.connection cimport (
    HANDED, HD_ENDED, IN_BYTES, MOST_UNSENT, NATIVE, Slot, hd_lock_leave, hd_lock_try, hd_receive, send_some,
)
from fastpath.stream.messages cimport answer_all
from fastpath.stream.workers cimport GIVES_REST, Stream, Worker

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()
    void hd_sleep_until(int64_t ns)
    int hd_request_nice(int nice)

cdef extern from "stream/stream_calls.h" nogil:
    enum:
        HD_STREAM_EVENTS
    uint64_t HD_HIDES_MORE
    uint64_t HD_LOW_HALF
    uint64_t HD_WAKE_KEY
    void hd_ring(int bell)
    void hd_quiet(int bell)
    int hd_watch_again(int poll, int fd, uint64_t key)
    bint hd_has_events(int poll)
    int hd_wait(int poll, uint64_t *keys, int wait_ms)

cdef enum:
    # ns: the event loop is late from this time after its last beat on; so long a thread works then before it rests, and rests
    LATE_NS = 12000000
    LATE_STRETCH_NS = 300000
    LATE_REST_NS = 100000
    # ns: the same when the event loop is not late but wants a processor, and, at most, while a stop waits for the disk
    STRETCH_NS = 100000
    REST_NS = 300000
    STOP_REST_NS = 3000000
    LOOK_NS = 50000
    # such rests are this part of the time, and this many ns when there were none
    REST_SHARE = 16
    MOST_REST_NS = 15000000


cdef inline bint is_late(const Stream *s) noexcept nogil:
    """Return whether the event loop's beat is late."""
    return hd_now_ns() - <int64_t>hd_load(&s.turned_ns) >= LATE_NS


cdef inline bint is_wanted(const Stream *s) noexcept nogil:
    """Return whether the event loop, or the disk that a stop waits for, would use the processor."""
    return hd_load(&s.gives_way) == GIVES_REST or hd_load(&s.works) != 0 or is_late(s) or hd_has_events(s.event_loop)


cdef inline int64_t rest_of(Worker *w, int64_t now_ns) noexcept nogil:
    """Return how long a thread may rest now that it has worked for `worked_ns`, ns; 0: it goes on working."""
    if hd_load(&w.stream.gives_way) == GIVES_REST:
        return STOP_REST_NS
    w.credit_ns = min(<int64_t>MOST_REST_NS, w.credit_ns + (now_ns - w.credited_ns) // REST_SHARE)
    w.credited_ns = now_ns
    if w.credit_ns >= REST_NS:
        return REST_NS
    if w.worked_ns >= LATE_STRETCH_NS and is_late(w.stream):
        return LATE_REST_NS
    return 0


cdef inline void make_way(Worker *w, int64_t begun_ns) noexcept nogil:
    """Rest for a moment after a stretch of work, of which the last part began at `begun_ns`, while the event loop wants a processor.

    The thread comes before the event loop in line. Streams that fill a processor would keep it from whoever says stop.
    """
    cdef int64_t now_ns = hd_now_ns(), rested_ns, rest_ns
    w.worked_ns += now_ns - begun_ns
    if w.worked_ns < STRETCH_NS:
        return
    if not is_wanted(w.stream):
        w.worked_ns = 0
        return
    rest_ns = rest_of(w, now_ns)
    if rest_ns == 0:
        return
    rested_ns = 0
    while rested_ns < rest_ns and is_wanted(w.stream):
        hd_sleep_until(now_ns + rested_ns + LOOK_NS)
        rested_ns = hd_now_ns() - now_ns
    if rest_ns == REST_NS:
        w.credit_ns -= rested_ns
    w.worked_ns = 0


cdef inline void hand(Stream *s, int at, Slot *slot) noexcept nogil:
    """Make the connection the event loop's, with the bytes that are not answered."""
    slot.mode = HANDED
    hd_or(&s.handed[at >> 6], <uint64_t>1 << (at & 63))
    hd_ring(s.bell)


cdef inline bint serve(Worker *w, int at, Slot *slot, bint hides_more) noexcept nogil:
    """Read, answer and send once for one connection, whose lock the caller has. Return whether more may be there to be read.

    `hides_more`: a read may end before the bytes that are there.
    """
    cdef int64_t now_ns = hd_now_ns()
    cdef int64_t got = 0
    cdef size_t room = IN_BYTES - slot.received
    cdef bint full
    if slot.filled > slot.sent:
        send_some(slot, now_ns)
    if slot.mode != NATIVE:
        return False
    if slot.filled - slot.sent <= MOST_UNSENT and room > 0 and not slot.ended:
        got = hd_receive(slot.descriptor, slot.incoming + slot.received, room)
        if got == HD_ENDED:
            slot.ended = True
        elif got > 0:
            slot.received += <size_t>got
            slot.heard_ns = now_ns
    if not answer_all(w, slot):
        hand(w.stream, at, slot)
    full = slot.filled - slot.sent > MOST_UNSENT
    if slot.filled > slot.sent:
        send_some(slot, now_ns)
    if slot.ended and slot.mode == NATIVE:
        hand(w.stream, at, slot)
    # A buffer that was filled, or not emptied for want of room to answer, hides more.
    return slot.mode == NATIVE and slot.filled - slot.sent <= MOST_UNSENT and (full or got == <int64_t>room or (hides_more and got > 0))


cdef inline void try_to_serve(Worker *w, uint64_t key) noexcept nogil:
    """Serve one connection, unless its lock is held: who holds it has the thread told again."""
    cdef bint hides_more = key & HD_HIDES_MORE != 0
    cdef uint64_t of_slot = key & ~HD_HIDES_MORE
    cdef int at = <int>(of_slot & HD_LOW_HALF)
    cdef Slot *slot = &w.stream.slots[at]
    if not hd_lock_try(&slot.lock):
        return
    if slot.descriptor >= 0 and slot.generation == key >> 32 and serve(w, at, slot, hides_more):
        hd_watch_again(w.poll, slot.descriptor, of_slot)
    hd_lock_leave(&slot.lock)


cdef inline void run_thread(Worker *w) noexcept nogil:
    """Serve connections until the thread is told to stop."""
    cdef uint64_t keys[HD_STREAM_EVENTS]
    cdef int64_t begun_ns
    cdef int count, i, wanted, nice = w.stream.nice
    while hd_load(&w.stream.stop) == 0:
        wanted = 0 if hd_load(&w.stream.gives_way) != 0 else w.stream.nice
        if wanted != nice:
            nice = wanted
            hd_request_nice(nice)
        count = hd_wait(w.poll, keys, -1)
        begun_ns = hd_now_ns()
        for i in range(count):
            if keys[i] == HD_WAKE_KEY:
                hd_quiet(w.wake)
            else:
                try_to_serve(w, keys[i])
        make_way(w, begun_ns)
