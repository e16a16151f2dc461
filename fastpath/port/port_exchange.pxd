"""One cycle of a port thread: send due orders, read and decode bytes, publish counters.

No GIL, no allocation, no lock. It shares triple buffers in the devices' slots with the loop, and two rings, a seqlock and single
words with the port's Python handle. `attached` of a device is the generation of its lease in the upper half, slot plus one below.
"""

from libc.errno cimport EAGAIN, EIO, ENODEV
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastpath.cells.cells cimport hd_load, hd_seq_write, hd_store, hd_triple_front, hd_triple_publish, hd_triple_take
from fastpath.codecs.codec_state cimport CODEC_OUTPUT, HD_RING_MESSAGE, Codec, hd_ring, hd_ring_take
from fastpath.codecs.dispatch cimport codec_order, codec_take
from fastpath.layout.arena cimport Arena, DeviceSlot
from fastpath.layout.port cimport OLDEST_ORDER_NS, PORT_DEVICES, OrderTaker, PortCounters, PortOrder, PortSample
from fastpath.port.order_gaps cimport begin_orders, is_answered

cdef extern from "platform/port_calls.h" nogil:
    enum:
        HD_PORT_READ
        HD_PORT_WRITE
        HD_PORT_WOKEN
        HD_PORT_HUNG_UP
    int64_t hd_now_ns()
    int hd_port_wait(int descriptor, int want_room, int wake, int64_t until_ns)
    int hd_port_read(int descriptor, void *data, size_t most)
    int hd_port_write(int descriptor, const void *data, size_t length)
    int hd_port_queued(int descriptor)
    void hd_port_discard(int descriptor)

cdef enum:
    READ_BYTES = 1024
    # empty reads in a row, although bytes were announced, after which the port counts as unplugged
    EMPTY_READS = 3
    # unsent bytes at which an order is skipped: a late force is worse than none
    LONGEST_QUEUE = 1024
    MESSAGES_A_ROUND = 16
    LONGEST_WAIT_NS = 100000000

cdef struct DeviceLine:
    # shared words: lease of the device, and ns between two orders while it is attached and while it is not, 0 = no orders
    uint64_t attached
    int64_t period_ns
    int64_t idle_ns
    # used by the thread only
    int64_t due_ns
    uint64_t served
    OrderTaker taker

cdef struct Exchange:
    Arena *arena
    int descriptor
    int wake
    uint32_t devices
    uint32_t zero_bytes
    int64_t priority
    # shared words: stop request; number of changes, and of those that the thread has seen
    uint64_t stop
    uint64_t changes
    uint64_t seen
    DeviceLine lines[PORT_DEVICES]
    # the rest of a packet that was written in part
    uint32_t rest
    uint32_t rest_at
    uint8_t out[1024]
    uint8_t zero[CODEC_OUTPUT]
    uint32_t empty_reads
    char name[16]
    uint64_t sequence
    PortCounters shown
    PortCounters counters
    Codec codec
    hd_ring incoming
    hd_ring outgoing


cdef inline int64_t clock_of(Exchange *x) noexcept nogil:
    """Return the runtime's clock (ns), which stamps orders and samples."""
    if x.arena.virtual_clock:
        return <int64_t>hd_load(&x.arena.virtual_ns)
    return hd_now_ns()


cdef inline DeviceSlot *slot_of(Exchange *x, uint64_t attached) noexcept nogil:
    """Return the slot of an `attached` word; NULL without a device or after the end of the lease."""
    cdef DeviceSlot *slot
    if attached == 0:
        return NULL
    slot = &x.arena.devices[<int><uint32_t>attached - 1]
    return slot if <uint32_t>hd_load(&slot.generation) == attached >> 32 else NULL


cdef inline bint count_failure(Exchange *x, int error) noexcept nogil:
    """Count a failed call; True when the error means that the port is gone."""
    x.counters.errors += 1
    x.counters.gone = error
    return True


cdef inline void write_rest(Exchange *x) noexcept nogil:
    """Write the rest of a packet that was written in part."""
    cdef int n
    while x.rest_at < x.rest:
        n = hd_port_write(x.descriptor, &x.out[x.rest_at], x.rest - x.rest_at)
        if n < 0:
            count_failure(x, -n)
        if n <= 0:
            break
        x.rest_at += n
        x.counters.bytes_out += n
        x.counters.last_out_ns = clock_of(x)
    if x.rest_at == x.rest:
        x.rest = 0
        x.rest_at = 0


cdef inline bint is_zero_order(const PortOrder *order) noexcept nogil:
    cdef int i
    for i in range(3):
        if order.force[i] != 0 or order.torque[i] != 0:
            return False
    return True


cdef inline bint newest_order(Exchange *x, DeviceLine *line, PortOrder *order) noexcept nogil:
    """Fill in the loop's order, zero when there is none; True when a force was withheld: it is older than OLDEST_ORDER_NS, or this thread was late."""
    cdef DeviceSlot *slot = slot_of(x, line.served)
    cdef PortOrder *newest
    memset(order, 0, sizeof(PortOrder))
    if slot == NULL:
        return False
    hd_triple_take(&slot.order_cell)
    newest = <PortOrder *>hd_triple_front(&slot.order_cell, slot.orders, sizeof(PortOrder))
    if newest.generation != line.served >> 32:
        return False
    if clock_of(x) - newest.time_ns > OLDEST_ORDER_NS:
        return not is_zero_order(newest)
    # With its time also where its force is withheld: a codec tells by it that there is a loop.
    order.time_ns = newest.time_ns
    if not is_answered(&line.taker, x.arena, slot, newest, hd_now_ns(), <int64_t>hd_load(<uint64_t *>&line.period_ns)):
        return not is_zero_order(newest)
    order[0] = newest[0]
    return False


