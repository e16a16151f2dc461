"""One stepped service for all tests of a file, with the devices in the file's SERVED, and a recorder of its events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.clients.listener import Listener
from tests.support.service.inside import ServiceInside
from tests.support.wire.cases import stepped_service


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceInside]:
    with stepped_service(tmp_path_factory.mktemp("state"), request.module.SERVED) as running:
        yield running


@pytest.fixture(scope="module")
def listener(service: ServiceInside) -> Iterator[Listener]:
    with Listener(service.events) as listening:
        yield listening
