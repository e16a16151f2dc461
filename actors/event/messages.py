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
    """Who gets events, as JSON text; one that raises in `offer` is dropped."""

    @property
    def identity(self) -> Hashable:
        """What tells this subscriber from every other."""
        return None

    def offer(self, event: bytes) -> None:
        """Take one event; called on the hub's thread, must not wait."""


@dataclass(frozen=True, slots=True)
class Emit(Message):
    """Something of `kind` (see catalog.py) happened; `message` says it in a sentence, `level` chooses where the kind has several.

    `at_ns`, on the hub's clock, is when: a source that tells of it only so often gives it, so that no way here shortens a period.
    """

    kind: str
    data: Mapping[str, Any]
    message: str
    level: Level | None = None
    at_ns: int | None = None


@dataclass(frozen=True, slots=True)
class BatteryLevel(Message):
    """A grip's charge, 0…1; the hub knows when that is an event."""

    repeatable: ClassVar[bool] = True
    device_id: str
    device_family: str
    level: float
    wireless: bool


@dataclass(frozen=True, slots=True)
class Subscribe(Request[None]):
    """Send events of `kinds` (None: all) from `level` on; those after `since` that are remembered come first.

    `translate` puts a subscriber's words into the event: one function for each vocabulary, so that each is encoded once.
    """

    subscriber: Subscriber
    kinds: frozenset[str] | None = None
    level: Level = "info"
    since: datetime | None = None
    translate: Translate | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe(Message):
    """Send nothing more to `subscriber`."""

    subscriber: Subscriber
