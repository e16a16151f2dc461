"""One service on a stepped loop: two arms, one with old firmware, a compact, a grip; clients, recorded events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from actors.device.messages import DeviceIdentity, SimulatedSpec
from actors.device.simulated_identity import identities
from actors.event.messages import HUB, Emit
from actors.kit.message import Message
from actors.values.identity import Connection, Firmware, Kind
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

DEVICES = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "OLD1"),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "B001"),
)

Join = Callable[..., tuple[RawWebSocket, int]]


def aged(specs: Iterable[SimulatedSpec], first_number: int = 0) -> tuple[DeviceIdentity, ...]:
    """Identities with the firmware that their id promises."""
    return tuple(
        replace(one, firmware=Firmware(7, 3)) if one.device_id == "OLD1" else one
        for one in identities(specs, first_number)
    )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {"simulation/settle_time": 0.01}
    folder = tmp_path_factory.mktemp("state")
    with (
        patch("actors.device.manager.identities", aged),
        InProcessService(folder, simulated=DEVICES, stepping=True, settings=settings) as running,
    ):
        yield running


@pytest.fixture
def http(service: InProcessService) -> HttpClient:
    return HttpClient(service.http)


@pytest.fixture
def join(service: InProcessService) -> Iterator[Join]:
    """Connect a session; its client, which has read its first frame, and its id. All are gone when the test is over."""
    peers: list[RawWebSocket] = []

    def begin(profile: str | None = None) -> tuple[RawWebSocket, int]:
        peer = RawWebSocket(service.ws, None)
        peers.append(peer)
        session_id = int(peer.frame()["session_id"])
        if profile is not None:
            peer.ask({"session": {"configure": {"profile": {"name": profile}}}})
        return peer, session_id

    yield begin
    for peer in peers:
        peer.drop()
    service.wait_for_sessions()
    service.step(2)


@pytest.fixture
def emitted(service: InProcessService, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Kind and data of what the hub is told from now on."""
    heard: list[tuple[str, Any]] = []
    directory = service.system.context.directory
    tell = directory.tell

    def overheard(name: str, message: Message) -> bool:
        if name == HUB and isinstance(message, Emit):
            heard.append((message.kind, dict(message.data)))
        return tell(name, message)

    monkeypatch.setattr(directory, "tell", overheard)
    return heard
