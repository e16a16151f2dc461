"""A board's own watchdog ends the force when its driver stops; a running driver never lets it trip."""

from __future__ import annotations

import signal
from typing import Final

import pytest

from tests.emulators.boards import Boards
from tests.support.boards.driven_boards import DrivenBoards, driving
from tests.support.service.polling import eventually

WATCHDOG_NS: Final = 50_000_000


def test_board_follows_the_loop_and_returns_its_state() -> None:
    with Boards("arm:A1") as boards, DrivenBoards(boards.path()) as driven:
        eventually(lambda: boards.see().phase == 3, "it is ready", pause_s=0.01)
        before = tuple(driven.readers[0].snapshot()["joint"])
        driven.push(0.0, 0.0, 1.0)

        eventually(lambda: boards.see().driven, "its motors are on", pause_s=0.005)
        eventually(lambda: tuple(driven.readers[0].snapshot()["joint"]) != before, "it moves", pause_s=0.005)
        driven.push(0.0, 0.0, 0.0)
        eventually(lambda: not boards.see().driven, "its motors are off", pause_s=0.005)

        seen = boards.see()
        # A machine that gives nobody a turn for so long is not the driver's.
        assert seen.trips == 0 or seen.tripped or seen.gap_ns > WATCHDOG_NS


def test_stopped_driver_trips_the_board_watchdog() -> None:
    with Boards("arm:A1") as boards, driving(boards.path()) as process:
        driven = eventually(
            lambda: found if (found := boards.see()).driven else None, "its motors are on", pause_s=0.01
        )
        process.send_signal(signal.SIGSTOP)

        seen = eventually(lambda: found if (found := boards.see()).tripped else None, "it trips", pause_s=0.005)

        assert not seen.driven
        assert seen.trips == driven.trips + 1
        process.send_signal(signal.SIGCONT)
        eventually(lambda: boards.see().tripped == 0, "the next command ends it", pause_s=0.01)


@pytest.mark.soak
def test_watchdog_trips_within_60_ms() -> None:
    with Boards("arm:A1") as boards, driving(boards.path()) as process:
        for _ in range(20):
            eventually(lambda: boards.see().driven, "its motors are on", pause_s=0.01)
            process.send_signal(signal.SIGSTOP)
            seen = eventually(lambda: found if (found := boards.see()).tripped else None, "it trips", pause_s=0.005)
            process.send_signal(signal.SIGCONT)
            assert seen.zeroed_ns - seen.command_ns <= 60e6
