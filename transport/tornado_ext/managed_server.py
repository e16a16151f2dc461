"""ManagedServer: Tornado's HTTP server with hooks; a subclass accepts its connections and tracks their states."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPConnection, HTTPMessageDelegate

from transport.tornado_ext.bare_400 import BARE_400, await_request, replace_bare_400, restore_write

if TYPE_CHECKING:
    from tornado.http1connection import HTTP1ServerConnection
    from tornado.iostream import IOStream


class ManagedServer(HTTPServer):
    """Tornado's server with hooks; a subclass defines `accept_on` and calls `serve` with each connection that it has accepted."""

    # bytes that a client gets whose request cannot be parsed
    malformed_response: bytes = BARE_400

    # ------------------------------------------------------------ hooks

    def accept_on(self, listening: socket.socket) -> Callable[[], None]:
        """Accept on a listening socket from now on. Return the function that ends this; the socket is closed after it."""
        raise NotImplementedError

    def connection_opened(self, stream: IOStream) -> None:
        """Handle a new connection, before its first byte is read."""

    def request_awaited(self, stream: IOStream) -> None:
        """Handle a connection whose next request, or first one, may begin."""

    def connection_ended(self, stream: IOStream) -> None:
        """Handle a connection that has ended or become a WebSocket; called once."""

    # ------------------------------------------------------------ for the subclass

    def serve(self, connection: socket.socket, address: Any) -> None:
        """Serve an accepted connection; `address` is the peer's."""
        self._handle_connection(connection, address)

    # ------------------------------------------------------------ called by Tornado

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        """Accept connections on these sockets; `stop` closes them."""
        for each in sockets:
            self._sockets[each.fileno()] = each
            self._handlers[each.fileno()] = self.accept_on(each)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a new connection."""
        self.connection_opened(stream)
        replace_bare_400(stream, self.malformed_response)
        super().handle_stream(stream, address)

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Return the delegate of a connection's next request."""
        stream = cast("HTTP1ServerConnection", server_conn).stream
        self.request_awaited(stream)
        await_request(stream)
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        """Forget a connection that has ended or become a WebSocket."""
        stream = cast("HTTP1ServerConnection", server_conn).stream
        self.connection_ended(stream)
        restore_write(stream)
        if stream.error is not None:
            # Its traceback holds the frames that hold the stream, and with them the handler.
            stream.error.__traceback__ = None
        super().on_close(server_conn)
