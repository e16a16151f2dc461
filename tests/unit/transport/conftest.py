"""Fixture: a state directory for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.settings.state_directory import StateDirectory


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateDirectory]:
    with StateDirectory(tmp_path / "state") as directory:
        yield directory
