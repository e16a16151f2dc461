"""The HTTP server of each port: Tornado's, with time-outs for every state of a connection and JSON errors."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, cast

from tornado.http1connection import HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPConnection, HTTPMessageDelegate

from transport.acceptor import Acceptor
from transport.http.base import LONGEST_BODY
from transport.wire.envelope import failure

if TYPE_CHECKING:
    from tornado.iostream import IOStream
    from tornado.web import Application

    from transport.http.admission import Admission


# Multiple of the header limit that is read, so that longer headers get a 431; beyond it the connection is closed.
HEADERS_READ: Final = 4
WRITE: Final = "write"
# Tornado's response to bytes that it cannot parse, sent even when the request was answered already.
BARE_400: Final = b"HTTP/1.1 400 Bad Request\r\n\r\n"
MALFORMED: Final = failure(
    "This is no HTTP request that can be read: check its first line, its headers and its length."
)
REFUSAL: Final = (
    b"HTTP/1.1 400 Bad Request\r\nServer: hapticd\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
    b"X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
    % (len(MALFORMED), MALFORMED)
)


class JsonErrorStream:
    """Replaces `stream.write` while a connection speaks HTTP: Tornado's bare 400 becomes the JSON error, a second one is dropped."""

    def __init__(self, write: Callable[[bytes], asyncio.Future[None]]) -> None:
        self._write = write
        self.answered = False

    def __call__(self, data: bytes) -> asyncio.Future[None]:
        """Write `data`, or the JSON error in place of a bare 400."""
        if data == BARE_400:
            data = b"" if self.answered else REFUSAL
        self.answered = True
        return self._write(data)


class PortServer(HTTPServer):
    """HTTP server of one port."""

    _admission: Admission

    def initialize(self, application: Application, *, admission: Admission) -> None:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride]
        """`admission` is shared by all ports."""
        self._admission, limits = admission, admission.limits
        super().initialize(
            application,
            max_header_size=HEADERS_READ * limits.header_bytes,
            max_body_size=LONGEST_BODY,
            idle_connection_timeout=limits.idle_s,
            body_timeout=limits.body_s,
        )

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        """Accept connections on these sockets."""
        for each in sockets:
            self._sockets[each.fileno()] = each
            acceptor = Acceptor(each, self._arrives, self._admission.shortage)
            self._handlers[each.fileno()] = acceptor.stop

    def _arrives(self, connection: socket.socket, address: Any) -> None:
        self._admission.accepted.add(connection, address, self._handle_connection)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a new connection."""
        self._admission.connections.opened(stream)
        setattr(stream, WRITE, JsonErrorStream(stream.write))
        super().handle_stream(stream, address)

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Mark the connection idle and wait for its next request."""
        stream = cast("HTTP1ServerConnection", server_conn).stream
        self._admission.connections.waits(stream)
        self._admission.unsent.ends(stream)
        json_errors = vars(stream).get(WRITE)
        if isinstance(json_errors, JsonErrorStream):
            json_errors.answered = False
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        """Forget a connection that has ended or become a WebSocket."""
        stream = cast("HTTP1ServerConnection", server_conn).stream
        self._admission.connections.gone(stream)
        self._admission.unsent.ends(stream)
        if WRITE in vars(stream):
            delattr(stream, WRITE)
        super().on_close(server_conn)
