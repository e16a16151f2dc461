"""Translate events from the neutral vocabulary to the subscriber's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from actors.event.api import Translate
from actors.values.identity import Connection, Kind
from transport.wire.vocabulary import INVERSE, NEUTRAL, Vocabulary

KINDS: Final = frozenset(Kind)
CONNECTIONS: Final = frozenset(Connection)


def translation(vocabulary: Vocabulary) -> Translate | None:
    """Return the translation for a vocabulary, None if there is none: one function each, so that subscribers share the encoded event."""
    return None if vocabulary is NEUTRAL else _TRANSLATIONS[vocabulary.name]


def _translated(vocabulary: Vocabulary) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    def translate(event: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**event, "data": _data(event["data"], vocabulary), "message": vocabulary.said(event["message"])}

    return translate


def _data(data: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the event with type, family and reason in the vocabulary's words."""
    found = dict(data)
    if isinstance(reason := data.get("reason"), str):
        found["reason"] = vocabulary.said(reason)
    family, kind, connection = data.get("device_family"), data.get("type"), data.get("connection")
    if family in KINDS:
        found["device_family"] = vocabulary.family(Kind(family))
    if kind in KINDS and connection in CONNECTIONS:
        found["type"] = vocabulary.type_word(Kind(kind), Connection(connection))
    return found


_TRANSLATIONS: Final = MappingProxyType({INVERSE.name: _translated(INVERSE)})
