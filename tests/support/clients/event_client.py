"""A subscriber of the event channel that records the events."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.support.service.polling import eventually
from tests.support.wire.asyncapi import check_event_schema
from tests.support.wire.session_zero import free_of_zero

TIMEOUT_S = 30.0

Event = Mapping[str, Any]


class EventClient:
    """Context manager: a connected subscriber; `events` are those received so far, oldest first."""

    def __init__(self, url: str, **query: str) -> None:
        """`query` are the fields of the URL: kinds, level, since; without `since` only events that happen from now on."""
        query = {"since": datetime.now(UTC).isoformat().replace("+00:00", "Z"), **query}
        words = "&".join(f"{name}={value}" for name, value in query.items())
        self._url = f"{url}/?{words}"
        self.events: list[Event] = []
        self.texts: list[str] = []
        self.code: int | None = None
        self.ended = threading.Event()
        self._stack = ExitStack()
        self._thread = threading.Thread(target=self._listen, name="listener")

    def __enter__(self) -> Self:
        self._channel = self._stack.enter_context(
            connect(self._url, compression=None, ping_interval=None, proxy=None, open_timeout=TIMEOUT_S)
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        self._thread.join(TIMEOUT_S)
        if kind is None:
            for event in self.events:
                check_event_schema(event)

    def received_events(self, name: str, **data: object) -> list[Event]:
        """Return the received events of this name whose data have these values."""
        return [
            event
            for event in self.events
            if event["name"] == name and all(event["data"].get(key) == value for key, value in data.items())
        ]

    def wait_for_event(self, name: str, **data: object) -> Event:
        """Wait for the first event of this name whose data have these values."""
        return eventually(
            lambda: self.received_events(name, **data) or None, f"{name} {data}", pause_s=0.005, tries=4_000
        )[0]

    def _listen(self) -> None:
        try:
            for message in self._channel:
                text = free_of_zero(message)
                self.texts.append(text if isinstance(text, str) else text.decode())
                self.events.append(json.loads(text))
        except ConnectionClosed:
            pass
        received = self._channel.protocol.close_rcvd
        self.code = None if received is None else received.code
        self.ended.set()
