"""Play every HTTP case over real sockets on one stepped service; a case undoes its changes or has its own service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import TEXT
from tests.support.service.in_process_service import InProcessService
from tests.support.wire.cases import WIRE, CasePlayer, cases, stepped_service
from tests.support.wire.wire_variants import DEVICES, Object, WireVariant

SERVED = DEVICES

ALONE = ("pairing", "ports", "simulation")
"""What is done to pairs, ports and simulated devices cannot be undone by those who did it: these cases have a service each."""
SHARING = tuple(sorted({path.stem for path in (WIRE / "http").glob("*.json")} - set(ALONE)))
WAY = WireVariant("3.1", "neutral", TEXT)


def kept(service: InProcessService) -> list[Any]:
    """Whatever outlives a session: settings, stops, what devices have for all sessions, what new sessions start with."""
    paths = ("/settings?advanced=true", "/stop", "/devices?session=default")
    found = [exchange(service.http, "GET", path).json for path in paths]
    for entries in found[-1].values():
        for entry in entries:
            entry.pop("state")
    return found


@pytest.mark.parametrize("case", cases(*SHARING, folder="http"))
def test_http_case_plays_as_written(service: InProcessService, listener: EventClient, case: Object) -> None:
    before = kept(service)
    CasePlayer(service, WAY, listener).play(case, opened=False)
    assert kept(service) == before


@pytest.mark.parametrize("case", cases(*ALONE, folder="http"))
def test_http_case_plays_as_written_on_its_own_service(tmp_path: Path, case: Object) -> None:
    with (
        stepped_service(tmp_path, DEVICES) as service,
        EventClient(service.events) as listener,
    ):
        CasePlayer(service, WAY, listener).play(case, opened=False)
