"""Caches of HTTP response bodies: made again when their data is replaced, or at most twice a second."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from fastpath.arena.runtime import now_ns
from transport.http.metrics_page import MetricsPage
from transport.http.schema.service_values import ServiceValues
from transport.wire.envelope import Encoded
from transport.wire.remembered import Remembered

V = TypeVar("V")
B = TypeVar("B")
S_NS: Final = 1_000_000_000
MADE_A_SECOND: Final = 2
# `communication/max_sessions` allows no more.
MOST_SESSIONS: Final = 256


class RateLimitedBody(Generic[B]):
    """A body made for a request at most twice a second; requests in between get the newest one.

    Main thread only.
    """

    def __init__(self, now_ns: Callable[[], int] = now_ns) -> None:
        self._now_ns = now_ns
        self._made: dict[Hashable, tuple[B, deque[int]]] = {}

    def get(self, name: Hashable, make: Callable[[], B]) -> B:
        """Return the body of this name; the caller bounds the number of names."""
        now = self._now_ns()
        held = self._made.get(name)
        times = deque[int](maxlen=MADE_A_SECOND) if held is None else held[1]
        if held is not None and len(times) == MADE_A_SECOND and now - times[0] < S_NS:
            return held[0]
        body = make()
        times.append(now)
        self._made[name] = (body, times)
        return body


class VersionedBody(Generic[V, B]):
    """A body made when its version has changed, in a worker thread, one at a time and at most twice a second.

    Requests in between wait for it. Main thread only.
    """

    def __init__(self, now_ns: Callable[[], int] = now_ns) -> None:
        self._now_ns = now_ns
        self._newest: tuple[V, B] | None = None
        self._making: asyncio.Task[None] | None = None
        self._begun = 0
        self._ended = 0
        self._times: deque[int] = deque(maxlen=MADE_A_SECOND)

    async def get(self, version: Callable[[], V], make: Callable[[V], B]) -> B:
        """Run `make` on a worker thread for the current `version` or a newer one. Return its result, or raise its error."""
        wanted, begun = version(), self._begun
        # A body begun after the call is new enough, even if the version has changed again.
        while self._newest is None or (self._newest[0] != wanted and self._ended <= begun):
            if self._making is None or self._making.done():
                self._making = asyncio.create_task(self._make(version, make))
            await asyncio.shield(self._making)
        return self._newest[1]

    async def _make(self, version: Callable[[], V], make: Callable[[V], B]) -> None:
        if len(self._times) == MADE_A_SECOND:
            await asyncio.sleep(max(0, self._times[0] + S_NS - self._now_ns()) / S_NS)
        self._begun += 1
        self._times.append(self._now_ns())
        shown = version()
        self._newest = (shown, await asyncio.to_thread(make, shown))
        self._ended = self._begun


class BodyCache:
    """The cached bodies of one service."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        """`now_ns`: the clock of the metrics, in ns."""
        self.metrics: Final = RateLimitedBody[bytes](now_ns)
        self.metrics_pages: Final[dict[str, MetricsPage]] = {}  # by content type
        self.description: Final = VersionedBody[ServiceValues, Encoded]()
        # By session id; the ids of all devices; the list of all ports.
        self.session_heads: Final = Remembered[bytes](MOST_SESSIONS)
        self.device_ids: Final = Remembered[bytes](1)
        self.ports: Final = Remembered[Encoded](1)
