"""Gaps of the loop and stops of the whole driver, with a board that has a watchdog on a real pseudo-terminal."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
import pytest

from actors.device.params import SLEW_N_S
from tests.emulators.boards import Boards, Seen
from tests.support.boards.driven_boards import PUSH_N, DrivenBoards, driving
from tests.support.boards.stepped_board import FREQUENCY, SteppedBoard, Vector, hold_encoders, motor_force
from tests.support.boards.stopped_thread import stopped, thread_of
from tests.support.loop.interleaving import NOTHING, distance
from tests.support.service.polling import eventually

SHORTEST_S, LONGEST_S = 0.0025, 0.080
GAP_SHARE: Final = 0.15
CHANGE_SHARE: Final = 0.1
# What the loop counts on: the motors have zero for the rest of a longer gap.
HELD_S: Final = 0.020
TICKS: Final = 250
FORCES: Final[tuple[Vector, ...]] = ((0, 0, 2), (0, 0, -2), (1, 0.5, 2), (0, 0, 0), (0, 3, 0))
# N, what the single precision of the wire rounds
ROUNDING_N: Final = 1e-4
WATCHDOG_NS: Final = 50_000_000
# N/s: so slow that a command which comes whole comes long before the force may be whole
SLOW: Final = 10.0
STOPS: Final = 4
PORT_THREAD: Final = "hd-p-board0"
# s: long, as on a port of which packets may be old
SILENCE_S: Final = 0.5


@pytest.fixture
def boards() -> Iterator[Boards]:
    with Boards("arm:A1") as found:
        yield found


def wait_for_force(boards: Boards, angles: Vector) -> Seen:
    """Wait until the board has nearly all of the force that it is pushed with."""

    def has_force() -> Seen | None:
        seen = boards.see()
        return seen if math.hypot(*motor_force(angles, seen.motor)) > 0.9 * PUSH_N else None

    return eventually(has_force, "the board has the force", pause_s=0.002)


def missed_ticks(driven: DrivenBoards) -> int:
    return int(driven.runtime.loop_state()["missed"])


def has_missed(driven: DrivenBoards, ticks: int) -> bool:
    return missed_ticks(driven) >= ticks


def begins_from_zero(boards: Boards, before: Seen, since_ns: int, angles: Vector) -> bool:
    """Return whether the next force is at most what the slew may have made of zero between a time and its command."""

    def begins() -> Seen | None:
        seen = boards.see()
        return seen if seen.driven_ns > before.driven_ns else None

    seen = eventually(begins, "the force begins again", pause_s=0.001)
    assert seen.driven_ns > since_ns
    # Ticks of so much time: one that was late, and one on time, more than there are whole periods.
    ticks = 1e-9 * (seen.driven_ns - since_ns) * FREQUENCY + 2
    return math.hypot(*motor_force(angles, seen.begun)) <= SLOW / FREQUENCY * ticks + ROUNDING_N


@pytest.mark.parametrize("seed", range(3))
def test_board_gets_no_step_beyond_the_slew_of_one_period_through_random_gaps(boards: Boards, seed: int) -> None:
    random = np.random.default_rng(seed)
    largest, last, trips, compared = 0.0, NOTHING, 0, 0
    with SteppedBoard(boards) as board:
        for _ in range(TICKS):
            if random.random() < CHANGE_SHARE:
                board.force = FORCES[int(random.integers(len(FORCES)))]
            gap_s = random.uniform(SHORTEST_S, LONGEST_S) if random.random() < GAP_SHARE else 0.0
            state = board.tick(max(round(gap_s * FREQUENCY) - 1, 0))
            seen = board.obey()
            force = motor_force(board.angles, seen.motor)
            # On a busy machine the watchdog trips: the motors had zero, and the loop did not know.
            if seen.trips == trips:
                assert force == pytest.approx(tuple(state["force"].tolist()), abs=ROUNDING_N)
                largest = max(largest, distance(force, last if gap_s < HELD_S else NOTHING))
                compared += 1
            last, trips = force, seen.trips

    assert compared > TICKS / 2
    assert largest == pytest.approx(SLEW_N_S / FREQUENCY, abs=ROUNDING_N)


def test_force_grows_from_zero_after_a_starved_loop(boards: Boards) -> None:
    """The port's thread ends the force 20 ms after the last tick, long before the board's watchdog does."""
    random = np.random.default_rng(1)
    angles = hold_encoders(boards)
    with DrivenBoards(boards.path(), frequency=FREQUENCY, slew=SLOW) as driven:
        driven.push(0.0, 0.0, PUSH_N)
        for _ in range(STOPS):
            wait_for_force(boards, angles)
            driven.leave_out(1)
            before = eventually(lambda: None if (seen := boards.see()).driven else seen, "it is zero", pause_s=0.001)
            least = missed_ticks(driven) + round(random.uniform(0, LONGEST_S) * FREQUENCY)
            eventually(partial(has_missed, driven, least), "the gap goes on", pause_s=0.001)
            since_ns = time.monotonic_ns()
            driven.leave_out(0)

            assert begins_from_zero(boards, before, since_ns, angles)


def test_force_grows_from_zero_after_the_watchdog_of_a_stopped_driver(boards: Boards) -> None:
    """A stop just before a command is written lets that one out behind it: one in fifty, measured."""
    angles, from_zero = hold_encoders(boards), 0
    with driving(boards.path(), slew=SLOW) as process:
        for _ in range(STOPS):
            wait_for_force(boards, angles)
            process.send_signal(signal.SIGSTOP)
            before = eventually(lambda: seen if (seen := boards.see()).tripped else None, "it trips", pause_s=0.002)
            since_ns = time.monotonic_ns()
            process.send_signal(signal.SIGCONT)

            assert not before.driven
            assert before.zeroed_ns - before.command_ns > WATCHDOG_NS
            from_zero += begins_from_zero(boards, before, since_ns, angles)

    assert from_zero >= STOPS / 2


def test_force_grows_from_zero_after_a_stopped_port_thread(boards: Boards) -> None:
    """The loop runs on, and its orders are whole and new: what takes them to the board was late. One in fifty as above."""
    angles, from_zero = hold_encoders(boards), 0
    with driving(boards.path(), slew=SLOW, silence=SILENCE_S) as process:
        thread = thread_of(process.pid, PORT_THREAD)
        for _ in range(STOPS):
            wait_for_force(boards, angles)
            with stopped(thread):
                before = eventually(lambda: seen if (seen := boards.see()).tripped else None, "it trips", pause_s=0.002)
                since_ns = time.monotonic_ns()

            from_zero += begins_from_zero(boards, before, since_ns, angles)

    assert from_zero >= STOPS / 2
