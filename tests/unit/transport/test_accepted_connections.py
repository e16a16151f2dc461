"""Order in which accepted connections are served, and which is closed at the limit."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from transport import accepted_connections as module
from transport.accepted_connections import MOST, AcceptedConnections, says_stop

BEGUN = b"GET /version HT"
GET = b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"
STOP = b"POST /stop HTTP/1.1\r\n"


class NamedConnections:
    """Connections by name, in the order in which they were taken."""

    def __init__(self) -> None:
        self.accepted = AcceptedConnections()
        self.taken: list[str] = []
        self.clients: dict[str, socket.socket] = {}
        self._served: list[socket.socket] = []

    def comes(self, name: str, sent: bytes = b"") -> None:
        client, served = socket.socketpair()
        self.clients[name] = client
        client.sendall(sent)
        self._served.append(served)
        self.accepted.add(served, name, self._take)

    def is_open(self, name: str) -> bool:
        self.clients[name].setblocking(False)
        try:
            return bool(self.clients[name].recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False

    def close(self) -> None:
        for each in (*self.clients.values(), *self._served):
            each.close()

    def _take(self, _connection: socket.socket, address: Any) -> None:
        self.taken.append(address)


@pytest.fixture
def rig() -> Iterator[NamedConnections]:
    made = NamedConnections()
    yield made
    made.close()


def run(rig: NamedConnections, steps: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        await steps()
        rig.accepted.close()

    asyncio.run(whole())


async def iterations(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


def test_connections_are_served_one_per_iteration_in_order(rig: NamedConnections) -> None:
    async def steps() -> None:
        for name in "abc":
            rig.comes(name, GET)
        for served in range(1, 4):
            await iterations(1)
            assert rig.taken == list("abc")[:served]

    run(rig, steps)


def test_stop_request_is_served_first(rig: NamedConnections) -> None:
    async def steps() -> None:
        for name in "abc":
            rig.comes(name, GET)
        rig.comes("stop", STOP)
        await iterations(1)
        assert rig.taken == ["stop"]

    run(rig, steps)


def test_late_stop_request_overtakes(rig: NamedConnections) -> None:
    async def steps() -> None:
        for name in "abc":
            rig.comes(name, GET)
        rig.comes("stop")
        rig.clients["stop"].sendall(STOP)
        await iterations(1)
        assert rig.taken == ["stop"]

    run(rig, steps)


def test_connection_with_a_request_precedes_silent_ones(rig: NamedConnections) -> None:
    async def steps() -> None:
        rig.comes("begun", BEGUN)
        rig.comes("silent")
        rig.comes("asks", GET)
        await iterations(1)
        assert rig.taken == ["asks"]
        while len(rig.taken) < 3:
            await iterations(1)
        assert rig.taken[1:] == ["begun", "silent"]

    run(rig, steps)


def test_silent_connections_are_served_in_order(rig: NamedConnections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENT_S", 0)
    names = [str(number) for number in range(3 * module.LOOKED_AT)]

    async def steps() -> None:
        for name in names:
            rig.comes(name, BEGUN)
        while len(rig.taken) < len(names):
            await iterations(1)
        assert rig.taken == names

    run(rig, steps)


def test_silent_connections_are_served_with_pauses(rig: NamedConnections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENT_S", 3600)

    async def steps() -> None:
        rig.comes("first", BEGUN)
        rig.comes("second", BEGUN)
        await iterations(20)
        assert rig.taken == ["first"]
        rig.comes("asks", GET)
        await iterations(2)
        assert rig.taken == ["first", "asks"]

    run(rig, steps)


def test_longest_silent_connection_is_closed_over_the_limit(rig: NamedConnections) -> None:
    async def steps() -> None:
        rig.comes("stop", STOP)
        rig.comes("asks", GET)
        for number in range(MOST - 2):
            rig.comes(f"silent {number}", BEGUN)
        assert len(rig.accepted) == MOST
        rig.comes("one more", GET)
        assert len(rig.accepted) == MOST
        gone = [name for name in rig.clients if not rig.is_open(name)]
        assert gone == ["silent 0"]

    run(rig, steps)


def test_active_connection_is_closed_without_silent_ones_and_a_stop_kept(rig: NamedConnections) -> None:
    async def steps() -> None:
        rig.comes("stop", STOP)
        for number in range(MOST - 1):
            rig.comes(f"asks {number}", GET)
        assert not rig.accepted.spare()
        rig.comes("one more", GET)
        assert [name for name in rig.clients if not rig.is_open(name)] == ["asks 0"]

    run(rig, steps)


def test_only_silent_connections_are_closed_to_spare_descriptors(rig: NamedConnections) -> None:
    async def steps() -> None:
        rig.comes("stop", STOP)
        rig.comes("asks", GET)
        rig.comes("completes", GET[:-1])
        rig.comes("silent", BEGUN)
        rig.clients["completes"].sendall(GET[-1:])
        assert rig.accepted.spare()
        assert not rig.accepted.spare()
        assert [name for name in rig.clients if not rig.is_open(name)] == ["silent"]

    run(rig, steps)


def test_ended_connection_is_closed_and_never_served(rig: NamedConnections) -> None:
    async def steps() -> None:
        rig.comes("silent")
        rig.clients["silent"].close()
        await iterations(5)
        assert rig.taken == []
        assert len(rig.accepted) == 0

    run(rig, steps)


def test_all_connections_are_closed_at_the_end(rig: NamedConnections) -> None:
    async def steps() -> None:
        for name, sent in (("stop", STOP), ("asks", GET), ("silent", b"")):
            rig.comes(name, sent)

    run(rig, steps)
    assert not any(rig.is_open(name) for name in rig.clients)
    assert rig.taken == []


@pytest.mark.parametrize(
    ("sent", "stops"),
    [
        (STOP, True),
        (b"POST /3.1/stop/?x=1 HTTP/1.1\r\n", True),
        (b"POST /stop HTTP/1.1", False),
        (b"GET /stop HTTP/1.1\r\n", False),
        (b"POST /stopped HTTP/1.1\r\n", False),
        (b"DELETE /stop HTTP/1.1\r\n", True),
        (b"DELETE /arm/0/stop HTTP/1.1\r\n", True),
        (b"DELETE /settings HTTP/1.1\r\n", False),
        (b"POST\r\n", False),
        (b"\r\n", False),
        (b"", False),
    ],
)
def test_stop_request_line_is_recognised(sent: bytes, *, stops: bool) -> None:
    assert says_stop(sent) is stops
