"""Many sessions that send at once or without waiting are served in rotation; none delays another."""

from __future__ import annotations

import select
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import pytest

from tests.support.clients.raw_websocket import CONTINUATION, PING, RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService
from transport.ws.protocol import Protocol
from transport.ws.session import SessionChannel

SESSIONS: Final = 12
AHEAD: Final = 64
# Most iterations of the event loop from the arrival of a message until its handler runs, each with one frame that was sent ahead.
PROMPT: Final = 4

Handler = Callable[[SessionChannel, str | bytes], Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    # The turns are those of the event loop.
    settings = {"communication/streaming/native": False}
    with InProcessService(tmp_path_factory.mktemp("state"), stepping=True, settings=settings) as running:
        yield running


@pytest.fixture
def peers(service: InProcessService) -> Iterator[dict[int, RawWebSocket]]:
    """Open sessions by id, with their first frames read."""
    with ExitStack() as stack:
        opened = [stack.enter_context(RawWebSocket(service.ws)) for _ in range(SESSIONS)]
        yield {peer.frame()["session_id"]: peer for peer in opened}
    service.wait_for_sessions()


@contextmanager
def handling(handler: Callable[[Handler], Handler]) -> Generator[None]:
    """Wrap the handler of messages for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionChannel, "on_message", handler(SessionChannel.on_message))
        yield


@contextmanager
def stopped(service: InProcessService) -> Generator[None]:
    """Hold the event loop of the service, so that everything that is sent inside is there when it goes on."""
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        assert go.wait(60)

    holding = threading.Thread(target=service.on_edge, args=(hold,))
    holding.start()
    assert held.wait(60)
    try:
        yield
    finally:
        go.set()
        holding.join()


def send(service: InProcessService, session_id: int, peer: RawWebSocket) -> None:
    """Send a message, and return when it has arrived at the service's socket."""
    peer.write(encode_frame("{}"))
    assert select.select([service.bridge.channels[session_id].descriptor], [], [], 60)[0]


def test_sessions_that_pipeline_messages_are_served_in_rotation(
    service: InProcessService, peers: dict[int, RawWebSocket]
) -> None:
    served: list[int] = []

    def noting(real: Handler) -> Handler:
        def on_message(channel: SessionChannel, message: str | bytes) -> Any:
            served.append(channel.session_id)
            return real(channel, message)

        return on_message

    with handling(noting):
        with stopped(service):
            for peer in peers.values():
                peer.write(encode_frame("{}") * AHEAD)
        for peer in peers.values():
            for _ in range(AHEAD):
                peer.frame()

    ahead: Counter[int] = Counter(dict.fromkeys(peers, 0))
    apart: list[int] = []
    for session in served:
        ahead[session] += 1
        apart.append(max(ahead.values()) - min(ahead.values()))
    assert max(apart) <= 2
    assert set(ahead.values()) == {AHEAD}


def test_clients_that_reply_at_once_are_served_in_rotation(
    service: InProcessService, peers: dict[int, RawWebSocket]
) -> None:
    served: list[int] = []
    trips = 40

    def answering(real: Handler) -> Handler:
        def on_message(channel: SessionChannel, message: str | bytes) -> Any:
            served.append(channel.session_id)
            handled = real(channel, message)
            if served.count(channel.session_id) < trips:
                # As a client on another processor does: its next message is there before the service looks again.
                send(service, channel.session_id, peers[channel.session_id])
            return handled

        return on_message

    with handling(answering):
        with stopped(service):
            for peer in peers.values():
                peer.write(encode_frame("{}"))
        for peer in peers.values():
            for _ in range(trips):
                peer.frame()

    counts: Counter[int] = Counter(dict.fromkeys(peers, 0))
    apart: list[int] = []
    for session in served:
        counts[session] += 1
        apart.append(max(counts.values()) - min(counts.values()))
    # Whoever is read first gets a few turns until the messages of the others have come in.
    assert max(apart) <= 8


@pytest.mark.parametrize(
    "burst",
    [
        encode_frame("{}") * AHEAD,
        encode_frame("x" * 20_000) * 3,
        encode_frame(b"", PING) * 1300,
        encode_frame("", final=False) + encode_frame(b"", CONTINUATION, final=False) * 1300,
    ],
    ids=["messages", "long messages", "pings", "empty fragments"],
)
def test_waiting_client_is_served_before_pipelining_ones(
    service: InProcessService, peers: dict[int, RawWebSocket], burst: bytes
) -> None:
    calm, *_ = peers
    others = [peer for session, peer in peers.items() if session != calm]
    trips = 20
    handled_before = [0]

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def handle(protocol: Any, opcode: int, data: bytes) -> Any:
            if protocol.handler.session_id != calm:
                handled_before[-1] += 1
                return real(protocol, opcode, data)
            handled = real(protocol, opcode, data)
            handled_before.append(0)
            if len(handled_before) <= trips:
                send(service, calm, peers[calm])
            return handled

        return handle

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Protocol, "handle_message", counting(Protocol.handle_message))
        with stopped(service):
            send(service, calm, peers[calm])
            for other in others:
                other.write(burst)
        for _ in range(trips):
            peers[calm].frame()

    del handled_before[trips:]
    # The first frame of each burst is served as the calm one's is.
    assert max(handled_before) <= len(others) + PROMPT
    assert sum(handled_before) <= len(others) + trips * PROMPT
