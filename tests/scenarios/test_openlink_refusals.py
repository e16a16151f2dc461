"""Configuration values that a board refuses are shown on the device until it accepts the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.board_desk import BoardDesk
from tests.support.service.polling import eventually

ROUTE = "/arm/A1/config/gravity_compensation"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[BoardDesk]:
    with BoardDesk(tmp_path, "arm:A1") as running:
        running.ready("A1")
        yield running


def reports(desk: BoardDesk, words: str) -> None:
    """Wait until the device is shown to report exactly that."""
    eventually(lambda: desk.done("GET", "/arm/A1")["reports"] == words, f"it reports {words!r}", pause_s=0.01)


@pytest.mark.parametrize(
    ("knob", "value", "words"),
    [
        ("refuse", 1, "it did not take its configuration (unsupported)"),
        ("refuse", 3, "it did not take its configuration (busy)"),
        ("refuse", 4, "it has its configuration until it loses power (storage failed)"),
        ("faults", 1, "overheated"),
    ],
)
def test_a_device_reports_what_it_did_not_take_and_what_is_wrong_until_it_is_over(
    desk: BoardDesk, knob: str, value: int, words: str
) -> None:
    reports(desk, "")
    desk.boards.set(knob, value)
    assert desk.done("POST", ROUTE, {"enabled": False})["enabled"] is False
    reports(desk, words)

    desk.boards.set(knob, 0)
    desk.done("POST", ROUTE, {"enabled": True})
    reports(desk, "")
