"""Play every HTTP case over real sockets on one stepped service; a case undoes its changes or has its own service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.exchange import exchange
from tests.support.clients.listener import Listener
from tests.support.clients.peer import TEXT
from tests.support.service.inside import ServiceInside
from tests.support.wire.cases import WIRE, Story, cases, stepped_service
from tests.support.wire.words import DEVICES, Object, Way

SERVED = DEVICES

ALONE = ("pairing", "ports", "simulation")
"""What is done to pairs, ports and simulated devices cannot be undone by those who did it: these cases have a service each."""
SHARING = tuple(sorted({path.stem for path in (WIRE / "http").glob("*.json")} - set(ALONE)))
WAY = Way("3.1", "neutral", TEXT)


def kept(service: ServiceInside) -> list[Any]:
    """Whatever outlives a session: settings, stops, what devices have for all sessions, what new sessions start with."""
    paths = ("/settings?advanced=true", "/stop", "/devices?session=default")
    found = [exchange(service.http, "GET", path).json for path in paths]
    for entries in found[-1].values():
        for entry in entries:
            entry.pop("state")
    return found


@pytest.mark.parametrize("case", cases(*SHARING, folder="http"))
def test_an_exchange(service: ServiceInside, listener: Listener, case: Object) -> None:
    before = kept(service)
    Story(service, WAY, listener).play(case, opened=False)
    assert kept(service) == before


@pytest.mark.parametrize("case", cases(*ALONE, folder="http"))
def test_an_exchange_on_a_service_of_its_own(tmp_path: Path, case: Object) -> None:
    with (
        stepped_service(tmp_path, DEVICES) as service,
        Listener(service.events) as listener,
    ):
        Story(service, WAY, listener).play(case, opened=False)
