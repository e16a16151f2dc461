"""Parse the event filters of a subscriber's URL, `?kinds=a,b&level=warning&since=<time>`."""

from __future__ import annotations

from datetime import UTC, datetime

from actors.event.catalog import EVENT_KINDS
from actors.event.messages import LEVELS, Level
from actors.kit.errors import InvalidInput
from actors.values.similar import MOST_LETTERS, nearest


def parse_kinds(text: str) -> frozenset[str] | None:
    """Parse kinds separated by commas; None (all kinds) for an empty text; InvalidInput names an unknown one."""
    kinds = frozenset(word.strip() for word in text.split(",")) - {""}
    unknown = sorted(kinds - EVENT_KINDS.keys())
    if unknown:
        meant = nearest(unknown[0][:MOST_LETTERS], tuple(EVENT_KINDS))
        likely = f"did you mean {meant}?" if meant else f"use some of {', '.join(EVENT_KINDS)}"
        raise InvalidInput(f'there is no kind "{unknown[0]}": {likely}', "kinds")
    return kinds or None


def parse_level(text: str) -> Level:
    """Parse the lowest wanted level, `info` for an empty text; InvalidInput lists the levels."""
    word = text.strip() or LEVELS[0]
    for level in LEVELS:
        if level == word:
            return level
    raise InvalidInput(f'there is no level "{word}": use one of {", ".join(LEVELS)}', "level")


def parse_since(text: str) -> datetime | None:
    """Parse an ISO 8601 time, UTC without a zone; None for an empty text; InvalidInput shows the format."""
    if not text.strip():
        return None
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f'"{text}" is no time: write it as 2030-01-31T12:00:00.000000Z', "since") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
