"""However the service ends, a board without a watchdog gets zero torque; if it hangs, the board's watchdog acts."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Final

import pytest

from tests.support.service.polling import eventually
from tests.support.service.shutdown_timing import (
    FAULTS,
    HAPI_DEVICE,
    SIGNALS,
    CommandStream,
    fault_to_motors_off_s,
    hapi_service,
    motors_turn,
    signal_to_motors_off_s,
    watchdog_times_ms,
)

# What a machine that is busy with other things may take; the soak has the bound that holds.
BOUND_S: Final = 10.0


@pytest.mark.parametrize("number", SIGNALS, ids=[number.name for number in SIGNALS])
def test_board_without_a_watchdog_is_at_zero_after_every_end(tmp_path: Path, number: signal.Signals) -> None:
    assert signal_to_motors_off_s(tmp_path, number) < BOUND_S


@pytest.mark.parametrize("where", FAULTS)
def test_crashing_service_zeroes_a_board_without_a_watchdog(tmp_path: Path, where: str) -> None:
    assert fault_to_motors_off_s(tmp_path, where) < BOUND_S


def test_stopped_process_trips_the_board_s_watchdog(tmp_path: Path) -> None:
    (ms,) = watchdog_times_ms(tmp_path, 1)

    assert ms < 1000 * BOUND_S


def test_stopped_process_leaves_torque_on_a_board_without_a_watchdog(tmp_path: Path) -> None:
    with hapi_service(tmp_path) as (service, board), CommandStream(service.ws, "compact", HAPI_DEVICE):
        eventually(lambda: motors_turn(board), "the motors turn", pause_s=0.002)
        service.process.send_signal(signal.SIGSTOP)
        try:
            messages = -1
            while messages != board.torque_messages:
                messages = board.torque_messages
                time.sleep(0.2)

            assert motors_turn(board)
        finally:
            service.process.send_signal(signal.SIGCONT)