cdef inline void send_order(Exchange *x, int device, bint zero) noexcept nogil:
    """Send one packet to one device; skip it while the previous one is not sent completely."""
    cdef PortOrder order
    cdef bint withheld
    cdef int length
    if x.rest or hd_port_queued(x.descriptor) > LONGEST_QUEUE:
        x.counters.blocked += 1
        return
    # No system call between the look at the order's age and the write: that is where a thread loses its turn.
    withheld = newest_order(x, &x.lines[device], &order)
    if zero:
        memset(&order, 0, sizeof(order))
    length = codec_order(&x.codec, device, &order, x.out)
    if length <= 0:
        return
    x.rest = length
    x.rest_at = 0
    write_rest(x)
    if x.rest and x.rest_at == 0:
        x.rest = 0
        x.counters.blocked += 1
        return
    x.lines[device].taker.taken_ns = hd_now_ns()
    x.codec.sent[device] += 1
    x.counters.orders += 1
    if withheld:
        x.counters.zeros += 1


cdef inline int64_t send_due(Exchange *x, int64_t now) noexcept nogil:
    """Send every order that is due; return when the next one is due (ns)."""
    cdef int64_t following = now + LONGEST_WAIT_NS, period
    cdef uint64_t attached
    cdef DeviceLine *line
    cdef int device
    for device in range(<int>x.devices):
        line = &x.lines[device]
        attached = hd_load(&line.attached)
        if attached != line.served:
            if attached == 0:
                send_order(x, device, True)
            line.served = attached
            line.due_ns = now
            if slot_of(x, attached) != NULL:
                begin_orders(&line.taker, slot_of(x, attached))
        period = <int64_t>hd_load(<uint64_t *>(&line.period_ns if attached else &line.idle_ns))
        if period == 0:
            continue
        if now >= line.due_ns:
            if now - line.due_ns >= period:
                x.counters.late += attached != 0
                line.due_ns = now
            send_order(x, device, False)
            line.due_ns += period
        if line.due_ns < following:
            following = line.due_ns
    return following


cdef inline void send_messages(Exchange *x) noexcept nogil:
    """Send the messages of the Python handle, whole and in order."""
    cdef int _i
    for _i in range(MESSAGES_A_ROUND):
        if x.rest:
            return
        x.rest = <uint32_t>hd_ring_take(&x.outgoing, x.out)
        x.rest_at = 0
        if x.rest == 0:
            return
        write_rest(x)


cdef inline bint all_finite(const PortSample *sample) noexcept nogil:
    """Return whether every number of the sample that the loop uses is finite."""
    cdef double sum = sample.hall + sample.battery_level + sample.battery_voltage + sample.temperature
    cdef int i
    for i in range(3):
        sum += sample.joint[i] + sample.position[i]
    for i in range(4):
        sum += sample.orientation[i]
    return isfinite(sum)


cdef inline void publish_samples(Exchange *x) noexcept nogil:
    """Publish new samples to the loop, for devices whose lease holds."""
    cdef uint32_t fresh = x.codec.fresh
    cdef PortSample *sample
    cdef DeviceSlot *slot
    cdef int device
    x.codec.fresh = 0
    for device in range(<int>x.devices):
        x.counters.beat_ns[device] = x.codec.beat_ns[device]
        if fresh >> device & 1 == 0:
            continue
        sample = &x.codec.samples[device]
        if not all_finite(sample):
            x.codec.frames_bad += 1
            continue
        x.counters.sample_ns[device] = sample.time_ns
        x.counters.faults[device] = sample.faults
        x.counters.bits[device] = sample.bits
        slot = slot_of(x, x.lines[device].served)
        if slot != NULL:
            sample.generation = <uint32_t>(x.lines[device].served >> 32)
            hd_triple_publish(&slot.sample_cell, slot.samples, sample, sizeof(PortSample))


cdef inline void read_port(Exchange *x, bint hung_up) noexcept nogil:
    """Read once and decode; several empty reads in a row although bytes were announced mean that the port is gone."""
    cdef uint8_t data[READ_BYTES]
    cdef int n = hd_port_read(x.descriptor, data, READ_BYTES)
    if n > 0:
        x.empty_reads = 0
        x.counters.bytes_in += n
        x.counters.last_in_ns = clock_of(x)
        codec_take(&x.codec, data, n, x.counters.last_in_ns)
        publish_samples(x)
        return
    x.empty_reads += 1
    if n < 0 and n != -EAGAIN:
        count_failure(x, -n)
    elif hung_up:
        count_failure(x, EIO)
    elif x.empty_reads >= EMPTY_READS:
        count_failure(x, ENODEV)


cdef inline void show_counters(Exchange *x) noexcept nogil:
    x.counters.frames_in = x.codec.frames_in
    x.counters.frames_bad = x.codec.frames_bad
    x.counters.dropped = x.codec.dropped
    hd_seq_write(&x.sequence, &x.shown, &x.counters, sizeof(PortCounters))


cdef inline void wake_up(Exchange *x) noexcept nogil:
    """Empty the pipe through which the handle wakes the thread."""
    cdef uint8_t data[64]
    while hd_port_read(x.wake, data, sizeof(data)) == sizeof(data):
        pass
