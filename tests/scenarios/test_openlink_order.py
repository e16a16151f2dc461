"""Delay from a tick to a board's motor, counted in packets at both ends; no clock is used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.service.polling import eventually
from tests.support.service.stepped_board_service import SteppedBoardService, stepped_board_service

TURNS: Final = 100
# To and fro, and so little that the board stays where it is.
FORCE: Final = 0.02
PERIODS: Final = 2


@pytest.fixture
def line(tmp_path: Path) -> Iterator[SteppedBoardService]:
    with stepped_board_service(tmp_path) as found:
        yield found


def test_tick_s_order_reaches_the_motor_within_two_packets(line: SteppedBoardService) -> None:
    counted = 0
    for turn in range(TURNS):
        trips, force = line.boards.see().trips, FORCE * (-1) ** turn
        line.order(force)
        line.service.step()
        # Every packet that leaves from here on was made behind that tick.
        sent = line.sent()
        assert line.shown() == pytest.approx([force, force], abs=1e-6)
        eventually(lambda: line.boards.see().driven, "its motors are on", pause_s=0.001)
        seen = line.boards.see()
        line.order(0.0)
        line.service.step()
        eventually(lambda: not line.boards.see().driven, "its motors are off", pause_s=0.001)
        # A watchdog that bit on a busy machine has taken the force away, and another packet has brought it back.
        if line.boards.see().trips == trips:
            counted += 1
            assert seen.driven_command - sent <= PERIODS
    assert counted > TURNS / 2
