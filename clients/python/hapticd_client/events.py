"""The event channel, for blocking service objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Self

from hapticd_client.core.address import Address
from hapticd_client.core.events import Event, event_query, parse_event
from hapticd_client.transports.blocking import BlockingChannel


class Events:
    """Events as they come: an iterator that waits, `waiting` and `next` that do not, or not for long."""

    def __init__(
        self,
        address: Address,
        token: str | None,
        timeout: float,
        kinds: Iterable[str] | None,
        level: str | None,
        since: datetime | str | None,
    ) -> None:
        """Connect. NoService, Refused."""
        self._channel = BlockingChannel(address, event_query(kinds, level, since), token, timeout)

    def __iter__(self) -> Iterator[Event]:
        """Yield each event, and wait for the next one. ServiceLost when the service goes; an event's `gap` tells what was lost."""
        while True:
            while not self._channel.poll(3600.0):
                pass
            yield parse_event(self._channel.receive())

    def next(self, within: float) -> Event | None:
        """Return the next event, waiting up to `within` s; None without one. ServiceLost."""
        return parse_event(self._channel.receive()) if self._channel.poll(within) else None

    def waiting(self) -> Iterator[Event]:
        """Yield the events that have come already, without waiting. ServiceLost."""
        while self._channel.poll(0.0):
            yield parse_event(self._channel.receive())

    def dispatch(self, callback: Callable[[Event], object]) -> None:
        """Call `callback` with each event, in this thread, until it returns False. ServiceLost."""
        for event in self:
            if callback(event) is False:
                return

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the channel."""
        self.close()
