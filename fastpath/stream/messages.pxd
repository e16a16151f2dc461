"""What a message does: it is read by the session's plan, its commands go to the arena, and a frame is put behind what is unsent."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memmove

from fastpath.cells.cells cimport hd_load, hd_store
from fastpath.stream.connection cimport MOST_UNSENT, Slot, make_room
from fastpath.stream.plan cimport StreamPlan, apply_scan, hd_scan_message, is_open, may_hold
from fastpath.stream.workers cimport Worker, event_loop_turns
from fastpath.text.frame_plan cimport arena_now, put_frame
from fastpath.text.shared_text cimport SharedText

cdef extern from "stream/client_frame.h" nogil:
    enum:
        HD_MOST_HEADER
    ctypedef enum hd_frame_kind:
        HD_FRAME_PARTIAL
        HD_FRAME_MESSAGE
        HD_FRAME_PING
        HD_FRAME_PONG
        HD_FRAME_OTHER
    ctypedef struct hd_frame:
        size_t begin
        size_t size
        uint8_t key[4]
    hd_frame_kind hd_look_at_frame(const uint8_t *data, size_t count, hd_frame *frame)
    void hd_unmask(const uint8_t *source, size_t size, const uint8_t *key, uint8_t *to)
    uint8_t *hd_header_before(uint8_t *end, uint8_t first, size_t size)

cdef enum:
    LONGEST_PING = 125
    TEXT_FRAME = 0x81
    PONG_FRAME = 0x8A


cdef inline bint put_text_frame(Slot *slot, const StreamPlan *plan, SharedText *shared) noexcept nogil:
    """Append the frame that answers a message."""
    cdef size_t longest = plan.frame.longest + HD_MOST_HEADER
    cdef uint8_t *begin
    cdef uint8_t *body
    cdef uint8_t *end
    if not make_room(slot, longest):
        return False
    body = slot.outgoing + slot.filled + HD_MOST_HEADER
    end = <uint8_t *>put_frame(<char *>body, plan.frame, NULL, NULL, shared)
    begin = hd_header_before(body, TEXT_FRAME, end - body)
    if slot.sent == slot.filled:
        # Nothing is before it: the text stays where it is.
        slot.sent = begin - slot.outgoing
        slot.filled = end - slot.outgoing
    else:
        memmove(slot.outgoing + slot.filled, begin, end - begin)
        slot.filled += end - begin
    return True


cdef inline bint answer(Worker *w, Slot *slot, const uint8_t *frame, const hd_frame *found) noexcept nogil:
    """Answer one message; False when it is not the thread's."""
    cdef const StreamPlan *plan = slot.plan
    cdef int64_t now_ns
    if plan == NULL or hd_load(&w.stream.version) != plan.version or not event_loop_turns(w.stream):
        return False
    hd_unmask(frame + found.begin, found.size, found.key, w.message)
    if not hd_scan_message(<const char *>w.message, found.size, &plan.words, &w.scan) or not is_open(plan):
        return False
    now_ns = arena_now(plan.arena)
    if w.scan.mapped != 0:
        # A session whose commands had timed out is warned by the event loop.
        if slot.holds and now_ns - slot.command_ns > plan.timeout_ns:
            return False
        if not may_hold(plan, &w.scan, now_ns):
            return False
        apply_scan(<StreamPlan *>plan, &w.scan, now_ns)
        slot.command_ns = now_ns
        slot.holds = w.scan.count > 0
    if not put_text_frame(slot, plan, w.shared):
        return False
    slot.messages += 1
    slot.frames += 1
    hd_store(&w.messages, w.messages + 1)
    hd_store(&w.frames, w.frames + 1)
    return True


cdef inline bint put_pong(Slot *slot, const uint8_t *frame, const hd_frame *found) noexcept nogil:
    """Append the answer to a ping."""
    if not make_room(slot, LONGEST_PING + 2):
        return False
    slot.outgoing[slot.filled] = PONG_FRAME
    slot.outgoing[slot.filled + 1] = <uint8_t>found.size
    hd_unmask(frame + found.begin, found.size, found.key, slot.outgoing + slot.filled + 2)
    slot.filled += 2 + found.size
    return True


cdef inline bint answer_all(Worker *w, Slot *slot) noexcept nogil:
    """Answer the whole frames that were received, until too much is unsent; False when one is not the thread's.

    Without a plan none is: behind the service's close frame not even a ping is answered.
    """
    cdef hd_frame found
    cdef hd_frame_kind kind
    cdef size_t at = 0
    cdef bint taken = True
    while slot.filled - slot.sent <= MOST_UNSENT:
        kind = hd_look_at_frame(slot.incoming + at, slot.received - at, &found)
        if kind == HD_FRAME_PARTIAL:
            break
        if slot.plan == NULL:
            taken = False
            break
        if kind == HD_FRAME_MESSAGE:
            taken = answer(w, slot, slot.incoming + at, &found)
        elif kind == HD_FRAME_PING:
            taken = put_pong(slot, slot.incoming + at, &found)
        elif kind == HD_FRAME_OTHER:
            taken = False
        if not taken:
            break
        at += found.begin + found.size
    slot.received -= at
    if slot.received > 0 and at > 0:
        memmove(slot.incoming, slot.incoming + at, slot.received)
    return taken
