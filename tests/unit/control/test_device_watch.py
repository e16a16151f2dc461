"""The device watch reads device states for the timekeeper and reports each fact once, when it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from actors.control.device_watch import COUNTERS, SCREENSAVER, SCREENSAVER_S, DeviceWatch, read_safety
from actors.device.messages import (
    DeviceRecord,
    DeviceRested,
    FodStage,
    IdleSleepChanged,
    Inventory,
    SafetyState,
    SafetyTripped,
)
from actors.device.params import device_params
from actors.device.trips import TripTable, append_to
from actors.event.messages import BatteryLevel
from actors.kit.clock import Clock
from actors.kit.published import Published
from actors.values.hardware import FoundDevice
from actors.values.identity import Connection, Firmware, Kind
from actors.values.simulation import Fault, HandPath, Simulation
from fastpath.arena.runtime import Runtime
from fastpath.port.port_cell import PortCell
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, settings_view, simulated_records

WALL_NS = 1_700_000_000_000_000_000


class DeviceWatchRig(ActorRig):
    """One device on a stepped loop of 100 Hz, its actor and the hub as listeners."""

    def __init__(self, word: str, settings: Mapping[str, object] | None = None, *, read: bool = True) -> None:
        """`read` False: the device is leased, and its actor has not published its parameters yet."""
        self.runtime = Runtime(stepping=True, realtime=False)
        self.runtime.publish_loop(frequency=100, command_timeout=0.05)
        (self.record,) = simulated_records(self.runtime, word)
        super().__init__(settings, inventory=Inventory((self.record,)), clock=Clock(self.runtime.now_ns))
        self.device = FakeActor(self.context, f"device/{self.record.device_id}")
        self.trips = Published(TripTable())
        self.watch = DeviceWatch(
            self.context.directory, self.runtime, self.inventory, self.settings, append_to(self.trips), lambda: WALL_NS
        )
        if read:
            self.simulate(Simulation())

    def simulate(self, wanted: Simulation) -> DeviceRecord:
        self.record = replace(self.record, simulation=wanted)
        self.runtime.publish_device(self.record.lease, device_params(self.record, 0))
        return self.record

    def look(self, seconds: float = 0.01) -> None:
        self.runtime.step(round(100 * seconds))
        self.watch.poll()

    @property
    def levels(self) -> list[float]:
        return [told.level for told in self.hub.of(BatteryLevel)]


def test_battery_level_is_reported_first_and_on_change() -> None:
    rig = DeviceWatchRig("grip")

    for _ in range(3):
        rig.look()
    assert rig.levels == pytest.approx([0.9])

    rig.simulate(Simulation(battery_level=0.2, battery_revision=1))
    rig.look()
    rig.look()
    assert rig.levels == pytest.approx([0.9, 0.2], abs=1e-5)


@pytest.mark.parametrize("word", ["arm", "grip:wired", "pen"])
def test_device_without_a_battery_reports_no_level(word: str) -> None:
    rig = DeviceWatchRig(word)
    rig.look()

    assert rig.hub.told == []


def test_nothing_is_reported_before_the_first_tick() -> None:
    rig = DeviceWatchRig("grip")
    rig.watch.poll()

    assert rig.hub.told == rig.device.told == []


def test_battery_level_is_not_reported_before_parameters() -> None:
    rig = DeviceWatchRig("grip", read=False)
    rig.look()
    assert rig.hub.told == []

    rig.simulate(Simulation())
    rig.look()
    assert rig.levels == pytest.approx([0.9])


def test_battery_level_of_a_port_grip_is_not_reported_before_its_first_packet() -> None:
    rig = DeviceWatchRig("grip", read=False)
    params = device_params(rig.record, 0)
    params["source"], params["silence"] = 1, 0.06
    rig.runtime.publish_device(rig.record.lease, params)
    rig.look()
    assert rig.hub.told == []

    PortCell(rig.runtime, rig.record.lease).put(battery_level=0.75)
    rig.look()
    assert rig.levels == [0.75]


@pytest.mark.parametrize("reads_battery", [True, False])
def test_battery_level_is_reported_only_with_the_capability(*, reads_battery: bool) -> None:
    rig = DeviceWatchRig("grip")
    found = FoundDevice(
        "G1", Kind.GRIP, Connection.WIRELESS, Firmware(1, 4), 1, "0", "openlink", reads_battery=reads_battery
    )
    real = replace(rig.record, identity=replace(rig.record.identity, simulated=False, found=found))
    rig.inventory.replace(Inventory((real,)))
    rig.look()

    assert bool(rig.levels) is reads_battery


def test_rest_is_reported_once_per_rest() -> None:
    rig = DeviceWatchRig("grip")
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


def test_reconnected_device_is_reported_afresh() -> None:
    rig = DeviceWatchRig("grip")
    rig.look()
    rig.inventory.replace(Inventory())
    rig.look()
    rig.inventory.replace(Inventory((rig.record,)))
    rig.look()

    assert len(rig.levels) == 2


# ---------------------------------------------------------------- monitors


def thrown() -> Simulation:
    return Simulation(path=HandPath.REST, fault=Fault.THROW, push_revision=1)


def test_monitor_trip_and_release_are_reported_once_each() -> None:
    rig = DeviceWatchRig("arm")
    rig.look()
    rig.simulate(thrown())
    for _ in range(5):
        rig.look(0.05)
    (told,) = rig.device.told
    assert told == SafetyTripped(rig.record.lease.generation, SafetyState(), SafetyState(ebrakes=1))

    rig.simulate(Simulation(path=HandPath.REST))
    for _ in range(10):
        rig.look(1)
    braked, released = SafetyState(ebrakes=1), SafetyState(ebrakes=1, ebrake_releases=1)
    assert rig.device.told[1:] == [SafetyTripped(rig.record.lease.generation, braked, released)]


def test_foreign_object_stage_is_reported() -> None:
    state = {**dict.fromkeys(COUNTERS, 0), "safety": 4}

    assert read_safety(state) == SafetyState(fod_stage=FodStage.GUARD)
    assert read_safety({**state, "safety": 9}) == SafetyState(fod_stage=FodStage.HARD)
    assert read_safety({**state, "safety": 51}) == SafetyState()


def test_device_without_motors_has_no_monitor() -> None:
    rig = DeviceWatchRig("grip", {SCREENSAVER: True, SCREENSAVER_S: 10})
    rig.look(30)

    assert rig.device.told == []


# ---------------------------------------------------------------- screensaver


def test_idle_device_dozes_until_moved() -> None:
    rig = DeviceWatchRig("arm", {SCREENSAVER: True, SCREENSAVER_S: 10})
    generation = rig.record.lease.generation
    rig.look()
    rig.simulate(Simulation(path=HandPath.REST))
    rig.look(9)
    assert rig.device.told == []

    for _ in range(3):
        rig.look(2)
    assert rig.device.told == [IdleSleepChanged(generation, awake=False)]

    rig.simulate(Simulation())
    rig.look(2)
    assert rig.device.told[1:] == [IdleSleepChanged(generation, awake=True)]


def test_command_prevents_and_ends_dozing() -> None:
    rig = DeviceWatchRig("arm", {SCREENSAVER: True, SCREENSAVER_S: 10})
    writer = rig.runtime.writer(rig.runtime.lease_session("1"), rig.record.lease)
    rig.simulate(Simulation(path=HandPath.REST))

    def command() -> None:
        writer.begin()
        writer.force(0, 0, 0)
        writer.publish()
        rig.look(0.02)

    rig.look()
    for _ in range(4):
        rig.look(5)
        command()
    assert rig.device.told == []

    rig.look(12)
    command()
    assert [told.awake for told in rig.device.of(IdleSleepChanged)] == [False, True]


def test_disabled_screensaver_ends_and_prevents_dozing() -> None:
    rig = DeviceWatchRig("arm")
    rig.simulate(Simulation(path=HandPath.REST))
    rig.look()
    rig.look(20)
    assert rig.device.told == []

    rig.settings.replace(settings_view({SCREENSAVER: True, SCREENSAVER_S: 10}))
    rig.look()
    rig.settings.replace(settings_view())
    rig.look()
    assert [told.awake for told in rig.device.of(IdleSleepChanged)] == [False, True]
