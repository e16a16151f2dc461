"""Streams of connections beyond what Tornado documents: the one of an HTTP connection, and taking the socket out of an idle one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

    from tornado.iostream import IOStream


def stream_of(connection: object) -> IOStream | None:
    """Return the stream of `request.connection`; None once a WebSocket has taken the stream over, or without a connection."""
    stream: IOStream | None = getattr(connection, "stream", None)
    return stream


def take_socket(stream: IOStream) -> tuple[socket.socket, bytes] | None:
    """Take the socket out of a stream on which nobody reads or writes, with the bytes that it had received; None if it is busy or closed.

    The stream is closed for everyone who asks, without a callback; the event loop does not watch the socket any more.
    """
    if stream.closed() or stream.reading() or stream.writing() or stream.socket is None:
        return None
    taken, received = stream.socket, bytes(stream._read_buffer)  # noqa: SLF001 - its only record of unread bytes
    stream.io_loop.remove_handler(taken)
    vars(stream).update(socket=None, _state=None, _closed=True)
    return taken, received
