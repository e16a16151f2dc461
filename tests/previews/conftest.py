"""One service on a stepped loop for all tests of a file, with every preview on."""

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
)
PREVIEWS = ("clutch", "session_force_scale", "workspace_zoom", "hfx", "contact", "scene")

Join = Callable[..., tuple[RawWebSocket, int]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {"simulation/settle_time": 0.01}
    folder = tmp_path_factory.mktemp("state")
    with InProcessService(folder, simulated=DEVICES, stepping=True, settings=settings) as running:
        for name in PREVIEWS:
            HttpClient(running.http).post(f"/settings/features/{name}/enabled", {"value": True})
        yield running


@pytest.fixture
def http(service: InProcessService) -> HttpClient:
    return HttpClient(service.http)


@pytest.fixture
def join(service: InProcessService) -> Iterator[Join]:
    """Connect a client; it and its session's id. All are gone when the test is over."""
    with ExitStack() as peers:

        def begin(profile: str | None = None) -> tuple[RawWebSocket, int]:
            peer = peers.enter_context(RawWebSocket(service.ws))
            first: Any = peer.frame()
            if profile is not None:
                peer.ask({"session": {"configure": {"profile": profile}}})
            return peer, int(first["session_id"])

        yield begin
    service.wait_for_sessions()
    service.step(2)
