"""PortThread: the C thread of one open serial port, and its Python handle.

The thread sends each device's order at the device's own rate, decodes received bytes into samples for the loop, and carries messages
both ways for the handle. It never takes the GIL; the last thing it writes is the zero packet. The handle closes the descriptor
after the thread has ended.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, strncpy
import os
from typing import NamedTuple

from fastpath.arena.runtime cimport Runtime
from fastpath.cells.cells cimport hd_load, hd_seq_read, hd_store
from fastpath.codecs.codec_state cimport (
    CODEC_CONFIG, CODEC_OUTPUT, HD_RING_MESSAGE, PROTOCOL_BYTES, PROTOCOL_HAPI, PROTOCOL_OPENLINK, hd_ring_put, hd_ring_take,
)
from fastpath.codecs.dispatch cimport codec_fits
from fastpath.layout.constants cimport MAX_DEVICES
from fastpath.layout.port cimport PORT_DEVICES, PortCounters
from fastpath.port import zero_packets
from fastpath.port.port_exchange cimport (
    HD_PORT_HUNG_UP, HD_PORT_READ, HD_PORT_WOKEN, Exchange, hd_port_discard, hd_port_queued, hd_port_wait,
    hd_port_write, read_port, send_due, send_messages, show_counters, wake_up, write_rest,
)

cdef extern from "platform/realtime.h" nogil:
    ctypedef unsigned long pthread_t
    int HD_STACK_BYTES
    int pthread_join(pthread_t thread, void **result)
    int64_t hd_now_ns()
    void hd_sleep_until(int64_t ns)
    void hd_flush_denormals()
    void hd_thread_setup(const char *name)
    int hd_request_fifo(int priority)
    int hd_request_short_slice()
    int hd_thread_start(pthread_t *thread, void *(*run)(void *) noexcept nogil, void *argument, void *stack)
    void *hd_pages(size_t bytes)
    void hd_pages_free(void *pages, size_t bytes)

cdef enum:
    BELOW_THE_LOOP = 5
    ZERO_PACKET_NS = 50000000
    ZERO_PACKET_STEP_NS = 500000

PROTOCOLS = {"bytes": PROTOCOL_BYTES, "hapi": PROTOCOL_HAPI, "openlink": PROTOCOL_OPENLINK}


# ---------------------------------------------------------------- the thread

cdef bint write_packet(Exchange *x, const uint8_t *packet, uint32_t length, int64_t until) noexcept nogil:
    """Write a whole packet, waiting for room until a time (ns); False when it was not written."""
    cdef uint32_t at = 0
    cdef int n
    while at < length:
        n = hd_port_write(x.descriptor, packet + at, length - at)
        if n < 0 or (n == 0 and hd_now_ns() >= until):
            return False
        at += n
        x.counters.bytes_out += n
        if n == 0:
            hd_sleep_until(hd_now_ns() + ZERO_PACKET_STEP_NS)
    return True


cdef void send_zero_packet(Exchange *x) noexcept nogil:
    """Write the zero packet and wait until it is sent; discard what a port has not accepted within ZERO_PACKET_NS."""
    cdef int64_t until = hd_now_ns() + ZERO_PACKET_NS
    if x.counters.gone or x.zero_bytes == 0:
        return
    if not (write_packet(x, &x.out[x.rest_at], x.rest - x.rest_at, until) and write_packet(x, x.zero, x.zero_bytes, until)):
        hd_port_discard(x.descriptor)
        hd_port_write(x.descriptor, x.zero, x.zero_bytes)
        x.counters.errors += 1
    while hd_port_queued(x.descriptor) > 0 and hd_now_ns() < until:
        hd_sleep_until(hd_now_ns() + ZERO_PACKET_STEP_NS)


cdef void *hd_port_main(void *argument) noexcept nogil:
    """Run the thread of a port, until its last zero packet."""
    cdef Exchange *x = <Exchange *>argument
    cdef int64_t following
    cdef uint64_t changes
    cdef int seen
    hd_thread_setup(x.name)
    hd_flush_denormals()
    x.counters.fifo = x.priority > 0 and hd_request_fifo(<int>x.priority) != 0
    if not x.counters.fifo:
        hd_request_short_slice()
    x.counters.running = 1
    while hd_load(&x.stop) == 0 and x.counters.gone == 0:
        changes = hd_load(&x.changes)
        write_rest(x)
        following = send_due(x, hd_now_ns())
        send_messages(x)
        hd_store(&x.seen, changes)
        show_counters(x)
        if x.counters.gone:
            break
        seen = hd_port_wait(x.descriptor, x.rest != 0, x.wake, following)
        if seen & HD_PORT_WOKEN:
            wake_up(x)
        if seen & (HD_PORT_READ | HD_PORT_HUNG_UP):
            read_port(x, seen & HD_PORT_HUNG_UP != 0)
    send_zero_packet(x)
    x.counters.running = 0
    show_counters(x)
    hd_store(&x.seen, <uint64_t>-1)
    return NULL


# ---------------------------------------------------------------- the handle

class Counters(NamedTuple):
    """Counters of one port since its thread started; times in ns of the runtime's clock, 0 = never; `gone`: errno of an unplugged port."""

    frames_in: int
    frames_bad: int
    bytes_in: int
    bytes_out: int
    orders: int
    zeros: int
    late: int
    blocked: int
    errors: int
    dropped: int
    last_in_ns: int
    last_out_ns: int
    gone: int
    running: bool
    fifo: bool
    sample_ns: tuple[int, ...]
    beat_ns: tuple[int, ...]
    faults: tuple[int, ...]
    bits: tuple[int, ...]


