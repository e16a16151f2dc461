"""State of one port's codec: buffers, the newest sample of each device, and the ring of all other messages.

One Codec belongs to one port's thread; nothing of it is shared. A protocol is a file beside this one with three functions:

* `X_fits(codec, length) -> bool`: whether `config` of that length is valid; the other two do not check it again.
* `X_order(codec, device, order, out) -> int`: one packet for one device (at most CODEC_OUTPUT bytes) and its length; 0 = none
  now. A zero order gives a packet of zero force; the thread asks for it when the loop's order is too old.
* `X_take(codec, bytes, length, now)`: received bytes, in pieces of any size. A whole sample goes into `samples[device]`, its bit into
  `fresh`; any other message through `codec_message` to the port's Python handle.

No I/O, no allocation, no clock: the caller passes `now`.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from fastpath.layout.port cimport PORT_DEVICES, PortSample

cdef extern from "cells/message_ring.h" nogil:
    const size_t HD_RING_MESSAGE
    ctypedef struct hd_ring:
        pass
    int hd_ring_put(hd_ring *ring, const void *message, size_t length)
    size_t hd_ring_take(hd_ring *ring, void *message)

cdef enum:
    CODEC_INPUT = 2048
    CODEC_OUTPUT = 256
    CODEC_CONFIG = 128
    CODEC_MEMORY = 256

cdef enum Protocol:
    # received bytes become messages, no order is sent; each other protocol has a file
    PROTOCOL_BYTES = 0
    PROTOCOL_HAPI = 1
    PROTOCOL_OPENLINK = 2

cdef struct Codec:
    uint32_t protocol
    uint32_t devices
    # length of the incomplete packet in `input`, and when its newest byte arrived
    uint32_t waiting
    # one bit for each device whose sample is new
    uint32_t fresh
    int64_t waiting_ns
    uint64_t frames_in
    uint64_t frames_bad
    uint64_t dropped
    # packets sent to each device so far, for protocols that number them
    uint64_t sent[PORT_DEVICES]
    # when the newest heartbeat of each device arrived; 0 = none yet
    int64_t beat_ns[PORT_DEVICES]
    PortSample samples[PORT_DEVICES]
    # config bytes of the driver, in the protocol's own layout
    uint8_t config[CODEC_CONFIG]
    # for the protocol's own use
    uint64_t memory[CODEC_MEMORY]
    uint8_t input[CODEC_INPUT]
    hd_ring *messages


cdef inline void codec_message(Codec *c, const uint8_t *message, size_t length) noexcept nogil:
    """Queue a message (1 to HD_RING_MESSAGE bytes) for the port's Python handle; count it as dropped when the ring is full."""
    if not hd_ring_put(c.messages, message, length):
        c.dropped += 1


cdef inline PortSample *codec_sample(Codec *c, int device, int64_t now) noexcept nogil:
    """Count and stamp the next sample of a device and return it, to be filled in."""
    cdef PortSample *sample = &c.samples[device]
    sample.count += 1
    sample.time_ns = now
    c.fresh |= <uint32_t>1 << device
    c.frames_in += 1
    return sample


cdef inline size_t codec_gather(Codec *c, const uint8_t *data, size_t length, int64_t now) noexcept nogil:
    """Append bytes to the input buffer, at most what fits; return how many."""
    cdef size_t room = CODEC_INPUT - c.waiting
    if length > room:
        length = room
    memcpy(&c.input[c.waiting], data, length)
    c.waiting += <uint32_t>length
    c.waiting_ns = now
    return length


cdef inline void codec_drop(Codec *c, size_t count) noexcept nogil:
    """Drop bytes from the front of the input buffer."""
    if count >= c.waiting:
        c.waiting = 0
        return
    c.waiting -= <uint32_t>count
    memmove(c.input, &c.input[count], c.waiting)
