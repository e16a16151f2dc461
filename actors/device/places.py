"""Where a device is, as a rule: here, given up, withheld, unplugged or nowhere. Each change is one new inventory, so that nobody ever
reads one in which it is in two places, or in none while it only goes from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from actors.device.messages import DeviceIdentity, DeviceRecord, Inventory

Move = Callable[[Inventory, DeviceRecord], Inventory]


def nowhere(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Without it."""
    return _without(inventory, record.device_id)


def here(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """With this record of it, at its place in the order."""
    left = nowhere(inventory, record)
    return replace(left, devices=in_order((*left.devices, record)))


def failed(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Given up."""
    left = nowhere(inventory, record)
    return replace(left, failed=(*left.failed, record))


def unplugged(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Away until its fault is cleared."""
    left = nowhere(inventory, record)
    return replace(left, unplugged=(*left.unplugged, record))


def withheld(inventory: Inventory, record: DeviceRecord) -> Inventory:
    """Away until its port is unblocked."""
    return kept_away(inventory, record.identity)


def kept_away(inventory: Inventory, identity: DeviceIdentity) -> Inventory:
    """As `withheld`, for one that may never have been here."""
    left = _without(inventory, identity.device_id)
    return replace(left, withheld=(*left.withheld, identity))


def in_order(records: Iterable[DeviceRecord]) -> tuple[DeviceRecord, ...]:
    """Real ones before simulated ones, each in order of first appearance."""
    return tuple(sorted(records, key=lambda record: (record.identity.simulated, record.identity.number)))


def _without(inventory: Inventory, device_id: str) -> Inventory:
    return replace(
        inventory,
        devices=tuple(one for one in inventory.devices if one.device_id != device_id),
        failed=tuple(one for one in inventory.failed if one.device_id != device_id),
        withheld=tuple(one for one in inventory.withheld if one.device_id != device_id),
        unplugged=tuple(one for one in inventory.unplugged if one.device_id != device_id),
    )
