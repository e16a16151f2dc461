"""Every published inventory has a device in exactly one of devices, failed, withheld, unplugged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from actors.device.messages import Inventory, PlugDue, RemoveSimulated, Simulate
from actors.kit.errors import PortBlocked
from actors.kit.published import Published
from actors.values.simulation import Fault, SimulationChange
from tests.unit.device.test_blocked_ports import BLOCKED, block, unblock
from tests.unit.device.test_manager import DeviceManagerRig, started


class Read(Published[Inventory]):
    """An inventory with a reader behind each change: `seen` are the places that it found, and how often each device was there."""

    def __init__(self, value: Inventory) -> None:
        super().__init__(value)
        self.seen: list[dict[str, list[str]]] = []

    def replace(self, value: Inventory) -> None:
        super().replace(value)
        places: dict[str, list[str]] = {}
        for place in ("devices", "failed", "withheld", "unplugged"):
            for one in getattr(value, place):
                places.setdefault(one.device_id, []).append(place)
        self.seen.append(places)


def read(rig: DeviceManagerRig) -> Read:
    """From now on."""
    inventory = Read(rig.inventory.value)
    rig.inventory = inventory
    rig.manager, rig.children = rig.again()
    return inventory


def unplug(rig: DeviceManagerRig, device_id: str) -> None:
    tell(rig, device_id, Fault.UNPLUG)


def unplug_and_plug(rig: DeviceManagerRig, device_id: str) -> None:
    unplug(rig, device_id)
    rig.runtime.step()
    tell(rig, device_id, Fault.NONE)


def loop(rig: DeviceManagerRig, device_id: str) -> None:
    tell(rig, device_id, Fault.CONNECTION_LOOP)
    for step in range(1, 10):
        rig.runtime.step()
        rig.manager.on_plug_due(PlugDue(device_id, step))


def blocked(rig: DeviceManagerRig, _device_id: str) -> None:
    block(rig)


def block_and_unblock(rig: DeviceManagerRig, _device_id: str) -> None:
    block(rig)
    rig.runtime.step()
    unblock(rig)


def plug_while_blocked(rig: DeviceManagerRig, device_id: str) -> None:
    unplug(rig, device_id)
    rig.runtime.step()
    rig.ports.replace(BLOCKED)
    with pytest.raises(PortBlocked):
        tell(rig, device_id, Fault.NONE)


def give_up(rig: DeviceManagerRig, device_id: str) -> None:
    rig.manager._give_up(f"device/{device_id}", RuntimeError("again and again"))


def tell(rig: DeviceManagerRig, device_id: str, fault: Fault) -> None:
    rig.manager.simulate(Simulate(device_id, SimulationChange(fault=fault)))


@pytest.mark.parametrize(
    ("go", "end"),
    [
        (unplug, ["unplugged"]),
        (unplug_and_plug, ["devices"]),
        (loop, ["devices"]),
        (blocked, ["withheld"]),
        (block_and_unblock, ["devices"]),
        (plug_while_blocked, ["withheld"]),
        (give_up, ["failed"]),
    ],
)
def test_device_is_in_exactly_one_part_at_any_moment(
    go: Callable[[DeviceManagerRig, str], None], end: list[str]
) -> None:
    rig = started("arm", "grip")
    arm, grip = rig.ids
    inventory = read(rig)

    go(rig, arm)

    assert [len(places[arm]) for places in inventory.seen] == [1] * len(inventory.seen)
    assert [places[grip] for places in inventory.seen] == [["devices"]] * len(inventory.seen)
    assert inventory.seen[-1][arm] == end


def test_removed_unplugged_device_is_in_no_part() -> None:
    rig = started("arm", "grip")
    arm, grip = rig.ids
    inventory = read(rig)
    unplug(rig, arm)

    rig.manager.remove_simulated(RemoveSimulated(arm))

    assert inventory.seen[-1] == {grip: ["devices"]}
