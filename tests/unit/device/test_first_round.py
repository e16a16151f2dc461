"""What is simulated when nothing says so: decided after the first round of the detection, and shown only with its devices."""

from __future__ import annotations

from typing import Any, cast

from actors.device.manager import DeviceManager
from actors.device.memory import DeviceMemory
from actors.device.messages import Inventory
from actors.device.stop_latch import StopLatch
from actors.device.stop_switch import StopSwitch
from actors.event.messages import HUB
from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from actors.kit.published import Published
from actors.port.messages import FirstRoundOver, PortTable
from actors.settings.messages import STORE
from fastpath.arena import Runtime
from tests.support.slices import Listener, NoChildren, settings_view


class Shown(Published[Inventory]):
    """An inventory that remembers everything that it ever showed."""

    def __init__(self) -> None:
        super().__init__(Inventory())
        self.all: list[Inventory] = []

    def replace(self, value: Inventory) -> None:
        self.all.append(value)
        super().replace(value)


def test_nobody_sees_a_choice_that_was_made_and_no_device() -> None:
    context, runtime, shown = Context.build(ManualClock()), Runtime(stepping=True, realtime=False), Shown()
    Listener(context, HUB, STORE)
    stops = StopSwitch(runtime, shown, StopLatch(), context.directory.tell)
    memory, ports = Published(DeviceMemory()), Published(PortTable())
    manager = DeviceManager(context, runtime, shown, Published(settings_view()), stops, memory, ports, None)
    manager._children = cast("Any", NoChildren())
    manager.started()
    before = shown.value
    shown.all.clear()

    manager.on_first_round(FirstRoundOver())

    assert before.choosing
    assert [str(record.kind) for record in shown.value.devices] == ["arm", "grip"]
    assert not shown.value.choosing
    assert all(inventory.choosing or inventory.devices for inventory in shown.all)
