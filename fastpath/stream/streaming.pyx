# distutils: language = c++
"""Streaming: threads in C between the sockets of sessions and the arena, and their handle for the event loop.

A connection is either a thread's (set-points in, frames out, no interpreter) or the event loop's; each session belongs to one thread, by
its number. The thread hands a connection over at
the first byte that it does not take by itself and reads no further; the event loop gives it back between two messages. A session's lock
covers its connection, its records and its plan; the thread only tries it, and comes back when it was held.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from fastpath.arena.access cimport Writer
from fastpath.arena.runtime cimport Runtime
from fastpath.cells.cells cimport hd_exchange, hd_load, hd_store
from fastpath.layout.constants cimport MAX_DEVICES
from fastpath.stream.connection cimport (
    FREE, HANDED, IN_BYTES, NATIVE, OUT_BYTES, Slot, hd_lock_end, hd_lock_free, hd_lock_init, hd_lock_leave, hd_lock_take, make_room,
    send_some,
)
from fastpath.stream.messages cimport HD_FRAME_OTHER, hd_frame, hd_look_at_frame
from fastpath.stream.plan cimport (
    HD_SCAN_COMMANDS, HD_SCAN_GROUPS, HD_SCAN_PROBES, HD_WORD_BYTES, StreamPlan, hd_scan, hd_scan_message, hd_word, locale_t,
)
from fastpath.stream.thread_loop cimport run_thread
from fastpath.stream.workers cimport GIVES_REST, MOST_THREADS, SLOTS, SLOT_WORDS, Stream, Worker
from fastpath.text.encoder cimport FrameEncoder
from fastpath.text.shared_text cimport SharedText

cdef extern from "platform/realtime.h" nogil:
    ctypedef unsigned long pthread_t
    int HD_STACK_BYTES
    int pthread_join(pthread_t thread, void **result)
    int64_t hd_now_ns()
    void hd_thread_setup(const char *name)
    int hd_request_nice(int nice)
    int hd_request_short_slice()
    int hd_thread_start(pthread_t *thread, void *(*run)(void *) noexcept nogil, void *argument, void *stack)
    void *hd_pages(size_t bytes)
    void hd_pages_free(void *pages, size_t bytes)

cdef extern from "stream/stream_calls.h" nogil:
    uint64_t HD_WAKE_KEY
    int hd_poll_open()
    int hd_bell_open()
    void hd_ring(int bell)
    void hd_quiet(int bell)
    int hd_watch_begin(int poll, int fd, uint64_t key)
    int hd_watch_again(int poll, int fd, uint64_t key)
    int hd_watch_end(int poll, int fd)
    int hd_watch_bell(int poll, int bell, uint64_t key)
    int close(int descriptor)

cdef extern from "<locale.h>" nogil:
    enum:
        LC_ALL_MASK
    locale_t newlocale(int mask, const char *name, locale_t base)


cdef void *hd_stream_main(void *argument) noexcept nogil:
    """Run one thread."""
    cdef Worker *w = <Worker *>argument
    hd_thread_setup(b"hd-stream")
    hd_request_nice(w.stream.nice)
    hd_request_short_slice()
    run_thread(w)
    return NULL


cdef int fill_word(hd_word *word, str text) except -1:
    """Copy a word of plain ASCII."""
    cdef bytes given = text.encode("ascii")
    if len(given) > HD_WORD_BYTES:
        raise ValueError(f"the word {text!r} is longer than {HD_WORD_BYTES} bytes")
    word.size = len(given)
    memcpy(word.text, PyBytes_AS_STRING(given), word.size)
    return 0


@cython.final
cdef class Plan:
    """What the thread may do for one session; immutable.

    `groups`: word -> bits of its kinds; `points`: (name, field, three keys, largest, code); `probes`: names; `devices`: (device id,
    writer, bit of its kind, bits of the codes that it takes). ValueError for words that do not fit: leave the session to the event loop.
    """

    cdef StreamPlan plan
    cdef object kept

    def __cinit__(self, Runtime runtime not None, FrameEncoder encoder not None, groups, points, probes, devices, *,
                  int64_t timeout_ns, uint64_t version):
        cdef Writer writer
        cdef str device_id
        cdef int i = 0
        cdef int key
        memset(&self.plan, 0, sizeof(StreamPlan))
        if len(groups) > HD_SCAN_GROUPS or len(points) > HD_SCAN_COMMANDS or len(probes) > HD_SCAN_PROBES or len(devices) > MAX_DEVICES:
            raise ValueError("more words than the thread has room for")
        for word, kinds in groups.items():
            fill_word(&self.plan.words.groups[i].word, word)
            self.plan.words.groups[i].kinds = kinds
            i += 1
        self.plan.words.group_count = i
        for i, (name, field, keys, largest, code) in enumerate(points):
            fill_word(&self.plan.words.commands[i].name, name)
            fill_word(&self.plan.words.commands[i].field, field)
            for key in range(3):
                fill_word(&self.plan.words.commands[i].keys[key], keys[key])
            self.plan.words.commands[i].largest = largest
            self.plan.words.commands[i].code = code
        self.plan.words.command_count = len(points)
        for i, name in enumerate(probes):
            fill_word(&self.plan.words.probes[i], name)
        self.plan.words.probe_count = len(probes)
        for i, (device_id, writer, kind, takes) in enumerate(devices):
            fill_word(&self.plan.words.devices[i].id, device_id)
            self.plan.words.devices[i].kind = kind
            self.plan.words.devices[i].takes = takes
            self.plan.devices[i].record = &writer.record
            self.plan.devices[i].session = writer.session
            self.plan.devices[i].device = writer.device
            self.plan.devices[i].revoked = &writer.revoked
        self.plan.words.device_count = len(devices)
        self.plan.count = len(devices)
        self.plan.words.numbers = numbers_locale
        self.plan.arena = runtime.arena
        self.plan.frame = &encoder.plan
        self.plan.timeout_ns = timeout_ns
        self.plan.version = version
        self.kept = (runtime, encoder, list(devices))

    def scan(self, bytes message not None) -> tuple[list[int], list[tuple[int, int, float, float, float]]] | None:
        """Return what the thread reads in a message: numbers of the devices with a map of commands, and set-points; None: not its own."""
        cdef hd_scan found
        cdef int i
        if not hd_scan_message(PyBytes_AS_STRING(message), PyBytes_GET_SIZE(message), &self.plan.words, &found):
            return None
        return (
            [i for i in range(self.plan.count) if found.mapped >> i & 1],
            [(found.points[i].device, found.points[i].code, found.points[i].value[0], found.points[i].value[1],
              found.points[i].value[2]) for i in range(<int>found.count)],
        )


cdef void close_if_open(int descriptor) noexcept:
    if descriptor >= 0:
        close(descriptor)


cdef locale_t numbers_locale = newlocale(LC_ALL_MASK, b"C", <locale_t>NULL)


@cython.final
cdef class Streaming:
    """The streaming threads. `bell` is readable when connections wait for the event loop: see `handed`."""

    cdef Stream *s
    cdef bint started
    cdef object runtime

    def __cinit__(self, Runtime runtime not None, *, int threads=1):
        cdef Worker *w
        cdef int i
        if not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"{threads} streaming threads: give 1 to {MOST_THREADS}")
        self.runtime = runtime
        self.s = <Stream *>calloc(1, sizeof(Stream))
        if self.s == NULL:
            raise MemoryError
        self.s.bell = self.s.event_loop = -1
        for i in range(SLOTS):
            self.s.slots[i].descriptor = -1
            hd_lock_init(&self.s.slots[i].lock)
        self.s.worker_count = threads
        for i in range(threads):
            self.s.workers[i].poll = self.s.workers[i].wake = -1
        self.s.bell = hd_bell_open()
        for i in range(threads):
            w = &self.s.workers[i]
            w.stream = self.s
            w.shared = <SharedText *>calloc(1, sizeof(SharedText))
            if w.shared == NULL:
                raise MemoryError
            w.poll = hd_poll_open()
            w.wake = hd_bell_open()
            if w.poll < 0 or w.wake < 0 or self.s.bell < 0:
                raise OSError("no descriptors are left for the streaming threads")
            hd_watch_bell(w.poll, w.wake, HD_WAKE_KEY)

    def __dealloc__(self):
        cdef int i
        if self.s == NULL:
            return
        self.stop()
        for i in range(SLOTS):
            free(self.s.slots[i].incoming)
            free(self.s.slots[i].outgoing)
            hd_lock_end(&self.s.slots[i].lock)
        for i in range(self.s.worker_count):
            free(self.s.workers[i].shared)
            close_if_open(self.s.workers[i].poll)
            close_if_open(self.s.workers[i].wake)
        close_if_open(self.s.bell)
        free(self.s)

    def start(self, *, int nice=0) -> None:
        """Start the threads with this niceness, if it is permitted. OSError."""
        cdef Worker *w
        cdef int error, i
        if self.started:
            return
        self.s.nice = nice
        hd_store(&self.s.stop, 0)
        self.started = True
        for i in range(self.s.worker_count):
            w = &self.s.workers[i]
            w.stack = hd_pages(HD_STACK_BYTES)
            if w.stack == NULL:
                self.stop()
                raise MemoryError("no memory for the stack of a streaming thread")
            error = hd_thread_start(&w.thread, hd_stream_main, w, w.stack)
            if error != 0:
                hd_pages_free(w.stack, HD_STACK_BYTES)
                self.stop()
                raise OSError(error, "a streaming thread could not be started")
            w.started = True

    def stop(self) -> None:
        """End the threads; connections stay as they are."""
        cdef Worker *w
        cdef int i
        if not self.started:
            return
        hd_store(&self.s.stop, 1)
        for i in range(self.s.worker_count):
            w = &self.s.workers[i]
            if w.started:
                hd_ring(w.wake)
                with nogil:
                    pthread_join(w.thread, NULL)
                hd_pages_free(w.stack, HD_STACK_BYTES)
                w.started = False
        self.started = False

    @property
    def running(self) -> bool:
        """Whether the threads were started and not stopped."""
        return self.started

    @property
    def bell(self) -> int:
        """Descriptor that is readable when connections were handed over."""
        return self.s.bell

    @property
    def version(self) -> int:
        """Version that a new plan is made for."""
        return hd_load(&self.s.version)

    def changed(self) -> None:
        """Inventory or settings changed: plans made before are not used any more. Any thread."""
        hd_store(&self.s.version, hd_load(&self.s.version) + 1)

    @property
    def threads(self) -> int:
        """Number of threads."""
        return self.s.worker_count

    @property
    def frames(self) -> int:
        """Frames that the threads have sent to all sessions."""
        cdef int i
        return sum([hd_load(&self.s.workers[i].frames) for i in range(self.s.worker_count)])

    @property
    def messages(self) -> int:
        """Messages of all sessions that the threads have answered."""
        cdef int i
        return sum([hd_load(&self.s.workers[i].messages) for i in range(self.s.worker_count)])

    def turned(self, double longest_s) -> None:
        """The event loop turns; commands are answered until it has not for `longest_s` (s)."""
        hd_store(&self.s.longest_turn_ns, <uint64_t>(longest_s * 1e9))
        hd_store(&self.s.turned_ns, <uint64_t>hd_now_ns())

    def watch(self, int event_loop) -> None:
        """Make way while `event_loop`, the descriptor of the event loop's poll, is readable."""
        self.s.event_loop = event_loop

    def work_begins(self) -> None:
        """The event loop has something to do."""
        hd_store(&self.s.works, 1)

    def work_ends(self) -> None:
        """The event loop waits for something to do."""
        hd_store(&self.s.works, 0)

    def give_way(self, *, bint turns, bint rest) -> None:
        """Take turns as everybody does, without the niceness of the start; `rest`: most of the time, for a stop. Until called again."""
        cdef int i
        hd_store(&self.s.gives_way, GIVES_REST if rest else turns)
        for i in range(self.s.worker_count):
            hd_ring(self.s.workers[i].wake)

    def handed(self) -> list[int]:
        """Return the numbers of the sessions whose connections were handed over since the last call, and quiet the bell."""
        cdef uint64_t word
        cdef int i, bit
        cdef list found = []
        hd_quiet(self.s.bell)
        for i in range(SLOT_WORDS):
            word = hd_exchange(&self.s.handed[i], 0)
            for bit in range(64 if word else 0):
                if word >> bit & 1:
                    found.append(64 * i + bit)
        return found

    def session(self) -> StreamSession | None:
        """Return the place of a new session; None when all are taken."""
        cdef int i
        for i in range(SLOTS):
            if self.s.slots[i].mode == FREE:
                return StreamSession(self, i)
        return None


