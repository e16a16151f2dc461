"""Messages of the event hub: emit an event, subscribe, unsubscribe; and the protocol of a subscriber."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, Protocol, TypeAlias

from actors.kit.message import Message, Request

HUB: Final = "events"

Category: TypeAlias = Literal["system", "input", "session", "device", "module", "feature"]
Level: TypeAlias = Literal["info", "notice", "warning", "error", "critical", "panic"]
LEVELS: Final[tuple[Level, ...]] = ("info", "notice", "warning", "error", "critical", "panic")

Translate: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Subscriber(Protocol):
    """Receives events as JSON text; one that raises in `offer` is dropped."""

    @property
    def identity(self) -> Hashable:
        """Unique key of the subscriber."""
        return None

    def offer(self, event: bytes) -> None:
        """Take one event; called on the hub's thread, must not wait."""


@dataclass(frozen=True, slots=True)
class Emit(Message):
    """An event of `kind` (catalog.py) happened."""

    kind: str
    data: Mapping[str, Any]
    message: str  # one sentence
    level: Level | None = None  # None: the default of the kind
    at_ns: int | None = None  # ns, hub clock, given by a source that limits its own rate; None: now


@dataclass(frozen=True, slots=True)
class BatteryLevel(Message):
    """Battery charge of a grip; the hub decides when that is an event."""

    repeatable: ClassVar[bool] = True
    device_id: str
    device_family: str
    level: float  # 0 to 1
    wireless: bool


@dataclass(frozen=True, slots=True)
class Subscribe(Request[None]):
    """Send events to a subscriber, first the remembered ones after `since`."""

    subscriber: Subscriber
    kinds: frozenset[str] | None = None  # None: all
    level: Level = "info"  # the lowest
    since: datetime | None = None
    translate: Translate | None = None  # converts to a vocabulary; one function each, so that each is encoded once


@dataclass(frozen=True, slots=True)
class RecentEvents(Request[tuple[bytes, ...]]):
    """Return the newest remembered events as JSON texts in the neutral vocabulary, oldest first."""

    limit: int  # how many at most


@dataclass(frozen=True, slots=True)
class Unsubscribe(Message):
    """Stop sending events to `subscriber`."""

    subscriber: Subscriber
