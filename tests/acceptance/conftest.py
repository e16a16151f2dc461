"""One service on a stepped loop for all tests of a file, with an arm, a compact and a grip of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

DEVICES = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRED, "B001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "B002"),
)

Join = Callable[..., tuple[RawWebSocket, Any]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {"simulation/settle_time": 0.01}
    folder = tmp_path_factory.mktemp("state")
    with InProcessService(folder, simulated=DEVICES, stepping=True, settings=settings) as running:
        yield running


@pytest.fixture
def http(service: InProcessService) -> HttpClient:
    return HttpClient(service.http)


@pytest.fixture
def join(service: InProcessService) -> Iterator[Join]:
    """Connect a client; it and its first frame. All are gone when the test is over."""
    with ExitStack() as peers:

        def begin(url: str | None = None, **query: object) -> tuple[RawWebSocket, Any]:
            peer = peers.enter_context(RawWebSocket(url or service.ws, query))
            return peer, peer.frame()

        yield begin
    service.wait_for_sessions()
    service.step(2)


@pytest.fixture
def client(join: Join) -> RawWebSocket:
    """A client that has read its first frame."""
    return join()[0]
