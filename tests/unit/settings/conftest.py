"""Fixtures of the settings tests: a state directory, a context, a few settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from actors.settings.state_directory import StateDirectory


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateDirectory]:
    with StateDirectory(tmp_path / "state") as directory:
        yield directory


@pytest.fixture
def full_disk() -> Callable[[], AbstractContextManager[object]]:
    """Nothing can be written inside the block."""
    return _full_disk


@contextmanager
def _full_disk() -> Generator[None]:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        yield


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def context(clock: ManualClock) -> Context:
    return Context.build(clock)
