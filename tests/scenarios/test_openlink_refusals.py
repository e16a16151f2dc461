"""Configuration values that a board refuses are shown on the device until it accepts the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.board_service import BoardService
from tests.support.service.polling import eventually

ROUTE = "/arm/A1/config/gravity_compensation"


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[BoardService]:
    with BoardService(tmp_path, "arm:A1") as running:
        running.wait_ready("A1")
        yield running


def reports(setup: BoardService, words: str) -> None:
    """Wait until the device is shown to report exactly that."""
    eventually(lambda: setup.ask_ok("GET", "/arm/A1")["reports"] == words, f"it reports {words!r}", pause_s=0.01)


@pytest.mark.parametrize(
    ("control", "value", "words"),
    [
        ("refuse", 1, "it did not take its configuration (unsupported)"),
        ("refuse", 3, "it did not take its configuration (busy)"),
        ("refuse", 4, "it has its configuration until it loses power (storage failed)"),
        ("faults", 1, "overheated"),
    ],
)
def test_device_reports_refused_values_and_faults_until_they_end(
    setup: BoardService, control: str, value: int, words: str
) -> None:
    reports(setup, "")
    setup.boards.set(control, value)
    assert setup.ask_ok("POST", ROUTE, {"enabled": False})["enabled"] is False
    reports(setup, words)

    setup.boards.set(control, 0)
    setup.ask_ok("POST", ROUTE, {"enabled": True})
    reports(setup, "")
