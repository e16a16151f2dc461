"""Heavy HTTP load beside sessions: big answers are sent in pieces, unread data is bounded, urgent requests go first."""

from __future__ import annotations

import asyncio
import http.client
import logging
import socket
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from tornado.iostream import IOStream

from tests.support.clients.bad_client_kinds import ClientTargets, ClientThread, GoodClient
from tests.support.clients.exchange import exchange
from tests.support.clients.http_attack import FOREIGN_PAGE, request
from tests.support.clients.raw_websocket import connect_tcp
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.http import openapi
from transport.http.base import PIECE
from transport.limits import EdgeLimits

BIG: Final = "/openapi.json"
WRAPPED: Final = "/openapi.json?format=json"
READERS: Final = 12
LITTLE: Final = EdgeLimits(unsent_bytes=2 * 1024 * 1024)
HOUR_S: Final = 3600.0


def serving(folder: Path, limits: EdgeLimits | None = None) -> InProcessService:
    return InProcessService(folder, settings={"control/frequency": 1000}, limits=limits)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    folder = tmp_path_factory.mktemp("state")
    with serving(folder, LITTLE) as running:
        yield running


def unsent(service: InProcessService) -> int:
    return service.listeners.admission.unsent.total


# ---------------------------------------------------------------- big answers


@contextmanager
def written(service: InProcessService) -> Generator[list[tuple[int, int]]]:
    """Iteration of the event loop and size of everything that is written inside."""
    found: list[tuple[int, int]] = []
    iteration = [0]
    running = [True]

    def tick() -> None:
        iteration[0] += 1
        if running[0]:
            asyncio.get_running_loop().call_soon(tick)

    write = IOStream.write

    def noted(stream: IOStream, data: bytes | memoryview) -> asyncio.Future[None]:
        found.append((iteration[0], len(data)))
        return write(stream, data)

    with patch.object(IOStream, "write", noted):
        service.on_edge(tick)
        yield found
        running[0] = False


@pytest.mark.parametrize("path", [BIG, WRAPPED])
def test_big_answer_is_written_in_chunks_between_event_loop_turns(service: InProcessService, path: str) -> None:
    with written(service) as found:
        body = exchange(service.http, "GET", path).body

    assert len(body) > 4 * PIECE
    assert sum(size for _, size in found) > len(body)
    assert max(size for _, size in found) < PIECE + 1024
    iterations = [iteration for iteration, _ in found]
    assert len(set(iterations)) == len(iterations) > 4


def test_head_of_a_big_answer_has_its_length_and_no_body(service: InProcessService) -> None:
    place = urlsplit(service.http)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    try:
        lengths = []
        for method in ("GET", "HEAD", "GET"):
            connection.request(method, BIG)
            answer = connection.getresponse()
            lengths.append((answer.getheader("Content-Length"), len(answer.read())))
    finally:
        connection.close()

    assert lengths[0] == lengths[2]
    assert lengths[1] == (lengths[0][0], 0)


