"""Which HTTP connection is closed for a new one at the limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from transport.http.admission import Connections
from transport.limits import EdgeLimits

MOST = 5
S = 1_000_000_000


class Stream:
    """A connection by name; `stuck` while its client does not take the answer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stuck = False
        self.open = True

    def writing(self) -> bool:
        return self.stuck

    def close(self) -> None:
        self.open = False


class Clients:
    """Connections in every state, at a time that the test sets."""

    def __init__(self) -> None:
        self.now_ns = 100 * S
        self.streams: list[Stream] = []
        self.connections = Connections(EdgeLimits(plain_connections=MOST), lambda: self.now_ns)

    def fresh(self, name: str = "fresh") -> Any:
        stream = Stream(name)
        self.streams.append(stream)
        self.connections.opened(cast("Any", stream))
        return stream

    def busy(self, name: str = "busy", *, urgent: bool = False) -> Any:
        stream = self.fresh(name)
        self.connections.asks(stream, urgent=urgent)
        return stream

    def stuck(self, name: str = "stuck") -> Any:
        stream = self.busy(name)
        stream.stuck = True
        return stream

    def idle(self, name: str = "idle") -> Any:
        stream = self.busy(name)
        self.connections.waits(stream)
        return stream

    def later(self, seconds: float = 2.0) -> None:
        self.now_ns += round(seconds * S)

    @property
    def closed(self) -> list[str]:
        return [stream.name for stream in self.streams if not stream.open]


@pytest.fixture
def run() -> Callable[[Callable[[Clients], None]], Clients]:
    def within(steps: Callable[[Clients], None]) -> Clients:
        async def whole() -> Clients:
            clients = Clients()
            steps(clients)
            return clients

        return asyncio.run(whole())

    return within


Run = Callable[[Callable[[Clients], None]], Clients]


def test_stalled_writers_are_closed_first_then_incomplete_requests(run: Run) -> None:
    def steps(clients: Clients) -> None:
        clients.idle()
        clients.busy("half a body")
        clients.fresh("half a request")
        clients.stuck("first reader")
        clients.stuck("second reader")
        clients.later()
        for number in range(4):
            clients.fresh(f"new {number}")
            clients.later(0.01)

    assert run(steps).closed == ["half a body", "half a request", "first reader", "second reader"]


def test_new_connection_is_kept_while_others_stall(run: Run) -> None:
    def steps(clients: Clients) -> None:
        for number in range(MOST):
            clients.stuck(f"reader {number}")
        clients.later()
        clients.fresh("new")
        clients.fresh("newer")

    assert run(steps).closed == ["reader 0", "reader 1"]


def test_idle_connections_are_closed_before_new_ones(run: Run) -> None:
    def steps(clients: Clients) -> None:
        clients.fresh("new")
        for number in range(MOST - 1):
            clients.idle(f"idle {number}")
        clients.fresh("newer")

    assert run(steps).closed == ["idle 0"]


def test_oldest_connection_is_closed_when_all_are_new(run: Run) -> None:
    def steps(clients: Clients) -> None:
        for number in range(MOST + 2):
            clients.fresh(f"new {number}")

    assert run(steps).closed == ["new 0", "new 1"]


def test_new_stop_request_is_never_closed(run: Run) -> None:
    def steps(clients: Clients) -> None:
        clients.busy("stop", urgent=True)
        for number in range(3 * MOST):
            clients.busy(f"other {number}")

    assert "stop" not in run(steps).closed


def test_stop_request_with_an_endless_body_counts_as_incomplete(run: Run) -> None:
    def steps(clients: Clients) -> None:
        for number in range(MOST):
            clients.busy(f"stop {number}", urgent=True)
        clients.later()
        clients.fresh("new")

    assert run(steps).closed == ["stop 0"]


def test_ended_connections_are_forgotten(run: Run) -> None:
    def steps(clients: Clients) -> None:
        for stream in (clients.fresh(), clients.busy(urgent=True), clients.idle()):
            clients.connections.gone(stream)
        clients.connections.make_room()
        assert len(clients.connections) == 0

    assert run(steps).closed == []
