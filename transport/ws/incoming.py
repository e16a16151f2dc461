"""WebSocket parser: bytes to whole messages and control frames (RFC 6455, 5 and 7.4).

Has no socket and no event loop: `Protocol` reads a stream and passes the bytes to `Incoming.take`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

CONTINUATION: Final = 0x0
TEXT: Final = 0x1
BINARY: Final = 0x2
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA

FINAL: Final = 0x80
RESERVED: Final = 0x70
OPCODE: Final = 0x0F
CONTROL: Final = 0x8
MASKED: Final = 0x80
LENGTH: Final = 0x7F
LONGEST_CONTROL: Final = 125
LONGEST_16_BIT: Final = 65_535
OPCODES: Final = frozenset({CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG})
MASK_BYTES: Final = 4
LEAST_HEADER: Final = 2 + MASK_BYTES

BROKEN_RULES: Final = 1002
NO_UTF8: Final = 1007
TOO_BIG: Final = 1009
# Codes that a client may send: those defined by the standard, and those of libraries and applications.
CLOSE_CODES: Final = frozenset({*range(1000, 1004), *range(1007, 1015), *range(3000, 5000)})


class Broken(Exception):
    """The client violated the protocol; close code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Incoming:
    """Parser of one connection; `longest` limits the bytes of a message, all fragments together."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._kept = bytearray()
        self._needed = 2
        self._opcode = CONTINUATION
        self._fragments: bytearray | None = None

    def take(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield opcode and payload of every complete message and control frame; Broken at the first violation.

        A fragment that does not complete its message is (CONTINUATION, b""), because reading it also takes time.
        """
        if self._kept:
            self._kept += data
            if len(self._kept) < self._needed:
                return
            data = bytes(self._kept)
            self._kept.clear()
        at = 0
        while (end := self._end(data, at)) <= len(data):
            first, payload = data[at], self._payload(data, at, end)
            at = end
            opcode = first & OPCODE
            if first & FINAL and (opcode & CONTROL or (opcode and self._fragments is None)):
                if opcode == CLOSE:
                    _check_close_frame(payload)
                yield opcode, payload
            elif opcode & CONTROL:
                raise Broken(BROKEN_RULES, "a control frame was cut into fragments")
            elif self._fragment(opcode, payload, final=bool(first & FINAL)):
                whole, self._fragments = self._fragments, None
                yield self._opcode, bytes(whole or b"")
            else:
                yield CONTINUATION, b""
        if at < len(data):
            self._kept += data[at:]
            self._needed = end - at

    def release(self, taken: Callable[[bytes], bool]) -> None:
        """Offer the bytes of a frame that is not whole, unless a fragmented message is open; they are forgotten if `taken` returns true."""
        if self._fragments is None and taken(bytes(self._kept)):
            self._kept.clear()

    def _end(self, data: bytes, at: int) -> int:
        """Return where the frame at `at` ends, or how many bytes are needed to know."""
        if len(data) - at < 2:
            return at + 2
        length = data[at + 1] & LENGTH
        self._check(data[at], data[at + 1], length)
        if length <= LONGEST_CONTROL:
            return at + LEAST_HEADER + length
        wide = 2 if length == LONGEST_CONTROL + 1 else 8
        if len(data) - at < 2 + wide:
            return at + 2 + wide
        length = int.from_bytes(data[at + 2 : at + 2 + wide], "big")
        if length >> 63:
            raise Broken(BROKEN_RULES, "a frame has a length with its highest bit set")
        if length <= (LONGEST_CONTROL if wide == 2 else LONGEST_16_BIT):
            raise Broken(BROKEN_RULES, "a frame has a length in more bytes than it needs")
        if length > self._longest - len(self._fragments or b""):
            raise Broken(TOO_BIG, "message too big")
        return at + 2 + wide + MASK_BYTES + length

    def _check(self, first: int, second: int, length: int) -> None:
        """Check the first two bytes of a frame."""
        if first & RESERVED:
            raise Broken(BROKEN_RULES, "a frame uses an extension that was not agreed on")
        if first & OPCODE not in OPCODES:
            raise Broken(BROKEN_RULES, "a frame has an unknown opcode")
        if not second & MASKED:
            raise Broken(BROKEN_RULES, "a frame of a client is not masked")
        if first & CONTROL and length > LONGEST_CONTROL:
            raise Broken(BROKEN_RULES, "a control frame is longer than 125 bytes")

    @staticmethod
    def _payload(data: bytes, at: int, end: int) -> bytes:
        short = data[at + 1] & LENGTH
        begin = at + LEAST_HEADER + (0 if short <= LONGEST_CONTROL else 2 if short == LONGEST_CONTROL + 1 else 8)
        size = end - begin
        key = int.from_bytes((data[begin - MASK_BYTES : begin] * (size // MASK_BYTES + 1))[:size], "little")
        return (int.from_bytes(data[begin:end], "little") ^ key).to_bytes(size, "little")

    def _fragment(self, opcode: int, payload: bytes, *, final: bool) -> bool:
        """Append a fragment. Return whether the message is complete."""
        if opcode == CONTINUATION:
            if self._fragments is None:
                raise Broken(BROKEN_RULES, "a fragment continues no message")
            self._fragments += payload
            if len(self._fragments) > self._longest:
                raise Broken(TOO_BIG, "message too big")
        elif self._fragments is not None:
            raise Broken(BROKEN_RULES, "a message began before the last was whole")
        else:
            self._opcode, self._fragments = opcode, bytearray(payload)
        return final


def _check_close_frame(payload: bytes) -> None:
    """Check the payload of a close frame."""
    if not payload:
        return
    if int.from_bytes(payload[:2], "big") not in CLOSE_CODES or len(payload) == 1:
        raise Broken(BROKEN_RULES, "a close frame has a code that may not be sent")
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise Broken(NO_UTF8, "the reason of a close frame was not UTF-8") from None