def test_client_disconnect_during_a_big_answer_leaks_nothing(
    service: InProcessService, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            with connect_tcp(service.http, receive_buffer=4096) as peer:
                peer.sendall(request(WRAPPED))
                peer.recv(1)
        eventually(lambda: unsent(service) == 0, "no byte waits any more", pause_s=0.01)
    assert caplog.messages == []


def test_unread_answers_are_bounded_and_stalled_ones_closed(
    service: InProcessService,
) -> None:
    good = GoodClient(ClientTargets(service.ws, service.ws_v30, "A001", "A001", {}))
    with ExitStack() as held, ClientThread("good", good.run):
        assert good.opened.wait(30)
        peers: list[socket.socket] = []
        for _ in range(READERS):
            peer = held.enter_context(connect_tcp(service.http, receive_buffer=4096))
            shrink_send_buffer(service, peer)
            peer.sendall(request(WRAPPED))
            # The answer has begun: the next one comes after it.
            assert peer.recv(1) == b"H"
            peers.append(peer)
            assert unsent(service) <= LITTLE.unsent_bytes
        assert unsent(service) > LITTLE.unsent_bytes / 2
        assert len(exchange(service.http, "GET", WRAPPED).body) > 4 * PIECE
        left = LITTLE.unsent_bytes // (4 * PIECE)
        assert all(at_its_end(peer) for peer in peers[:-left])
        at = good.frames
        eventually(lambda: good.frames > at + 20, "the good client's frames go on", pause_s=0.005)
    eventually(lambda: unsent(service) == 0, "no byte waits any more", pause_s=0.01)
    service.wait_for_sessions()


def shrink_send_buffer(service: InProcessService, peer: socket.socket) -> None:
    """Have the kernel take little of what the service writes to this connection."""

    def shrink() -> bool:
        for stream in service.listeners.admission.connections._idle:
            ours: Any = stream.socket
            if ours.getpeername() == peer.getsockname():
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
                return True
        return False

    eventually(lambda: service.on_edge(shrink), "the connection is there", pause_s=0.001)


def at_its_end(peer: socket.socket) -> bool:
    """Read to the end; TimeoutError when the service does not end the connection."""
    peer.settimeout(30)
    with suppress(ConnectionResetError):
        while peer.recv(65536):
            pass
    return True


def test_concurrent_openapi_requests_build_the_description_once(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        with patch.object(openapi, "document", wraps=openapi.document) as made, ThreadPoolExecutor(16) as clients:
            asked = [clients.submit(exchange, service.http, "GET", BIG) for _ in range(32)]
            bodies = [answer.result().body for answer in asked]
        assert len(set(bodies)) == 1
        assert made.call_count == 1


# ---------------------------------------------------------------- who waits


@contextmanager
def nobody_begins(service: InProcessService, whose: str) -> Generator[None]:
    """Requests of one sort have to wait for an hour."""
    with patch.object(getattr(service.listeners.admission, whose), "reserve", return_value=HOUR_S):
        yield


def test_stop_and_health_are_answered_under_load(tmp_path: Path) -> None:
    with serving(tmp_path) as service, nobody_begins(service, "_local"), ExitStack() as held:
        waiting = held.enter_context(connect_tcp(service.http))
        waiting.sendall(request("/version"))
        for method, path in (
            ("POST", "/stop"),
            ("DELETE", "/stop"),
            ("POST", "/3.1/arm/A001/stop"),
            ("DELETE", "/arm/A001/stop/"),
            ("GET", "/healthz"),
            ("HEAD", "/readyz"),
        ):
            assert exchange(service.http, method, path).status == 200
        waiting.settimeout(0.05)
        with pytest.raises(TimeoutError):
            waiting.recv(1)
        foreign = held.enter_context(connect_tcp(service.http))
        foreign.sendall(request("/stop", FOREIGN_PAGE).replace(b"GET", b"POST", 1))
        assert foreign.recv(12) == b"HTTP/1.1 403"


def test_refused_origins_do_not_use_up_the_limit_of_other_clients(tmp_path: Path) -> None:
    with serving(tmp_path) as service, nobody_begins(service, "_foreign"), ExitStack() as held:
        waiting = held.enter_context(connect_tcp(service.http))
        waiting.sendall(request("/metrics", FOREIGN_PAGE))
        assert exchange(service.http, "GET", "/version").status == 200
        assert exchange(service.http, "GET", "/healthz", headers=FOREIGN_PAGE).status == 200
        waiting.settimeout(0.05)
        with pytest.raises(TimeoutError):
            waiting.recv(1)


def test_shutdown_does_not_wait_for_slow_readers(tmp_path: Path) -> None:
    with serving(tmp_path) as service, nobody_begins(service, "_local"), ExitStack() as held:
        waiting = held.enter_context(connect_tcp(service.http))
        waiting.sendall(request("/version"))
        eventually(lambda: len(service.listeners.admission.connections) > 0, "the request is there", pause_s=0.01)


# ---------------------------------------------------------------- long headers


@pytest.mark.parametrize("size", [17 * 1024, 60 * 1024])
def test_too_long_headers_get_431(service: InProcessService, size: int) -> None:
    for headers in ({"X-Long": "a" * size}, {f"X-{at}": "b" * 1024 for at in range(size // 1024)}):
        reply = exchange(service.http, "GET", "/version", headers=headers)
        assert reply.status == 431
        assert reply.json["ok"] is False
        assert "16384 bytes" in reply.json["error"]
    assert exchange(service.http, "GET", "/version", headers={"X-Long": "a" * 15 * 1024}).status == 200
