"""Simulated devices in DeviceManager: add, remove and change them, and unplug them while their fault is `unplug`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from actors.device import simulation
from actors.device.inventory import mark_unplugged
from actors.device.messages import (
    DeviceIdentity,
    DeviceLost,
    DeviceRecord,
    PlugDue,
    Simulate,
    SimulatedSpec,
    SimulationChanged,
)
from actors.device.simulated_identity import MOST_DEVICES, identity_of, own_id
from actors.kit.errors import Busy, Conflict, NoSuchDevice, PortBlocked
from actors.values.simulation import Fault

if TYPE_CHECKING:
    from actors.device.manager_actions import ManagerActions
    from actors.device.memory import DeviceMemory
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.port.messages import PortTable

LOOPS: Final = 5
LOOP_STEP_S: Final = 0.5


class SimulatedDevices:
    """Used on the manager's thread only; what it knows is in the inventory."""

    def __init__(
        self,
        inventory: Published[Inventory],
        memory: Published[DeviceMemory],
        ports: Published[PortTable],
        manager: ManagerActions,
    ) -> None:
        self._inventory = inventory
        self._memory = memory
        self._ports = ports
        self._manager = manager

    def new(self, spec: SimulatedSpec) -> DeviceIdentity:
        """Add a device; Conflict (its id is taken, no room), PortBlocked."""
        inventory = self._inventory.value
        here = [record.identity for record in (*inventory.devices, *inventory.unplugged)]
        here += inventory.withheld
        if len(here) >= MOST_DEVICES:
            raise Conflict(f"There are {MOST_DEVICES} devices, which is the most: remove a simulated one first.")
        device_id = own_id(spec, here)
        if device_id in {identity.device_id for identity in here}:
            raise Conflict(f'There is a device "{device_id}" already: choose another device_id or leave it out.')
        identity = identity_of(spec, device_id, here, self._memory.value.number(device_id))
        if self._ports.value.is_blocked(identity.port):
            raise PortBlocked(identity.port)
        return identity

    def simulate(self, message: Simulate) -> DeviceRecord:
        """Apply a change and return the record after it; a fault that unplugs or plugs in acts at once. NoSuchDevice, InvalidInput, Busy."""
        change = message.change
        before = self.find(message.device_id)
        record = replace(before, simulation=simulation.changed(before, change))
        awake = True if change.awake is None and change.wakes else change.awake
        if record != before or awake is not None:
            self._show(record, SimulationChanged(awake))
        if change.fault is None:
            return record
        here = self._is_here(record)
        if change.fault is Fault.CONNECTION_LOOP:
            self.turn(PlugDue(record.device_id, 0 if here else 1))
        elif change.fault is Fault.UNPLUG and here:
            self._unplug(record, "it was unplugged")
        elif change.fault not in simulation.AWAY and not here:
            self._plug(record)
        return self.find(record.device_id)

    def lost(self, message: DeviceLost) -> None:
        """Handle a simulated device that stopped sending: it stays unplugged."""
        record = self._inventory.value.find(message.device_id)
        if record is not None and record.lease.generation == message.generation:
            self._unplug(record, message.why)

    def turn(self, due: PlugDue) -> None:
        """Do one step of a connection loop: even steps unplug, odd steps plug in; the last one ends the fault."""
        try:
            record = self.find(due.device_id)
        except (NoSuchDevice, PortBlocked):
            return
        if record.fault is not Fault.CONNECTION_LOOP:
            return
        last = due.step >= 2 * LOOPS - 1
        if due.step % 2 == 0 and self._is_here(record):
            self._unplug(record, "its cable is loose")
        elif due.step % 2 and not self._is_here(record):
            fault = Fault.NONE if last else record.fault
            try:
                self._plug(replace(record, simulation=replace(record.simulation, fault=fault)))
            except Busy:
                self._manager.later(LOOP_STEP_S, due)
                return
        if not last:
            self._manager.later(LOOP_STEP_S, PlugDue(due.device_id, due.step + 1))

    def find(self, device_id: str) -> DeviceRecord:
        """Return a simulated device, present or unplugged; NoSuchDevice, PortBlocked."""
        inventory = self._inventory.value
        for record in (*inventory.devices, *inventory.unplugged):
            if record.device_id == device_id and record.identity.simulated:
                return record
        for identity in inventory.withheld:
            if identity.device_id == device_id:
                raise PortBlocked(identity.port)
        raise NoSuchDevice(device_id)

    def _show(self, record: DeviceRecord, told: SimulationChanged) -> None:
        if self._is_here(record):
            self._manager.simulated(record, told)
            return
        inventory = self._inventory.value
        shown = (record if one.device_id == record.device_id else one for one in inventory.unplugged)
        self._inventory.replace(replace(inventory, unplugged=tuple(shown)))

    def _is_here(self, record: DeviceRecord) -> bool:
        return self._inventory.value.find(record.device_id) is not None

    def _plug(self, record: DeviceRecord) -> None:
        self._manager.plug(record.identity, record.simulation)

    def _unplug(self, record: DeviceRecord, why: str) -> None:
        self._manager.lose(record, why, moves=mark_unplugged)
