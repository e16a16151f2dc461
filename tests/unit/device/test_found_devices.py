"""Real devices that links report, in the inventory: which record a device with the same id or uuid gets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.event.messages import Emit
from actors.port.messages import DeviceFound, LinkClosed
from actors.values.hardware import FoundDevice
from actors.values.identity import Connection, Firmware, Kind
from tests.unit.device.test_manager import DeviceManagerRig, started

BOARD = FoundDevice("A1B2", Kind.ARM, Connection.SERIAL, Firmware(7, 5), 1, "5" * 32, "openlink")
NO_UUID = replace(BOARD, uuid="0" * 32)


def find(rig: DeviceManagerRig, port: str, found: FoundDevice) -> None:
    rig.manager.on_found(DeviceFound(port, 1, found))
    rig.runtime.step()


def where(rig: DeviceManagerRig) -> dict[str, str]:
    return {record.device_id: record.identity.port for record in rig.records}


def test_device_with_the_same_uuid_at_another_port_has_moved() -> None:
    rig = started()
    find(rig, "ttyACM0", BOARD)
    find(rig, "ttyACM1", BOARD)

    assert where(rig) == {"A1B2": "ttyACM1"}
    (gone,) = [event for event in rig.hub.of(Emit) if event.kind == "device-disconnected"]
    assert gone.message.endswith("it is on port ttyACM1 now")


@pytest.mark.parametrize("board", [BOARD, NO_UUID])
def test_device_found_again_at_its_port_keeps_its_slot(board: FoundDevice) -> None:
    rig = started()
    find(rig, "ttyACM0", board)
    before = rig.records
    find(rig, "ttyACM0", board)

    assert rig.records == before


@pytest.mark.parametrize("other", [NO_UUID, replace(BOARD, uuid="7" * 32)])
def test_device_with_the_same_id_and_another_uuid_replaces_none(other: FoundDevice) -> None:
    rig = started()
    find(rig, "ttyACM0", NO_UUID)
    lease = rig.records[0].lease
    find(rig, "ttyACM1", other)
    find(rig, "ttyACM1", other)

    assert rig.records[0].lease == lease
    (second,) = set(where(rig)) - {"A1B2"}
    assert where(rig) == {"A1B2": "ttyACM0", second: "ttyACM1"}
    assert len(second) == 4


def test_closed_link_removes_only_its_own_devices() -> None:
    rig = started()
    find(rig, "ttyACM0", NO_UUID)
    find(rig, "ttyACM1", NO_UUID)
    rig.manager.on_link_closed(LinkClosed("ttyACM0", "unplugged"))

    assert list(where(rig).values()) == ["ttyACM1"]
