"""Python door to the open link protocol: drivers and tests encode and decode with the port threads' own lines."""

from typing import NamedTuple

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memcpy, memset

cimport fastpath.codecs.openlink as ol
from fastpath.codecs.openlink cimport ol_body, ol_configure, ol_decoder, ol_identity, ol_message, ol_state

from fastpath.codecs import openlink_messages as values

VERSION = ol.OL_VERSION
EVERY_DEVICE = ol.OL_EVERY_DEVICE
MAX_DEVICES = ol.OL_MAX_DEVICES
LATE_WINDOW = ol.OL_LATE_WINDOW
WATCHDOG_S = ol.OL_WATCHDOG_MS / 1000.0
HEARTBEAT_S = ol.OL_HEARTBEAT_MS / 1000.0


class Frame(NamedTuple):
    """One message on the wire: whom it concerns, and its number among its kind."""

    device: int
    sequence: int
    message: values.Message


class Counts(NamedTuple):
    """What a decoder has seen: `bad` CRC, COBS or length, `foreign` version, `unknown` type, `invalid` value."""

    frames: int
    bad: int
    foreign: int
    unknown: int
    invalid: int


def crc(bytes data not None) -> int:
    """CRC-16/IBM-3740."""
    return ol.ol_crc(data, len(data))


def newer(uint16_t newest, uint16_t sequence) -> bool:
    """Whether a frame of that sequence comes after the newest one that was taken."""
    return ol.ol_newer(newest, sequence) != 0


def encode(message, *, uint8_t device=0, uint16_t sequence=0, uint8_t version=ol.OL_VERSION) -> bytes:
    """The bytes of one message with its zeros. ValueError for a value out of its range, TypeError for what is no message."""
    cdef ol_message m
    cdef uint8_t out[ol.OL_MAX_WIRE]
    memset(&m, 0, sizeof(m))
    m.version, m.device, m.sequence = version, device, sequence
    try:
        fill(&m, message)
    except OverflowError as error:
        raise ValueError(f"a value of {type(message).__name__} does not fit: {error}") from None
    if not ol.ol_valid(&m):
        raise ValueError(f"a value of {type(message).__name__} is out of its range: {message}")
    return PyBytes_FromStringAndSize(<char *>out, ol.ol_encode(&m, out))


cdef class Decoder:
    """Takes the bytes of one link as they come and keeps what a later call completes."""

    cdef ol_decoder decoder

    def __cinit__(self):
        memset(&self.decoder, 0, sizeof(self.decoder))

    def feed(self, bytes data not None) -> list[Frame]:
        """The messages that these bytes complete, in order; what is damaged or not understood is counted."""
        cdef const uint8_t *at = data
        cdef const uint8_t *end = at + len(data)
        cdef ol_message m
        frames = []
        while ol.ol_decode(&self.decoder, &at, end, &m):
            try:
                frames.append(Frame(m.device, m.sequence, shown(&m)))
            except ValueError:
                self.decoder.frames -= 1
                self.decoder.invalid += 1
        return frames

    def counts(self) -> Counts:
        """Since the decoder was made."""
        d = &self.decoder
        return Counts(d.frames, d.bad, d.foreign, d.unknown, d.invalid)


# ---------------------------------------------------------------- values to structs

