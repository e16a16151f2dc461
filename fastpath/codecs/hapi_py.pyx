"""hAPI codec for Python: tests encode and decode with the same C as the port thread."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset
from typing import NamedTuple

from fastpath.codecs.codec_state cimport CODEC_CONFIG, CODEC_OUTPUT, Codec
from fastpath.codecs.hapi cimport (
    HAPI_CONFIG, HAPI_ENCODERS, HAPI_ENCODER_JOINT, HAPI_ID, HAPI_MOTORS, HAPI_MOTOR_JOINT, HAPI_PORTS, HAPI_TIMEOUT_NS,
    HAPI_TORQUES, HAPI_TORQUE_LIMIT, hapi_order, hapi_take,
)
from fastpath.layout.port cimport PortOrder

TIMEOUT_S = HAPI_TIMEOUT_NS * 1e-9
# N.mm of each motor
TORQUE_LIMIT = HAPI_TORQUE_LIMIT


def config(int board_id, by_port) -> bytes:
    """Return the codec's config of a board whose ports, from the first on, have the motors and encoders of these joints."""
    cdef int count = len(by_port), port
    if count > HAPI_PORTS:
        raise ValueError(f"a board has at most {HAPI_PORTS} ports, not {count}")
    out = bytearray(HAPI_CONFIG)
    out[HAPI_ID] = board_id
    out[HAPI_MOTORS] = out[HAPI_ENCODERS] = count
    for port in range(count):
        out[HAPI_MOTOR_JOINT + port] = out[HAPI_ENCODER_JOINT + port] = by_port[port]
    return bytes(out)


def zero_message(int board_id, int motors) -> bytes:
    """Return the message with zero torques."""
    return bytes((HAPI_TORQUES, board_id)) + bytes(4 * motors)


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
