"""Whole text frames of a WebSocket, and nothing else: what every turn sends and takes. Anything other is handed back."""

from __future__ import annotations

import os
from collections import deque
from typing import Final

TEXT: Final = 0x81  # the last fragment of a text, which is all of it
MASKED: Final = 0x80
SHORT: Final = 126  # lengths below stand in one byte
LONG: Final = 65536
KEYS: Final = 4096  # bytes of masks that are drawn at once


class PlainFrames:
    """Encoder and decoder of one connection."""

    __slots__ = ("_keys", "_most", "_used", "rest")

    def __init__(self, most: int) -> None:
        """`most`: bytes of a frame, beyond which it is handed back."""
        self._most = most
        self._keys, self._used = b"", KEYS
        self.rest = b""  # begin of a frame that is not whole yet

    def encode(self, payload: bytes) -> bytes:
        """Return the masked frame of a client."""
        at = self._used
        if at >= KEYS:
            self._keys, at = os.urandom(KEYS), 0
        self._used = at + 4
        key, size = self._keys[at : at + 4], len(payload)
        mask = int.from_bytes((key * (size // 4 + 1))[:size], "little")
        masked = (int.from_bytes(payload, "little") ^ mask).to_bytes(size, "little")
        if size < SHORT:
            return bytes((TEXT, MASKED | size)) + key + masked
        if size < LONG:
            return bytes((TEXT, MASKED | 126)) + size.to_bytes(2, "big") + key + masked
        return bytes((TEXT, MASKED | 127)) + size.to_bytes(8, "big") + key + masked

    def take(self, data: bytes, messages: deque[bytes]) -> bytes | None:
        """Append the texts of whole frames; return what is not one of them, from its begin on, b"" at the end of the connection."""
        if not data:
            return self.rest
        if self.rest:
            data, self.rest = self.rest + data, b""
        at, end = 0, len(data)
        while at < end:
            if data[at] != TEXT:
                return data[at:]
            if end - at < 2:
                break
            size, begin = data[at + 1], at + 2
            if size >= SHORT:
                if size != SHORT:
                    return data[at:]
                if end - at < 4:
                    break
                size, begin = data[at + 2] << 8 | data[at + 3], at + 4
                if size < SHORT or size > self._most:
                    return data[at:]
            if begin + size > end:
                break
            messages.append(data[begin : begin + size])
            at = begin + size
        self.rest = data[at:]
        return None
