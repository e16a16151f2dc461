"""What the timekeeper sees in the states of devices: each fact is told once, when it begins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.control.device_watch import GONE_NS, DeviceWatch
from actors.device.messages import DeviceRecord, DeviceRested, DeviceSilent, Inventory
from actors.device.params import device_params
from actors.event.messages import HUB, BatteryLevel
from actors.kit.actor import Context
from actors.kit.clock import Clock
from actors.kit.published import Published
from actors.values.simulation import Fault, HandPath, Simulation
from fastpath.arena import Runtime
from tests.support.slices import Listener, simulated_records


class Rig:
    """One device on a stepped loop of 100 Hz, its actor and the hub as listeners."""

    def __init__(self, word: str) -> None:
        self.runtime = Runtime(stepping=True, realtime=False)
        self.runtime.publish_loop(frequency=100, command_timeout=0.05)
        self.context = Context.build(Clock(self.runtime.now_ns))
        (self.record,) = simulated_records(self.runtime, word)
        self.inventory = Published(Inventory((self.record,)))
        self.hub = Listener(self.context, HUB)
        self.device = Listener(self.context, f"device/{self.record.device_id}")
        self.watch = DeviceWatch(self.context.directory, self.runtime, self.inventory)
        self.simulate(Simulation())

    def simulate(self, wanted: Simulation) -> DeviceRecord:
        self.record = replace(self.record, simulation=wanted)
        self.runtime.publish_device(self.record.lease, device_params(self.record, 0))
        return self.record

    def look(self, seconds: float = 0.01) -> None:
        self.runtime.step(round(100 * seconds))
        self.watch.look()

    @property
    def levels(self) -> list[float]:
        return [told.level for told in self.hub.of(BatteryLevel)]


def test_a_charge_is_told_at_first_and_when_it_has_changed() -> None:
    rig = Rig("grip")

    for _ in range(3):
        rig.look()
    assert rig.levels == pytest.approx([0.9])

    rig.simulate(Simulation(battery_level=0.2, battery_revision=1))
    rig.look()
    rig.look()
    assert rig.levels == pytest.approx([0.9, 0.2], abs=1e-5)


@pytest.mark.parametrize("word", ["arm", "grip:wired", "pen"])
def test_what_has_no_battery_has_no_charge(word: str) -> None:
    rig = Rig(word)
    rig.look()

    assert rig.hub.told == []


def test_nothing_is_told_before_the_first_tick() -> None:
    rig = Rig("grip")
    rig.watch.look()

    assert rig.hub.told == rig.device.told == []


def test_rest_is_told_once_and_again_after_a_motion() -> None:
    rig = Rig("grip")
    rig.simulate(Simulation(path=HandPath.REST))
    rig.look(299)
    assert rig.device.told == []

    for _ in range(3):
        rig.look(2)
    assert rig.device.told == [DeviceRested(rig.record.lease.generation)]

    rig.simulate(Simulation(path=HandPath.REST, buttons=1))
    rig.look(1)
    rig.look(301)
    assert len(rig.device.told) == 2


def test_silence_is_told_when_data_are_stale_and_when_the_device_counts_as_gone() -> None:
    rig = Rig("arm")
    rig.look()
    rig.simulate(Simulation(fault=Fault.HANG))
    generation = rig.record.lease.generation

    rig.look(0.02)
    assert rig.device.told == []
    rig.look(0.01)
    assert rig.device.told == [DeviceSilent(generation, gone=False)]
    rig.look(GONE_NS * 1e-9 - 0.04)
    assert len(rig.device.told) == 1
    rig.look(0.02)
    rig.look(1)
    assert rig.device.told[1:] == [DeviceSilent(generation, gone=True)]


def test_a_loop_that_stands_still_makes_no_device_silent() -> None:
    rig = Rig("arm")
    rig.look()
    for _ in range(5):
        rig.watch.look()

    assert rig.device.told == []


def test_a_device_that_went_is_forgotten_and_its_next_life_is_news() -> None:
    rig = Rig("grip")
    rig.look()
    rig.inventory.replace(Inventory())
    rig.look()
    rig.inventory.replace(Inventory((rig.record,)))
    rig.look()

    assert len(rig.levels) == 2
