"""The event channel, for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Self

from hapticd_client.core.address import Address
from hapticd_client.core.events import Event, event_query, parse_event
from hapticd_client.transports.streams import StreamChannel


class Events:
    """Events as they come: an async iterator and async context manager."""

    def __init__(self, channel: StreamChannel) -> None:
        """Made by `opened`."""
        self._channel = channel

    @classmethod
    async def opened(
        cls,
        address: Address,
        token: str | None,
        timeout: float,
        kinds: Iterable[str] | None,
        level: str | None,
        since: datetime | str | None,
    ) -> Self:
        """Connect. NoService, Refused."""
        return cls(await StreamChannel.opened(address, event_query(kinds, level, since), token, timeout))

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield each event, and wait for the next one. ServiceLost; an event's `gap` tells what was lost."""
        while True:
            yield parse_event(await self._channel.next())

    def waiting(self) -> Iterator[Event]:
        """Yield the events that have come already, without waiting. ServiceLost."""
        while (payload := self._channel.waiting()) is not None:
            yield parse_event(payload)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        """Return this object."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the channel."""
        await self.close()

    # ------------------------------------------------------------ for the service object

    def drop(self) -> None:
        """Close the socket without a word."""
        self._channel.drop()
