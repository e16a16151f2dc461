# The open link protocol (docs/link-protocol.md) for Python; the messages are values of fastpath.codecs.openlink_messages.

from typing import NamedTuple, final

from fastpath.codecs.openlink_messages import Message

VERSION: int
EVERY_DEVICE: int
MAX_DEVICES: int
LATE_WINDOW: int
WATCHDOG_S: float
HEARTBEAT_S: float

# One message on the wire: whom it concerns, and its number among its kind.
class Frame(NamedTuple):
    device: int
    sequence: int
    message: Message

# What a decoder has seen: bad CRC, COBS or length; foreign version; unknown type; invalid value.
class Counts(NamedTuple):
    frames: int
    bad: int
    foreign: int
    unknown: int
    invalid: int

# CRC-16/IBM-3740.
def crc(data: bytes) -> int: ...

# Whether a frame of that sequence comes after the newest one that was taken.
def newer(newest: int, sequence: int) -> bool: ...

# The bytes of one message with its zeros. ValueError for a value out of its range, TypeError for what is no message.
def encode(message: Message, *, device: int = 0, sequence: int = 0, version: int = 1) -> bytes: ...

# Takes the bytes of one link as they come and keeps what a later call completes.
@final
class Decoder:
    def __new__(cls) -> Decoder: ...
    # The messages that these bytes complete, in order; what is damaged or not understood is counted.
    def feed(self, data: bytes) -> list[Frame]: ...
    # Since the decoder was made.
    def counts(self) -> Counts: ...
