"""Public interface of the event slice: transport imports only this module of it."""

from __future__ import annotations

from actors.event.catalog import EVENT_KINDS, SAFETY_LEVELS, EventKind
from actors.event.filters import parse_kinds, parse_level, parse_since
from actors.event.hub_state import REMEMBERED
from actors.event.messages import HUB, LEVELS, Emit, Level, RecentEvents, Subscribe, Translate, Unsubscribe
from actors.event.queue import BoundedQueue, lost_notice

__all__ = [
    "EVENT_KINDS",
    "HUB",
    "LEVELS",
    "REMEMBERED",
    "SAFETY_LEVELS",
    "BoundedQueue",
    "Emit",
    "EventKind",
    "Level",
    "RecentEvents",
    "Subscribe",
    "Translate",
    "Unsubscribe",
    "lost_notice",
    "parse_kinds",
    "parse_level",
    "parse_since",
]
