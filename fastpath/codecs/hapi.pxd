"""Codec of hAPI boards: torques out (N m), encoder angles in (degrees), float32 little-endian in port order, no framing, no checksum.

Only a message of type 2 is answered, so each order is also the request for the next sample. Nothing marks where a reply begins;
the codec counts the bytes that are still due. An incomplete reply delays the next order and is dropped after a time-out.
Unexpected bytes, a wrong id, or an impossible angle make the line `shaken`: received bytes are dropped and nothing is requested
until the line has been quiet for HAPI_TIMEOUT_NS. An order that ends a torque is never delayed.

Config bytes: board id, number of motors, of encoders, of analogue sensors, of PWM pins, then the joint (0 to 2) of each motor
port and that of each encoder port, four each.
"""

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.codecs.codec_state cimport Codec, codec_drop, codec_gather, codec_sample
from fastpath.layout.port cimport PortOrder, PortSample

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
    # most replies that are counted as due
    HAPI_MOST_OWED = 64
    # most orders without a time that are delayed in a row; so many periods count as a silence
    HAPI_MOST_KEPT = 8
    # words of the codec's memory: replies due; 1 while the line is shaken; 1 when the last order had a torque
    HAPI_OWED = 0
    HAPI_SHAKEN = 1
    HAPI_PUSHING = 2
    # orders delayed in a row
    HAPI_KEPT = 3
    # ns of silence after which an incomplete reply is dropped
    HAPI_TIMEOUT_NS = 5000000
    # N.mm: the firmware clamps each motor to this, separately
    HAPI_TORQUE_LIMIT = 123
    # degrees that a shaft may turn from one sample to the next, and for each ms between them
    HAPI_TURN = 10
    HAPI_TURN_MS = 20
    # degrees: a larger angle is damaged data
    HAPI_LARGEST_ANGLE = 100000


cdef inline bint hapi_fits(const Codec *c, int length) noexcept nogil:
    """Return whether the config describes one board with at most four motor and four encoder ports, each for one of three joints."""
    cdef int port
    if length != HAPI_CONFIG or c.devices != 1 or c.config[HAPI_SENSORS] > 12 or c.config[HAPI_PINS] > 14:
        return False
    if c.config[HAPI_MOTORS] > HAPI_PORTS or c.config[HAPI_ENCODERS] > HAPI_PORTS:
        return False
    for port in range(2 * HAPI_PORTS):
        if c.config[HAPI_MOTOR_JOINT + port] > 2:
            return False
    return True


cdef inline size_t hapi_whole(const Codec *c) noexcept nogil:
    """Return the length of a reply: the id, a float32 for each sensor and each encoder."""
    return 1 + 4 * (<size_t>c.config[HAPI_SENSORS] + c.config[HAPI_ENCODERS])


cdef inline void hapi_start_over(Codec *c, uint64_t shaken) noexcept nogil:
    """Drop the input; no reply is due."""
    codec_drop(c, c.waiting)
    c.memory[HAPI_OWED] = 0
    c.memory[HAPI_SHAKEN] = shaken


cdef inline void hapi_settle(Codec *c, int64_t now) noexcept nogil:
    """After HAPI_TIMEOUT_NS of silence drop an incomplete reply and end the shaken state: the next byte begins a reply."""
    if now - c.waiting_ns <= HAPI_TIMEOUT_NS:
        return
    if c.waiting > 0:
        c.frames_bad += 1
        hapi_start_over(c, 0)
    elif c.memory[HAPI_SHAKEN]:
        hapi_start_over(c, 0)


cdef inline int hapi_order(Codec *c, int device, const PortOrder *order, uint8_t *out) noexcept nogil:
    """Encode `02 id`, a zero for each PWM pin, N.m as float32 for each motor port: 2 + pins + 4 motors bytes; 0 = send nothing now.

    Past the limit all torques are scaled down together; with a NaN all are zero. An order without a time is the thread's zero order
    while the loop has none; its delay is counted in orders.
    """
    cdef int port, at = 2 + c.config[HAPI_PINS]
    cdef double largest = 0, scale = 1e-3, torque
    cdef float word
    for port in range(c.config[HAPI_MOTORS]):
        torque = fabs(order.torque[c.config[HAPI_MOTOR_JOINT + port]])
        if not isfinite(torque):
            largest = 0
            scale = 0
            break
        if torque > largest:
            largest = torque
    if largest > HAPI_TORQUE_LIMIT:
        scale *= HAPI_TORQUE_LIMIT / largest
    hapi_settle(c, order.time_ns)
    if (c.waiting > 0 or c.memory[HAPI_SHAKEN]) and not (largest == 0 and c.memory[HAPI_PUSHING]):
        if order.time_ns > 0 or c.memory[HAPI_KEPT] < HAPI_MOST_KEPT:
            c.memory[HAPI_KEPT] += 1
            return 0
        c.frames_bad += c.waiting > 0
        hapi_start_over(c, 0)
    c.memory[HAPI_KEPT] = 0
    c.memory[HAPI_PUSHING] = largest != 0
    if c.memory[HAPI_OWED] < HAPI_MOST_OWED:
        c.memory[HAPI_OWED] += 1
    out[0] = HAPI_TORQUES
    out[1] = c.config[HAPI_ID]
    memset(&out[2], 0, c.config[HAPI_PINS])
    for port in range(c.config[HAPI_MOTORS]):
        word = <float>(scale * order.torque[c.config[HAPI_MOTOR_JOINT + port]]) if scale > 0 else 0
        memcpy(&out[at], &word, 4)
        at += 4
    return at


cdef inline bint hapi_angles(const Codec *c, const uint8_t *reply, int64_t now, double *joint) noexcept nogil:
    """Decode the joint angles (degrees) of a reply; False when one is not finite or impossible for the shaft."""
    cdef const PortSample *last = &c.samples[0]
    cdef double most = HAPI_TURN + HAPI_TURN_MS * 1e-6 * (now - last.time_ns)
    cdef float angle
    cdef int port, index
    for port in range(c.config[HAPI_ENCODERS]):
        index = c.config[HAPI_ENCODER_JOINT + port]
        memcpy(&angle, &reply[1 + 4 * (c.config[HAPI_SENSORS] + port)], 4)
        if not fabs(angle) <= HAPI_LARGEST_ANGLE or (last.count > 0 and fabs(angle - last.joint[index]) > most):
            return False
        joint[index] = angle
    return True


cdef inline void hapi_take(Codec *c, const uint8_t *data, size_t length, int64_t now) noexcept nogil:
    """Decode received bytes: whole replies that are due become samples."""
    cdef size_t whole = hapi_whole(c), taken
    cdef double joint[3]
    cdef PortSample *sample
    hapi_settle(c, now)
    while length > 0:
        taken = codec_gather(c, data, length, now)
        data += taken
        length -= taken
        if c.memory[HAPI_SHAKEN]:
            codec_drop(c, c.waiting)
            continue
        if c.waiting > whole * c.memory[HAPI_OWED]:
            c.frames_bad += 1
            hapi_start_over(c, 1)
            continue
        while c.waiting >= whole:
            memset(joint, 0, sizeof(joint))
            if c.input[0] != c.config[HAPI_ID] or not hapi_angles(c, c.input, now, joint):
                c.frames_bad += 1
                hapi_start_over(c, 1)
                break
            sample = codec_sample(c, 0, now)
            memcpy(sample.joint, joint, sizeof(joint))
            codec_drop(c, whole)
            c.memory[HAPI_OWED] -= 1
