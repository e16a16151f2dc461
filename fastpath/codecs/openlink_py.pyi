# Open link codec (docs/link-protocol.md) for Python; the messages are values of fastpath.codecs.openlink_messages.

from typing import NamedTuple, final

from fastpath.codecs.openlink_messages import Message

VERSION: int
EVERY_DEVICE: int
MAX_DEVICES: int
LATE_WINDOW: int
WATCHDOG_S: float
HEARTBEAT_S: float

# One message on the wire: index of its device, and its sequence number.
class Frame(NamedTuple):
    device: int
    sequence: int
    message: Message

# Counters of a decoder: bad CRC, COBS or length; foreign version; unknown type; invalid value.
class Counts(NamedTuple):
    frames: int
    bad: int
    foreign: int
    unknown: int
    invalid: int

# CRC-16/IBM-3740.
def crc(data: bytes) -> int: ...

# Whether a sequence is newer than the newest accepted one.
def newer(newest: int, sequence: int) -> bool: ...

# The frame of one message, both zeros included. ValueError for a value out of range, TypeError for another object.
def encode(message: Message, *, device: int = 0, sequence: int = 0, version: int = 1) -> bytes: ...

# Decoder of one link's bytes; keeps an incomplete frame for the next call.
@final
class Decoder:
    def __new__(cls) -> Decoder: ...
    # The messages that these bytes complete, in order; damaged and unknown ones are counted.
    def feed(self, data: bytes) -> list[Frame]: ...
    # The counters since the decoder was made.
    def counts(self) -> Counts: ...
