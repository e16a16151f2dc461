"""Return the stream of an HTTP connection, an undocumented attribute of Tornado's connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tornado.iostream import IOStream


def stream_of(connection: object) -> IOStream | None:
    """Return the stream of `request.connection`; None once a WebSocket has taken the stream over, or without a connection."""
    stream: IOStream | None = getattr(connection, "stream", None)
    return stream
