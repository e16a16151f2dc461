"""Open link codec for Python: drivers and tests encode and decode frames with the same C as the port threads."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memset
from typing import NamedTuple

cimport fastpath.codecs.openlink as ol
from fastpath.codecs.openlink cimport ol_decoder, ol_message
from fastpath.codecs.openlink_layout import TYPE_OF, pack, unpack
from fastpath.codecs.openlink_messages import Message

VERSION = ol.OL_VERSION
EVERY_DEVICE = ol.OL_EVERY_DEVICE
MAX_DEVICES = ol.OL_MAX_DEVICES
LATE_WINDOW = ol.OL_LATE_WINDOW
WATCHDOG_S = ol.OL_WATCHDOG_MS / 1000.0
HEARTBEAT_S = ol.OL_HEARTBEAT_MS / 1000.0


class Frame(NamedTuple):
    """One message with the index of its device and its sequence number."""

    device: int
    sequence: int
    message: Message


class Counts(NamedTuple):
    """Counters of a decoder: `bad` CRC, COBS or length, `foreign` version, `unknown` type, `invalid` value."""

    frames: int
    bad: int
    foreign: int
    unknown: int
    invalid: int


def crc(bytes data not None) -> int:
    """Return the CRC-16/IBM-3740."""
    return ol.ol_crc(data, len(data))


def newer(uint16_t newest, uint16_t sequence) -> bool:
    """Return whether a sequence is newer than the newest accepted one."""
    return ol.ol_newer(newest, sequence) != 0


def encode(message, *, uint8_t device=0, uint16_t sequence=0, uint8_t version=ol.OL_VERSION) -> bytes:
    """Return the frame of one message, both zeros included. ValueError for a value out of range, TypeError for another object."""
    cdef ol_message m
    cdef uint8_t out[ol.OL_MAX_WIRE]
    cdef bytes payload = pack(message)
    memset(&m, 0, sizeof(m))
    m.version, m.type, m.device, m.sequence = version, TYPE_OF[type(message)], device, sequence
    if ol.ol_set_payload(&m, payload, len(payload)) != <size_t>len(payload):
        raise RuntimeError("openlink_messages.h does not match openlink_messages.py: run make build")
    if not ol.ol_valid(&m):
        raise ValueError(f"a value of {type(message).__name__} is out of its range: {message}")
    return PyBytes_FromStringAndSize(<char *>out, ol.ol_encode(&m, out))


cdef class Decoder:
    """Decoder of one link's bytes; keeps an incomplete frame for the next call."""

    cdef ol_decoder decoder

    def __cinit__(self):
        memset(&self.decoder, 0, sizeof(self.decoder))

    def feed(self, bytes data not None) -> list[Frame]:
        """Return the messages that these bytes complete, in order; count damaged and unknown ones."""
        cdef const uint8_t *at = data
        cdef const uint8_t *end = at + len(data)
        cdef uint8_t payload[ol.OL_MAX_PAYLOAD]
        cdef size_t length
        cdef ol_message m
        frames = []
        while ol.ol_decode(&self.decoder, &at, end, &m):
            length = ol.ol_get_payload(&m, payload)
            try:
                frames.append(Frame(m.device, m.sequence, unpack(m.type, payload[:length])))
            except ValueError:
                self.decoder.frames -= 1
                self.decoder.invalid += 1
        return frames

    def counts(self) -> Counts:
        """Return the counters since the decoder was made."""
        d = &self.decoder
        return Counts(d.frames, d.bad, d.foreign, d.unknown, d.invalid)
