"""Keeper of the inventory: it leases slots, starts one actor for each device, and shows what is stopped."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pykka

from actors.device.actor import DeviceActor, actor_name, disconnected_event
from actors.device.memory import DeviceMemory
from actors.device.messages import (
    INVENTORY_READERS,
    MANAGER,
    AddSimulated,
    Bond,
    BondChanged,
    ConfirmInventory,
    DeviceChanged,
    DeviceIdentity,
    DeviceLost,
    DeviceRecord,
    DevicesChanged,
    Inventory,
    Phase,
    PlugDue,
    RemoveSimulated,
    SaveConfiguration,
    ShowBonds,
    Simulate,
    SimulatedSpec,
    SimulationChanged,
    StopSwitched,
)
from actors.device.simulated import MOST_DEVICES, identities, identity_of, own_id
from actors.device.simulation_desk import SimulationDesk
from actors.event.messages import HUB
from actors.kit import errors
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.children import Children, Intensity
from actors.kit.errors import Busy, Conflict
from actors.kit.message import Announce, ChildFailed
from actors.port.messages import PORTS, PortBlocked, PortClosed, PortOpened, PortUnblocked
from actors.settings.messages import STORE, SaveLedger
from actors.values.simulation import Simulation
from fastpath.arena import NoSlot as ArenaFull

if TYPE_CHECKING:
    from actors.device.stop_switch import StopSwitch
    from actors.kit.published import Published
    from actors.port.messages import PortTable
    from actors.settings.messages import SettingsView
    from fastpath.arena import Runtime

MEMORY_SECTION = "devices"
RETRY_S = 0.05
AS_AT_FIRST = Simulation()

logger = logging.getLogger(__name__)


class DeviceManager(ServiceActor):
    """Inventory and stop switch outlive it; a restarted manager adopts the devices that live."""

    def __init__(
        self,
        context: Context,
        runtime: Runtime,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        stops: StopSwitch,
        memory: Published[DeviceMemory],
        ports: Published[PortTable],
        simulated: tuple[SimulatedSpec, ...],
    ) -> None:
        super().__init__(MANAGER, context)
        self._runtime = runtime
        self._inventory = inventory
        self._settings = settings
        self._simulated = simulated
        self._stops = stops
        self._memory = memory
        self._ports = ports
        self._children = Children(
            MANAGER, context, on_give_up=self._give_up, intensity=lambda: Intensity(restarts=3, window_s=10.0)
        )

        self._desk = SimulationDesk(inventory, self)

    def started(self) -> None:
        """Make the simulated devices of the start; a manager that was started again adopts them, and finishes what was under way."""
        if not self._memory.value.numbers:
            for identity in identities(self._simulated):
                self._admit(identity)
        else:
            self._show_stops()
            self._stops.save()
            self._follow_ports()
        for record in self._inventory.value.devices:
            self._spawn(record.device_id)

    def stopped(self) -> None:
        """Stop the devices' actors; the loop has written their zero force before."""
        self._children.stop_all()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """A device's actor died: start it again within its intensity."""
        self._children.failed(message)

    def on_announce(self, message: Announce) -> None:
        """A new store may not have what the last one was told; new keepers of ports may have blocked what nobody said."""
        if message.name == STORE:
            self._stops.save()
            self._save_memory()
        elif message.name == PORTS:
            self._follow_ports()
        elif message.name in INVENTORY_READERS:
            self.tell(message.name, DevicesChanged())

    @handles(DeviceChanged)
    def on_changed(self, message: DeviceChanged) -> None:
        """Show a device's phase and configuration in the inventory; one that has come back meanwhile knows better."""
        record = self._inventory.value.find(message.device_id)
        if record is None or message.generation not in (None, record.lease.generation):
            return
        changed = replace(record, phase=message.phase, wide=message.wide)
        self._replace(changed if one is record else one for one in self._inventory.value.devices)
        if changed.phase is not record.phase:
            self._tell_readers()
        if changed.wide != self._memory.value.wide_of(record.identity):
            self._memory.replace(self._memory.value.configured(record.device_id, changed.wide))
            self._save_memory()

    @handles(ShowBonds)
    def show_bonds(self, message: ShowBonds) -> None:
        """Into the inventory, then to each device for which it is new."""
        before = self._inventory.value.devices
        now = [replace(record, bond=message.bonds.get(record.device_id, record.bond)) for record in before]
        changed = [new.device_id for new, old in zip(now, before, strict=True) if new.bond != old.bond]
        if changed:
            self._replace(now)
        for device_id in changed:
            self.tell(actor_name(device_id), BondChanged())

    @handles(ConfirmInventory)
    def confirm(self, _message: ConfirmInventory) -> None:
        """What was told before has been done."""

    # ------------------------------------------------------------ what is stopped

    @handles(StopSwitched)
    def on_switched(self, _message: StopSwitched) -> None:
        """Show what is stopped in the inventory."""
        self._show_stops()

    def _show_stops(self) -> None:
        latch = self._stops.apply()
        self._replace(
            replace(record, stopped=latch.holds(record.device_id)) for record in self._inventory.value.devices
        )

    # ------------------------------------------------------------ devices come and go

    @handles(AddSimulated)
    def add_simulated(self, message: AddSimulated) -> DeviceRecord:
        """One more device, in the inventory and connecting."""
        spec, inventory = message.spec, self._inventory.value
        here = [record.identity for record in (*inventory.devices, *inventory.unplugged)]
        here += inventory.withheld
        if len(here) >= MOST_DEVICES:
            raise Conflict(f"There are {MOST_DEVICES} devices, which is the most: remove a simulated one first.")
        device_id = own_id(spec, here)
        if device_id in {identity.device_id for identity in here}:
            raise Conflict(f'There is a device "{device_id}" already: choose another device_id or leave it out.')
        identity = identity_of(spec, device_id, here, self._memory.value.number(device_id))
        if self._ports.value.is_blocked(identity.port):
            raise errors.PortBlocked(identity.port)
        record = self._add(identity)
        self._spawn(device_id)
        self._tell_readers()
        return record

    @handles(RemoveSimulated)
    def remove_simulated(self, message: RemoveSimulated) -> DeviceRecord:
        """Zero force at the next tick and out of the inventory, then its actor ends."""
        record = self._desk.find(message.device_id)
        if self._inventory.value.find(record.device_id) is None:
            self._desk.forget(record)
            return record
        return self.lose(record, "it is not simulated any more", on_purpose=True)

    @handles(PortBlocked)
    def on_port_blocked(self, _message: PortBlocked) -> None:
        """The device on it goes."""
        self._follow_ports()

    @handles(PortUnblocked)
    def on_port_unblocked(self, _message: PortUnblocked) -> None:
        """The device that was kept away comes back."""
        self._follow_ports()

    def _follow_ports(self) -> None:
        """Devices as the table of ports has it now; one whose slot is not free yet comes a moment later."""
        ports, inventory = self._ports.value, self._inventory.value
        for record in inventory.devices:
            if ports.is_blocked(record.identity.port):
                self.lose(record, f"port {record.identity.port} is blocked")
                if record.identity.simulated:
                    self._admit(record.identity)
        for identity in inventory.withheld:
            if not ports.is_blocked(identity.port):
                try:
                    self._add(identity)
                except Busy:
                    self.context.timers.after(RETRY_S, self.name, PortUnblocked(identity.port), key=identity.port)
                else:
                    self._spawn(identity.device_id)
                    self._tell_readers()

    def _admit(self, identity: DeviceIdentity) -> None:
        """Into the inventory, or kept away while its port is blocked."""
        if not self._ports.value.is_blocked(identity.port):
            self._add(identity)
            return
        self._memory.replace(self._memory.value.seen(identity.device_id, identity.number))
        inventory = self._inventory.value
        self._inventory.replace(replace(inventory, withheld=(*inventory.withheld, identity)))

    @handles(SaveConfiguration)
    def save_configuration(self, message: SaveConfiguration) -> None:
        """It is in the memory already, and that in the ledger unless the disk refused it."""
        self._inventory.value.get(message.device_id)
        self._save_memory()

    @handles(Simulate)
    def simulate(self, message: Simulate) -> DeviceRecord:
        """The device does what is asked for; one that is unplugged comes back when its fault is cleared."""
        return self._desk.simulate(message)

    @handles(PlugDue)
    def on_plug_due(self, message: PlugDue) -> None:
        """A connection loop goes on."""
        self._desk.turn(message)

    @handles(DeviceLost)
    def on_lost(self, message: DeviceLost) -> None:
        """A device has gone by itself."""
        self._desk.lost(message)

    def simulated(self, record: DeviceRecord, told: SimulationChanged) -> None:
        """Show the record's simulation and tell the device's actor."""
        self._replace(
            replace(one, simulation=record.simulation) if one.device_id == record.device_id else one
            for one in self._inventory.value.devices
        )
        self.tell(actor_name(record.device_id), told)

    def plug(self, identity: DeviceIdentity, wanted: Simulation) -> None:
        """Into the inventory, with an actor, unless its port is blocked; Busy while its slot is not free."""
        if self._ports.value.is_blocked(identity.port):
            self._admit(identity)
        else:
            self._add(identity, wanted)
            self._spawn(identity.device_id)
        self._tell_readers()

    def later(self, seconds: float, due: PlugDue) -> None:
        """Tell the desk, unless something else comes for that device before."""
        self.context.timers.after(seconds, self.name, due, key=(self.name, PlugDue, due.device_id))

    def _add(self, identity: DeviceIdentity, wanted: Simulation = AS_AT_FIRST) -> DeviceRecord:
        try:
            lease = self._runtime.lease_device(identity.device_id)
        except ArenaFull:
            raise Busy("The device that went last still leaves its slot: try again in a moment.") from None
        stopped = self._stops.hold(lease, identity.device_id)
        memory = self._memory.value
        wide = memory.wide_of(identity)
        bond = Bond.at_first(simulated=identity.simulated, beats=wanted.attached)
        record = DeviceRecord(identity, lease, Phase.CONNECTING, wide, bond, stopped, wanted)
        self._memory.replace(memory.seen(identity.device_id, identity.number))
        inventory = self._inventory.value
        failed = tuple(one for one in inventory.failed if one.device_id != identity.device_id)
        withheld = tuple(one for one in inventory.withheld if one.device_id != identity.device_id)
        self._inventory.replace(replace(inventory, failed=failed, withheld=withheld))
        self._replace((*inventory.devices, record))
        self._stops.apply()
        self.tell(PORTS, PortOpened(identity.port, identity.port, identity.device_id))
        return record

    def lose(self, record: DeviceRecord, why: str, *, on_purpose: bool = False) -> DeviceRecord:
        """Zero force, slot back, out of every frame, actor stopped, one event; `on_purpose` counts towards no connection loop."""
        self._runtime.stop_device(record.lease, stopped=True)
        self._runtime.release_device(record.lease)
        self._replace(one for one in self._inventory.value.devices if one.device_id != record.device_id)
        self._children.stop(actor_name(record.device_id))
        gone = replace(record, phase=Phase.DISCONNECTED)
        self.tell(PORTS, PortClosed(record.identity.port, on_purpose))
        self.tell(HUB, disconnected_event(gone, why))
        self._tell_readers()
        return gone

    def _tell_readers(self) -> None:
        for name in INVENTORY_READERS:
            self.tell(name, DevicesChanged())

    def _save_memory(self) -> None:
        self.tell(STORE, SaveLedger(MEMORY_SECTION, self._memory.value.as_json()))

    def _spawn(self, device_id: str) -> None:
        def start() -> pykka.ActorRef[DeviceActor]:
            return DeviceActor.start(self.context, self._runtime, self._inventory, self._settings, device_id)

        self._children.spawn(actor_name(device_id), start)

    def _give_up(self, name: str, error: Exception) -> None:
        """A device that keeps failing: zero force, slot back, one event; the others go on."""
        device_id = name.partition("/")[2]
        record = self._inventory.value.get(device_id)
        self._runtime.stop_device(record.lease, stopped=True)
        self._runtime.release_device(record.lease)
        inventory = self._inventory.value
        self._inventory.replace(
            replace(
                inventory,
                devices=tuple(kept for kept in inventory.devices if kept.device_id != device_id),
                failed=(*inventory.failed, replace(record, phase=Phase.FAILED)),
            )
        )
        self.tell(PORTS, PortClosed(record.identity.port))
        self.tell(HUB, disconnected_event(record, f"its actor failed too often ({error!r}); restart the service"))
        self._tell_readers()

    def _replace(self, records: Iterable[DeviceRecord]) -> None:
        ordered = sorted(records, key=lambda record: (record.identity.simulated, record.identity.number))
        self._inventory.replace(replace(self._inventory.value, devices=tuple(ordered)))
