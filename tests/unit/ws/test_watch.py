"""Ping watch: who is pinged and closed when, on a manual clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tornado.websocket import _WebSocketParams  # pyright: ignore[reportPrivateUsage]

from transport.ws.protocol import POLICY, Protocol


class Watched(Protocol):
    """A connection without a stream: what it would send is noted with the time."""

    def __init__(self) -> None:
        self.params = _WebSocketParams(ping_interval=30, ping_timeout=30)
        self._heard = 0.0
        self.now = 0.0
        self.said: list[tuple[float, object]] = []

    def hear(self) -> None:
        self._heard = self.now

    def write_ping(self, data: bytes) -> None:
        del data
        self.said.append((self.now, "ping"))

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        assert reason
        self.said.append((self.now, code))

    def run(self, monkeypatch: pytest.MonkeyPatch, client: Callable[[Watched, float], None]) -> None:
        """Until the watch ends or 200 s have passed; `client` is called with the end of each pause."""

        async def sleep(seconds: float) -> None:
            until = self.now + seconds
            client(self, until)
            self.now = until
            if self.now > 200:
                raise asyncio.CancelledError

        loop = SimpleNamespace(time=lambda: self.now)
        fake: Any = SimpleNamespace(get_running_loop=lambda: loop, sleep=sleep)
        monkeypatch.setattr("transport.ws.protocol.asyncio", fake)
        with pytest.raises((StopIteration, asyncio.CancelledError)):
            self._watch().send(None)


def silent(_watched: Watched, _until: float) -> None:
    """Nothing comes."""


def streaming(watched: Watched, until: float) -> None:
    """A message each second, and no pong."""
    while watched.now + 1 <= until:
        watched.now += 1
        watched.hear()


def answering(watched: Watched, _until: float) -> None:
    """Each ping has its pong at once, and nothing else comes."""
    if watched.said and watched.said[-1] == (watched.now, "ping"):
        watched.hear()


def test_silent_client_is_pinged_after_30_s_and_closed_after_60_s(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    watched.run(monkeypatch, silent)
    assert watched.said == [(30, "ping"), (60, POLICY)]


def test_sending_client_is_neither_pinged_nor_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    watched.run(monkeypatch, streaming)
    assert watched.said == []


def test_client_that_answers_pings_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    watched.run(monkeypatch, answering)
    assert watched.said[:3] == [(30, "ping"), (60, "ping"), (90, "ping")]
    assert all(said == "ping" for _, said in watched.said)
