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
    """One event as it is sent; encoded once for each vocabulary that somebody listens in."""

    at_us: int
    body: Mapping[str, Any]
    _texts: dict[Translate | None, bytes] = field(default_factory=dict[Translate | None, bytes])

    def text(self, encode: Encode, translate: Translate | None) -> bytes:
        """JSON text in the words of `translate`."""
        text = self._texts.get(translate)
        if text is None:
            text = encode(self.body if translate is None else translate(self.body))
            self._texts[translate] = text
        return text


@dataclass(slots=True)
class HubState:
    """Made once for a system and handed to each hub; only the hub's thread touches it."""

    subscriptions: dict[Hashable, Subscribe] = field(default_factory=dict[Hashable, Subscribe])
    history: deque[Event] = field(default_factory=lambda: deque[Event](maxlen=REMEMBERED))
    limiter: Limiter = field(default_factory=Limiter)
    merger: Merger = field(default_factory=Merger)
    batteries: BatteryRule = field(default_factory=BatteryRule)


def event_of(emit: Emit, at_us: int) -> Event:
    """What is sent for `emit`; KeyError for a kind that is not in the catalogue."""
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
    """Whether the subscription is for this event, its time aside."""
    kinds = subscription.kinds
    level: Level = event.body["level"]
    return (kinds is None or event.body["name"] in kinds) and LEVELS.index(level) >= LEVELS.index(subscription.level)


def microseconds(time: datetime) -> int:
    """Microseconds from 1970 to an aware time, exactly."""
    delta = time - datetime.fromtimestamp(0, UTC)
    return (delta.days * 86_400 + delta.seconds) * _US_PER_S + delta.microseconds


def iso_time(at_us: int) -> str:
    """ISO 8601 in UTC with microseconds: 2030-01-31T12:00:00.000000Z."""
    seconds, us = divmod(at_us, _US_PER_S)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{us:06d}Z"
