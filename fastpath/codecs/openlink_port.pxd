"""Codec of the open link protocol in a port thread: commands out, states into samples, all other messages to the Python handle.

Config bytes: for each device the mode of its commands, OL_TORQUE, OL_FORCE or OL_RELEASE (no commands).
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from fastpath.codecs.codec_state cimport Codec, codec_message, codec_sample
from fastpath.codecs.openlink cimport (
    OL_COMMAND, OL_FORCE, OL_HEARTBEAT, OL_MAX_WIRE, OL_RELEASE, OL_STATE, OL_STATE_ATTACHED, OL_STATE_AWAKE,
    OL_STATE_CALIBRATED, OL_STATE_HOMED, OL_STATE_POWER, OL_TORQUE, OL_VERSION, ol_decode, ol_decoder, ol_encode,
    ol_message, ol_newer, ol_state,
)
from fastpath.layout.constants cimport PORT_ATTACHED, PORT_AWAKE, PORT_CALIBRATED, PORT_HOMED, PORT_POWER
from fastpath.layout.port cimport PORT_DEVICES, PortOrder, PortSample

cdef struct Openlink:
    ol_decoder decoder
    # sequence of each device's newest state
    uint16_t newest[PORT_DEVICES]
    uint8_t heard[PORT_DEVICES]


cdef inline bint openlink_fits(const Codec *c, int length) noexcept nogil:
    """Return whether the config has one valid byte for each device."""
    cdef int device
    if length != <int>c.devices:
        return False
    for device in range(length):
        if c.config[device] not in (OL_RELEASE, OL_FORCE, OL_TORQUE):
            return False
    return True


cdef inline int openlink_order(Codec *c, int device, const PortOrder *order, uint8_t *out) noexcept nogil:
    """Encode a COMMAND; zero force is RELEASE, which a device accepts with any sequence."""
    cdef bint torque = c.config[device] == OL_TORQUE
    cdef double value
    cdef ol_message m
    cdef int i
    if c.config[device] == OL_RELEASE:
        return 0
    memset(&m, 0, sizeof(m))
    m.version = OL_VERSION
    m.type = OL_COMMAND
    m.device = <uint8_t>device
    m.sequence = <uint16_t>c.sent[device]
    for i in range(3):
        value = order.torque[i] if torque else order.force[i]
        m.body.command.value[i] = <float>value
        if value != 0:
            m.body.command.mode = c.config[device]
    return <int>ol_encode(&m, out)


cdef inline void openlink_sample(Codec *c, const ol_message *m, int64_t now) noexcept nogil:
    """Fill a sample from one STATE; drop a late or duplicated one."""
    cdef Openlink *o = <Openlink *>c.memory
    cdef const ol_state *s = &m.body.state
    cdef PortSample *sample
    cdef int i
    if o.heard[m.device] and not ol_newer(o.newest[m.device], m.sequence):
        return
    o.heard[m.device] = 1
    o.newest[m.device] = m.sequence
    sample = codec_sample(c, m.device, now)
    sample.bits = (
        (PORT_ATTACHED if s.flags & OL_STATE_ATTACHED else 0) | (PORT_AWAKE if s.flags & OL_STATE_AWAKE else 0)
        | (PORT_CALIBRATED if s.flags & OL_STATE_CALIBRATED else 0) | (PORT_POWER if s.flags & OL_STATE_POWER else 0)
        | (PORT_HOMED if s.flags & OL_STATE_HOMED else 0)
    )
    sample.faults = s.faults
    sample.buttons = s.buttons
    for i in range(3):
        sample.joint[i] = s.joint[i]
        sample.position[i] = s.position[i]
    for i in range(4):
        sample.orientation[i] = s.orientation[i]
    sample.hall = s.hall
    sample.battery_level = s.battery_level
    sample.battery_voltage = s.battery_voltage
    sample.temperature = s.temperature


cdef inline uint64_t openlink_damaged(const ol_decoder *d) noexcept nogil:
    return d.bad + d.foreign + d.unknown + d.invalid


cdef inline void openlink_take(Codec *c, const uint8_t *data, size_t length, int64_t now) noexcept nogil:
    """Decode received bytes, in pieces of any size."""
    cdef Openlink *o = <Openlink *>c.memory
    cdef const uint8_t *end = data + length
    cdef uint64_t before = openlink_damaged(&o.decoder)
    cdef uint8_t wire[OL_MAX_WIRE]
    cdef ol_message m
    while ol_decode(&o.decoder, &data, end, &m):
        if m.type == OL_STATE:
            if m.device < c.devices:
                openlink_sample(c, &m, now)
            continue
        c.frames_in += 1
        if m.type != OL_HEARTBEAT:
            codec_message(c, wire, ol_encode(&m, wire))
        elif m.device < c.devices:
            c.beat_ns[m.device] = now
    c.frames_bad += openlink_damaged(&o.decoder) - before
