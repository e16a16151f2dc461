"""What the streaming threads share with the event loop: sessions, counters, and words by which each tells the other how it is."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from fastpath.cells.cells cimport hd_load
from fastpath.stream.connection cimport Slot
from fastpath.stream.plan cimport hd_scan
from fastpath.text.shared_text cimport SharedText

cdef extern from "platform/realtime.h" nogil:
    ctypedef unsigned long pthread_t
    int64_t hd_now_ns()

cdef extern from "stream/client_frame.h" nogil:
    enum:
        HD_FRAME_LONGEST

cdef enum:
    SLOTS = 512
    SLOT_WORDS = 8
    MOST_THREADS = 8
    # of `gives_way`: the threads rest
    GIVES_REST = 2

cdef struct Worker:
    # one thread, with the sessions whose number leaves this one when divided by the number of threads
    Stream *stream
    int poll
    int wake
    pthread_t thread
    void *stack
    bint started
    # work since it rested; how long it may rest, and since when that is so
    int64_t worked_ns
    int64_t credit_ns
    int64_t credited_ns
    # of its sessions since the start
    uint64_t frames
    uint64_t messages
    uint8_t message[HD_FRAME_LONGEST]
    hd_scan scan
    SharedText *shared

cdef struct Stream:
    Slot slots[SLOTS]
    Worker workers[MOST_THREADS]
    int worker_count
    # slots that wait for the event loop
    uint64_t handed[SLOT_WORDS]
    uint64_t version
    # CLOCK_MONOTONIC of the event loop's newest turn, and how old it may be, ns
    uint64_t turned_ns
    uint64_t longest_turn_ns
    uint64_t stop
    # not 0: the threads take their turn as everybody does, and rest (GIVES_REST)
    uint64_t gives_way
    # not 0: the event loop runs; its poll, readable while something waits for it, or -1
    uint64_t works
    int event_loop
    int bell
    int nice


cdef inline bint event_loop_turns(const Stream *s) noexcept nogil:
    """Return whether somebody could still say stop: while the event loop hangs, commands are left to it, and forces fade by their age."""
    return hd_now_ns() - <int64_t>hd_load(&s.turned_ns) <= <int64_t>hd_load(&s.longest_turn_ns)