@cython.final
cdef class StreamSession:
    """One session at the thread: `with` holds its lock, for everything that writes records or views of a running connection."""

    cdef Streaming streaming
    cdef Slot *slot
    cdef readonly int number
    cdef int depth
    cdef Plan plan

    def __cinit__(self, Streaming streaming not None, int number):
        cdef Slot *slot = &streaming.s.slots[number]
        self.streaming = streaming
        self.slot = slot
        self.number = number
        hd_lock_take(&slot.lock)
        slot.mode = HANDED
        slot.generation += 1
        slot.descriptor = -1
        slot.poll = streaming.s.workers[number % streaming.s.worker_count].poll
        slot.ended = slot.broken = False
        slot.plan = NULL
        slot.received = slot.sent = slot.filled = 0
        slot.heard_ns = hd_now_ns()
        slot.unsent_ns = slot.command_ns = 0
        slot.holds = False
        slot.frames = slot.messages = slot.sent_bytes = 0
        if slot.incoming == NULL:
            slot.incoming = <uint8_t *>malloc(IN_BYTES)
            slot.outgoing = <uint8_t *>malloc(OUT_BYTES)
            slot.capacity = OUT_BYTES
        hd_lock_leave(&slot.lock)
        if slot.incoming == NULL or slot.outgoing == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.slot != NULL:
            self.close()

    cdef uint64_t key(self) noexcept:
        return self.slot.generation << 32 | <uint32_t>self.number

    def __enter__(self) -> None:
        hd_lock_take(&self.slot.lock)
        self.depth += 1

    def __exit__(self, *_caught: object) -> None:
        self.depth -= 1
        if hd_lock_free(&self.slot.lock, self.depth == 0) and self.slot.descriptor >= 0:
            hd_watch_again(self.slot.poll, self.slot.descriptor, self.key())

    def use(self, Plan plan) -> None:
        """Use a plan from now on; None: every message is the event loop's."""
        with self:
            self.slot.plan = NULL
            if plan is not None:
                self.slot.plan = &plan.plan
        self.plan = plan

    def adopt(self, int descriptor) -> None:
        """Take a connected socket, whose descriptor the caller closes after `close`; it is the event loop's until `give`. OSError."""
        with self:
            self.slot.descriptor = descriptor
            if hd_watch_begin(self.slot.poll, descriptor, self.key()) != 0:
                self.slot.descriptor = -1
                raise OSError("the connection cannot be watched")

    def give(self, bytes begun not None) -> bool:
        """Give the connection to the thread, with the `begun` bytes of the next frame; False when they are not for the thread."""
        cdef hd_frame found
        cdef size_t size = PyBytes_GET_SIZE(begun)
        cdef bint given
        if size > IN_BYTES // 2 or hd_look_at_frame(<const uint8_t *>PyBytes_AS_STRING(begun), size, &found) == HD_FRAME_OTHER:
            return False
        with self:
            given = self.slot.mode == HANDED and self.slot.descriptor >= 0 and self.slot.plan != NULL and not self.slot.ended
            if given:
                memcpy(self.slot.incoming, PyBytes_AS_STRING(begun), size)
                self.slot.received = size
                self.slot.mode = NATIVE
                hd_watch_again(self.slot.poll, self.slot.descriptor, self.key())
        return given

    def take(self) -> bytes | None:
        """Return the bytes that came with the connection when the thread handed it over; None while it is the thread's."""
        cdef bytes taken
        with self:
            if self.slot.mode == NATIVE:
                return None
            taken = PyBytes_FromStringAndSize(<char *>self.slot.incoming, self.slot.received)
            self.slot.received = 0
            return taken

    def send(self, bytes data not None) -> None:
        """Send bytes behind what is unsent; what finds no room is sent by the thread."""
        cdef size_t size = PyBytes_GET_SIZE(data)
        with self:
            if self.slot.descriptor < 0 or self.slot.broken:
                return
            if not make_room(self.slot, size):
                raise MemoryError
            memcpy(self.slot.outgoing + self.slot.filled, PyBytes_AS_STRING(data), size)
            self.slot.filled += size
            send_some(self.slot, hd_now_ns())

    def close(self) -> None:
        """Forget connection and plan; the place is free for another session."""
        with self:
            if self.slot.descriptor >= 0:
                hd_watch_end(self.slot.poll, self.slot.descriptor)
            self.slot.descriptor = -1
            self.slot.plan = NULL
            self.slot.mode = FREE
        self.plan = None
        self.slot = &nowhere

    @property
    def version(self) -> int:
        """Version of inventory and settings that a new plan is made for."""
        return self.streaming.version

    @property
    def ended(self) -> bool:
        """Whether the connection is broken or at its end."""
        return self.slot.ended

    @property
    def broken(self) -> bool:
        """Whether nothing can be sent any more."""
        return self.slot.broken

    @property
    def native(self) -> bool:
        """Whether the connection is the thread's."""
        return self.slot.mode == NATIVE

    @property
    def unsent(self) -> int:
        """Bytes that the client has not taken."""
        # The thread moves both ends when it makes room.
        with self:
            return self.slot.filled - self.slot.sent

    @property
    def sent_bytes(self) -> int:
        """Bytes that the client's system has taken."""
        return self.slot.sent_bytes

    @property
    def unread_s(self) -> float:
        """For how long more than 64 KiB are unsent and none of it is sent, s; 0: they are not."""
        return (hd_now_ns() - self.slot.unsent_ns) * 1e-9 if self.slot.unsent_ns else 0.0

    @property
    def heard_s(self) -> float:
        """Time since the thread last heard anything, s."""
        return (hd_now_ns() - self.slot.heard_ns) * 1e-9

    @property
    def frames(self) -> int:
        """Frames that the thread has sent."""
        return self.slot.frames

    @property
    def messages(self) -> int:
        """Messages that the thread has answered."""
        return self.slot.messages

    @property
    def last_commands(self) -> tuple[int, bool]:
        """When the newest map of commands came (ns, 0: never), and whether some stay in force."""
        return self.slot.command_ns, self.slot.holds

    @last_commands.setter
    def last_commands(self, given: tuple[int, bool]) -> None:
        self.slot.command_ns, self.slot.holds = given


cdef Slot nowhere
memset(&nowhere, 0, sizeof(Slot))
nowhere.descriptor = -1
hd_lock_init(&nowhere.lock)
