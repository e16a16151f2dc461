"""One service on a stepped loop for all tests of a file, and clients that are closed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

Connect = Callable[..., tuple[RawWebSocket, Any]]


@pytest.fixture(scope="module", params=[True, False], ids=["streaming thread", "event loop"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {"simulation/settle_time": 0.01, "communication/streaming/native": request.param}
    with InProcessService(tmp_path_factory.mktemp("state"), stepping=True, settings=settings) as running:
        yield running


@pytest.fixture
def connect(service: InProcessService) -> Iterator[Connect]:
    """Connect a client; it and the first frame. All are gone, and nothing is held, when the test is over."""
    peers: list[RawWebSocket] = []

    def begin(query: dict[str, object] | None = None, *, url: str | None = None) -> tuple[RawWebSocket, Any]:
        peer = RawWebSocket(url or service.ws, query)
        peers.append(peer)
        return peer, peer.frame()

    yield begin
    for peer in peers:
        peer.drop()
    service.wait_for_sessions()
    service.step(2)


@pytest.fixture
def client(connect: Connect) -> RawWebSocket:
    """A client that has read its first frame."""
    return connect()[0]
