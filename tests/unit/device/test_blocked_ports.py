"""Devices follow the port table: removed when their port is blocked, restored when it is unblocked."""

from __future__ import annotations

from typing import Any, cast

import pytest

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import AddSimulated, Phase, SimulatedSpec, actor_name
from actors.event.messages import Emit
from actors.kit.clock import ManualClock
from actors.kit.errors import PortBlocked as PortIsBlocked
from actors.kit.message import Announce
from actors.port.messages import (
    PORTS,
    BlockReason,
    LoopBlock,
    PortBlocked,
    PortClosed,
    PortOpened,
    PortStatus,
    PortTable,
    PortUnblocked,
)
from actors.values.identity import Connection, Kind
from fastpath.arena.runtime import Lease, NoSlot, Runtime
from tests.support.actors.doubles import FakeActor
from tests.unit.device.test_manager import DeviceManagerRig, started

PORT = "sim0"
BLOCKED = PortTable((PortStatus(PORT, PORT, loop_block=LoopBlock("2026-01-01T00:00:00+00:00", 5)),))
TOLD = PortBlocked(PORT, BlockReason.CONNECTION_LOOP, 5)


class Full:
    """A runtime without a free slot."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def lease_device(self, name: str) -> Lease:
        raise NoSlot(name)

    def __getattr__(self, name: str) -> object:
        return getattr(self._runtime, name)


def block(rig: DeviceManagerRig) -> None:
    rig.ports.replace(BLOCKED)
    rig.manager.on_receive(TOLD)


def unblock(rig: DeviceManagerRig) -> None:
    rig.ports.replace(PortTable())
    rig.manager.on_receive(PortUnblocked(PORT))


def gone(rig: DeviceManagerRig) -> list[str]:
    """Ids of the devices that were said to be gone."""
    return [event.data["device_id"] for event in rig.hub.of(Emit) if event.kind == "device-disconnected"]


def test_each_device_reports_its_port_on_connect_and_disconnect() -> None:
    rig = DeviceManagerRig("arm", "grip")
    ports = FakeActor(rig.context, PORTS)
    rig.start()
    arm, grip = rig.ids
    assert ports.told == [PortOpened("sim0", "sim0", arm), PortOpened("sim1", "sim1", grip)]
    block(rig)
    assert ports.told[2:] == [PortClosed("sim0")]


def test_blocked_port_removes_its_device_once() -> None:
    rig = started("arm", "grip")
    arm, grip = rig.ids
    block(rig)
    block(rig)
    assert rig.ids == (grip,)
    assert gone(rig) == [arm]
    assert rig.children.stopped == [actor_name(arm)]
    rig.runtime.step()
    assert rig.runtime.slots()[1] == 1


def test_unblocked_port_restores_its_device() -> None:
    rig = started("arm", "grip")
    before = [record.identity for record in rig.records]
    block(rig)
    rig.runtime.step()
    unblock(rig)
    unblock(rig)
    assert [record.identity for record in rig.records] == before
    assert rig.records[0].phase is Phase.CONNECTING
    assert rig.children.spawned[-1] == actor_name(before[0].device_id)
    assert rig.inventory.value.withheld == ()


def test_device_without_a_free_slot_is_retried() -> None:
    rig = started("arm")
    (arm,) = rig.ids
    timer = FakeActor(rig.context, DEVICES)
    block(rig)
    rig.manager._runtime = cast("Any", Full(rig.runtime))
    unblock(rig)
    assert [one.device_id for one in rig.inventory.value.withheld] == [arm]

    rig.manager._runtime = rig.runtime
    cast("ManualClock", rig.context.clock).advance(0.1)
    rig.context.timers.fire_due()
    for due in timer.told:
        rig.manager.on_receive(due)
    assert [record.device_id for record in rig.records] == [arm]


def test_port_blocked_at_start_has_no_device_until_reset() -> None:
    rig = DeviceManagerRig("arm", "grip")
    rig.ports.replace(BLOCKED)
    rig.start()
    (kept,) = rig.inventory.value.withheld
    assert [record.kind for record in rig.records] == [Kind.GRIP]
    assert gone(rig) == []
    unblock(rig)
    assert rig.ids[0] == kept.device_id


def test_restarted_manager_applies_missed_port_changes() -> None:
    rig = started("arm", "grip")
    arm, grip = rig.ids
    rig.ports.replace(BLOCKED)
    rig.manager, rig.children = rig.again()
    rig.manager.started()
    assert rig.ids == (grip,)
    rig.runtime.step()
    rig.ports.replace(PortTable())
    rig.manager, rig.children = rig.again()
    rig.manager.started()
    assert list(rig.ids) == [arm, grip]


def test_restarted_port_manager_s_table_is_followed() -> None:
    rig = started("arm")
    rig.ports.replace(BLOCKED)
    rig.manager.on_receive(Announce(PORTS))
    assert rig.ids == ()


def test_withheld_device_keeps_id_port_and_index() -> None:
    rig = started("arm", "grip")
    arm, _ = rig.ids
    block(rig)
    rig.runtime.step()
    added = rig.manager.add_simulated(AddSimulated(SimulatedSpec(Kind.ARM, Connection.SIMULATED)))
    assert added.identity.port == "sim2"
    assert added.device_id != arm
    unblock(rig)
    assert [record.device_id for record in rig.records] == [arm, *rig.ids[1:]]


def test_no_device_is_added_on_a_blocked_port() -> None:
    rig = started()
    rig.ports.replace(BLOCKED)
    before = rig.inventory.value
    with pytest.raises(PortIsBlocked, match="/ports/sim0/reset"):
        rig.manager.add_simulated(AddSimulated(SimulatedSpec(Kind.ARM, Connection.SIMULATED)))
    assert rig.inventory.value is before
