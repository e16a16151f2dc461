"""Structs exchanged between the loop and a port thread: the newest sample of each device, and the loop's order for it.

Both go through triple buffers in the device's slot (`arena.pxd`): the port thread writes the sample and the
loop reads it; the order goes the other way. `generation` is that of the device's lease; a reader with another generation ignores the value.
Times are stamps of the runtime's clock. Every struct is a multiple of 8 bytes.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    # ns, age of an order after which the thread of a port sends zero in its place
    OLDEST_ORDER_NS = 20000000

cdef struct PortSample:
    # decoded packets of this device so far, and when this one arrived
    uint64_t count
    int64_t time_ns
    uint32_t generation
    # PORT_ bits; fault bits of the protocol
    uint32_t bits
    uint64_t faults
    uint64_t buttons
    # degrees, joint order; m, device frame: the mechanism's kind decides which of them the loop uses
    double joint[3]
    double position[3]
    # unit quaternion, all zero = not known
    double orientation[4]
    double hall
    double battery_level
    double battery_voltage
    double temperature

cdef struct PortOrder:
    uint64_t tick
    int64_t time_ns
    uint64_t generation
    # N at the cursor, device frame; N.mm at the joints, in joint order
    double force[3]
    double torque[3]
    # the `order_gaps` of the slot that the loop had seen
    uint64_t gaps

cdef struct OrderTaker:
    # private to who takes a device's orders to it: when it took the last one, 0 for none, and how often it came too late
    int64_t taken_ns
    uint64_t gaps

cdef struct PortInner:
    # loop-private: generation of the lease, number and time of the last sample, whether it was recent, last position and velocity
    uint64_t generation
    uint64_t count
    int64_t time_ns
    uint64_t fresh
    # gaps in the orders that the output has answered to
    uint64_t gaps
    double measured[3]
    double velocity[3]

cdef enum:
    PORT_DEVICES = 8

cdef struct PortCounters:
    # counts since the thread started
    uint64_t frames_in
    uint64_t frames_bad
    uint64_t bytes_in
    uint64_t bytes_out
    # packets with an order; of them those that were zero because the loop's order was too old, or this thread late
    uint64_t orders
    uint64_t zeros
    # packets sent a period or more too late; packets skipped because the port accepted no more bytes
    uint64_t late
    uint64_t blocked
    # failed reads and writes; messages dropped because a ring was full
    uint64_t errors
    uint64_t dropped
    int64_t last_in_ns
    int64_t last_out_ns
    # errno that ended the exchange because the port was unplugged, 0 while it runs
    uint64_t gone
    uint64_t running
    uint64_t fifo
    # of each device: the newest packet, heartbeat, faults and bits
    int64_t sample_ns[PORT_DEVICES]
    int64_t beat_ns[PORT_DEVICES]
    uint64_t faults[PORT_DEVICES]
    uint64_t bits[PORT_DEVICES]
