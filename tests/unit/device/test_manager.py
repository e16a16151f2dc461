"""DeviceManager as a plain object on a stepped loop: slots, inventory, stop latch, devices that crash too often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.manager import DeviceManager
from actors.device.memory import DeviceMemory
from actors.device.messages import (
    AddSimulated,
    DeviceChanged,
    DeviceRecord,
    DeviceWide,
    Inventory,
    Phase,
    StopStatus,
    StopSwitched,
    actor_name,
)
from actors.device.params import device_params
from actors.device.simulated_identity import parse
from actors.device.stop_latch import StopLatch
from actors.device.stop_switch import STOP_SECTION, StopSwitch
from actors.event.messages import HUB, Emit
from actors.kit.errors import NoSuchDevice
from actors.kit.message import Announce, ChildFailed, Message
from actors.kit.published import Published
from actors.pairing.messages import PAIRING
from actors.port.messages import PortTable
from actors.settings.immutable_json import freeze
from actors.settings.messages import STORE, SaveLedger
from fastpath.arena.access import Writer
from fastpath.arena.runtime import Lease, NoSlot, Runtime
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, FakeChildren

FORCE = 0.1


class DeviceManagerRig(ActorRig):
    """A manager without a thread and without children, those whom it tells, and a session on each device."""

    def __init__(self, *words: str, latch: StopLatch | None = None) -> None:
        super().__init__()
        self.runtime = Runtime(stepping=True, realtime=False)
        self.stops = StopSwitch(self.runtime, self.inventory, latch or StopLatch(), self._tell)
        self.memory = Published(DeviceMemory())
        self.ports = Published(PortTable())
        self.words = words
        self.manager, self.children = self.again()
        self._session = self.runtime.lease_session("1")
        self._writers: dict[str, Writer] = {}

    def again(self) -> tuple[DeviceManager, FakeChildren]:
        """Another manager on the same inventory and latch, as after a crash."""
        manager = DeviceManager(
            self.context,
            self.runtime,
            self.inventory,
            self.settings,
            self.stops,
            self.memory,
            self.ports,
            tuple(parse(word) for word in self.words),
        )
        children = FakeChildren()
        manager._children = cast("Any", children)
        return manager, children

    def _tell(self, name: str, message: Message) -> None:
        """The manager of this rig has no name: it is handed what the switch tells it."""
        if isinstance(message, StopSwitched):
            self.manager.on_switched(message)
        else:
            self.context.directory.tell(name, message)

    def start(self) -> None:
        """Start the manager, and have every device ready."""
        self.manager.started()
        for record in self.records:
            self.manager.on_changed(DeviceChanged(record.device_id, Phase.READY, record.wide))
        for record in self.records:
            assert self.runtime.publish_device(record.lease, device_params(record, 0))
        self.runtime.step(250)

    @property
    def records(self) -> tuple[DeviceRecord, ...]:
        return self.inventory.value.devices

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(record.device_id for record in self.records)

    def push(self) -> None:
        """Command a force on every device with motors."""
        for record in self.records:
            if not record.kind.has_motors:
                continue
            if record.device_id not in self._writers:
                self._writers[record.device_id] = self.runtime.writer(self._session, record.lease)
            writer = self._writers[record.device_id]
            writer.begin()
            writer.force(0, 0, FORCE)
            writer.publish()

    def applied(self) -> list[float]:
        """The force on each device with motors after one more tick with a fresh command."""
        self.push()
        self.runtime.step()
        return [
            round(float(self.runtime.reader(record.lease).snapshot()["force"][2]), 6)
            for record in self.records
            if record.kind.has_motors
        ]

    @property
    def saved(self) -> StopLatch:
        """What the ledger would bring back."""
        saves = [save for save in self.store.of(SaveLedger) if save.section == STOP_SECTION]
        return StopLatch.from_json(freeze(saves[-1].value) if saves else None)

    @property
    def safety(self) -> list[tuple[object, object]]:
        emits = self.hub.of(Emit)
        return [(e.data["device_id"], e.data["safety_type"]) for e in emits if e.kind == "device-safety-triggered"]


def test_connected_event_precedes_pairing() -> None:
    rig = DeviceManagerRig()
    rig.start()
    said: list[str] = []
    pairing = FakeActor(rig.context, PAIRING)
    rig.hub.hears = lambda: said.extend(emit.kind for emit in rig.hub.of(Emit)[-1:])
    pairing.hears = lambda: said.append("pairing looks")

    rig.manager.on_receive(AddSimulated(parse("arm")))

    assert said == ["device-connected", "pairing looks"]
    assert rig.hub.of(Emit)[0].data == {
        "device_id": rig.ids[0],
        "device_family": "arm",
        "type": "arm",
        "connection": "simulated",
        "port": "sim0",
        "firmware": "7.5",
    }


class Dead:
    """A manager that takes no message."""

    def on_switched(self, message: StopSwitched) -> None:
        pass


def started(*words: str, latch: StopLatch | None = None) -> DeviceManagerRig:
    rig = DeviceManagerRig(*words, latch=latch)
    rig.start()
    return rig


# ---------------------------------------------------------------- start


def test_simulated_devices_are_leased_listed_and_started_in_order() -> None:
    rig = DeviceManagerRig("grip", "arm", "compact")

    rig.manager.started()

    assert [str(record.kind) for record in rig.records] == ["grip", "arm", "compact"]
    assert [record.lease.slot for record in rig.records] == [0, 1, 2]
    assert {record.phase for record in rig.records} == {Phase.CONNECTING}
    assert rig.children.spawned == [actor_name(device_id) for device_id in rig.ids]
    assert rig.runtime.slots()[1] == 3


def test_without_simulated_devices_there_is_none() -> None:
    rig = DeviceManagerRig()

    rig.manager.started()

    assert (rig.records, rig.children.spawned) == ((), [])


def test_sixteen_devices_fit() -> None:
    rig = DeviceManagerRig(*["arm"] * 16)

    rig.manager.started()

    assert len(rig.records) == 16
    with pytest.raises(NoSlot):
        rig.runtime.lease_device("one more")


def test_restarted_manager_adopts_the_leased_devices() -> None:
    rig = started("arm", "grip")
    before = rig.inventory.value

    manager, children = rig.again()
    manager.started()

    assert rig.inventory.value.devices == before.devices
    assert children.spawned == [actor_name(device_id) for device_id in rig.ids]
    assert rig.runtime.slots()[1] == 2


def test_stopping_manager_stops_devices_in_reverse() -> None:
    rig = started("arm", "grip")

    rig.manager.stopped()

    assert rig.children.stopped == [actor_name(device_id) for device_id in reversed(rig.ids)]


def test_change_is_published() -> None:
    rig = DeviceManagerRig("arm", "grip")
    rig.manager.started()
    arm, grip = rig.ids
    wide = DeviceWide("left")

    rig.manager.on_changed(DeviceChanged(arm, Phase.SETTLING, wide))

    assert rig.inventory.value.get(arm).phase is Phase.SETTLING
    assert rig.inventory.value.get(arm).wide == wide
    assert rig.inventory.value.get(grip).phase is Phase.CONNECTING


def test_change_of_a_removed_device_is_ignored() -> None:
    rig = started("arm")
    before = rig.records

    rig.manager.on_changed(DeviceChanged("gone", Phase.READY, DeviceWide()))

    assert rig.records == before


def test_real_devices_come_before_simulated_ones() -> None:
    rig = DeviceManagerRig("arm")
    rig.manager.started()
    (simulated,) = rig.records
    real = [
        replace(simulated, identity=replace(simulated.identity, device_id=name, simulated=False, number=number))
        for name, number in (("R2", 9), ("R1", 8))
    ]
    rig.inventory.replace(Inventory((simulated, *real)))

    rig.manager.on_changed(DeviceChanged(simulated.device_id, Phase.READY, DeviceWide()))

    assert rig.ids == ("R1", "R2", simulated.device_id)


# ---------------------------------------------------------------- stop


def test_stop_of_everything_applies_at_the_next_tick_and_holds() -> None:
    rig = started("arm", "compact", "grip")
    arm, compact, _grip = rig.ids
    assert rig.applied() == [FORCE, FORCE]

    status = rig.stops.stop(None, "somebody")

    assert status == StopStatus(everything=True, device_ids=(arm, compact))
    assert [rig.applied() for _ in range(3)] == [[0, 0]] * 3
    assert [record.stopped for record in rig.records] == [True, True, True]
    assert rig.saved == StopLatch(everything=True)
    assert rig.safety == [(arm, "stopped"), (compact, "stopped")]
    assert rig.hub.of(Emit)[len(rig.records)].message == f"arm {arm} was stopped by somebody"


def test_stop_reaches_the_loop_before_any_actor() -> None:
    rig = started("arm")
    heard: list[list[float]] = []
    rig.store.hears = lambda: heard.append(rig.applied())

    rig.stops.stop()

    assert heard == [[0]]


def test_release_lets_every_device_move() -> None:
    rig = started("arm", "compact")
    rig.stops.stop()

    status = rig.stops.release()

    assert status == StopStatus(everything=False, device_ids=())
    assert rig.applied() == [FORCE, FORCE]
    assert rig.saved == StopLatch()
    assert [what for _, what in rig.safety] == ["stopped", "stopped", "released", "released"]


def test_stop_of_one_device_leaves_the_others_moving() -> None:
    rig = started("arm", "compact")
    arm, compact = rig.ids

    assert rig.stops.stop((arm,)) == StopStatus(everything=False, device_ids=(arm,))

    assert rig.applied() == [0, FORCE]
    assert rig.saved == StopLatch(device_ids=frozenset({arm}))
    assert rig.safety == [(arm, "stopped")]
    assert rig.stops.release((compact,)).device_ids == (arm,)
    assert rig.applied() == [0, FORCE]


def test_release_of_one_device_after_a_stop_of_everything() -> None:
    rig = started("arm", "compact")
    arm, compact = rig.ids
    rig.stops.stop()

    status = rig.stops.release((arm,))

    assert status == StopStatus(everything=True, device_ids=(compact,))
    assert rig.applied() == [FORCE, 0]
    assert rig.safety[-1] == (arm, "released")


def test_repeated_stop_raises_no_event() -> None:
    rig = started("arm")
    rig.stops.stop()
    rig.stops.stop(rig.ids)

    assert len(rig.safety) == 1


@pytest.mark.parametrize("device_ids", [("nobody",), ("nobody", "other")])
def test_stop_of_an_unknown_device_stops_nothing(device_ids: tuple[str, ...]) -> None:
    rig = started("arm")

    with pytest.raises(NoSuchDevice):
        rig.stops.stop(device_ids)
    with pytest.raises(NoSuchDevice):
        rig.stops.stop((*rig.ids, "nobody"))
    with pytest.raises(NoSuchDevice):
        rig.stops.release(("nobody",))

    assert rig.applied() == [FORCE]
    assert (rig.store.told, rig.safety) == ([], [])


@pytest.mark.parametrize(
    ("latch", "moves"),
    [
        (StopLatch(), True),
        (StopLatch(everything=True), False),
        (StopLatch.from_json(freeze({"garbage": 1})), False),
        (StopLatch(device_ids=frozenset({"another"})), True),
    ],
)
def test_a_stop_survives_a_restart(latch: StopLatch, moves: bool) -> None:
    rig = started("arm", latch=latch)

    assert rig.applied() == [FORCE if moves else 0]
    assert [record.stopped for record in rig.records] == [not moves]
    assert rig.safety == []


def test_a_stop_of_one_survives_a_restart() -> None:
    (arm, _) = started("arm", "compact").ids

    rig = started("arm", "compact", latch=StopLatch(device_ids=frozenset({arm})))

    assert rig.applied() == [0, FORCE]


def test_stopped_device_never_ticks_without_its_stop() -> None:
    rig = DeviceManagerRig("arm", latch=StopLatch(everything=True))
    rig.manager.started()
    (record,) = rig.records
    rig.runtime.publish_device(record.lease, device_params(replace(record, phase=Phase.READY), 0))

    assert [rig.applied() for _ in range(300)] == [[0]] * 300


def test_stop_during_a_manager_crash_is_applied_reported_and_stored() -> None:
    rig = started("arm")
    living = rig.manager
    rig.manager = cast("Any", Dead())

    status = rig.stops.stop(None, "somebody")

    assert status.device_ids == rig.ids
    assert rig.applied() == [0]
    assert rig.saved == StopLatch(everything=True)
    assert rig.safety == [(rig.ids[0], "stopped")]
    rig.manager = living
    rig.again()[0].started()
    assert [record.stopped for record in rig.records] == [True]
    assert len(rig.safety) == 1


def test_stop_during_an_addition_applies_to_the_new_device() -> None:
    rig = DeviceManagerRig("arm")
    hold = rig.stops.hold

    def meanwhile(lease: Lease, device_id: str) -> bool:
        stopped = hold(lease, device_id)
        rig.stops.stop()
        return stopped

    with patch.object(rig.stops, "hold", meanwhile):
        rig.start()

    assert rig.applied() == [0]


def test_manager_restarted_within_a_stop_completes_it() -> None:
    rig = started("arm")
    rig.stops.latch.replace(rig.stops.latch.value.stop(None))

    manager, _ = rig.again()
    manager.started()

    assert rig.applied() == [0]
    assert [record.stopped for record in rig.records] == [True]


def test_restarted_store_alone_is_sent_the_stop() -> None:
    rig = started("arm")
    rig.stops.stop()
    rig.store.told.clear()

    rig.manager.on_announce(Announce(HUB))
    assert rig.store.told == []

    rig.manager.on_announce(Announce(STORE))
    assert rig.saved == StopLatch(everything=True)


@given(
    st.lists(
        st.tuples(st.booleans(), st.none() | st.lists(st.integers(0, 2), max_size=2)),
        max_size=6,
    )
)
def test_loop_inventory_answer_and_ledger_always_agree(
    steps: list[tuple[bool, list[int] | None]],
) -> None:
    rig = started("arm", "compact", "grip")

    for stop, indexes in steps:
        device_ids = None if indexes is None else tuple(rig.ids[index] for index in indexes)
        status = rig.stops.stop(device_ids) if stop else rig.stops.release(device_ids)
        shown = {record.device_id for record in rig.records if record.stopped and record.kind.has_motors}
        assert set(status.device_ids) == shown
        assert rig.saved == rig.stops.latch.value
        assert {device_id for device_id in rig.ids[:2] if rig.saved.holds(device_id)} == shown
        assert rig.applied() == [0 if device_id in shown else FORCE for device_id in rig.ids[:2]]


# ---------------------------------------------------------------- devices that fail


def test_failed_child_is_handled_by_the_children() -> None:
    rig = started("arm")
    message = ChildFailed(actor_name(rig.ids[0]), RuntimeError("x"))

    rig.manager.on_child_failed(message)

    assert rig.children.failures == [message]


def test_device_given_up_ends_at_zero_force_and_frees_its_slot() -> None:
    rig = started("arm", "compact")
    arm, compact = rig.records
    assert rig.applied() == [FORCE, FORCE]
    reader = rig.runtime.reader(arm.lease)

    rig.manager._give_up(actor_name(arm.device_id), RuntimeError("boom"))
    rig.push()
    rig.runtime.step()

    assert reader.snapshot()["force"].tolist() == [0, 0, 0]
    assert rig.runtime.slots()[1] == 1
    assert [record.device_id for record in rig.records] == [compact.device_id]
    assert [(record.device_id, record.phase) for record in rig.inventory.value.failed] == [
        (arm.device_id, Phase.FAILED)
    ]
    assert rig.applied() == [FORCE]


def test_device_given_up_raises_one_event() -> None:
    rig = started("arm", "grip")
    arm, _ = rig.ids

    rig.manager._give_up(actor_name(arm), RuntimeError("boom"))

    emits = [emit for emit in rig.hub.of(Emit) if emit.kind == "device-disconnected"]
    assert [emit.data["device_id"] for emit in emits] == [arm]
    assert "boom" in emits[0].message
    assert "restart the service" in emits[0].message


def test_device_given_up_is_not_restored_by_a_manager_restart() -> None:
    rig = started("arm")
    rig.manager._give_up(actor_name(rig.ids[0]), RuntimeError("boom"))

    manager, children = rig.again()
    manager.started()

    assert (rig.records, children.spawned) == ((), [])
    assert len(rig.inventory.value.failed) == 1


def test_reused_slot_rejects_an_old_writer() -> None:
    rig = started("arm")
    (arm,) = rig.records
    rig.push()
    rig.manager._give_up(actor_name(arm.device_id), RuntimeError("boom"))
    rig.runtime.step()
    lease = rig.runtime.lease_device("another")
    rig.runtime.publish_device(lease, device_params(replace(arm, lease=lease), 0))
    rig.runtime.step(250)

    for writer in rig._writers.values():
        writer.force(0, 0, FORCE)
        writer.publish()
    rig.runtime.step()

    assert rig.runtime.reader(lease).snapshot()["force"].tolist() == [0, 0, 0]


def test_stop_of_a_device_given_up_finds_no_device() -> None:
    rig = started("arm", "compact")
    arm, compact = rig.ids
    rig.manager._give_up(actor_name(arm), RuntimeError("boom"))

    with pytest.raises(NoSuchDevice):
        rig.stops.stop((arm,))
    assert rig.stops.stop().device_ids == (compact,)