cdef int fill(ol_message *m, message) except -1:
    cdef ol_body *body = &m.body
    if isinstance(message, values.State):
        m.type = ol.OL_STATE
        fill_state(&body.state, message)
    elif isinstance(message, values.Command):
        m.type = ol.OL_COMMAND
        body.command.mode = message.mode
        fill_floats(body.command.value, message.value, 3)
    elif isinstance(message, values.Identify):
        m.type = ol.OL_IDENTIFY
    elif isinstance(message, values.Wake):
        m.type = ol.OL_WAKE
        body.wake.awake, body.wake.rate_hz = message.awake, message.rate_hz
    elif isinstance(message, values.Configure):
        m.type = ol.OL_CONFIGURE
        fill_configure(&body.configure, message)
    elif isinstance(message, values.Calibrate):
        m.type = ol.OL_CALIBRATE
        body.calibrate.start, body.calibrate.run = message.start, message.run
    elif isinstance(message, values.Led):
        m.type = ol.OL_LED
        body.led.mode = message.mode
        body.led.red, body.led.green, body.led.blue = message.red, message.green, message.blue
    elif isinstance(message, values.Identity):
        m.type = ol.OL_IDENTITY
        fill_identity(&body.identity, message)
    elif isinstance(message, values.Settle):
        m.type = ol.OL_SETTLE
        body.settle.phase, body.settle.remaining_ms = message.phase, message.remaining_ms
        body.settle.watchdog_trips, body.settle.request = message.watchdog_trips, message.request
    elif isinstance(message, values.Configuration):
        m.type = ol.OL_CONFIGURATION
        body.configuration.request, body.configuration.result = message.request, message.result
        fill_configure(&body.configuration.now, message.now)
    elif isinstance(message, values.Calibration):
        m.type = ol.OL_CALIBRATION
        body.calibration.request = message.request
        body.calibration.progress, body.calibration.reason = message.progress, message.reason
    elif isinstance(message, values.Heartbeat):
        m.type = ol.OL_HEARTBEAT
        body.heartbeat.uptime_ms, body.heartbeat.hall = message.uptime_ms, message.hall
    elif isinstance(message, values.FaultReport):
        m.type = ol.OL_FAULT
        body.fault.clock_us, body.fault.faults, body.fault.changed = message.clock_us, message.faults, message.changed
    elif isinstance(message, values.Presence):
        m.type = ol.OL_PRESENCE
        body.presence.present, body.presence.asleep = message.present, message.asleep
    elif isinstance(message, values.Refused):
        m.type = ol.OL_REFUSED
        body.refused.request, body.refused.type = message.request, message.type
        body.refused.reason, body.refused.newest_version = message.reason, message.newest_version
    else:
        raise TypeError(f"{message!r} is no message of the open link protocol")
    return 0


cdef int fill_floats(float *out, numbers, int count) except -1:
    cdef int i
    if len(numbers) != count:
        raise ValueError(f"{count} numbers are needed, not {len(numbers)}")
    for i in range(count):
        out[i] = numbers[i]
    return 0


cdef int fill_bytes(uint8_t *out, bytes data, int least, int most) except -1:
    if not least <= len(data) <= most:
        raise ValueError(f"{least} to {most} bytes are needed, not {len(data)}")
    memcpy(out, <const char *>data, len(data))
    return 0


cdef int fill_state(ol_state *s, message) except -1:
    s.clock_us, s.command, s.flags, s.faults = message.clock_us, message.command, message.flags, message.faults
    s.buttons = message.buttons
    fill_floats(s.joint, message.joint, 3)
    fill_floats(s.position, message.position, 3)
    fill_floats(s.orientation, message.orientation, 4)
    s.hall, s.temperature = message.hall, message.temperature
    s.battery_level, s.battery_voltage = message.battery_level, message.battery_voltage
    return 0


cdef int fill_configure(ol_configure *c, message) except -1:
    c.mask, c.left_handed, c.torque_scaling = message.fields, message.left_handed, message.torque_scaling
    c.gravity_enabled, c.home_return = message.gravity_enabled, message.home_return
    c.gravity_scale = message.gravity_scale
    fill_floats(c.damping, message.damping, 3)
    return 0


cdef int fill_identity(ol_identity *d, message) except -1:
    d.kind, d.wireless, d.hardware, d.mechanism = message.kind, message.wireless, message.hardware, message.mechanism
    d.firmware_major, d.firmware_minor = message.firmware_major, message.firmware_minor
    d.firmware_patch = message.firmware_patch
    d.slots, d.capabilities, d.rate_hz = message.slots, message.capabilities, message.rate_hz
    d.settle_ms = message.settle_ms
    fill_bytes(d.id, message.device_id.encode("ascii"), 1, 8)
    fill_bytes(d.uuid, message.uuid, 16, 16)
    fill_floats(d.shoulder, message.shoulder, 3)
    fill_floats(d.link, message.link, 2)
    d.counts_per_turn, d.torque_limit, d.peak_force = message.counts_per_turn, message.torque_limit, message.peak_force
    fill_floats(d.reach_low, message.reach_low, 3)
    fill_floats(d.reach_high, message.reach_high, 3)
    return 0


