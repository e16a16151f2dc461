"""Choose the codec of a port's protocol: check its config, encode an order, decode received bytes."""

from libc.stdint cimport int64_t, uint8_t

from fastpath.codecs.codec_state cimport (
    HD_RING_MESSAGE, PROTOCOL_BYTES, PROTOCOL_HAPI, PROTOCOL_OPENLINK, Codec, codec_message,
)
from fastpath.codecs.hapi cimport hapi_fits, hapi_order, hapi_take
from fastpath.codecs.openlink_port cimport openlink_fits, openlink_order, openlink_take
from fastpath.layout.port cimport PortOrder


cdef inline bint codec_fits(const Codec *c, int length) noexcept nogil:
    """Return whether a config of that length is valid for the protocol and its number of devices."""
    if c.protocol == PROTOCOL_HAPI:
        return hapi_fits(c, length)
    if c.protocol == PROTOCOL_OPENLINK:
        return openlink_fits(c, length)
    return c.protocol == PROTOCOL_BYTES


cdef inline int codec_order(Codec *c, int device, const PortOrder *order, uint8_t *out) noexcept nogil:
    """Encode one order into CODEC_OUTPUT bytes; return the length, 0 when nothing is to be sent now."""
    if c.protocol == PROTOCOL_HAPI:
        return hapi_order(c, device, order, out)
    if c.protocol == PROTOCOL_OPENLINK:
        return openlink_order(c, device, order, out)
    return 0


cdef inline void codec_take(Codec *c, const uint8_t *data, size_t length, int64_t now) noexcept nogil:
    """Decode received bytes into samples and messages."""
    cdef size_t part
    if c.protocol == PROTOCOL_HAPI:
        hapi_take(c, data, length, now)
        return
    if c.protocol == PROTOCOL_OPENLINK:
        openlink_take(c, data, length, now)
        return
    while length > 0:
        part = length if length < HD_RING_MESSAGE else HD_RING_MESSAGE
        codec_message(c, data, part)
        data += part
        length -= part
