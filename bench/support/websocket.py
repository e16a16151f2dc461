"""WebSocket on plain sockets: just what the clients and references of a benchmark need (RFC 6455)."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import struct
from typing import Final
from urllib.parse import urlsplit

ACCEPT_SUFFIX: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT: Final = 0x81
LONGEST_WAIT_S: Final = 20.0


def client_frame(message: bytes) -> bytes:
    """Return a masked text frame."""
    key = os.urandom(4)
    masked = bytes(byte ^ key[at % 4] for at, byte in enumerate(message))
    return header(len(message), 0x80) + key + masked


def server_frame(message: bytes) -> bytes:
    """Return a text frame that is not masked."""
    return header(len(message), 0) + message


def header(size: int, mask_bit: int) -> bytes:
    """Return the header of a text frame, without a key."""
    if size < 126:
        return struct.pack("!BB", TEXT, mask_bit | size)
    if size < 1 << 16:
        return struct.pack("!BBH", TEXT, mask_bit | 126, size)
    return struct.pack("!BBQ", TEXT, mask_bit | 127, size)


def connect(url: str) -> socket.socket:
    """Return a connected socket behind the handshake; raise ConnectionError when the server refuses it."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), LONGEST_WAIT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode("ascii")
    request = (
        f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    connection.sendall(request.encode("ascii"))
    answer = _head(connection)
    if not answer.startswith(b"HTTP/1.1 101"):
        connection.close()
        raise ConnectionError(f"the server refused the handshake: {answer.splitlines()[0].decode('latin-1')}")
    return connection


def accept(connection: socket.socket) -> None:
    """Answer the handshake of a client."""
    fields = [line.partition(b":") for line in _head(connection).split(b"\r\n")]
    key = next(value.strip() for name, _, value in fields if name.lower() == b"sec-websocket-key")
    proof = base64.b64encode(hashlib.sha1(key + ACCEPT_SUFFIX, usedforsecurity=False).digest())
    connection.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + proof + b"\r\n\r\n"
    )


def read_text(connection: socket.socket) -> bytes:
    """Return the text of the server's next frame."""
    first, size = _exactly(connection, 2)
    if first != TEXT:
        raise ConnectionError(f"the server sent a frame of the kind {first:#x}, not a text")
    if size == 126:
        size = int.from_bytes(_exactly(connection, 2), "big")
    elif size == 127:
        size = int.from_bytes(_exactly(connection, 8), "big")
    return _exactly(connection, size)


def _head(connection: socket.socket) -> bytes:
    """Return what comes before the first empty line; a byte at a time, as frames may follow at once."""
    head = bytearray()
    while not head.endswith(b"\r\n\r\n"):
        head += _exactly(connection, 1)
    return bytes(head)


def _exactly(connection: socket.socket, size: int) -> bytes:
    read = bytearray()
    while len(read) < size:
        more = connection.recv(size - len(read))
        if not more:
            raise ConnectionError("the other side closed the connection")
        read += more
    return bytes(read)
