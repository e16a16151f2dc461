"""Check the HTTP attack programs of tests/support: each connects, requests, counts, and cleans up."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.clients.http_attack import connection_flood, get_loops, slow_readers
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("state")
    with InProcessService(folder, settings={"control/frequency": 1000}) as service:
        yield urlsplit(service.http).port or 0


def test_slow_readers_keep_reading(port: int) -> None:
    with slow_readers(port, 3) as readers:
        eventually(lambda: readers.counts()["answers"] == 3, "three answers have begun", tries=6000)
        begun = readers.counts()["bytes"]
        eventually(lambda: readers.counts()["bytes"] > begun, "they are read on", tries=6000)
    assert readers.counts()["connections"] == 3


def test_get_loops_distribute_paths_over_processes(port: int) -> None:
    with get_loops(port, ["/version", "/none"], 3) as loops:
        eventually(lambda: loops.counts()["connections"] == 3, "three connections", tries=6000)
        eventually(lambda: min(loops.counts()[name] for name in ("answers", "refused")) > 20, "both paths", tries=6000)
    assert loops.counts()["broken"] == 0


def test_flood_keeps_opening_connections(port: int) -> None:
    with connection_flood(port, held=20) as flood:
        eventually(lambda: flood.counts()["connections"] > 200, "many connections", tries=6000)
    assert flood.counts()["bytes"] == 0
