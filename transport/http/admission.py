"""Who is let as far as a handler: how often one peer may ask, how long a connection may take, how many may be idle."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from tornado.httputil import HTTPServerRequest

from fastpath.arena import now_ns
from transport.limits import Limits, RequestRate
from transport.wire.envelope import TooManyRequests

if TYPE_CHECKING:
    from tornado.iostream import IOStream

logger = logging.getLogger(__name__)


class Admission:
    """Shared by all ports; main thread only."""

    def __init__(self, limits: Limits) -> None:
        """`limits` hold for all ports together."""
        self.limits = limits
        self.connections = Connections(limits)
        self.rate = RequestRate(limits.requests_per_s, limits.peers, now_ns)

    def asks(self, request: HTTPServerRequest) -> TooManyRequests | None:
        """The headers of a request are there, a WebSocket's included; why it is not looked at."""
        stream: IOStream | None = getattr(request.connection, "stream", None)
        if stream is not None:
            self.connections.asks(stream)
        return None if self.rate.admit(request.remote_ip or "") else TooManyRequests(self.limits.requests_per_s)


class Connections:
    """The plain connections of all ports, the longest in its state first; main thread only.

    A connection is *idle* until its request has all its headers, then *busy* until the next one may begin. Time-outs of a
    first request and of an exchange are kept here, those between requests and of a body are Tornado's own.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._idle: dict[IOStream, asyncio.TimerHandle | None] = {}
        self._busy: dict[IOStream, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._idle) + len(self._busy)

    def opened(self, stream: IOStream) -> None:
        """A new one; when there are too many, the one that has been idle longest is closed for it."""
        if len(self) >= self._limits.plain_connections:
            self._make_room()
        self._idle[stream] = self._after(self._limits.first_request_s, stream, "sent no request")

    def waits(self, stream: IOStream) -> None:
        """Its next request may come."""
        busy = self._busy.pop(stream, None)
        if busy is not None:
            busy.cancel()
            self._idle[stream] = None

    def asks(self, stream: IOStream) -> None:
        """The headers of a request are there."""
        if stream in self._idle:
            timer = self._idle.pop(stream)
            if timer is not None:
                timer.cancel()
            self._busy[stream] = self._after(self._limits.exchange_s, stream, "did not end its request")

    def gone(self, stream: IOStream) -> None:
        """It has ended, or become a channel."""
        for timer in (self._idle.pop(stream, None), self._busy.pop(stream, None)):
            if timer is not None:
                timer.cancel()

    def _make_room(self) -> None:
        stream = next(iter(self._idle), None) or next(iter(self._busy), None)
        if stream is not None:
            self.gone(stream)
            stream.close()

    def _after(self, seconds: float, stream: IOStream, what: str) -> asyncio.TimerHandle:
        def end() -> None:
            logger.debug("a connection %s for %g s and is closed", what, seconds)
            self.gone(stream)
            stream.close()

        return asyncio.get_running_loop().call_later(seconds, end)
