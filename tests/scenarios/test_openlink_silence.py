"""A silent emulated board: stale within 30 ms, disconnected within 600 ms of loop time, which the test advances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from actors.control.timekeeper import PERIOD_S
from tests.support.clients.event_client import EventClient
from tests.support.service.polling import eventually
from tests.support.service.silence_looks import Looks, counted_looks
from tests.support.service.stepped_board_service import (
    BOARD,
    RATE_HZ,
    SIMULATED,
    SteppedBoardService,
    stepped_board_service,
)

STALE_MS: Final = 30.0
# Not before this, ms of silence, and not after that.
ALIVE_MS: Final = 495.0
GONE_MS: Final = 600.0
TURN_MS: Final = 1000 * PERIOD_S
TURN_TICKS: Final = round(PERIOD_S * RATE_HZ)


@pytest.fixture
def looks() -> Iterator[Looks]:
    with counted_looks() as counted:
        yield counted


def silent_ms(line: SteppedBoardService, heard_ns: int) -> float:
    """How long ago that was, by the loop's clock."""
    return (int(line.service.runtime.loop_state()["tick_ns"]) - heard_ns) * 1e-6


def test_silent_board_is_stale_then_disconnected_in_time_and_the_other_arm_stays(looks: Looks, tmp_path: Path) -> None:
    with stepped_board_service(tmp_path) as line, EventClient(line.service.events) as events:
        service, inventory = line.service, line.service.system.inventory

        def newest_ns() -> int:
            return int(service.state(BOARD)["time_ns"])

        def passes() -> None:
            service.step(TURN_TICKS)
            looks.more(service.system)

        line.boards.freeze()
        while silent_ms(line, newest_ns()) < STALE_MS - TURN_MS:
            passes()
        stale = events.wait_for_event("device-safety-triggered", safety_type="device_stale", device_id=BOARD)
        assert silent_ms(line, newest_ns()) <= STALE_MS
        assert 0 < stale["data"]["silent_ms"] <= STALE_MS
        assert line.shown()[0] == 0

        heard_ns = newest_ns()
        while silent_ms(line, heard_ns) < ALIVE_MS:
            passes()
        assert inventory.value.find(BOARD) is not None
        while silent_ms(line, heard_ns) < ALIVE_MS + 2 * TURN_MS:
            passes()
        events.wait_for_event("device-disconnected", device_id=BOARD)
        assert silent_ms(line, heard_ns) <= GONE_MS
        eventually(
            lambda: [one.device_id for one in inventory.value.devices] == [SIMULATED], "it is gone", pause_s=0.002
        )
        line.boards.thaw()
