"""However the service ends, a board without a watchdog gets zero torque; if it hangs, the board's watchdog acts."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Final

import pytest

from tests.support.service.polling import eventually
from tests.support.service.way_out import (
    FAULTS,
    HAPI_DEVICE,
    WAYS,
    Pusher,
    driven,
    hapi_service,
    seconds_to_zero,
    seconds_to_zero_after_a_fault,
    standing_still,
)

# What a machine that is busy with other things may take; the soak has the bound that holds.
BOUND_S: Final = 10.0


@pytest.mark.parametrize("number", WAYS, ids=[number.name for number in WAYS])
def test_a_board_without_a_watchdog_is_at_zero(tmp_path: Path, number: signal.Signals) -> None:
    assert seconds_to_zero(tmp_path, number) < BOUND_S


@pytest.mark.parametrize("where", FAULTS)
def test_a_service_that_faults_by_itself_leaves_a_board_without_a_watchdog_at_zero(tmp_path: Path, where: str) -> None:
    assert seconds_to_zero_after_a_fault(tmp_path, where) < BOUND_S


def test_a_service_that_stands_still_loses_its_force_to_the_board_s_watchdog(tmp_path: Path) -> None:
    (ms,) = standing_still(tmp_path, 1)

    assert ms < 1000 * BOUND_S


def test_a_service_that_stands_still_leaves_the_torque_on_a_board_without_a_watchdog(tmp_path: Path) -> None:
    with hapi_service(tmp_path) as (service, board), Pusher(service.ws, "compact", HAPI_DEVICE):
        eventually(lambda: driven(board), "the motors turn", pause_s=0.002)
        service.process.send_signal(signal.SIGSTOP)
        try:
            messages = -1
            while messages != board.torque_messages:
                messages = board.torque_messages
                time.sleep(0.2)

            assert driven(board)
        finally:
            service.process.send_signal(signal.SIGCONT)
