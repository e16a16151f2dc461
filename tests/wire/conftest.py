"""One stepped service for all tests of a file, with the devices in the file's SERVED, and a recorder of its events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.service.in_process_service import InProcessService
from tests.support.wire.cases import stepped_service


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a file with WAYS on each of them, others with the streaming thread."""
    if "service" in metafunc.fixturenames:
        ways = getattr(metafunc.module, "WAYS", ("streaming thread",))
        metafunc.parametrize("service", ways, indirect=True, scope="module")


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    with stepped_service(
        tmp_path_factory.mktemp("state"), request.module.SERVED, native=request.param == "streaming thread"
    ) as running:
        yield running


@pytest.fixture(scope="module")
def listener(service: InProcessService) -> Iterator[EventClient]:
    with EventClient(service.events) as listening:
        yield listening
