"""Simulated devices added and removed at run time: slots, ids, order, configuration, notifications."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from actors.device.messages import (
    INVENTORY_READERS,
    AddSimulated,
    DeviceChanged,
    DeviceLost,
    DeviceRecord,
    DevicesChanged,
    DeviceWide,
    Phase,
    PlugDue,
    RemoveSimulated,
    Simulate,
    SimulatedSpec,
    SimulationChanged,
    actor_name,
)
from actors.device.stop_latch import StopLatch
from actors.event.messages import Emit
from actors.kit.errors import Busy, Conflict, NoSuchDevice
from actors.kit.message import Announce
from actors.settings.messages import STORE, SaveLedger
from actors.values.identity import Connection, Firmware, Kind
from actors.values.simulation import Fault, HandPath, Simulation, SimulationChange
from tests.support.actors.doubles import FakeActor
from tests.unit.device.test_manager import FORCE, DeviceManagerRig, started

ARM = SimulatedSpec(Kind.ARM, Connection.SIMULATED)
NAMED = SimulatedSpec(Kind.ARM, Connection.SIMULATED, "049D", Firmware(7, 3))


def test_an_added_device_is_listed_leased_and_started() -> None:
    rig = started("arm", "grip")

    record = rig.manager.add_simulated(AddSimulated(NAMED))

    assert rig.records[-1] == record
    assert (record.device_id, record.identity.number, record.identity.port) == ("049D", 2, "sim2")
    assert (record.phase, record.identity.firmware) == (Phase.CONNECTING, Firmware(7, 3))
    assert rig.children.spawned[-1] == "device/049D"
    assert rig.runtime.slots()[1] == 3


def test_added_device_gets_an_unused_id() -> None:
    rig = started("arm")

    ids = [rig.manager.add_simulated(AddSimulated(ARM)).device_id for _ in range(15)]

    assert len({*rig.ids, *ids}) == 16
    with pytest.raises(Conflict, match="16 devices"):
        rig.manager.add_simulated(AddSimulated(ARM))


def test_real_devices_count_among_the_sixteen() -> None:
    rig = started("arm", "grip")
    arm, grip = rig.records
    real = replace(arm, identity=replace(arm.identity, simulated=False))
    rig.inventory.replace(replace(rig.inventory.value, devices=(real, grip)))

    for _ in range(14):
        rig.manager.add_simulated(AddSimulated(ARM))

    with pytest.raises(Conflict, match="16 devices"):
        rig.manager.add_simulated(AddSimulated(ARM))


def test_duplicate_id_is_refused() -> None:
    rig = started("arm")
    rig.manager.add_simulated(AddSimulated(NAMED))
    before = rig.inventory.value

    with pytest.raises(Conflict, match="049D"):
        rig.manager.add_simulated(AddSimulated(NAMED))

    assert rig.inventory.value == before


def test_a_removed_device_ends_with_zero_force_and_without_its_actor() -> None:
    rig = started("arm", "compact")
    arm, compact = rig.records
    assert rig.applied() == [FORCE, FORCE]
    reader = rig.runtime.reader(arm.lease)

    gone = rig.manager.remove_simulated(RemoveSimulated(arm.device_id))
    rig.push()
    rig.runtime.step()

    assert gone.phase is Phase.DISCONNECTED
    assert reader.snapshot()["force"].tolist() == [0, 0, 0]
    assert rig.runtime.slots()[1] == 1
    assert rig.ids == (compact.device_id,)
    assert rig.children.stopped == [actor_name(arm.device_id)]
    assert rig.applied() == [FORCE]
    (event,) = [emit for emit in rig.hub.of(Emit) if emit.kind == "device-disconnected"]
    assert event.data["device_id"] == arm.device_id


def test_real_device_is_neither_removed_nor_simulated() -> None:
    rig = started("arm")
    (arm,) = rig.records
    real = replace(arm, identity=replace(arm.identity, simulated=False))
    rig.inventory.replace(replace(rig.inventory.value, devices=(real,)))

    for device_id in ("nobody", arm.device_id):
        with pytest.raises(NoSuchDevice):
            rig.manager.remove_simulated(RemoveSimulated(device_id))
        with pytest.raises(NoSuchDevice):
            rig.manager.simulate(Simulate(device_id, SimulationChange(fault=Fault.UNPLUG)))

    assert rig.records == (real,)


def test_returning_device_keeps_index_and_configuration() -> None:
    rig = started("arm", "arm")
    first, second = rig.records
    wide = DeviceWide("left")
    rig.manager.on_changed(DeviceChanged(first.device_id, Phase.READY, wide, first.lease.generation))
    rig.manager.remove_simulated(RemoveSimulated(first.device_id))
    rig.runtime.step()

    back = rig.manager.add_simulated(AddSimulated(ARM))

    assert (back.device_id, back.identity.number, back.wide) == (first.device_id, 0, wide)
    assert rig.ids == (first.device_id, second.device_id)


def test_events_of_a_previous_connection_are_ignored() -> None:
    rig = started("arm")
    (old,) = rig.records
    rig.manager.remove_simulated(RemoveSimulated(old.device_id))
    rig.runtime.step()
    rig.manager.add_simulated(AddSimulated(ARM))

    rig.manager.on_changed(DeviceChanged(old.device_id, Phase.READY, DeviceWide("left"), old.lease.generation))

    (new,) = rig.records
    assert (new.device_id, new.phase, new.wide) == (old.device_id, Phase.CONNECTING, DeviceWide())


def test_stop_of_everything_applies_to_devices_added_later() -> None:
    rig = started(latch=StopLatch(everything=True))

    assert rig.manager.add_simulated(AddSimulated(ARM)).stopped


def test_restarted_manager_does_not_restore_removed_devices() -> None:
    rig = started("arm")
    rig.manager.remove_simulated(RemoveSimulated(rig.ids[0]))

    rig.again()[0].started()

    assert rig.records == ()


def test_inventory_subscribers_get_additions_removals_and_phases() -> None:
    rig = started("arm")
    reader = FakeActor(rig.context, *INVENTORY_READERS)
    (arm,) = rig.records

    def heard() -> int:
        count = len(reader.of(DevicesChanged))
        reader.told.clear()
        return count

    rig.manager.on_changed(DeviceChanged(arm.device_id, Phase.READY, DeviceWide("left")))
    assert heard() == 0
    rig.manager.on_changed(DeviceChanged(arm.device_id, Phase.ASLEEP, DeviceWide("left")))
    assert heard() == len(INVENTORY_READERS)
    rig.manager.remove_simulated(RemoveSimulated(arm.device_id))
    assert heard() == len(INVENTORY_READERS)
    rig.runtime.step()
    rig.manager.add_simulated(AddSimulated(ARM))
    assert heard() == len(INVENTORY_READERS)
    rig.manager.on_announce(Announce("pairing"))
    assert heard() == 1


def test_configurations_are_saved_when_they_change_and_for_a_new_store() -> None:
    rig = started("arm")
    rig.store.told.clear()

    rig.manager.on_changed(DeviceChanged(rig.ids[0], Phase.READY, DeviceWide("left")))
    rig.manager.on_changed(DeviceChanged(rig.ids[0], Phase.READY, DeviceWide("left")))
    rig.manager.on_announce(Announce(STORE))

    saved = [save.value for save in rig.store.of(SaveLedger) if save.section == "devices"]
    assert len(saved) == 2
    assert saved[0] == saved[1] == rig.memory.value.as_json()


# ---------------------------------------------------------------- faults that keep a device away


def ask(rig: DeviceManagerRig, device_id: str, **change: Any) -> DeviceRecord:
    return rig.manager.simulate(Simulate(device_id, SimulationChange(**change)))


def test_change_is_published_and_sent_to_the_actor() -> None:
    rig = started("arm")
    (arm,) = rig.ids
    actor = FakeActor(rig.context, actor_name(arm))

    ask(rig, arm, path=HandPath.REST)
    ask(rig, arm, fault=Fault.STALL)
    ask(rig, arm, awake=False)
    ask(rig, arm)

    assert actor.told == [SimulationChanged(awake=True), SimulationChanged(None), SimulationChanged(awake=False)]
    assert rig.records[0].simulation == Simulation(path=HandPath.REST, fault=Fault.STALL)


def test_unplugged_device_counts_and_returns_unchanged() -> None:
    rig = started("arm", "compact")
    arm, compact = rig.ids
    ask(rig, arm, stiffness=300.0)

    ask(rig, arm, fault=Fault.UNPLUG)

    assert rig.ids == (compact,)
    assert [record.device_id for record in rig.inventory.value.unplugged] == [arm]
    with pytest.raises(Conflict):
        rig.manager.add_simulated(AddSimulated(SimulatedSpec(Kind.ARM, Connection.SIMULATED, arm)))
    rig.runtime.step()
    back = ask(rig, arm, fault=Fault.NONE)
    assert (back.phase, back.simulation.stiffness, back.identity.number) == (Phase.CONNECTING, 300.0, 0)
    assert rig.inventory.value.unplugged == ()
    assert rig.children.spawned[-1] == actor_name(arm)


def test_an_unplugged_device_can_be_changed_and_removed() -> None:
    rig = started("arm")
    (arm,) = rig.ids
    ask(rig, arm, fault=Fault.UNPLUG)

    assert ask(rig, arm, stiffness=300.0).simulation.stiffness == 300
    assert ask(rig, arm, fault=Fault.HANG).fault is Fault.HANG
    rig.manager.remove_simulated(RemoveSimulated(arm))

    assert (rig.records, rig.inventory.value.unplugged) == ((), ())
    with pytest.raises(NoSuchDevice):
        ask(rig, arm, fault=Fault.NONE)


def test_device_without_a_free_slot_is_refused_as_busy() -> None:
    rig = started(*["arm"] * 16)
    ask(rig, rig.ids[0], fault=Fault.UNPLUG)
    (gone,) = rig.inventory.value.unplugged
    lease = rig.runtime.lease_device("somebody")
    rig.runtime.step()

    with pytest.raises(Busy):
        ask(rig, gone.device_id, fault=Fault.NONE)

    rig.runtime.release_device(lease)
    rig.runtime.step()
    assert ask(rig, gone.device_id, fault=Fault.NONE).phase is Phase.CONNECTING


def test_connection_loop_fault_reconnects_five_times() -> None:
    rig = started("arm")
    (arm,) = rig.ids
    here = [True]
    ask(rig, arm, fault=Fault.CONNECTION_LOOP)
    for step in range(1, 10):
        here.append(bool(rig.records))
        rig.runtime.step()
        rig.manager.on_plug_due(PlugDue(arm, step))
    here.append(bool(rig.records))

    assert here == [True, *[False, True] * 5]
    assert rig.records[0].fault is Fault.NONE
    events = [emit.kind for emit in rig.hub.of(Emit) if emit.kind == "device-disconnected"]
    assert len(events) == 5


def test_cleared_connection_loop_fault_stops() -> None:
    rig = started("arm")
    (arm,) = rig.ids
    ask(rig, arm, fault=Fault.CONNECTION_LOOP)
    rig.runtime.step()
    ask(rig, arm, fault=Fault.NONE)

    rig.manager.on_plug_due(PlugDue(arm, 2))
    rig.manager.on_plug_due(PlugDue("gone", 2))

    assert len(rig.records) == 1


def test_silent_device_is_away_until_its_fault_is_cleared() -> None:
    rig = started("arm")
    (arm,) = rig.records
    rig.manager.on_lost(DeviceLost(arm.device_id, arm.lease.generation + 1, "an old life"))
    assert len(rig.records) == 1

    rig.manager.on_lost(DeviceLost(arm.device_id, arm.lease.generation, "silence"))

    assert [record.device_id for record in rig.inventory.value.unplugged] == [arm.device_id]
    rig.runtime.step()
    assert ask(rig, arm.device_id, fault=Fault.NONE).phase is Phase.CONNECTING