# ---------------------------------------------------------------- structs to values

cdef object shown(ol_message *m):
    """The value of a message; ValueError when an enumeration has no such member."""
    cdef ol_body *b = &m.body
    if m.type == ol.OL_STATE:
        return shown_state(&b.state)
    if m.type == ol.OL_COMMAND:
        return values.Command(values.CommandMode(b.command.mode), three(b.command.value))
    if m.type == ol.OL_IDENTIFY:
        return values.Identify()
    if m.type == ol.OL_WAKE:
        return values.Wake(b.wake.awake != 0, b.wake.rate_hz)
    if m.type == ol.OL_CONFIGURE:
        return shown_configure(&b.configure)
    if m.type == ol.OL_CALIBRATE:
        return values.Calibrate(b.calibrate.start != 0, b.calibrate.run)
    if m.type == ol.OL_LED:
        return values.Led(values.LedMode(b.led.mode), b.led.red, b.led.green, b.led.blue)
    if m.type == ol.OL_IDENTITY:
        return shown_identity(&b.identity)
    if m.type == ol.OL_SETTLE:
        s = b.settle
        return values.Settle(values.SettlePhase(s.phase), s.remaining_ms, s.watchdog_trips, s.request)
    if m.type == ol.OL_CONFIGURATION:
        result = values.ConfigureResult(b.configuration.result)
        return values.Configuration(b.configuration.request, result, shown_configure(&b.configuration.now))
    if m.type == ol.OL_CALIBRATION:
        progress = values.CalibrationProgress(b.calibration.progress)
        return values.Calibration(b.calibration.request, progress, values.CalibrationReason(b.calibration.reason))
    if m.type == ol.OL_HEARTBEAT:
        return values.Heartbeat(b.heartbeat.uptime_ms, b.heartbeat.hall)
    if m.type == ol.OL_FAULT:
        faults = values.FaultFlag(b.fault.faults)
        return values.FaultReport(b.fault.clock_us, faults, values.FaultFlag(b.fault.changed))
    if m.type == ol.OL_PRESENCE:
        return values.Presence(b.presence.present, b.presence.asleep)
    reason = values.RefusedReason(b.refused.reason)
    return values.Refused(b.refused.request, b.refused.type, reason, b.refused.newest_version)


cdef tuple three(const float *v):
    return v[0], v[1], v[2]


cdef object shown_state(const ol_state *s):
    orientation = (s.orientation[0], s.orientation[1], s.orientation[2], s.orientation[3])
    return values.State(
        s.clock_us, s.command, values.StateFlag(s.flags), values.FaultFlag(s.faults), s.buttons, three(s.joint),
        three(s.position), orientation, s.hall, s.battery_level, s.battery_voltage, s.temperature)


cdef object shown_configure(const ol_configure *c):
    return values.Configure(
        values.ConfigureField(c.mask), c.left_handed != 0, c.torque_scaling != 0, c.gravity_enabled != 0,
        c.home_return != 0, c.gravity_scale, three(c.damping))


cdef object shown_identity(const ol_identity *d):
    device_id = (<const char *>d.id)[:8].split(b"\0", 1)[0].decode("ascii")
    if not (device_id.isprintable() and device_id):
        raise ValueError("an identity needs one to eight printable characters")
    return values.Identity(
        values.DeviceKind(d.kind), d.wireless != 0, d.firmware_major, d.firmware_minor, d.firmware_patch, d.hardware,
        d.mechanism, d.slots, values.Capability(d.capabilities), d.rate_hz, d.settle_ms, device_id,
        (<const char *>d.uuid)[:16], three(d.shoulder), (d.link[0], d.link[1]), d.counts_per_turn, d.torque_limit,
        d.peak_force, three(d.reach_low), three(d.reach_high))
