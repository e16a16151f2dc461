"""Default simulated devices: chosen after detection's first round, and published together with the choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from actors.device.manager import DeviceManager
from actors.device.memory import DeviceMemory
from actors.device.messages import MANAGER, Inventory
from actors.device.stop_latch import StopLatch
from actors.device.stop_switch import StopSwitch
from actors.kit.published import Published
from actors.port.messages import FirstScanDone, PortTable
from fastpath.arena.runtime import Runtime
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeChildren, inventory_of


class Shown(Published[Inventory]):
    """An inventory that remembers everything that it ever showed."""

    def __init__(self) -> None:
        super().__init__(Inventory())
        self.all: list[Inventory] = []

    def replace(self, value: Inventory) -> None:
        self.all.append(value)
        super().replace(value)


class FirstRoundRig(ActorRig):
    """A manager without an actor's thread, whose service has no setting about simulated devices."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = Shown()
        runtime = Runtime(stepping=True, realtime=False)
        stops = StopSwitch(runtime, self.shown, StopLatch(), self.context.directory.tell)
        memory, ports = Published(DeviceMemory()), Published(PortTable())
        self.manager = DeviceManager(self.context, runtime, self.shown, self.settings, stops, memory, ports, None)
        self.manager._children = cast("Any", FakeChildren())
        self.manager.started()


@pytest.fixture
def rig() -> FirstRoundRig:
    return FirstRoundRig()


def test_simulated_choice_and_devices_are_published_together(rig: FirstRoundRig) -> None:
    shown, before = rig.shown, rig.shown.value
    shown.all.clear()

    rig.manager.on_first_scan_done(FirstScanDone())

    assert before.choosing
    assert [(str(record.kind), str(record.identity.connection)) for record in shown.value.devices] == [
        ("arm", "simulated"),
        ("grip", "wireless"),
    ]
    assert not shown.value.choosing
    assert all(inventory.choosing or inventory.devices for inventory in shown.all)


def test_first_scan_is_awaited_for_at_most_a_second(rig: FirstRoundRig) -> None:
    rig.context.directory.register(MANAGER, rig.manager.actor_ref)
    rig.clock.advance(0.999)
    assert rig.context.timers.fire_due() == 0
    rig.clock.advance(0.001)
    assert rig.context.timers.fire_due() == 1
    assert isinstance(rig.manager.actor_inbox.get().message, FirstScanDone)


def test_real_device_prevents_default_simulation(rig: FirstRoundRig) -> None:
    (simulated,) = inventory_of("compact").devices
    real = replace(simulated, identity=replace(simulated.identity, simulated=False))
    rig.shown.replace(replace(rig.shown.value, devices=(real,)))

    rig.manager.on_first_scan_done(FirstScanDone())

    assert rig.shown.value.devices == (real,)
    assert not rig.shown.value.choosing
