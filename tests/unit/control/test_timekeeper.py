"""The timekeeper: each turn feeds the dead-man switch, fires due timers and reports changes of the loop."""

from __future__ import annotations

import logging
import threading
from typing import Any, cast

import pytest

from actors.control.device_watch import DeviceWatch
from actors.control.messages import FASTPATH, LoopFacts
from actors.control.timekeeper import FACTS_EVERY, PERIOD_S, Timekeeper
from actors.device.trips import TripTable, append_to
from actors.kit.clock import Clock
from actors.kit.message import Announce
from actors.kit.published import Published
from fastpath.arena.runtime import Runtime
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor

TICKS = 4  # in a millisecond, at the rate of a loop that was told nothing


class Turns:
    """Stands for the event that ends the thread: so many turns, then the end."""

    def __init__(self, turns: int) -> None:
        self.left = turns
        self.waits: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.left -= 1
        return self.left < 0


class TimekeeperRig(ActorRig):
    """A timekeeper without a thread over a stepped loop, on the loop's own clock."""

    def __init__(self) -> None:
        self.runtime = Runtime(stepping=True, realtime=False)
        super().__init__(clock=Clock(self.runtime.now_ns))
        self.fastpath = FakeActor(self.context, FASTPATH)
        trips = Published(TripTable())
        watch = DeviceWatch(self.context.directory, self.runtime, self.inventory, self.settings, append_to(trips))
        self.keeper = Timekeeper(self.context, self.runtime, watch)

    def run(self, turns: int) -> list[float]:
        """What the thread does, on this one; the pauses that it made."""
        halt = Turns(turns)
        self.keeper._halt = cast("Any", halt)
        self.keeper._run()
        return halt.waits

    def pass_ms(self, ms: int) -> None:
        """Time without a beat."""
        self.runtime.step(ms * TICKS, beat=False)

    @property
    def trips(self) -> int:
        return int(self.runtime.loop_state()["dead_man_trips"])


def test_a_turn_every_100_ms_keeps_the_dead_mans_switch_from_tripping() -> None:
    rig = TimekeeperRig()

    for _ in range(20):
        rig.keeper.run_once()
        rig.pass_ms(100)

    assert rig.trips == 0


def test_missing_turns_trip_the_dead_mans_switch() -> None:
    rig = TimekeeperRig()
    rig.keeper.run_once()

    rig.pass_ms(499)
    assert rig.trips == 0
    rig.pass_ms(3)
    assert rig.trips == 1


def test_turn_fires_due_timers_only() -> None:
    rig = TimekeeperRig()
    listener = FakeActor(rig.context, "somebody")
    rig.context.timers.after(0.010, "somebody", Announce("first"))
    rig.context.timers.after(0.020, "somebody", Announce("second"))

    rig.keeper.run_once()
    assert listener.told == []

    rig.pass_ms(10)
    rig.keeper.run_once()
    rig.keeper.run_once()
    assert listener.told == [Announce("first")]

    rig.pass_ms(10)
    rig.keeper.run_once()
    assert listener.told == [Announce("first"), Announce("second")]


def test_the_thread_turns_every_five_milliseconds() -> None:
    rig = TimekeeperRig()

    assert rig.run(3) == [PERIOD_S] * 4
    assert PERIOD_S == 0.005


def test_loop_facts_are_read_about_once_a_second() -> None:
    rig = TimekeeperRig()

    rig.run(FACTS_EVERY - 1)
    assert rig.fastpath.told == []

    rig.run(FACTS_EVERY)
    assert len(rig.fastpath.of(LoopFacts)) == 1
    assert FACTS_EVERY * PERIOD_S == 1


def test_loop_facts_have_counts_and_time() -> None:
    rig = TimekeeperRig()
    rig.runtime.step(10)

    rig.keeper.send_counters()

    (told,) = rig.fastpath.of(LoopFacts)
    counted = told.counters
    assert (counted.ticks, counted.missed, counted.gaps, counted.dead_man_trips) == (10, 0, 0, 0)
    assert counted.target_frequency == 4000
    assert told.at_ns == rig.runtime.now_ns()


def test_every_reading_is_sent() -> None:
    rig = TimekeeperRig()
    rig.keeper.send_counters()
    rig.runtime.step(100)

    rig.keeper.send_counters()

    assert [told.counters.ticks for told in rig.fastpath.of(LoopFacts)] == [0, 100]


def test_trips_are_counted() -> None:
    rig = TimekeeperRig()
    rig.keeper.run_once()
    rig.keeper.send_counters()
    rig.pass_ms(600)

    rig.keeper.send_counters()

    assert [told.counters.dead_man_trips for told in rig.fastpath.of(LoopFacts)] == [0, 1]


def test_the_thread_goes_on_after_an_error(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    rig = TimekeeperRig()
    turns: list[int] = []

    def fail() -> None:
        turns.append(1)
        raise RuntimeError("boom")

    monkeypatch.setattr(rig.keeper, "run_once", fail)
    with caplog.at_level(logging.ERROR):
        rig.run(3)

    assert len(turns) == 3
    assert len(caplog.records) == 3


def test_unstarted_timekeeper_can_be_stopped() -> None:
    TimekeeperRig().keeper.stop()


def test_thread_beats_until_stopped() -> None:
    rig = TimekeeperRig()
    turned = threading.Event()
    turn = rig.keeper.run_once

    def turn_and_say() -> None:
        turn()
        turned.set()

    rig.keeper.run_once = turn_and_say  # type: ignore[method-assign]
    rig.keeper.start()
    try:
        assert turned.wait(20)
    finally:
        rig.keeper.stop()

    assert not any(thread.name == "hd-time" and thread is rig.keeper._thread for thread in threading.enumerate())
