"""One service on a stepped loop for all tests of a file, and clients that are closed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.clients.peer import Peer
from tests.support.service.inside import ServiceInside

Connect = Callable[..., tuple[Peer, Any]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceInside]:
    settings = {"simulation/settle_time": 0.01}
    with ServiceInside(tmp_path_factory.mktemp("state"), stepping=True, settings=settings) as running:
        yield running


@pytest.fixture
def connect(service: ServiceInside) -> Iterator[Connect]:
    """Connect a client; it and the first frame. All are gone, and nothing is held, when the test is over."""
    peers: list[Peer] = []

    def begin(query: dict[str, object] | None = None, *, url: str | None = None) -> tuple[Peer, Any]:
        peer = Peer(url or service.ws, query)
        peers.append(peer)
        return peer, peer.frame()

    yield begin
    for peer in peers:
        peer.drop()
    service.sessions_gone()
    service.step(2)


@pytest.fixture
def client(connect: Connect) -> Peer:
    """A client that has read its first frame."""
    return connect()[0]
