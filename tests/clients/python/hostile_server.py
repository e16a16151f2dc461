"""A server that answers handshakes and `/version` as a service does, and sends any bytes afterwards."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TIMEOUT_S: Final = 60.0


def text(payload: bytes) -> bytes:
    """A whole TEXT frame of a server."""
    size = len(payload)
    head = bytes([0x81, size]) if size < 126 else b"\x81\x7e" + struct.pack("!H", size)
    return head + payload


class HostileServer:
    """Context manager; `answer` gets each WebSocket connection after the handshake, and `counted` how many came."""

    def __init__(self, answer: Callable[[socket.socket], None]) -> None:
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self.url = f"ws://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        accepting = threading.Thread(target=self._accept)
        accepting.start()
        self._threads.append(accepting)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(TIMEOUT_S)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            thread.start()
            self._threads.append(thread)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(TIMEOUT_S)
        try:
            with connection:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += connection.recv(1)
                if b"Upgrade: websocket" in head:
                    key = next(
                        line.partition(b":")[2].strip()
                        for line in head.split(b"\r\n")
                        if line.lower().startswith(b"sec-websocket-key")
                    )
                    proof = base64.b64encode(hashlib.sha1(key + GUID, usedforsecurity=False).digest())
                    connection.sendall(
                        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        b"Sec-WebSocket-Accept: " + proof + b"\r\n\r\n"
                    )
                    self._answer(connection)
                elif b"/version" in head:
                    _send_json(connection, {"interface": "3.5.3", "instance": "cafe"})
                else:
                    _send_json(connection, SETTING)
        except (OSError, IndexError):
            pass


SETTING: Final = {
    "key": "sessions/command_timeout",
    "value": 0.05,
    "effective": 0.05,
    "default": 0.05,
    "type_hint": "FLOAT",
    "description": "",
    "metadata": {},
}


def _send_json(connection: socket.socket, data: object) -> None:
    body = json.dumps({"ok": True, "error": None, "data": data}).encode()
    connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
