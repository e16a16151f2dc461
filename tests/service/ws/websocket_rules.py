"""Table of what a client may send on a WebSocket, what it may not, and what comes back: RFC 6455, by section.

A row is the section, a name, the bytes of the client and what answers them, in order: `FRAME` for a frame of the service, bytes for a pong
with that payload, a number for a close frame with that code.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from tests.support.clients.raw_websocket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    encode_frame,
)

FRAME: Final = "frame"
LONGEST: Final = 65_536
BROKEN_RULES: Final = 1002
NO_UTF8: Final = 1007
TOO_BIG: Final = 1009
EMPTY: Final = b"{}"

Answer: TypeAlias = str | bytes | int


class Row(NamedTuple):
    """One case."""

    section: str
    name: str
    sent: bytes
    answers: tuple[Answer, ...]


def first(data: bytes, opcode: int = TEXT) -> bytes:
    """The first fragment of a message."""
    return encode_frame(data, opcode, final=False)


def more(data: bytes) -> bytes:
    """A fragment in the middle."""
    return encode_frame(data, CONTINUATION, final=False)


def last(data: bytes) -> bytes:
    """The last fragment."""
    return encode_frame(data, CONTINUATION)


def padded(size: int) -> bytes:
    """A message of this many bytes."""
    return EMPTY + b" " * (size - 2)


def with_length(length: bytes, payload: bytes = EMPTY, opcode: int = TEXT) -> bytes:
    """A frame whose length is written as given; its key is 0."""
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


def closing(code: int, reason: bytes = b"") -> bytes:
    """A close frame."""
    return encode_frame(struct.pack("!H", code) + reason, CLOSE)


def framing() -> Iterator[Row]:
    """Yield the rows of section 5.2: lengths, opcodes, masks, reserved bits."""
    yield Row("5.2", "a text", encode_frame(EMPTY), (FRAME,))
    yield Row("5.2", "a binary message", encode_frame(EMPTY, BINARY), (FRAME,))
    yield Row("5.2", "an empty text", encode_frame(b""), (FRAME,))
    yield Row("5.2", "two in one write", encode_frame(EMPTY) * 2, (FRAME, FRAME))
    yield Row("5.2", "a key of zeros", with_length(b"\x82"), (FRAME,))
    for size in (125, 126, 127, 8191, 8192, 8193, 65_535, LONGEST):
        yield Row("5.2", f"{size} bytes", encode_frame(padded(size)), (FRAME,))
    yield Row("5.2", f"{LONGEST + 1} bytes", encode_frame(padded(LONGEST + 1)), (TOO_BIG,))
    for size in (2**31, 2**32, 2**63 - 1):
        yield Row("5.2", f"{size} bytes", with_length(b"\xff" + struct.pack("!Q", size)), (TOO_BIG,))
    yield Row(
        "5.2", "a length with its highest bit set", with_length(b"\xff" + struct.pack("!Q", 2**63)), (BROKEN_RULES,)
    )
    yield Row("5.2", "two bytes of length for 2", with_length(b"\xfe\x00\x02"), (BROKEN_RULES,))
    yield Row("5.2", "two bytes of length for 125", with_length(b"\xfe\x00\x7d", padded(125)), (BROKEN_RULES,))
    yield Row("5.2", "eight bytes of length for 2", with_length(b"\xff" + struct.pack("!Q", 2)), (BROKEN_RULES,))
    yield Row(
        "5.2",
        "eight bytes of length for 65535",
        with_length(b"\xff" + struct.pack("!Q", 65_535), padded(65_535)),
        (BROKEN_RULES,),
    )
    for bit in (1, 2, 4):
        for name, opcode, payload in (("text", TEXT, EMPTY), ("ping", PING, b"x"), ("close", CLOSE, b"\x03\xe8")):
            sent = encode_frame(payload, opcode, reserved=bit)
            yield Row("5.2", f"reserved bit {bit} in a {name}", sent, (BROKEN_RULES,))
        sent = first(b"{") + encode_frame(b"}", CONTINUATION, reserved=bit)
        yield Row("5.2", f"reserved bit {bit} in a continuation", sent, (BROKEN_RULES,))
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        yield Row("5.2", f"opcode {opcode}", encode_frame(EMPTY, opcode), (BROKEN_RULES,))
        yield Row("5.2", f"opcode {opcode} without payload", encode_frame(b"", opcode), (BROKEN_RULES,))
    for name, opcode in (("text", TEXT), ("binary", BINARY), ("ping", PING), ("pong", PONG), ("close", CLOSE)):
        yield Row("5.2", f"{name} without a mask", encode_frame(b"", opcode, masked=False), (BROKEN_RULES,))
    sent = first(b"{") + encode_frame(b"}", CONTINUATION, masked=False)
    yield Row("5.2", "a continuation without a mask", sent, (BROKEN_RULES,))
    yield Row(
        "5.2",
        "what comes before a violation is answered",
        encode_frame(EMPTY) + encode_frame(EMPTY, 3),
        (FRAME, BROKEN_RULES),
    )


def fragmentation() -> Iterator[Row]:
    """Yield the rows of section 5.4."""
    for opcode, kind in ((TEXT, "text"), (BINARY, "binary")):
        yield Row("5.4", f"{kind} in two", first(b"{", opcode) + last(b"}"), (FRAME,))
        yield Row(
            "5.4",
            f"{kind} in three, an empty one in the middle",
            first(b"{", opcode) + more(b"") + last(b"}"),
            (FRAME,),
        )
        yield Row("5.4", f"{kind} with an empty first fragment", first(b"", opcode) + last(EMPTY), (FRAME,))
        yield Row("5.4", f"{kind} with an empty last fragment", first(EMPTY, opcode) + last(b""), (FRAME,))
        yield Row("5.4", f"{kind} of empty fragments", first(b"", opcode) + more(b"") + last(b""), (FRAME,))
        yield Row(
            "5.4", f"{kind} of one byte each", first(b" ", opcode) + more(b" ") * 60 + more(b"{") + last(b"}"), (FRAME,)
        )
        yield Row(
            "5.4",
            f"a ping within a {kind}",
            first(b"{", opcode) + encode_frame(b"in", PING) + last(b"}"),
            (b"in", FRAME),
        )
        yield Row(
            "5.4", f"a pong within a {kind}", first(b"{", opcode) + encode_frame(b"in", PONG) + last(b"}"), (FRAME,)
        )
        yield Row("5.4", f"a close frame within a {kind}", first(b"{", opcode) + closing(1000), (1000,))
        yield Row("5.4", f"a text within a {kind}", first(b"{", opcode) + encode_frame(EMPTY), (BROKEN_RULES,))
        yield Row(
            "5.4",
            f"a binary message within a {kind}",
            first(b"{", opcode) + encode_frame(EMPTY, BINARY),
            (BROKEN_RULES,),
        )
        yield Row("5.4", f"a first fragment within a {kind}", first(b"{", opcode) + first(b"{"), (BROKEN_RULES,))
    yield Row(
        "5.4",
        "messages around a fragmented one",
        encode_frame(EMPTY) + first(b"{") + last(b"}") + encode_frame(EMPTY),
        (FRAME,) * 3,
    )
    yield Row("5.4", "a last fragment of nothing", last(EMPTY), (BROKEN_RULES,))
    yield Row("5.4", "a fragment of nothing", more(EMPTY), (BROKEN_RULES,))
    yield Row("5.4", "one fragment too many", first(b"{") + last(b"}") + last(b""), (FRAME, BROKEN_RULES))
    yield Row("5.4", "fragments of 64 KiB together", first(padded(40_000)) + last(b" " * (LONGEST - 40_000)), (FRAME,))
    yield Row(
        "5.4",
        "fragments of more than 64 KiB together",
        first(padded(40_000)) + last(b" " * (LONGEST - 39_999)),
        (TOO_BIG,),
    )
    yield Row("5.4", "short fragments of more than 64 KiB together", first(padded(LONGEST)) + last(b" "), (TOO_BIG,))


def control_frames() -> Iterator[Row]:
    """Yield the rows of section 5.5."""
    for payload in (b"", b"x", b"\xff\xfe\x00", bytes(125)):
        yield Row("5.5.2", f"a ping of {len(payload)} bytes", encode_frame(payload, PING), (payload,))
    yield Row(
        "5.5.2",
        "twenty pings",
        b"".join(encode_frame(b"%d" % at, PING) for at in range(20)),
        tuple(b"%d" % at for at in range(20)),
    )
    yield Row("5.5.2", "a ping before a message", encode_frame(b"a", PING) + encode_frame(EMPTY), (b"a", FRAME))
    yield Row("5.5.2", "a ping behind a message", encode_frame(EMPTY) + encode_frame(b"a", PING), (FRAME, b"a"))
    yield Row("5.5.3", "a pong that nobody asked for", encode_frame(b"x", PONG) + encode_frame(EMPTY), (FRAME,))
    for name, opcode in (("ping", PING), ("pong", PONG), ("close", CLOSE)):
        payload = b"\x03\xe8" + b"x" * 124
        yield Row("5.5", f"a {name} of 126 bytes", encode_frame(payload, opcode), (BROKEN_RULES,))
        yield Row(
            "5.5", f"a {name} with an eight-byte length", with_length(b"\xff" + bytes(8), b"", opcode), (BROKEN_RULES,)
        )
        yield Row("5.5", f"a {name} in fragments", encode_frame(b"\x03\xe8", opcode, final=False), (BROKEN_RULES,))


def closes() -> Iterator[Row]:
    """Yield the rows of sections 5.5.1 and 7.4."""
    yield Row(
        "5.5.1",
        "nothing behind a close frame is answered",
        closing(1000) + encode_frame(EMPTY) + encode_frame(b"x", PING),
        (1000,),
    )
    yield Row("5.5.1", "a message before a close frame is answered", encode_frame(EMPTY) + closing(1000), (FRAME, 1000))
    yield Row("5.5.1", "a reason of 123 bytes", closing(1000, b"x" * 123), (1000,))
    yield Row("5.5.1", "a reason in UTF-8", closing(1000, "grüß".encode()), (1000,))
    yield Row("5.5.1", "a reason that is no UTF-8", closing(1000, b"\xff"), (NO_UTF8,))
    yield Row("5.5.1", "a reason cut within a character", closing(1000, b"\xc3"), (NO_UTF8,))
    yield Row("5.5.1", "half a code", encode_frame(b"\x03", CLOSE), (BROKEN_RULES,))
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        yield Row("7.4", f"code {code}", closing(code), (code,))
    for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535):
        yield Row("7.4", f"code {code}", closing(code), (BROKEN_RULES,))


def texts() -> Iterator[Row]:
    """Yield the rows of section 8.1: UTF-8 in one and in several fragments."""
    for name, text in (("two", "é"), ("three", "€"), ("four", "😀"), ("the last", "\U0010ffff")):
        data = f'{{"{text}":1}}'.encode()
        yield Row("8.1", f"a character of {name}", encode_frame(data), (FRAME,))
        for cut in range(3, 2 + len(text.encode())):
            yield Row(
                "8.1", f"a character of {name}, cut after {cut - 2}", first(data[:cut]) + last(data[cut:]), (FRAME,)
            )
    for name, bad in (
        ("a continuation byte alone", b"\x80"),
        ("a start alone", b"\xc3"),
        ("a short form of two", b"\xc0\x80"),
        ("a short form of three", b"\xe0\x80\x80"),
        ("a short form of four", b"\xf0\x80\x80\x80"),
        ("a surrogate", b"\xed\xa0\x80"),
        ("beyond the last character", b"\xf4\x90\x80\x80"),
        ("five bytes", b"\xf8\x88\x80\x80\x80"),
        ("0xFE", b"\xfe"),
        ("0xFF", b"\xff"),
    ):
        data = b'{"' + bad + b'":1}'
        yield Row("8.1", name, encode_frame(data), (NO_UTF8,))
        yield Row("8.1", f"{name}, in two fragments", first(data[:3]) + last(data[3:]), (NO_UTF8,))
        yield Row("8.1", f"{name}, at the end", first(b"{}") + last(bad), (NO_UTF8,))
    yield Row("8.1", "a character that never ends", encode_frame(b'{"\xe2\x82'), (NO_UTF8,))


ROWS: Final = [*framing(), *fragmentation(), *control_frames(), *closes(), *texts()]
