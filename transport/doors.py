"""The HTTP server behind every port: Tornado's, with a time for each state of a connection and a bound on the idle ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tornado.http1connection import HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPConnection, HTTPMessageDelegate

from transport.http.base import LONGEST_BODY

if TYPE_CHECKING:
    from tornado.iostream import IOStream
    from tornado.web import Application

    from transport.http.admission import Admission


class Door(HTTPServer):
    """The server of one port."""

    _admission: Admission

    def initialize(self, application: Application, *, admission: Admission) -> None:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride]
        """`admission` is that of all ports."""
        self._admission, limits = admission, admission.limits
        super().initialize(
            application,
            max_header_size=limits.header_bytes,
            max_body_size=LONGEST_BODY,
            idle_connection_timeout=limits.idle_s,
            body_timeout=limits.body_s,
        )

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """A new connection."""
        self._admission.connections.opened(stream)
        super().handle_stream(stream, address)

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """The connection waits for a request."""
        self._admission.connections.waits(cast("HTTP1ServerConnection", server_conn).stream)
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        """The connection has ended, or become a channel."""
        self._admission.connections.gone(cast("HTTP1ServerConnection", server_conn).stream)
        super().on_close(server_conn)