cdef class PortThread:
    """Thread of one open port. Owns the descriptor; its zero packet is registered for fatal signals and failsafe while the thread runs."""

    cdef Exchange *x
    cdef Runtime runtime
    cdef void *stack
    cdef pthread_t thread
    cdef readonly int descriptor
    cdef int bell
    cdef bytes zero_packet
    cdef object failsafe
    cdef bint started
    cdef bint closed

    def __cinit__(
        self, Runtime runtime not None, int descriptor, str protocol not None, *, rates_hz, bytes zero_packet not None,
        bytes config not None=b"", str name not None="hd-port", failsafe=None,
    ):
        cdef bytes short = name.encode("ascii", "replace")[:15]
        cdef int index
        self.bell = -1
        if protocol not in PROTOCOLS:
            raise ValueError(f"no protocol is called {protocol!r}: it is one of {', '.join(PROTOCOLS)}")
        if not 1 <= len(rates_hz) <= PORT_DEVICES:
            raise ValueError(f"a port has 1 to {PORT_DEVICES} devices, not {len(rates_hz)}")
        if len(config) > CODEC_CONFIG or len(zero_packet) > CODEC_OUTPUT:
            raise ValueError(f"config has at most {CODEC_CONFIG} bytes and a zero packet at most {CODEC_OUTPUT}")
        self.x = <Exchange *>hd_pages(sizeof(Exchange))
        if self.x == NULL:
            raise MemoryError("no memory for the thread of a port")
        self.runtime = runtime
        self.descriptor = descriptor
        self.zero_packet = zero_packet
        self.failsafe = failsafe
        self.x.arena = runtime.arena
        self.x.descriptor = descriptor
        self.x.devices = <uint32_t>len(rates_hz)
        self.x.zero_bytes = <uint32_t>len(zero_packet)
        memcpy(self.x.zero, <const char *>zero_packet, len(zero_packet))
        strncpy(self.x.name, short, 15)
        self.x.codec.protocol = PROTOCOLS[protocol]
        self.x.codec.devices = self.x.devices
        self.x.codec.messages = &self.x.incoming
        memcpy(self.x.codec.config, <const char *>config, len(config))
        if not codec_fits(&self.x.codec, <int>len(config)):
            raise ValueError(f"this config does not fit the protocol {protocol}")
        for index in range(len(rates_hz)):
            self.x.lines[index].period_ns = period_of(rates_hz[index])
        self.x.wake, self.bell = os.pipe()
        os.set_blocking(self.x.wake, False)
        os.set_blocking(self.bell, False)

    def __dealloc__(self):
        if self.x != NULL:
            if self.started:
                self._join()
            hd_pages_free(self.x, sizeof(Exchange))

    def attach(self, int index, lease) -> None:
        """Attach a device to the lease's slot and wait until the thread uses it. Raise ValueError or IndexError."""
        if not 0 <= lease.slot < MAX_DEVICES:
            raise ValueError(f"{lease.slot} is no slot of a device")
        self._belong(index, <uint64_t>(lease.generation & 0xffffffff) << 32 | <uint64_t>(lease.slot + 1))

    def detach(self, int index) -> None:
        """Detach a device: one zero order, then those of `set_idle`. After the return the thread no longer writes to the slot."""
        self._belong(index, 0)

    cdef _belong(self, int index, uint64_t attached):
        self._check(index)
        hd_store(&self.x.lines[index].attached, attached)
        self._changed()

    def set_rate(self, int index, rate_hz) -> None:
        """Set the orders per second of one device, 0 = none."""
        self._check(index)
        hd_store(<uint64_t *>&self.x.lines[index].period_ns, <uint64_t>period_of(rate_hz))
        self._changed()

    def set_idle(self, index, rate_hz) -> None:
        """Set the zero orders per second of one device while it is not attached, 0 = none."""
        self._check(index)
        hd_store(<uint64_t *>&self.x.lines[index].idle_ns, <uint64_t>period_of(rate_hz))
        self._changed()

    cdef _check(self, int index):
        if not 0 <= index < <int>self.x.devices:
            raise IndexError(f"this port has devices 0 to {self.x.devices - 1}, not {index}")

    cdef _changed(self):
        """Wake the thread and wait until it has seen the change, or has ended."""
        cdef int64_t until
        hd_store(&self.x.changes, self.x.changes + 1)
        if not self.started or self.closed:
            return
        self._ring()
        with nogil:
            until = hd_now_ns() + 2 * ZERO_PACKET_NS
            while hd_load(&self.x.seen) < self.x.changes and hd_now_ns() < until:
                hd_sleep_until(hd_now_ns() + 100000)

    cdef _ring(self):
        try:
            os.write(self.bell, b"!")
        except BlockingIOError:
            pass

    def start(self, *, bint at_fatal_signal=True) -> None:
        """Register the zero packet and start the thread; raise OSError when that fails. A second call does nothing."""
        cdef int error
        if self.started or self.closed:
            return
        os.set_blocking(self.descriptor, False)
        if self.zero_packet:
            if at_fatal_signal:
                zero_packets.register(self.descriptor, self.zero_packet)
            if self.failsafe is not None:
                self.failsafe.watch(self.descriptor, self.zero_packet)
        self.x.priority = self.runtime.arena.priority - BELOW_THE_LOOP
        self.stack = hd_pages(HD_STACK_BYTES)
        error = hd_thread_start(&self.thread, hd_port_main, self.x, self.stack) if self.stack != NULL else 12
        if error != 0:
            self._forget()
            raise OSError(error, "the thread of a port could not be started")
        self.started = True

    def send(self, bytes message not None) -> bool:
        """Queue one message (1 to 1,024 bytes) for writing; False when there is no room or the port is closed."""
        cdef bint taken
        if not 1 <= len(message) <= HD_RING_MESSAGE:
            raise ValueError(f"a message has 1 to {HD_RING_MESSAGE} bytes, not {len(message)}")
        if self.closed:
            return False
        taken = hd_ring_put(&self.x.outgoing, <const char *>message, len(message)) != 0
        self._ring()
        return taken

    def receive(self) -> list[bytes]:
        """Return the messages received since the last call, in order; also after `close`."""
        cdef uint8_t message[1024]
        cdef size_t length
        found = []
        while True:
            length = hd_ring_take(&self.x.incoming, message)
            if length == 0:
                return found
            found.append(<bytes>message[:length])

    def counters(self) -> Counters:
        """Return the counters; also after `close`."""
        cdef PortCounters c
        hd_seq_read(&self.x.sequence, &self.x.shown, &c, sizeof(PortCounters))
        devices = range(self.x.devices)
        return Counters(
            c.frames_in, c.frames_bad, c.bytes_in, c.bytes_out, c.orders, c.zeros, c.late, c.blocked, c.errors, c.dropped,
            c.last_in_ns, c.last_out_ns, c.gone, c.running != 0, c.fifo != 0,
            tuple(c.sample_ns[i] for i in devices), tuple(c.beat_ns[i] for i in devices),
            tuple(c.faults[i] for i in devices), tuple(c.bits[i] for i in devices),
        )

    def close(self) -> None:
        """Write the zero packet, join the thread, unregister the packet, close the descriptor: at most about 60 ms. A second call does nothing."""
        if self.closed:
            return
        self.closed = True
        if self.started:
            self._ring()
            self._join()
        self._forget()
        os.close(self.descriptor)
        os.close(self.bell)
        os.close(self.x.wake)

    cdef void _join(self) noexcept:
        if self.stack == NULL:
            return
        hd_store(&self.x.stop, 1)
        with nogil:
            pthread_join(self.thread, NULL)
        hd_pages_free(self.stack, HD_STACK_BYTES)
        self.stack = NULL

    cdef _forget(self):
        zero_packets.unregister(self.descriptor)
        if self.failsafe is not None:
            self.failsafe.forget(self.descriptor)


cdef int64_t period_of(rate_hz) except -1:
    """Return the ns between two orders at a rate (Hz; 0 = none, at most 8,000)."""
    if not 0 <= rate_hz <= 8000:
        raise ValueError(f"a port's rate is 0 to 8000 Hz, not {rate_hz}")
    return <int64_t>(1e9 / rate_hz) if rate_hz else 0
