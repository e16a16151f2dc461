"""Fields of log lines: what a line is about, beside its text. They are given as `extra=` and written by `transport.log_format`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# First part of an actor's name -> the field that its second part is.
_OWNERS: Final[Mapping[str, str]] = MappingProxyType(
    {"device": "device", "session": "session", "port": "port", "link": "port"}
)


def of_actor(name: str) -> dict[str, str]:
    """Return `actor`, and the device, session or port that the actor is for."""
    kind, _, subject = name.partition("/")
    fields = {"actor": name}
    if subject and kind in _OWNERS:
        fields[_OWNERS[kind]] = subject
    return fields
