"""Every HTTP case over real sockets on one service whose loop steps; a case leaves the service as it found it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.exchange import exchange
from tests.support.inside import ServiceInside
from tests.support.listener import Listener
from tests.support.peer import TEXT
from tests.support.wire_cases import WIRE, Story, cases
from tests.support.wire_words import DEVICES, Object, Way

FILES = tuple(sorted(path.stem for path in (WIRE / "http").glob("*.json")))
WAY = Way("3.1", "neutral", TEXT)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceInside]:
    with ServiceInside(tmp_path_factory.mktemp("state"), simulated=DEVICES, stepping=True) as running:
        yield running


@pytest.fixture(scope="module")
def listener(service: ServiceInside) -> Iterator[Listener]:
    with Listener(service.events) as listening:
        yield listening


@pytest.fixture(autouse=True)
def _nothing_is_left(service: ServiceInside) -> Iterator[None]:
    before = kept(service)
    yield
    assert kept(service) == before


def kept(service: ServiceInside) -> list[Any]:
    """Whatever outlives a session: settings, stops, what devices have for all sessions, what new sessions start with."""
    paths = ("/settings?advanced=true", "/stop", "/devices?session=default")
    found = [exchange(service.http, "GET", path).json for path in paths]
    for entries in found[-1].values():
        for entry in entries:
            entry.pop("state")
    return found


@pytest.mark.parametrize("case", cases(*FILES, folder="http"))
def test_an_exchange(service: ServiceInside, listener: Listener, case: Object) -> None:
    Story(service, WAY, listener).play(case, opened=False)
