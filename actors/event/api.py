"""What transport may use of the event slice: messages and rules. Transport imports no other module of it."""

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
