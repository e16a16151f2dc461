"""Words of the wire: groups of devices in both vocabularies, and the two versions of frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

Words: TypeAlias = Literal["auto", "neutral", "inverse"]
FrameVersion: TypeAlias = Literal["3.0", "3.1"]

WORDS: Final = ("auto", "neutral", "inverse")
VERSIONS: Final = ("3.0", "3.1")
# Keys of a frame that are no group of devices.
NO_GROUPS: Final = frozenset({"session_id", "errors", "tick", "time"})
NEUTRAL: Final = frozenset({"arm", "compact", "grip", "pen"})
# Group of the inverse vocabulary, and the kind of its devices; that of an arm or compact is told by `config.type`.
INVERSE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "inverse3": "arm",
        "verse_grip": "grip",
        "wireless_verse_grip": "grip",
        "custom_verse_grip": "pen",
    }
)
COMPACT_TYPES: Final = frozenset({"compact", "minverse"})
MOVERS: Final = frozenset({"arm", "compact"})


def entries_of(frame: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the group, the id and the entry of each device of a frame, once each; TypeError, LookupError for what is no frame.

    Groups are arrays in frames v3.1 and objects by id in v3.0. Where both vocabularies are there, the neutral one counts.
    """
    neutral = not NEUTRAL.isdisjoint(frame)
    for group, entries in frame.items():
        if group in NO_GROUPS or (neutral and group in INVERSE):
            continue
        if isinstance(entries, list):
            for entry in entries:
                yield group, entry["device_id"], entry
        elif isinstance(entries, dict):
            for device_id, entry in entries.items():
                yield group, device_id, entry


def kind_of(group: str, config: Mapping[str, Any] | None) -> str:
    """Return the neutral kind of a device in `group`: arm, compact, grip, pen, or the word of a kind that a module brought."""
    kind = INVERSE.get(group, group)
    if kind == "arm" and config is not None and config.get("type") in COMPACT_TYPES:
        return "compact"
    return kind


def vocabulary_of(frame: Mapping[str, Any]) -> Words | None:
    """Return the vocabulary of a frame, `auto` for both, None where it has no group that is known."""
    neutral, inverse = not NEUTRAL.isdisjoint(frame), not INVERSE.keys().isdisjoint(frame)
    if neutral and inverse:
        return "auto"
    return "neutral" if neutral else "inverse" if inverse else None
