"""Handlers of `/simulation`: adding a device answers once the loop shows it; real devices are not found."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import NoSuchDevice
from fastpath.layout.constants import StatusFlag
from tests.support.actors.doubles import inventory_of
from transport.http.resources import simulation
from transport.wire.vocabulary import NEUTRAL

DEVICES = inventory_of("arm", "compact")
ARM, COMPACT = DEVICES.devices
REAL = replace(ARM, identity=replace(ARM.identity, simulated=False))


class Loop:
    """A loop that shows the device from the look of that number on; a reader of itself."""

    stepping = False

    def __init__(self, shows_at: int) -> None:
        self.shows_at = shows_at
        self.looks = 0

    def reader(self, _lease: object) -> Loop:
        return self

    def snapshot(self) -> dict[str, int]:
        self.looks += 1
        shown = self.looks >= self.shows_at
        return {"generation": ARM.lease.generation - (not shown), "flags": StatusFlag.FLAG_MEASURED if shown else 0}


def call_of(inventory: Inventory, *words: str, loop: Loop | None = None) -> Any:
    """What a handler is given; the manager answers with the arm."""

    async def ask(_name: str, _request: object) -> DeviceRecord:
        return ARM

    def fields(*_names: str) -> dict[str, str]:
        return {"type": "arm"}

    bridge = SimpleNamespace(inventory=inventory, ask=ask, system=SimpleNamespace(runtime=loop))
    named = dict(zip(("device", "id"), words, strict=False))
    return SimpleNamespace(bridge=bridge, words=named, vocabulary=NEUTRAL, fields=fields)


@pytest.mark.parametrize(("shows_at", "looks"), [(1, 1), (3, 3), (10_000, simulation.FIRST_TICK_LOOKS)])
def test_added_device_is_answered_once_the_loop_shows_it_or_stands_still(
    monkeypatch: pytest.MonkeyPatch, shows_at: int, looks: int
) -> None:
    loop = Loop(shows_at)

    def entry(_call: object, record: DeviceRecord) -> dict[str, object]:
        return {"of": record.device_id, "looks": loop.looks}

    monkeypatch.setattr(simulation, "FIRST_TICK_LOOK_S", 0.0)
    monkeypatch.setattr(simulation, "entry_of", entry)

    answer = asyncio.run(simulation.add_device(call_of(DEVICES, loop=loop)))

    assert answer.data == {"of": ARM.device_id, "looks": looks}


def test_pattern_matches_simulated_devices_only() -> None:
    inventory = replace(DEVICES, devices=(REAL,), unplugged=(COMPACT,))

    assert simulation._found(call_of(inventory, "*", "*")).records == (COMPACT,)


@pytest.mark.parametrize("name", [ARM.device_id, "0", "*"])
def test_a_real_device_is_not_found(name: str) -> None:
    with pytest.raises(NoSuchDevice):
        simulation._found(call_of(replace(DEVICES, devices=(REAL,)), "arm", name))
