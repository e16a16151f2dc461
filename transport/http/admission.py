"""Admit requests and connections: rates of peers, time-outs of connections, the number of idle ones."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tornado.httputil import HTTPServerRequest

from fastpath.arena.runtime import now_ns
from transport.accepted_connections import AcceptedConnections
from transport.acceptor import Shortage
from transport.http.request_queue import RequestQueue
from transport.http.unsent_bytes import UnsentBytes
from transport.limits import EdgeLimits, RequestRate, Spacing
from transport.security import is_loopback
from transport.tornado_ext.streams import stream_of
from transport.wire.envelope import HeadersTooLarge, TooManyRequests

if TYPE_CHECKING:
    from tornado.iostream import IOStream

# ns; a connection that entered its state more recently may still make progress.
FRESH_NS: Final = 1_000_000_000

logger = logging.getLogger(__name__)


class Admission:
    """Rates, queues and connections of all ports together; main thread only."""

    def __init__(self, limits: EdgeLimits) -> None:
        """`limits` hold for all ports together."""
        self.limits = limits
        self.connections = Connections(limits)
        self.accepted = AcceptedConnections()
        self.shortage = Shortage(self._make_room)
        self.rate = RequestRate(limits.requests_per_s, limits.peers, now_ns)
        self.unsent = UnsentBytes(limits.unsent_bytes)
        self.queue = RequestQueue()
        self._local = Spacing(limits.local_requests_per_s, now_ns)
        self._foreign = Spacing(limits.foreign_requests_per_s, now_ns)
        self._closing = asyncio.Event()

    def asks(self, request: HTTPServerRequest) -> HeadersTooLarge | TooManyRequests | None:
        """Note that a request (or WebSocket handshake) has its headers; return the refusal, or None."""
        stream = stream_of(request.connection)
        if stream is not None:
            self.connections.asks(stream, urgent=_is_stop(request))
        if _header_bytes(request) > self.limits.header_bytes:
            return HeadersTooLarge(self.limits.header_bytes)
        return None if self.rate.admit(request.remote_ip or "") else TooManyRequests(self.limits.requests_per_s)

    async def turn(self, peer: str, *, foreign: bool) -> None:
        """Wait until a request may begin; `foreign`: it comes from a web page that will be refused.

        Programs of this machine are delayed instead of refused: docs/decisions/0035.
        """
        seconds = 0.0
        if foreign:
            seconds = self._foreign.reserve()
        elif is_loopback(peer):
            seconds = self._local.reserve()
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._closing.wait()
        await self.queue.turn()

    def close(self) -> None:
        """Let delayed requests begin at once, because the service stops."""
        self.accepted.close()
        self._closing.set()

    def _make_room(self) -> None:
        if not self.accepted.spare():
            self.connections.make_room()


class Connections:
    """Plain HTTP connections of all ports, ordered by how long each is in its state; main thread only.

    A connection is *idle* until its request has all its headers, then *busy* until the next one may begin. Time-outs of a
    first request and of an exchange are kept here; Tornado keeps those between requests and of a body.
    """

    def __init__(self, limits: EdgeLimits, now_ns: Callable[[], int] = now_ns) -> None:
        self._limits = limits
        self._now_ns = now_ns
        # ns at which each connection entered its state, the oldest first
        self._since: dict[IOStream, int] = {}
        # connections without a first request, and those whose request is a stop
        self._unasked: set[IOStream] = set()
        self._urgent: set[IOStream] = set()
        self._idle: dict[IOStream, asyncio.TimerHandle | None] = {}
        self._busy: dict[IOStream, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        """Number of plain connections."""
        return len(self._idle) + len(self._busy)

    def opened(self, stream: IOStream) -> None:
        """Add a connection; at the limit, close the most dispensable one."""
        if len(self) >= self._limits.plain_connections:
            self.make_room()
        self._idle[stream] = self._after(self._limits.first_request_s, stream, "sent no request")
        self._unasked.add(stream)
        self._changes(stream)

    def waits(self, stream: IOStream) -> None:
        """Mark the connection idle: its next request may begin."""
        busy = self._busy.pop(stream, None)
        if busy is not None:
            busy.cancel()
            self._idle[stream] = None
            self._urgent.discard(stream)
            self._changes(stream)

    def asks(self, stream: IOStream, *, urgent: bool = False) -> None:
        """Mark the connection busy: a request has its headers; `urgent`: it is a stop."""
        if stream in self._idle:
            timer = self._idle.pop(stream)
            if timer is not None:
                timer.cancel()
            self._busy[stream] = self._after(self._limits.exchange_s, stream, "did not end its request")
            self._unasked.discard(stream)
            if urgent:
                self._urgent.add(stream)
            self._changes(stream)

    def gone(self, stream: IOStream) -> None:
        """Forget a connection that has ended or become a WebSocket."""
        self._since.pop(stream, None)
        self._unasked.discard(stream)
        self._urgent.discard(stream)
        for timer in (self._idle.pop(stream, None), self._busy.pop(stream, None)):
            if timer is not None:
                timer.cancel()

    def make_room(self) -> None:
        """Close the most dispensable connection, if there is one."""
        stream = next(self._dispensable(), None)
        if stream is not None:
            logger.debug("a connection is closed: there is no room for a new one")
            self.gone(stream)
            stream.close()

    def _dispensable(self) -> Iterator[IOStream]:
        """Yield all connections, the most dispensable first.

        First answers that their clients do not read and requests that are not completed, the longest first; then connections
        between two requests; then new ones and exchanges under way; last a new one with `POST /stop`.
        """
        before_ns = self._now_ns() - FRESH_NS
        stalled = [stream for stream, at_ns in self._since.items() if at_ns < before_ns]
        yield from (stream for stream in self._busy if stream.writing())
        yield from (stream for stream in stalled if stream in self._busy or stream in self._unasked)
        yield from (stream for stream in self._idle if stream not in self._unasked)
        yield from self._idle
        yield from (stream for stream in self._busy if stream not in self._urgent)
        yield from self._busy

    def _changes(self, stream: IOStream) -> None:
        """Restart the time in its state."""
        self._since.pop(stream, None)
        self._since[stream] = self._now_ns()

    def _after(self, seconds: float, stream: IOStream, what: str) -> asyncio.TimerHandle:
        def end() -> None:
            logger.debug("a connection %s for %g s and is closed", what, seconds)
            self.gone(stream)
            stream.close()

        return asyncio.get_running_loop().call_later(seconds, end)


def _header_bytes(request: HTTPServerRequest) -> int:
    """Return the length of request line and headers in bytes."""
    fields = sum(len(name) + len(value) + 4 for name, value in request.headers.get_all())
    return len(request.uri or "") + fields


def _is_stop(request: HTTPServerRequest) -> bool:
    return request.method == "POST" and request.path.rstrip("/").endswith("/stop")
