"""State of the event hub that outlives its restart: subscribers, remembered events, throttling."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from actors.event.catalog import EVENT_KINDS, level_of
from actors.event.messages import LEVELS, Emit, Level, Subscribe, Translate
from actors.event.policy import BatteryRule, Limiter, Merger, first_bytes

REMEMBERED: Final = 1_000
_US_PER_S: Final = 1_000_000

Encode = Callable[[Any], bytes]


@dataclass(slots=True)
class Event:
    """One event, encoded once for each vocabulary in use."""

    at_us: int  # microseconds since 1970
    body: Mapping[str, Any]
    _texts: dict[Translate | None, bytes] = field(default_factory=dict[Translate | None, bytes])

    def text(self, encode: Encode, translate: Translate | None) -> bytes:
        """Return the JSON text in the vocabulary of `translate`."""
        text = self._texts.get(translate)
        if text is None:
            text = encode(self.body if translate is None else translate(self.body))
            self._texts[translate] = text
        return text


@dataclass(slots=True)
class HubState:
    """State of the hub, created once per system; used on the hub's thread only."""

    subscriptions: dict[Hashable, Subscribe] = field(default_factory=dict[Hashable, Subscribe])
    history: deque[Event] = field(default_factory=lambda: deque[Event](maxlen=REMEMBERED))
    limiter: Limiter = field(default_factory=Limiter)
    merger: Merger = field(default_factory=Merger)
    batteries: BatteryRule = field(default_factory=BatteryRule)


def event_of(emit: Emit, at_us: int) -> Event:
    """Return the event of `emit`; KeyError for an unknown kind."""
    data: dict[str, Any] = dict(emit.data)
    if "received_data" in data:
        data["received_data"] = first_bytes(str(data["received_data"]))
    body = {
        "name": emit.kind,
        "category": EVENT_KINDS[emit.kind].category,
        "level": level_of(emit.kind, data, emit.level),
        "time": iso_time(at_us),
        "data": data,
        "message": emit.message,
    }
    return Event(at_us, body)


def wanted(event: Event, subscription: Subscribe) -> bool:
    """Whether kind and level match the subscription; its `since` is not checked."""
    kinds = subscription.kinds
    level: Level = event.body["level"]
    return (kinds is None or event.body["name"] in kinds) and LEVELS.index(level) >= LEVELS.index(subscription.level)


def microseconds(time: datetime) -> int:
    """Return exact microseconds from 1970 to an aware time."""
    delta = time - datetime.fromtimestamp(0, UTC)
    return (delta.days * 86_400 + delta.seconds) * _US_PER_S + delta.microseconds


def iso_time(at_us: int) -> str:
    """Return ISO 8601 in UTC with microseconds: 2030-01-31T12:00:00.000000Z."""
    seconds, us = divmod(at_us, _US_PER_S)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{us:06d}Z"
