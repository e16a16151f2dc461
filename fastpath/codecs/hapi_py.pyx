"""hAPI codec for Python: tests encode and decode with the same C as the port thread."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset
from typing import NamedTuple

from fastpath.codecs.codec_state cimport CODEC_CONFIG, CODEC_OUTPUT, Codec
from fastpath.codecs.hapi cimport HAPI_TIMEOUT_NS, hapi_order, hapi_take
from fastpath.layout.port cimport PortOrder

TIMEOUT_S = HAPI_TIMEOUT_NS * 1e-9


class Sample(NamedTuple):
    """Decoded sample: number, time of arrival (ns), joint angles (degrees)."""

    number: int
    time_ns: int
    joint: tuple[float, float, float]


cdef class Exchange:
    """Codec of one board with the config of its driver."""

    cdef Codec codec

    def __cinit__(self, bytes config not None):
        if len(config) > CODEC_CONFIG:
            raise ValueError(f"a config has at most {CODEC_CONFIG} bytes")
        memset(&self.codec, 0, sizeof(self.codec))
        memcpy(self.codec.config, <const char *>config, len(config))

    def order(self, torque, int64_t now) -> bytes:
        """Return the message for joint torques (N.mm); empty when nothing is to be sent now."""
        cdef uint8_t out[CODEC_OUTPUT]
        cdef PortOrder order
        memset(&order, 0, sizeof(order))
        order.time_ns = now
        order.torque[0], order.torque[1], order.torque[2] = torque
        return PyBytes_FromStringAndSize(<char *>out, hapi_order(&self.codec, 0, &order, out))

    def take(self, bytes data not None, int64_t now) -> Sample | None:
        """Decode received bytes; return the newest sample, None without one."""
        hapi_take(&self.codec, <const uint8_t *><const char *>data, len(data), now)
        if self.codec.fresh == 0:
            return None
        self.codec.fresh = 0
        sample = self.codec.samples[0]
        return Sample(sample.count, sample.time_ns, (sample.joint[0], sample.joint[1], sample.joint[2]))

    @property
    def bad(self) -> int:
        """Number of dropped replies."""
        return self.codec.frames_bad
