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

    def order(self, _period_ns: int, /) -> tuple[int, tuple[float, float, float], tuple[float, float, float]] | None:
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


def test_unstarted_link_exchanges_zero_force_only(rig: PolledFalcon) -> None:
    rig.home()
    commands = rig.board.commands
    wait_until(lambda: rig.board.commands > commands + 5)

    assert rig.motors() == (0, 0, 0)
    assert rig.cell.samples == []


def test_started_link_passes_torques_and_samples(rig: PolledFalcon) -> None:
    rig.home()

    rig.link.start({"FL010203": LEASE})

    wait_until(lambda: rig.motors() == (500, -500, 1000))
    wait_until(lambda: len(rig.cell.samples) > 3)
    sample = rig.cell.samples[-1]
    assert sample["bits"] == 1 | 2 | 32 | 512
    assert len(sample["joint"]) == 3


def test_orders_before_homing_are_ignored(rig: PolledFalcon) -> None:
    rig.link.start({"FL010203": LEASE})

    wait_until(lambda: len(rig.cell.samples) > 20)

    assert rig.motors() == (0, 0, 0)
    assert not rig.link.facts().of["FL010203"].homed
    assert "pull its grip" in rig.link.facts().of["FL010203"].fault
    assert rig.cell.samples[-1]["bits"] == 2 | 32


def test_loop_without_orders_means_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.cell.wanted = None

    wait_until(lambda: rig.motors() == (0, 0, 0))
    assert rig.link.facts().counters.late == 0


def test_order_older_than_100_ms_means_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    rig.cell.age_ms = 50
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.cell.age_ms = 101

    wait_until(lambda: rig.motors() == (0, 0, 0))
    assert rig.link.facts().counters.late > 0


def test_link_without_a_lease_means_zero_force(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.link.start({})

    wait_until(lambda: rig.motors() == (0, 0, 0))


def test_closing_twice_leaves_zero_force_and_no_thread(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.link.close()
    rig.link.close()

    assert rig.motors() == (0, 0, 0)
    assert rig.bus.open_handles == 0
    assert not any(thread.name == "hd-u-FL010203" for thread in threading.enumerate())
    assert rig.link.facts().gone == ""


def test_unplugging_during_exchange_is_reported(rig: PolledFalcon) -> None:
    rig.home()
    rig.link.start({"FL010203": LEASE})
    wait_until(lambda: rig.motors() != (0, 0, 0))

    rig.bus.unplug(rig.board)

    wait_until(lambda: rig.link.facts().gone == "it was unplugged")
    assert rig.link.facts().counters.errors == 1
    wait_until(lambda: rig.bus.open_handles == 0)


def test_silent_device_is_gone_after_a_time(rig: PolledFalcon) -> None:
    rig.board.hung = True

    wait_until(lambda: rig.link.facts().gone == "it has not answered for 0.1 s")


def test_failing_driver_ends_its_own_link_only(rig: PolledFalcon, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(FalconDevice, "exchange", fail)

    wait_until(lambda: "its driver failed" in rig.link.facts().gone)
    wait_until(lambda: rig.bus.open_handles == 0)


def test_calibration_ends_when_homed(rig: PolledFalcon) -> None:
    rig.link.calibrate("FL010203", 4)
    assert rig.link.facts().of["FL010203"].calibration is None

    rig.home()

    assert rig.link.facts().of["FL010203"].calibration == CalibrationResult(4)


def test_counters_increase_with_exchanges(rig: PolledFalcon) -> None:
    wait_until(lambda: rig.link.facts().counters.frames_in > 10)
    counters = rig.link.facts().counters

    assert counters.frames_out >= counters.frames_in
    assert counters.bytes_in >= 16 * 10
    assert counters.bytes_out >= 16 * 10
    assert counters.frames_bad == 0
