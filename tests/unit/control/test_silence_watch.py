"""Silent devices, by loop time: reported once, stale within 26 ms of the last data, gone within 506 ms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from actors.control.silence_watch import GONE_NS, SilenceWatch
from actors.control.timekeeper import Timekeeper
from actors.device.messages import DeviceRecord, DeviceSilent, Inventory, Phase
from actors.device.params import device_params
from actors.kit.clock import Clock
from actors.values.simulation import Fault, Simulation
from fastpath.arena.runtime import Runtime
from fastpath.port.port_cell import PortCell
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, simulated_records

HZ = 4000
PACKET_TICKS = 4
PHASES = range(0, 40, 3)


class Turns:
    """Stands for the event that ends the timekeeper's thread: while it waits, the loop ticks for as long."""

    def __init__(self, step: Callable[[int], None], turns: int) -> None:
        self.step = step
        self.left = turns

    def wait(self, seconds: float) -> bool:
        self.step(round(seconds * HZ))
        self.left -= 1
        return self.left < 0


class SilenceRig(ActorRig):
    """One device on a stepped loop, its actor as a listener, and the timekeeper's turns."""

    def __init__(self, *, at_a_port: bool = False) -> None:
        self.runtime = Runtime(stepping=True, realtime=False)
        self.runtime.publish_loop(frequency=HZ, command_timeout=0.05)
        (record,) = simulated_records(self.runtime, "arm")
        if at_a_port:
            record = replace(record, identity=replace(record.identity, simulated=False))
        self.record = record
        super().__init__(inventory=Inventory((record,)), clock=Clock(self.runtime.now_ns))
        self.device = FakeActor(self.context, f"device/{record.device_id}")
        self.watch = SilenceWatch(self.context.directory, self.runtime, self.inventory)
        self.keeper = Timekeeper(self.context, self.runtime, every_period=self.watch)
        self.cell = PortCell(self.runtime, record.lease) if at_a_port else None
        self.publish(record)

    def publish(self, record: DeviceRecord) -> None:
        assert self.runtime.publish_device(record.lease, device_params(record, 0))

    def work(self, ticks: int) -> None:
        """The device sends, a packet each millisecond."""
        for tick in range(ticks):
            if self.cell is not None and tick % PACKET_TICKS == 0:
                assert self.cell.put(joint=(20.0, 70.0, -100.0))
            self.runtime.step(1)

    def fall_silent(self) -> None:
        if self.cell is None:
            self.publish(replace(self.record, simulation=Simulation(fault=Fault.HANG)))

    def turns(self, number: int) -> None:
        """What the timekeeper's thread does in so many turns, while the device is silent."""
        cast("Any", self.keeper)._halt = Turns(self.runtime.step, number)
        self.keeper._run()

    def tick(self, seconds: float = 0.01) -> None:
        self.runtime.step(round(HZ * seconds))
        self.watch.poll()

    @property
    def told(self) -> list[bool]:
        """`gone` of each silence that was told."""
        return [one.gone for one in self.device.of(DeviceSilent)]


@pytest.mark.parametrize("at_a_port", [False, True], ids=["simulated", "at a port"])
def test_device_is_stale_within_26_ms_and_gone_within_506_ms(at_a_port: bool) -> None:
    found: dict[bool, list[float]] = {False: [], True: []}
    for phase in PHASES:
        rig = SilenceRig(at_a_port=at_a_port)
        rig.work(400)
        rig.fall_silent()
        rig.runtime.step(phase)
        rig.turns(110)
        assert rig.told == [False, True]
        for one in rig.device.of(DeviceSilent):
            found[one.gone].append(one.silent_ns * 1e-6)

    assert 20 < min(found[False]) < max(found[False]) <= 26
    assert 500 <= min(found[True]) < max(found[True]) <= 506


def test_device_that_never_sent_is_not_stale_but_gone_at_the_limit() -> None:
    rig = SilenceRig(at_a_port=True)
    rig.turns(95)
    assert rig.told == []

    rig.turns(10)
    assert rig.told == [True]


def test_device_with_a_late_first_packet_was_never_stale() -> None:
    rig = SilenceRig(at_a_port=True)
    rig.turns(20)
    rig.work(40)
    rig.turns(1)
    assert rig.told == []

    rig.turns(20)
    assert rig.told == [False]


def test_silence_is_reported_once() -> None:
    rig = SilenceRig()
    rig.tick()
    rig.fall_silent()

    rig.tick(0.02)
    assert rig.told == []
    rig.tick()
    assert rig.told == [False]
    rig.tick(GONE_NS * 1e-9 - 0.04)
    assert rig.told == [False]
    rig.tick(0.02)
    rig.tick(1)
    assert rig.told == [False, True]


def test_device_that_recovers_may_be_reported_again() -> None:
    rig = SilenceRig()
    rig.tick()
    rig.fall_silent()
    rig.tick(0.03)
    rig.publish(rig.record)
    rig.tick()
    rig.fall_silent()
    rig.tick(0.03)

    assert rig.told == [False, False]


def test_stopped_loop_makes_no_device_silent() -> None:
    rig = SilenceRig()
    rig.tick()
    for _ in range(5):
        rig.watch.poll()

    assert rig.told == []


@pytest.mark.parametrize(("at_a_port", "told"), [(True, []), (False, [False])], ids=["at a port", "simulated"])
def test_only_a_sleeping_real_device_may_be_silent(at_a_port: bool, told: list[bool]) -> None:
    rig = SilenceRig(at_a_port=at_a_port)
    rig.work(40)
    rig.inventory.replace(Inventory((replace(rig.record, phase=Phase.ASLEEP),)))
    rig.fall_silent()
    rig.tick(0.03)

    assert rig.told == told


def test_reconnected_device_starts_a_new_silence() -> None:
    rig = SilenceRig()
    rig.tick()
    rig.fall_silent()
    rig.tick(0.03)
    rig.inventory.replace(Inventory())
    rig.tick()
    rig.inventory.replace(Inventory((rig.record,)))
    rig.tick()

    assert rig.told == [False, False]
