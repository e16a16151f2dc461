"""Events of the service: what one is, how a stream of them is asked for, and where it has gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from hapticd_client.errors import ProtocolBroken

DROPPED: Final = "events_dropped"
MESSAGE: Final = b"{}"


@dataclass(frozen=True, slots=True)
class Event:
    """One event; docs/events.md lists the kinds."""

    name: str  # such as device-connected
    category: str  # system input session device module feature
    level: str  # info notice warning error critical panic
    time: datetime  # UTC
    data: Mapping[str, Any]
    message: str
    gap: int = 0  # events that this subscriber lost just before this one

    def __str__(self) -> str:
        """`time level name: message`."""
        return f"{self.time.isoformat()} {self.level} {self.name}: {self.message}"


def event_query(kinds: Iterable[str] | None, level: str | None, since: datetime | str | None) -> dict[str, str]:
    """Return the query of an event channel. A datetime without a zone is local time."""
    query: dict[str, str] = {}
    if kinds is not None:
        query["kinds"] = kinds if isinstance(kinds, str) else ",".join(kinds)
    if level is not None:
        query["level"] = level
    if since is not None:
        query["since"] = since if isinstance(since, str) else since.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return query


def parse_event(payload: bytes) -> Event:
    """Read one message of the event channel. ProtocolBroken."""
    try:
        found = orjson.loads(payload)
        data = found["data"]
        lost = data.get("lost", 0) if data.get("reason") == DROPPED else 0
        return Event(
            found["name"],
            found["category"],
            found["level"],
            datetime.fromisoformat(found["time"]),
            data,
            found["message"],
            int(lost or 0),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ProtocolBroken(f"what came is no event of hapticd ({error!r})") from None
