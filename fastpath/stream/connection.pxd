"""The life of a session's connection at the streaming thread: its buffers, whose it is, and what was sent."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memmove

from fastpath.stream.plan cimport StreamPlan

cdef extern from "stream/session_lock.h" nogil:
    ctypedef struct hd_lock:
        pass
    int hd_lock_init(hd_lock *lock)
    void hd_lock_end(hd_lock *lock)
    bint hd_lock_try(hd_lock *lock)
    void hd_lock_leave(hd_lock *lock)
    void hd_lock_take(hd_lock *lock)
    bint hd_lock_free(hd_lock *lock, bint last)

cdef extern from "stream/stream_calls.h" nogil:
    enum:
        HD_ENDED
    int64_t hd_receive(int fd, void *into, size_t most)
    int64_t hd_send(int fd, const void *bytes, size_t size)

cdef enum:
    IN_BYTES = 16384
    OUT_BYTES = 32768
    MOST_UNSENT = 65536

cdef enum Mode:
    FREE = 0
    # no connection yet, or one that is the event loop's
    HANDED = 1
    # the thread's
    NATIVE = 2

cdef struct Slot:
    hd_lock lock
    uint64_t generation
    int mode
    int descriptor
    # of the thread
    int poll
    # nothing more comes; nothing more can be sent
    bint ended
    bint broken
    const StreamPlan *plan
    uint8_t *incoming
    size_t received
    uint8_t *outgoing
    size_t capacity
    size_t sent
    size_t filled
    # ns: when anything was heard, since when too much is unsent and none of it is sent (0: it is not), newest message with commands
    int64_t heard_ns
    int64_t unsent_ns
    int64_t command_ns
    bint holds
    uint64_t frames
    uint64_t messages
    uint64_t sent_bytes


cdef inline bint make_room(Slot *slot, size_t size) noexcept nogil:
    """Have `size` bytes free behind what is unsent; it allocates only when a frame is longer than any before."""
    cdef size_t capacity = slot.capacity
    cdef uint8_t *grown
    if slot.sent == slot.filled:
        slot.sent = 0
        slot.filled = 0
    if capacity - slot.filled >= size:
        return True
    if slot.sent > 0:
        memmove(slot.outgoing, slot.outgoing + slot.sent, slot.filled - slot.sent)
        slot.filled -= slot.sent
        slot.sent = 0
    while capacity - slot.filled < size:
        capacity *= 2
    if capacity != slot.capacity:
        grown = <uint8_t *>realloc(slot.outgoing, capacity)
        if grown == NULL:
            return False
        slot.outgoing = grown
        slot.capacity = capacity
    return True


cdef inline void send_some(Slot *slot, int64_t now_ns) noexcept nogil:
    """Send what there is room for."""
    cdef int64_t sent
    cdef uint64_t before = slot.sent_bytes
    while slot.filled > slot.sent:
        sent = hd_send(slot.descriptor, slot.outgoing + slot.sent, slot.filled - slot.sent)
        if sent == HD_ENDED:
            slot.ended = slot.broken = True
            slot.sent = slot.filled
        if sent <= 0:
            break
        slot.sent += <size_t>sent
        slot.sent_bytes += <size_t>sent
    if slot.filled - slot.sent <= MOST_UNSENT:
        slot.unsent_ns = 0
    elif slot.unsent_ns == 0 or slot.sent_bytes > before:
        slot.unsent_ns = now_ns
