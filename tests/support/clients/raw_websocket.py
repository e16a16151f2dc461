"""A WebSocket client on one blocking socket that can send any bytes, also invalid ones."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

from tests.support.wire.session_zero import free_of_zero

CONTINUATION: Final = 0
TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10

TIMEOUT_S: Final = 60.0
MASK: Final = b"\x5a\xa5\x3c\xc3"
ABORT: Final = struct.pack("ii", 1, 0)


class ConnectionEnded(AssertionError):
    """Raised when the service has ended the connection."""


class Frame(NamedTuple):
    """One WebSocket frame as it came."""

    opcode: int
    payload: bytes
    final: bool

    @property
    def close_code(self) -> int | None:
        """Of a close frame; None when it names none."""
        return int.from_bytes(self.payload[:2], "big") if len(self.payload) >= 2 else None


def encode_frame(
    payload: bytes | str, opcode: int = TEXT, *, final: bool = True, reserved: int = 0, masked: bool = True
) -> bytes:
    """One WebSocket frame of a client, as bytes."""
    data = payload.encode() if isinstance(payload, str) else payload
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    bit = 0x80 if masked else 0
    size = len(data)
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += struct.pack("!BH", bit | 126, size)
    else:
        head += struct.pack("!BQ", bit | 127, size)
    if not masked:
        return head + data
    key = (MASK * (size // 4 + 1))[:size]
    hidden = int.from_bytes(data, "big") ^ int.from_bytes(key, "big")
    return head + MASK + hidden.to_bytes(size, "big")


def encode_message(content: object, opcode: int = TEXT) -> bytes:
    """One JSON message, as the bytes of a frame."""
    return encode_frame(json.dumps(content), opcode)


def connect_tcp(url: str, *, receive_buffer: int | None = None) -> socket.socket:
    """A TCP connection to the port of a URL; `receive_buffer` bytes make a client that cannot take much unread."""
    parts = urlsplit(url)
    family = socket.AF_INET6 if ":" in (parts.hostname or "") else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    if receive_buffer is not None:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened.settimeout(TIMEOUT_S)
    opened.connect((parts.hostname, parts.port))
    return opened


def handshake_request(url: str, query: Mapping[str, object] | None = None, headers: Iterable[str] = ()) -> bytes:
    """The request that opens a WebSocket; `headers` come on top."""
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{urlencode(dict(query))}" if query else "")
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        *headers,
    ]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


class RawWebSocket:
    """Context manager; open inside unless the handshake was refused, which is an AssertionError."""

    def __init__(
        self, url: str, query: Mapping[str, object] | None = None, *, receive_buffer: int | None = None
    ) -> None:
        self.socket = connect_tcp(url, receive_buffer=receive_buffer)
        self._read = self.socket.makefile("rb")
        try:
            self.write(handshake_request(url, query))
            self.status = read_status(self._read.readline())
            while self._read.readline().strip():
                pass
            assert self.status == 101, f"the handshake was answered with {self.status}"
        except BaseException:
            self.drop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drop()

    # ------------------------------------------------------------ sending

    def write(self, data: bytes) -> None:
        """Write bytes unchanged; ConnectionEnded."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ConnectionEnded(str(error)) from None

    def send(self, content: object, opcode: int = TEXT) -> None:
        """One JSON message."""
        self.write(encode_message(content, opcode))

    def send_text(self, text: str | bytes, opcode: int = TEXT) -> None:
        """One message of this text, whatever it is."""
        self.write(encode_frame(text, opcode))

    # ------------------------------------------------------------ receiving

    def next(self) -> Frame:
        """The next frame of any kind; ConnectionEnded at the end."""
        first, second = self._exactly(2)
        size = second & 0x7F
        assert not second & 0x80, "a service does not mask"
        if size == 126:
            size = int.from_bytes(self._exactly(2), "big")
        elif size == 127:
            size = int.from_bytes(self._exactly(8), "big")
        return Frame(first & 0x0F, self._exactly(size), bool(first & 0x80))

    def frame(self) -> Any:
        """The next frame but pings, which are answered; it must be one whole message of TEXT. Its JSON."""
        return json.loads(self.text())

    def text(self) -> bytes:
        """The same as it came."""
        while (came := self.next()).opcode == PING:
            self.write(encode_frame(came.payload, PONG))
        if came.opcode == CLOSE:
            raise ConnectionEnded(f"closed with {came.close_code}: {came.payload[2:].decode()}")
        assert (came.opcode, came.final) == (TEXT, True)
        free_of_zero(came.payload)
        return came.payload

    def ask(self, content: object, opcode: int = TEXT) -> Any:
        """The frame that answers one JSON message."""
        self.send(content, opcode)
        return self.frame()

    def check_nothing_unread(self, mark: bytes = b"mark") -> None:
        """AssertionError unless every frame that the service sent has been read, but for pings, which are answered."""
        self.write(encode_frame(mark, PING))
        while (came := self.next()).opcode == PING:
            self.write(encode_frame(came.payload, PONG))
        assert (came.opcode, came.payload) == (PONG, mark), f"unread: {came}"

    def end(self) -> int | None:
        """Read to the end and answer a close frame; return its code, None without one."""
        try:
            while (came := self.next()).opcode != CLOSE:
                pass
            self.write(encode_frame(came.payload[:2], CLOSE))
        except ConnectionEnded:
            return None
        return came.close_code

    # ------------------------------------------------------------ going

    def close(self, code: int = 1000) -> int | None:
        """Send a close frame, read to the end and close; return the code of the answer."""
        self.write(encode_frame(code.to_bytes(2, "big"), CLOSE))
        answer = self.end()
        self.drop()
        return answer

    def abort(self) -> None:
        """Break the connection off with a reset, as a process that died."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.drop()

    def drop(self) -> None:
        """Close the socket without a word."""
        self._read.close()
        self.socket.close()

    def _exactly(self, size: int) -> bytes:
        try:
            data = self._read.read(size)
        except ConnectionResetError as error:
            raise ConnectionEnded(str(error)) from None
        if len(data) < size:
            raise ConnectionEnded("the connection has ended")
        return data


def read_status(line: bytes) -> int:
    """The status of an HTTP status line; ConnectionEnded when there is none."""
    words = line.split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/"):
        raise ConnectionEnded(f"no HTTP answer: {line!r}")
    return int(words[1])
