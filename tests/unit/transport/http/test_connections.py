"""Which HTTP connection is closed for a new one at the limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from transport.http.admission import Connections
from transport.limits import Limits

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


class Crowd:
    """Connections in every state, at a time that the test sets."""

    def __init__(self) -> None:
        self.now_ns = 100 * S
        self.streams: list[Stream] = []
        self.connections = Connections(Limits(plain_connections=MOST), lambda: self.now_ns)

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
def run() -> Callable[[Callable[[Crowd], None]], Crowd]:
    def within(steps: Callable[[Crowd], None]) -> Crowd:
        async def whole() -> Crowd:
            crowd = Crowd()
            steps(crowd)
            return crowd

        return asyncio.run(whole())

    return within


Run = Callable[[Callable[[Crowd], None]], Crowd]


def test_stalled_writers_leave_first_then_requests_that_never_complete(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        crowd.idle()
        crowd.busy("half a body")
        crowd.fresh("half a request")
        crowd.stuck("first reader")
        crowd.stuck("second reader")
        crowd.later()
        for number in range(4):
            crowd.fresh(f"new {number}")
            crowd.later(0.01)

    assert run(steps).closed == ["half a body", "half a request", "first reader", "second reader"]


def test_fresh_connection_stays_while_others_stall(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        for number in range(MOST):
            crowd.stuck(f"reader {number}")
        crowd.later()
        crowd.fresh("new")
        crowd.fresh("newer")

    assert run(steps).closed == ["reader 0", "reader 1"]


def test_connections_between_requests_leave_before_new_ones(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        crowd.fresh("new")
        for number in range(MOST - 1):
            crowd.idle(f"idle {number}")
        crowd.fresh("newer")

    assert run(steps).closed == ["idle 0"]


def test_oldest_leaves_when_all_are_new(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        for number in range(MOST + 2):
            crowd.fresh(f"new {number}")

    assert run(steps).closed == ["new 0", "new 1"]


def test_stop_that_has_just_come_is_never_closed(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        crowd.busy("stop", urgent=True)
        for number in range(3 * MOST):
            crowd.busy(f"other {number}")

    assert "stop" not in run(steps).closed


def test_stop_whose_body_never_ends_is_a_request_that_never_completes(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        for number in range(MOST):
            crowd.busy(f"stop {number}", urgent=True)
        crowd.later()
        crowd.fresh("new")

    assert run(steps).closed == ["stop 0"]


def test_nothing_is_kept_of_connections_that_have_ended(run: Run) -> None:
    def steps(crowd: Crowd) -> None:
        for stream in (crowd.fresh(), crowd.busy(urgent=True), crowd.idle()):
            crowd.connections.gone(stream)
        crowd.connections.make_room()
        assert len(crowd.connections) == 0

    assert run(steps).closed == []
