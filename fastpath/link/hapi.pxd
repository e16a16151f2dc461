"""hAPI boards: torques out (N.m), encoder angles in (degrees), float32 little-endian in port order, no framing and no checksum.

Only a message of type 2 is answered, so each order is also the request for the next sample. Config bytes: board id, number of
motors, of encoders, of analogue sensors, of PWM pins, then the joint (0 to 2) of each motor port and that of each encoder port,
four each.
"""

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from fastpath.link.layout cimport Codec, codec_drop, codec_gather, codec_sample
from fastpath.port_layout cimport PortOrder, PortSample

cdef enum:
    HAPI_TORQUES = 2
    HAPI_ID = 0
    HAPI_MOTORS = 1
    HAPI_ENCODERS = 2
    HAPI_SENSORS = 3
    HAPI_PINS = 4
    HAPI_MOTOR_JOINT = 5
    HAPI_ENCODER_JOINT = 9
    HAPI_PORTS = 4
    HAPI_CONFIG = 13
    # ns after which the rest of a reply does not come any more: the next byte begins a new one
    HAPI_PATIENCE_NS = 5000000
    # degrees: a shaft that turned this often is none
    HAPI_LARGEST_ANGLE = 100000


cdef inline bint hapi_fits(const Codec *c, int length) noexcept nogil:
    """One board with at most four ports of each sort, each of which is one of three joints."""
    cdef int port
    if length != HAPI_CONFIG or c.devices != 1 or c.config[HAPI_SENSORS] > 12 or c.config[HAPI_PINS] > 14:
        return False
    if c.config[HAPI_MOTORS] > HAPI_PORTS or c.config[HAPI_ENCODERS] > HAPI_PORTS:
        return False
    for port in range(2 * HAPI_PORTS):
        if c.config[HAPI_MOTOR_JOINT + port] > 2:
            return False
    return True


cdef inline int hapi_order(Codec *c, int device, const PortOrder *order, uint8_t *out) noexcept nogil:
    """`02 id`, a zero for each PWM pin, N.m as float32 for each motor port: 2 + pins + 4 motors bytes."""
    cdef int port, at
    cdef float torque
    out[0] = HAPI_TORQUES
    out[1] = c.config[HAPI_ID]
    at = 2
    memset(&out[at], 0, c.config[HAPI_PINS])
    at += c.config[HAPI_PINS]
    for port in range(c.config[HAPI_MOTORS]):
        torque = <float>(1e-3 * order.torque[c.config[HAPI_MOTOR_JOINT + port]])
        memcpy(&out[at], &torque, 4)
        at += 4
    return at


cdef inline bint hapi_angles(const Codec *c, const uint8_t *reply, double *joint) noexcept nogil:
    """Joint angles (degrees) of a whole reply; False where one is no angle."""
    cdef float angle
    cdef int port
    for port in range(c.config[HAPI_ENCODERS]):
        memcpy(&angle, &reply[1 + 4 * (c.config[HAPI_SENSORS] + port)], 4)
        if not isfinite(angle) or fabs(angle) > HAPI_LARGEST_ANGLE:
            return False
        joint[c.config[HAPI_ENCODER_JOINT + port]] = angle
    return True


cdef inline void hapi_take(Codec *c, const uint8_t *data, size_t length, int64_t now) noexcept nogil:
    """`id`, a float32 for each sensor and each encoder: whole replies become samples, what begins with no id is skipped."""
    cdef size_t whole = 1 + 4 * (<size_t>c.config[HAPI_SENSORS] + c.config[HAPI_ENCODERS]), taken
    cdef double joint[3]
    cdef PortSample *sample
    if c.waiting > 0 and now - c.waiting_ns > HAPI_PATIENCE_NS:
        codec_drop(c, c.waiting)
        c.frames_bad += 1
    while length > 0:
        taken = codec_gather(c, data, length, now)
        data += taken
        length -= taken
        while c.waiting >= whole:
            memset(joint, 0, sizeof(joint))
            if c.input[0] != c.config[HAPI_ID] or not hapi_angles(c, c.input, joint):
                codec_drop(c, 1)
                c.frames_bad += 1
                continue
            sample = codec_sample(c, 0, now)
            memcpy(sample.joint, joint, sizeof(joint))
            codec_drop(c, whole)
