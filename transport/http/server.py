"""The HTTP server of each port: Tornado's, with time-outs for every state of a connection and JSON errors."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from transport.acceptor import Acceptor
from transport.http.base import LONGEST_BODY
from transport.tornado_ext.managed_server import ManagedServer
from transport.wire.envelope import failure

if TYPE_CHECKING:
    from tornado.iostream import IOStream
    from tornado.web import Application

    from transport.http.admission import Admission

# Multiple of the header limit that is read, so that longer headers get a 431; beyond it the connection is closed.
HEADERS_READ: Final = 4
MALFORMED: Final = failure(
    "This is no HTTP request that can be read: check its first line, its headers and its length."
)
REFUSAL: Final = (
    b"HTTP/1.1 400 Bad Request\r\nServer: hapticd\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
    b"X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
    % (len(MALFORMED), MALFORMED)
)


class PortServer(ManagedServer):
    """HTTP server of one port."""

    malformed_response = REFUSAL

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

    def accept_on(self, listening: socket.socket) -> Callable[[], None]:
        """Queue the connections of a listening socket; each is served in its turn."""
        return Acceptor(listening, self._arrives, self._admission.shortage).stop

    def connection_opened(self, stream: IOStream) -> None:
        """Count the connection; at the limit another one is closed."""
        self._admission.connections.opened(stream)

    def request_awaited(self, stream: IOStream) -> None:
        """Mark the connection idle."""
        self._admission.connections.waits(stream)
        self._admission.unsent.ends(stream)

    def connection_ended(self, stream: IOStream) -> None:
        """Forget the connection."""
        self._admission.connections.gone(stream)
        self._admission.unsent.ends(stream)

    def _arrives(self, connection: socket.socket, address: Any) -> None:
        self._admission.accepted.add(connection, address, self.serve)
