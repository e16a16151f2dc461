"""The event channel: sends the hub's events, ignores input; a slow reader loses its oldest events."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tornado.websocket import WebSocketClosedError, WebSocketHandler

from actors.event.api import (
    HUB,
    BoundedQueue,
    Level,
    Subscribe,
    Unsubscribe,
    lost_notice,
    parse_kinds,
    parse_level,
    parse_since,
)
from actors.kit.errors import Busy, InvalidInput, NoSuchActor
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call
from transport.http.request_target import Target
from transport.http.route import Route, RouteTable
from transport.wire.events import translation
from transport.wire.vocabulary import Vocabulary, vocabulary_named
from transport.ws.protocol import INSTANCE, Channel

if TYPE_CHECKING:
    from transport.bridge import Bridge

GOING_AWAY: Final = 1001
MOST_CHANNELS: Final = 64
FAILED: Final = 1011
SUBSCRIBE_TRIES: Final = 20
SUBSCRIBE_PAUSE_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Filter and vocabulary of a subscriber."""

    kinds: frozenset[str] | None
    level: Level
    since: datetime | None
    vocabulary: Vocabulary


class EventChannels:
    """Open event channels; main thread only."""

    def __init__(self, bridge: Bridge, most: int = MOST_CHANNELS) -> None:
        """`most`: limit of open channels."""
        self.bridge = bridge
        self.most = most
        self.open: set[EventChannel] = set()
        self.numbers = itertools.count(1)

    def upgrade(self, target: Target) -> tuple[type[WebSocketHandler], dict[str, Any]]:
        """Return the channel of a WebSocket on the events port; InvalidInput for an invalid filter, Busy past the limit."""
        if len(self.open) >= self.most:
            raise Busy(f"{self.most} event channels are open, which is the most: close one and try again.")
        return EventChannel, {"channels": self, "event_filter": parse_event_filter(target.query, self._default_words())}

    def close(self) -> None:
        """Close all channels, because the service stops."""
        for channel in tuple(self.open):
            channel.close(GOING_AWAY, "the service is stopping")

    def _default_words(self) -> str:
        return self.bridge.settings.text("serialization/vocabulary")


class EventChannel(Channel):
    """One subscriber; main thread only, woken from the hub's thread."""

    def initialize(self, channels: EventChannels, event_filter: EventFilter) -> None:
        """`event_filter` is valid already."""
        self.set_header(INSTANCE, channels.bridge.instance)
        self._channels = channels
        self.turns = channels.bridge.turns
        self._event_filter = event_filter
        self._queue: BoundedQueue | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._subscribing: asyncio.Task[None] | None = None

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Subscribe at the hub."""
        self.set_nodelay(True)
        system, event_filter = self._channels.bridge.system, self._event_filter
        translate = translation(event_filter.vocabulary)
        loop = asyncio.get_running_loop()
        self._queue = queue = BoundedQueue(
            f"events/{next(self._channels.numbers)}",
            lambda: loop.call_soon_threadsafe(self._wake),
            lost_notice(encode_json, translate),
            system.context.metrics.events_dropped,
        )
        self._channels.open.add(self)
        self._subscribing = asyncio.ensure_future(
            self._subscribe(Subscribe(queue, event_filter.kinds, event_filter.level, event_filter.since, translate))
        )

    async def _subscribe(self, request: Subscribe) -> None:
        """Ask until a hub has accepted, since a crashing one does not reply; close with 1011 after the last try."""
        for _ in range(SUBSCRIBE_TRIES):
            with suppress(Busy, NoSuchActor):
                await self._channels.bridge.ask(HUB, request)
                return
            await asyncio.sleep(SUBSCRIBE_PAUSE_S)
            if self._queue is None:
                return
        self.close(FAILED, "no event can be had at the moment: reconnect")

    def on_message(self, message: str | bytes) -> None:
        """Ignore input."""

    def on_close(self) -> None:
        """Unsubscribe at the hub."""
        self._channels.open.discard(self)
        queue, self._queue = self._queue, None
        for task in (self._pumping, self._subscribing):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        if queue is not None:
            queue.close()
            self._channels.bridge.system.context.directory.tell(HUB, Unsubscribe(queue))

    def _wake(self) -> None:
        if self._queue is None:
            return
        self._pumping = asyncio.ensure_future(self._pump())

    async def _pump(self) -> None:
        """Send until the queue is empty; a client that does not read blocks only this task."""
        while self._queue is not None:
            events = self._queue.take()
            if not events:
                return
            for event in events:
                try:
                    await self.write_message(event)
                except WebSocketClosedError:
                    return


def parse_event_filter(query: Mapping[str, str], default_words: str) -> EventFilter:
    """Parse the query fields of a URL; InvalidInput."""
    vocabulary = vocabulary_named(query.get("vocabulary") or default_words)
    if vocabulary is None:
        raise InvalidInput("give neutral, inverse or auto.", "?vocabulary=")
    return EventFilter(
        parse_kinds(query.get("kinds", "")),
        parse_level(query.get("level", "")),
        parse_since(query.get("since", "")),
        vocabulary,
    )


def event_routes(channels: EventChannels) -> RouteTable:
    """Return the route of the events port that explains to plain HTTP requests how to connect."""

    async def explain(call: Call) -> Answer:
        channels.upgrade(Target((), call.query))
        raise InvalidInput("This is the event channel: open it as a WebSocket.")

    return RouteTable((Route("GET", "/", explain, "Events; only as a WebSocket."),))
