"""Lookups in the published Inventory."""

from __future__ import annotations

import pytest

from actors.device.messages import Inventory
from actors.kit.errors import NoSuchDevice
from tests.support.actors.doubles import inventory_of

INVENTORY = inventory_of("arm", "grip")
ARM, GRIP = INVENTORY.devices


def test_a_device_is_found_by_exactly_its_id() -> None:
    assert INVENTORY.find(ARM.device_id) is ARM
    assert INVENTORY.get(GRIP.device_id) is GRIP


@pytest.mark.parametrize("device_id", ["", "nobody", ARM.device_id.lower(), ARM.device_id + " ", "*", "0"])
def test_unknown_id_finds_no_device(device_id: str) -> None:
    assert INVENTORY.find(device_id) is None
    with pytest.raises(NoSuchDevice) as raised:
        INVENTORY.get(device_id)
    assert raised.value.wanted == device_id


def test_failed_device_is_not_found() -> None:
    assert Inventory((GRIP,), (ARM,)).find(ARM.device_id) is None


def test_a_record_shows_id_and_kind_of_its_identity() -> None:
    assert (ARM.device_id, ARM.kind) == (ARM.identity.device_id, ARM.identity.kind)
