"""Pure inventory transitions: a known device is in exactly one of devices, failed, withheld and unplugged; each change is one new inventory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from actors.device.messages import DeviceIdentity, DeviceRecord, Inventory

Move = Callable[[Inventory, DeviceRecord], Inventory]


def remove_device(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Return the inventory without this device."""
    return _without(inventory, record.device_id)


def put_device(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Return the inventory with this record among `devices`, in its place of the order."""
    left = remove_device(inventory, record)
    return replace(left, devices=sort_devices((*left.devices, record)))


def mark_failed(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Move the device to `failed`: its actor crashed too often."""
    left = remove_device(inventory, record)
    return replace(left, failed=(*left.failed, record))


def mark_unplugged(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Move the device to `unplugged`, until its simulated fault is cleared."""
    left = remove_device(inventory, record)
    return replace(left, unplugged=(*left.unplugged, record))


def withhold_record(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Move the device to `withheld`, until its port is unblocked."""
    return withhold_identity(inventory, record.identity)


def withhold_identity(inventory: Inventory, identity: DeviceIdentity) -> Inventory:
    """Put an identity into `withheld`; it may be new to the inventory."""
    left = _without(inventory, identity.device_id)
    return replace(left, withheld=(*left.withheld, identity))


def sort_devices(records: Iterable[DeviceRecord]) -> tuple[DeviceRecord, ...]:
    """Sort records: real devices before simulated ones, each group in order of first appearance."""
    return tuple(sorted(records, key=lambda record: (record.identity.simulated, record.identity.number)))


def _without(inventory: Inventory, device_id: str) -> Inventory:
    return replace(
        inventory,
        devices=tuple(one for one in inventory.devices if one.device_id != device_id),
        failed=tuple(one for one in inventory.failed if one.device_id != device_id),
        withheld=tuple(one for one in inventory.withheld if one.device_id != device_id),
        unplugged=tuple(one for one in inventory.unplugged if one.device_id != device_id),
    )
