"""The HTTP server behind every port: Tornado's, with a time for each state of a connection and a bound on the idle ones."""

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


# Headers are read up to so many times their limit, so that who passes it is told; past this the connection is closed.
HEADERS_READ: Final = 4
WRITE: Final = "write"
# What Tornado writes when it cannot make a request out of what it reads, also when that was answered already.
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
    """`stream.write` of a connection while it speaks HTTP: a refusal without words becomes one of ours, a second answer nothing."""

    def __init__(self, write: Callable[[bytes], asyncio.Future[None]]) -> None:
        self._write = write
        self.answered = False

    def __call__(self, data: bytes) -> asyncio.Future[None]:
        """Write, in words."""
        if data == BARE_400:
            data = b"" if self.answered else REFUSAL
        self.answered = True
        return self._write(data)


class PortServer(HTTPServer):
    """The server of one port."""

    _admission: Admission

    def initialize(self, application: Application, *, admission: Admission) -> None:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride]
        """`admission` is that of all ports."""
        self._admission, limits = admission, admission.limits
        super().initialize(
            application,
            max_header_size=HEADERS_READ * limits.header_bytes,
            max_body_size=LONGEST_BODY,
            idle_connection_timeout=limits.idle_s,
            body_timeout=limits.body_s,
        )

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        """Accept on these sockets from now on."""
        for each in sockets:
            self._sockets[each.fileno()] = each
            acceptor = Acceptor(each, self._arrives, self._admission.shortage)
            self._handlers[each.fileno()] = acceptor.stop

    def _arrives(self, connection: socket.socket, address: Any) -> None:
        self._admission.accepted.add(connection, address, self._handle_connection)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """A new connection."""
        self._admission.connections.opened(stream)
        setattr(stream, WRITE, JsonErrorStream(stream.write))
        super().handle_stream(stream, address)

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """The connection waits for a request."""
        stream = cast("HTTP1ServerConnection", server_conn).stream
        self._admission.connections.waits(stream)
        self._admission.unsent.ends(stream)
        json_errors = vars(stream).get(WRITE)
        if isinstance(json_errors, JsonErrorStream):
            json_errors.answered = False
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        """The connection has ended, or become a channel."""
        stream = cast("HTTP1ServerConnection", server_conn).stream
        self._admission.connections.gone(stream)
        self._admission.unsent.ends(stream)
        if WRITE in vars(stream):
            delattr(stream, WRITE)
        super().on_close(server_conn)
