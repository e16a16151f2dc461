"""One HTTP and WebSocket edge on a real socket, over test doubles of actors and loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.settings.state_directory import StateDirectory
from tests.service.edge_server import EdgeServer


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateDirectory]:
    with StateDirectory(tmp_path / "state") as directory:
        yield directory


@pytest.fixture
def rig(folder: StateDirectory) -> Iterator[EdgeServer]:
    with EdgeServer(folder) as running:
        yield running
