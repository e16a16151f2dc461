"""Play the byte streams of tests/wire/cases/bad_streams.json and check how each connection ends."""

from __future__ import annotations

from contextlib import suppress
from io import BufferedReader
from typing import Final

from tests.support.clients.raw_websocket import (
    CLOSE,
    PONG,
    TEXT,
    ConnectionEnded,
    Frame,
    RawWebSocket,
    connect_tcp,
    encode_frame,
    read_status,
)
from tests.support.wire.wire_variants import Object

SPACE: Final = b" "


class Stream:
    """One client of a case; `left` ones stay open until `drop`."""

    def __init__(self, url: str, case: Object) -> None:
        """`url` is that of a session channel."""
        self._case = case
        self._peer = None if case.get("bare") else RawWebSocket(url)
        self._socket = connect_tcp(url) if self._peer is None else self._peer.socket
        self._read: BufferedReader | None = self._socket.makefile("rb") if self._peer is None else None
        if self._peer is not None:
            self._peer.frame()

    def play(self) -> None:
        """Write everything, and see the end; AssertionError when it ends in another way."""
        data = b"".join(bytes_of(write) * write.get("times", 1) for write in self._case["writes"])
        pieces = [bytes([one]) for one in data] if self._case.get("slowly") else [data]
        with suppress(BrokenPipeError, ConnectionResetError):
            for piece in pieces:
                self._socket.sendall(piece)
        then: Object = self._case["then"]
        if self._peer is not None:
            self._check_session(self._peer, then)
        elif "status" in then:
            assert self._status() == then["status"]
        elif "gone" in then:
            self._refused()
        if "reset" in then:
            self.abort()
        elif "left" not in then:
            self.drop()

    def _check_session(self, peer: RawWebSocket, then: Object) -> None:
        for _ in range(then.get("frames", 0)):
            peer.frame()
        if "pong" in then:
            pong = peer.next()
            assert (pong.opcode, pong.payload) == (PONG, SPACE * then["pong"])
        if "close" in then:
            assert (code := peer.end()) == then["close"], f"closed with {code}"
        elif "gone" in then:
            assert last(peer) is None
        elif "ended" in then:
            last(peer)
        elif "reset" not in then and "left" not in then:
            peer.check_nothing_unread()

    def _status(self) -> int:
        assert self._read is not None
        return read_status(self._read.readline())

    def _refused(self) -> None:
        """No good answer: an error, or none at all."""
        with suppress(ConnectionEnded, ConnectionResetError):
            assert self._status() >= 400

    def abort(self) -> None:
        """Break the connection off."""
        if self._peer is not None:
            self._peer.abort()
        else:
            self.drop()

    def drop(self) -> None:
        """Close the connection."""
        if self._read is not None:
            self._read.close()
        self._socket.close()
        if self._peer is not None:
            self._peer.drop()


def bytes_of(write: Object) -> bytes:
    """The bytes of one write: `text`, `hex`, or a `frame`."""
    if "text" in write:
        return str(write["text"]).encode()
    if "hex" in write:
        return bytes.fromhex(write["hex"])
    payload = bytes.fromhex(write["payload"]) if "payload" in write else str(write["frame"]).encode()
    return encode_frame(
        payload.ljust(write.get("padded", 0), SPACE),
        write.get("opcode", TEXT),
        final=write.get("final", True),
        reserved=write.get("reserved", 0),
    )


def last(peer: RawWebSocket) -> Frame | None:
    """The frame before the end, which must come; None when the connection broke without a word."""
    came: Frame | None = None
    with suppress(ConnectionEnded):
        while came is None or came.opcode != CLOSE:
            came = peer.next()
    return came
