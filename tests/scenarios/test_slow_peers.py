"""Slow, silent, numerous or endless peers are closed in time, and a good client is unaffected."""

from __future__ import annotations

import gc
import socket
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.support.clients.bad_client_kinds import ClientTargets, ClientThread, GoodClient
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket, connect_tcp, encode_frame, read_status
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.limits import EdgeLimits

SOON_S: Final = 0.15
IDLE: Final = 300
KEPT: Final = 40
LIMITS: Final = EdgeLimits(
    first_request_s=SOON_S,
    idle_s=SOON_S,
    body_s=SOON_S,
    exchange_s=4 * SOON_S,
    plain_connections=KEPT,
    event_channels=5,
)
PATIENT: Final = EdgeLimits(plain_connections=KEPT)
NEVER_S: Final = 600.0
# Long enough for the good client's own first request.
ALONE_S: Final = 0.5


@contextmanager
def serving(folder: Path, limits: EdgeLimits) -> Generator[InProcessService]:
    """A service and a good client on it, whose frames all come; afterwards as many descriptors as before."""
    with InProcessService(folder, settings={"control/frequency": 1000}, limits=limits) as service:
        warm = exchange(service.http, "GET", "/version")
        assert warm.status == 200
        before = open_descriptors()
        good = GoodClient(ClientTargets(service.ws, service.ws_v30, "A001", "A001", {}))
        with ClientThread("good", good.run):
            assert good.opened.wait(30)
            yield service
            at = good.frames
            eventually(lambda: good.frames > at + 20, "the good client's frames go on", pause_s=0.005, tries=4000)
        service.wait_for_sessions()
        eventually(lambda: open_descriptors() <= before, "every descriptor is closed", pause_s=0.01, tries=2000)


def open_descriptors() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def ended(peer: socket.socket) -> bool:
    """Wait until the service closes the connection; whatever it says before does not matter."""
    peer.settimeout(30)
    with suppress(ConnectionResetError):
        while peer.recv(65536):
            pass
    return True


@pytest.mark.parametrize("port", ["http", "ws_v30", "events"])
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /version HT",
        b"GET /version HTTP/1.1\r\nHost: localhost\r\nX-A: b",
        b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
        b"POST /stop HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\nGET /ver",
    ],
    ids=["nothing", "request line", "headers", "body", "chunks", "nothing more", "second request"],
)
def test_slow_peers_are_disconnected(quick: InProcessService, port: str, begun: bytes) -> None:
    with connect_tcp(str(getattr(quick, port))) as peer:
        peer.sendall(begun)

        assert ended(peer)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    with serving(tmp_path_factory.mktemp("state"), LIMITS) as service:
        yield service


BODY_BEGUN: Final = b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"


@pytest.mark.parametrize(
    ("seconds", "begun"),
    [
        ((ALONE_S, NEVER_S, NEVER_S, NEVER_S), b"GET /version HT"),
        ((NEVER_S, ALONE_S, NEVER_S, NEVER_S), b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ((NEVER_S, NEVER_S, ALONE_S, NEVER_S), BODY_BEGUN),
        ((NEVER_S, NEVER_S, NEVER_S, ALONE_S), BODY_BEGUN),
    ],
    ids=["first request", "next request", "body", "exchange"],
)
def test_each_limit_alone_disconnects_slow_peers(
    tmp_path: Path, seconds: tuple[float, float, float, float], begun: bytes
) -> None:
    first, idle, body, whole = seconds
    limits = EdgeLimits(first_request_s=first, idle_s=idle, body_s=body, exchange_s=whole)
    with serving(tmp_path, limits) as service, connect_tcp(service.http) as peer:
        peer.sendall(begun)

        assert ended(peer)


def test_slow_byte_stream_does_not_keep_the_connection(quick: InProcessService) -> None:
    with connect_tcp(quick.http) as peer, suppress(BrokenPipeError, ConnectionResetError):
        peer.sendall(b"GET /version HTTP/1.1\r\nX-A: ")
        peer.settimeout(0.01)
        while True:
            peer.sendall(b"a")
            with suppress(TimeoutError):
                if not peer.recv(1):
                    break


def test_idle_connections_are_closed_for_active_ones(tmp_path: Path) -> None:
    with serving(tmp_path, PATIENT) as service, ExitStack() as held:
        idle = [held.enter_context(connect_tcp(service.http)) for _ in range(IDLE)]

        assert exchange(service.http, "GET", "/version").status == 200
        eventually(lambda: len(service.listeners.admission.connections) <= KEPT, "no more than that are kept")
        assert all(ended(peer) for peer in idle[: IDLE - KEPT])
        with RawWebSocket(service.ws) as peer:
            assert peer.frame()["session_id"] > 0


def test_new_connection_can_stop_while_slow_readers_use_all_others(tmp_path: Path) -> None:
    asks = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    stop = b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
    # So much that no reader is closed for what it does not take.
    with serving(tmp_path, replace(PATIENT, unsent_bytes=2**30)) as service, ExitStack() as held:
        for _ in range(KEPT):
            reader = held.enter_context(connect_tcp(service.http, receive_buffer=4096))
            reader.sendall(asks * 20)
        connections = service.listeners.admission.connections

        def all_stuck() -> bool:
            return sum(stream.writing() for stream in tuple(connections._busy)) == KEPT

        eventually(lambda: service.on_edge(all_stuck), "no reader takes its answers", pause_s=0.01)
        fresh = held.enter_context(connect_tcp(service.http))
        for _ in range(KEPT // 2):
            held.enter_context(connect_tcp(service.http))
        fresh.sendall(stop)
        eventually(lambda: bool(connections._urgent), "the headers of the stop have come", pause_s=0.005)
        for _ in range(2 * KEPT):
            held.enter_context(connect_tcp(service.http)).sendall(b"GET")
        fresh.sendall(b"{}")

        with fresh.makefile("rb") as answer:
            assert read_status(answer.readline()) == 200
        assert exchange(service.http, "DELETE", "/stop").status == 200


def test_event_connections_count_against_the_limit(quick: InProcessService) -> None:
    with ExitStack() as held:
        for _ in range(LIMITS.event_channels):
            held.enter_context(RawWebSocket(quick.events))
        with pytest.raises(AssertionError, match="503"):
            RawWebSocket(quick.events)


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
def test_endless_body_is_cut_off(tmp_path: Path, declared: bool) -> None:
    length = b"Content-Length: 1073741824" if declared else b"Transfer-Encoding: chunked"
    piece = b"x" * 65536 if declared else b"10000\r\n" + b"x" * 65536 + b"\r\n"
    with serving(tmp_path, PATIENT) as service, connect_tcp(service.http) as peer:
        peer.sendall(b"POST /stop HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n")
        sent = 0
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < 2**30:
                peer.sendall(piece)
                sent += len(piece)
        assert sent < 2**26
        assert ended(peer)


def test_client_of_an_endless_body_gets_the_error(tmp_path: Path) -> None:
    with serving(tmp_path, PATIENT) as service, connect_tcp(service.http) as peer, peer.makefile("rb") as answer:
        peer.sendall(b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n" + b"x" * 65536)

        assert read_status(answer.readline()) == 413


def test_message_one_byte_over_the_limit_is_closed_with_1009(quick: InProcessService) -> None:
    with RawWebSocket(quick.ws) as peer:
        peer.frame()
        peer.write(encode_frame(b" " * (64 * 1024 + 1)))

        assert peer.end() == 1009
