"""Public interface of the event slice: transport imports only this module of it."""

from __future__ import annotations

from actors.event.filters import parse_kinds, parse_level, parse_since
from actors.event.messages import HUB, Emit, Level, Subscribe, Translate, Unsubscribe
from actors.event.queue import BoundedQueue, lost_notice

__all__ = [
    "HUB",
    "BoundedQueue",
    "Emit",
    "Level",
    "Subscribe",
    "Translate",
    "Unsubscribe",
    "lost_notice",
    "parse_kinds",
    "parse_level",
    "parse_since",
]
