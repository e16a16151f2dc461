"""PolledLink with an emulated Falcon and a scripted loop: orders, samples, homing, shutdown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from actors.port.link_interface import CalibrationResult
from fastpath.arena.runtime import Lease, now_ns
from tests.emulators import falcon_board
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from tests.support.service.polling import eventually
from transport.link.polled_link import PolledLink
from transport.link.protocols.falcon.device import FalconDevice, open_falcon
from transport.link.usb_bus import UsbBus, candidate_of

LEASE = Lease(3, 7, "FL010203")
PUSH = (50.0, -50.0, 100.0)


def wait_until(look: Callable[[], bool]) -> None:
    """Until the thread of the link has come so far."""
    eventually(look, "the link's thread", tries=2000, pause_s=0.002)


@dataclass
class PlayedCell:
    """The loop's end."""

    wanted: tuple[float, float, float] | None = PUSH
    samples: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    age_ms: int = 0

    def order(self) -> tuple[int, tuple[float, float, float], tuple[float, float, float]] | None:
        return None if self.wanted is None else (now_ns() - self.age_ms * 1_000_000, (0.0, 0.0, 0.0), self.wanted)

    def put(self, **sample: Any) -> bool:
        self.samples.append(sample)
        return True


@dataclass
class PolledFalcon:
    board: FalconBoard
    bus: FalconBus
    link: PolledLink
    cell: PlayedCell

    def motors(self) -> tuple[float, float, float]:
        """What they were commanded last."""
        return self.board.motors

    def home(self) -> None:
        """As a user does."""
        self.board.hand = falcon_board.OUT
        wait_until(lambda: self.board.position[1] < -0.177)
        self.board.hand = falcon_board.IN
        wait_until(lambda: self.board.homed == 7)
        wait_until(lambda: self.link.facts().of["FL010203"].homed)


@pytest.fixture
def rig() -> Iterator[PolledFalcon]:
    board = FalconBoard(loaded=True, period=0.02)
    bus, cell = FalconBus(board), PlayedCell()
    (device,) = UsbBus(bus).devices()
    driver = open_falcon(device, candidate_of(device), "", lambda: 10_000.0, threading.Event())
    link = PolledLink(driver, lambda _lease: cell, now_ns, rate_hz=2000, deaf_s=0.1)
    yield PolledFalcon(board, bus, link, cell)
    link.close()


def test_before_it_is_started_it_exchanges_nothing_but_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    commands = rig.board.commands
    wait_until(lambda: rig.board.commands > commands + 5)

    assert rig.motors() == (0, 0, 0)
    assert rig.cell.samples == []


def test_once_started_the_loops_torques_reach_the_motors_and_samples_the_loop(rig: PolledFalcon) -> None:
    rig.home()

    rig.link.start({"FL010203": LEASE})

    wait_until(lambda: rig.motors() == (500, -500, 1000))
    wait_until(lambda: len(rig.cell.samples) > 3)
    sample = rig.cell.samples[-1]
    assert sample["bits"] == 1 | 2 | 32 | 512
    assert len(sample["joint"]) == 3


def test_orders_are_not_obeyed_before_it_is_homed(rig: PolledFalcon) -> None:
    rig.link.start({"FL010203": LEASE})

    wait_until(lambda: len(rig.cell.samples) > 20)

    assert rig.motors() == (0, 0, 0)
    assert not rig.link.facts().of["FL010203"].homed
    assert "pull its grip" in rig.link.facts().of["FL010203"].fault
    assert rig.cell.samples[-1]["bits"] == 2 | 32


def test_a_loop_that_orders_nothing_is_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.cell.wanted = None

    wait_until(lambda: rig.motors() == (0, 0, 0))
    assert rig.link.facts().counters.late == 0


def test_an_order_of_more_than_100_ms_ago_is_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    rig.cell.age_ms = 50
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.cell.age_ms = 101

    wait_until(lambda: rig.motors() == (0, 0, 0))
    assert rig.link.facts().counters.late > 0


def test_a_link_that_is_started_for_nobody_is_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.link.start({})

    wait_until(lambda: rig.motors() == (0, 0, 0))


def test_closing_leaves_zero_force_and_no_thread_and_may_be_done_twice(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.link.close()
    rig.link.close()

    assert rig.motors() == (0, 0, 0)
    assert rig.bus.open_handles == 0
    assert not any(thread.name == "hd-u-FL010203" for thread in threading.enumerate())
    assert rig.link.facts().gone == ""


def test_pulled_out_in_the_middle_it_says_that_it_has_gone(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.bus.unplug(rig.board)

    wait_until(lambda: rig.link.facts().gone == "it was unplugged")
    assert rig.link.facts().counters.errors == 1
    wait_until(lambda: rig.bus.open_handles == 0)


def test_one_that_falls_silent_has_gone_after_a_while(rig: PolledFalcon) -> None:
    rig.board.hung = True

    wait_until(lambda: rig.link.facts().gone == "it has not answered for 0.1 s")


def test_a_driver_that_fails_ends_its_link_and_nothing_else(rig: PolledFalcon, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(FalconDevice, "exchange", fail)

    wait_until(lambda: "its driver failed" in rig.link.facts().gone)
    wait_until(lambda: rig.bus.open_handles == 0)


def test_a_calibration_ends_when_it_is_homed(rig: PolledFalcon) -> None:
    rig.link.calibrate("FL010203", 4)
    assert rig.link.facts().of["FL010203"].calibration is None

    rig.home()

    assert rig.link.facts().of["FL010203"].calibration == CalibrationResult(4)


def test_counters_grow_with_what_is_exchanged(rig: PolledFalcon) -> None:
    wait_until(lambda: rig.link.facts().counters.frames_in > 10)
    counters = rig.link.facts().counters

    assert counters.frames_out >= counters.frames_in
    assert counters.bytes_in >= 16 * 10
    assert counters.bytes_out >= 16 * 10
    assert counters.frames_bad == 0
