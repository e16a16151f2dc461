"""Helpers of the event tests: a recording subscriber, a settable time of day, short event builders."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import orjson

from actors.event.hub import EventHub
from actors.event.messages import Emit


def encode(value: Any) -> bytes:
    return orjson.dumps(value)


class Wall:
    """Time of day in nanoseconds, moved by hand."""

    def __init__(self) -> None:
        self.now_ns = 1_900_000_000_000_000_000

    def __call__(self) -> int:
        return self.now_ns


class Kept:
    """A subscriber that keeps what it is offered."""

    def __init__(self, identity: Hashable = "kept") -> None:
        self.identity = identity
        self.texts: list[bytes] = []

    def offer(self, event: bytes) -> None:
        self.texts.append(event)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [orjson.loads(text) for text in self.texts]

    @property
    def names(self) -> list[str]:
        return [event["name"] for event in self.events]


class Broken(Kept):
    """A subscriber that fails."""

    def offer(self, event: bytes) -> None:
        super().offer(event)
        raise RuntimeError("the event loop is closed")


def updated(session_id: int, *scopes: str, **data: Any) -> Emit:
    return Emit("session-updated", {"session_id": session_id, "scopes": list(scopes), **data}, "something changed")


def faulty(session_id: int | None, received: str = "{") -> Emit:
    data = {"session_id": session_id, "received_data": received, "path": "", "reason": "not JSON"}
    return Emit("invalid-io-channel", data, "a message was no JSON")


def opened(session_id: int) -> Emit:
    return Emit("session-opened", {"session_id": session_id, "profile": "default"}, f"session {session_id} opened")


def run_waiting(hub: EventHub) -> None:
    """Let a hub without a thread handle what waits in its mailbox."""
    while not hub.actor_inbox.empty():
        hub.on_receive(hub.actor_inbox.get().message)
