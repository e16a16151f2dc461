"""DeviceManager, the actor that keeps the inventory: leases slots and starts one DeviceActor per device."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pykka

from actors.device.actor import DeviceActor
from actors.device.events import connected_event, disconnected_event
from actors.device.inventory import (
    Move,
    mark_failed,
    put_device,
    remove_device,
    sort_devices,
    withhold_identity,
    withhold_record,
)
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
    NameDevice,
    Phase,
    PlugDue,
    RemoveSimulated,
    SaveConfiguration,
    Simulate,
    SimulatedSpec,
    SimulationChanged,
    StopSwitched,
    UpdateBonds,
    actor_name,
)
from actors.device.names import check_name
from actors.device.real_devices import RealDevices
from actors.device.simulated_devices import SimulatedDevices
from actors.device.simulated_identity import WHEN_NOTHING_REAL, identities, parse
from actors.event.messages import HUB
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.children import Children, RestartLimit
from actors.kit.errors import Busy
from actors.kit.message import Announce, ChildFailed
from actors.port.messages import (
    BLOCK_ON_LOOP,
    LOOP_THRESHOLD,
    PORTS,
    ConfigureOverLink,
    DeviceDropped,
    DeviceFound,
    FirstScanDone,
    LinkClosed,
    PortBlocked,
    PortClosed,
    PortOpened,
    PortPlugged,
    PortRemoved,
    PortUnblocked,
    link_name,
)
from actors.settings.messages import STORE, SaveLedger
from actors.values.simulation import Simulation
from fastpath.arena.runtime import NoSlot as ArenaFull

if TYPE_CHECKING:
    from actors.device.stop_switch import StopSwitch
    from actors.kit.published import Published
    from actors.port.messages import PortTable
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime

MEMORY_SECTION = "devices"
RETRY_S = 0.05
FIRST_SCAN_S = 1.0
AS_AT_FIRST = Simulation()

logger = logging.getLogger(__name__)


class DeviceManager(ServiceActor):
    """Actor of the inventory, which outlives it, as does the stop switch; a restarted one adopts the devices.

    `simulated` None: an arm and a grip are simulated unless the first scan finds a real device.
    """

    def __init__(
        self,
        context: Context,
        runtime: Runtime,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        stops: StopSwitch,
        memory: Published[DeviceMemory],
        ports: Published[PortTable],
        simulated: tuple[SimulatedSpec, ...] | None,
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
            MANAGER, context, on_give_up=self._give_up, restart_limit=lambda: RestartLimit(restarts=3, window_s=10.0)
        )
        self._simulated_devices = SimulatedDevices(inventory, memory, ports, self)
        self._real_devices = RealDevices(inventory, memory, ports, self)

    def started(self) -> None:
        """Add the simulated devices of the start, or after a restart adopt the devices of the inventory."""
        restarted = bool(self._memory.value.numbers)
        if not restarted:
            if self._simulated is None:
                self._inventory.replace(replace(self._inventory.value, choosing=True))
            for identity in identities(self._simulated or ()):
                self._add_or_withhold(identity)
        if self._inventory.value.choosing:
            self.context.timers.after(FIRST_SCAN_S, self.name, FirstScanDone(), key=(self.name, FirstScanDone))
        for record in self._inventory.value.devices:
            self._spawn(record.device_id)
        if restarted:
            self._update_stopped()
            self._stops.save()
            # After the adoption, so that a device of a blocked port also loses its actor.
            self._apply_port_blocks()

    @handles(FirstScanDone)
    def on_first_scan_done(self, _message: FirstScanDone) -> None:
        """Simulate devices if the first scan of the ports found no real one."""
        inventory = self._inventory.value
        if not inventory.choosing:
            return
        self.context.timers.cancel((self.name, FirstScanDone))
        if not inventory.devices:
            for identity in identities(parse(word) for word in WHEN_NOTHING_REAL):
                self._add_or_withhold(identity)
            for record in self._inventory.value.devices:
                self._spawn(record.device_id)
        # Last, so that readers that wait for `choosing` find the chosen devices.
        self._inventory.replace(replace(self._inventory.value, choosing=False))
        if not inventory.devices:
            self._tell_readers()

    def stopped(self) -> None:
        """Stop the devices' actors; the loop has written zero force before."""
        self._children.stop_all()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """Restart a crashed DeviceActor within its restart limit."""
        self._children.failed(message)

    def on_announce(self, message: Announce) -> None:
        """Send latch and memory to a new store, blocked devices' ports to a new PortManager, a change to a new reader."""
        if message.name == STORE:
            self._stops.save()
            self._save_memory()
        elif message.name == PORTS:
            self._apply_port_blocks()
        elif message.name in INVENTORY_READERS:
            self.tell(message.name, DevicesChanged())

    @handles(DeviceChanged)
    def on_changed(self, message: DeviceChanged) -> None:
        """Update phase and configuration in the inventory; ignore a message of an earlier connection."""
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

    @handles(NameDevice)
    def name_device(self, message: NameDevice) -> None:
        """Store the device's name and show it in the inventory."""
        record, memory = self._inventory.value.get(message.device_id), self._memory.value
        if message.name:
            check_name(message.name, record.device_id, memory.ids(), memory.names)
        if message.name != record.name:
            self._memory.replace(memory.named(record.device_id, message.name))
            named = replace(record, name=message.name)
            self._replace(named if one is record else one for one in self._inventory.value.devices)
        self._save_memory()

    @handles(UpdateBonds)
    def update_bonds(self, message: UpdateBonds) -> None:
        """Update the bonds in the inventory and tell each device whose bond changed."""
        before = self._inventory.value.devices
        now = [replace(record, bond=message.bonds.get(record.device_id, record.bond)) for record in before]
        changed = [new.device_id for new, old in zip(now, before, strict=True) if new.bond != old.bond]
        if changed:
            self._replace(now)
        for device_id in changed:
            self.tell(actor_name(device_id), BondChanged())

    @handles(ConfirmInventory)
    def confirm(self, _message: ConfirmInventory) -> None:
        """Reply when all earlier messages are handled."""

    # ------------------------------------------------------------ stop latch

    @handles(StopSwitched)
    def on_switched(self, _message: StopSwitched) -> None:
        """Update in the inventory which devices are stopped."""
        self._update_stopped()

    def _update_stopped(self) -> None:
        latch = self._stops.apply()
        self._replace(
            replace(record, stopped=latch.holds(record.device_id)) for record in self._inventory.value.devices
        )

    # ------------------------------------------------------------ adding and removing devices

    @handles(AddSimulated)
    def add_simulated(self, message: AddSimulated) -> DeviceRecord:
        """Add a simulated device. Return its record, connecting."""
        return self.admit(self._simulated_devices.new(message.spec))

    @handles(RemoveSimulated)
    def remove_simulated(self, message: RemoveSimulated) -> DeviceRecord:
        """Remove a simulated device: zero force at the next tick, out of the inventory, actor stopped."""
        record = self._simulated_devices.find(message.device_id)
        if self._inventory.value.find(record.device_id) is None:
            self._inventory.replace(remove_device(self._inventory.value, record))
        else:
            record = self.lose(record, "it is not simulated any more", on_purpose=True)
        self.tell(PORTS, PortRemoved(record.identity.port))
        return record

    @handles(PortBlocked)
    def on_port_blocked(self, _message: PortBlocked) -> None:
        """Remove the device of the blocked port."""
        self._apply_port_blocks()

    @handles(PortUnblocked)
    def on_port_unblocked(self, _message: PortUnblocked) -> None:
        """Add the withheld device of the port."""
        self._apply_port_blocks()

    def _apply_port_blocks(self) -> None:
        """Remove devices of blocked ports and add withheld ones of unblocked ports; try again if no slot is free yet."""
        ports, inventory = self._ports.value, self._inventory.value
        for record in inventory.devices:
            if ports.is_blocked(record.identity.port):
                moves = withhold_record if record.identity.simulated else remove_device
                self.lose(record, f"port {record.identity.port} is blocked", moves=moves)
        for identity in inventory.withheld:
            if not ports.is_blocked(identity.port):
                try:
                    self.admit(identity)
                except Busy:
                    self.context.timers.after(RETRY_S, self.name, PortUnblocked(identity.port), key=identity.port)

    def _add_or_withhold(self, identity: DeviceIdentity) -> None:
        """Add the device to the inventory, withheld if its port is blocked."""
        if self._ports.value.is_blocked(identity.port):
            self._withhold(identity)
        else:
            self._add(identity)

    def _withhold(self, identity: DeviceIdentity) -> None:
        self._memory.replace(self._memory.value.seen(identity.device_id, identity.number))
        self._inventory.replace(withhold_identity(self._inventory.value, identity))

    @handles(SaveConfiguration)
    def save_configuration(self, message: SaveConfiguration) -> None:
        """Save the memory; a real device can store its configuration too."""
        record = self._inventory.value.get(message.device_id)
        self._save_memory()
        if message.in_device and not record.identity.simulated:
            order = ConfigureOverLink(record.identity.link_id, record.wide, save=True)
            self.tell(link_name(record.identity.port), order)

    @handles(Simulate)
    def simulate(self, message: Simulate) -> DeviceRecord:
        """Change a device's simulation; clearing its fault brings an unplugged device back."""
        return self._simulated_devices.simulate(message)

    @handles(PlugDue)
    def on_plug_due(self, message: PlugDue) -> None:
        """Take the next step of a simulated connection loop."""
        self._simulated_devices.turn(message)

    @handles(DeviceLost)
    def on_lost(self, message: DeviceLost) -> None:
        """Remove a device that is gone."""
        record = self._inventory.value.find(message.device_id)
        owner = self._simulated_devices if record is None or record.identity.simulated else self._real_devices
        owner.lost(message)

    @handles(DeviceFound)
    def on_found(self, message: DeviceFound) -> None:
        """Admit a real device that a link reported."""
        self._real_devices.found(message)

    @handles(LinkClosed)
    def on_link_closed(self, message: LinkClosed) -> None:
        """Remove the devices behind a closed link."""
        self._real_devices.closed(message)

    def admit(self, identity: DeviceIdentity) -> DeviceRecord:
        """Add the device to the inventory and start its actor; Busy while its slot is not free."""
        record = self._add(identity)
        self._spawn(identity.device_id)
        self._tell_readers()
        return record

    def simulated(self, record: DeviceRecord, told: SimulationChanged) -> None:
        """Store the record's simulation and tell the device's actor."""
        self._replace(
            replace(one, simulation=record.simulation) if one.device_id == record.device_id else one
            for one in self._inventory.value.devices
        )
        self.tell(actor_name(record.device_id), told)

    def plug(self, identity: DeviceIdentity, wanted: Simulation) -> None:
        """Add the device unless its port is blocked or this connection will block it; Busy while its slot is not free."""
        settings, ports = self._settings.value, self._ports.value
        loops = settings.flag(BLOCK_ON_LOOP) and ports.may_be_blocked(identity.port, settings.integer(LOOP_THRESHOLD))
        if ports.is_blocked(identity.port) or loops:
            self._withhold(identity)
            if loops:
                # The port's guard counts first: a device that it withholds never connects.
                self.tell(PORTS, PortPlugged(identity.port))
                self.context.timers.after(RETRY_S, self.name, PortUnblocked(identity.port), key=identity.port)
        else:
            self._add(identity, wanted)
            self._spawn(identity.device_id)
        self._tell_readers()

    def later(self, seconds: float, due: PlugDue) -> None:
        """Send `due` after `seconds`; replaced by a later call for the same device."""
        self.context.timers.after(seconds, self.name, due, key=(self.name, PlugDue, due.device_id))

    def _add(self, identity: DeviceIdentity, wanted: Simulation = AS_AT_FIRST) -> DeviceRecord:
        try:
            lease = self._runtime.lease_device(identity.device_id)
        except ArenaFull:
            raise Busy("The device that went last still leaves its slot: try again in a moment.") from None
        stopped = self._stops.hold(lease, identity.device_id)
        memory = self._memory.value
        wide = memory.wide_of(identity)
        calibrated = identity.found is not None and identity.found.calibrated
        bond = Bond.at_first(simulated=identity.simulated, beats=wanted.attached, calibrated=calibrated)
        name = memory.name_of(identity.device_id)
        record = DeviceRecord(identity, lease, Phase.CONNECTING, wide, bond, stopped, wanted, name)
        self._memory.replace(memory.seen(identity.device_id, identity.number))
        self._inventory.replace(put_device(self._inventory.value, record))
        # First, so that this is the first event of the device.
        self.tell(HUB, connected_event(record))
        self._stops.apply()
        if identity.simulated:
            self.tell(PORTS, PortOpened(identity.port, identity.port, identity.device_id))
        return record

    def lose(
        self, record: DeviceRecord, why: str, *, moves: Move = remove_device, on_purpose: bool = False
    ) -> DeviceRecord:
        """Remove a device: zero force, slot freed, actor stopped, one event; `on_purpose` counts towards no connection loop."""
        self._runtime.stop_device(record.lease, stopped=True)
        self._runtime.release_device(record.lease)
        gone = replace(record, phase=Phase.DISCONNECTED)
        self._inventory.replace(moves(self._inventory.value, gone))
        self._children.stop(actor_name(record.device_id))
        self._leave_port(record, on_purpose=on_purpose)
        self.tell(HUB, disconnected_event(gone, why))
        self._tell_readers()
        return gone

    def _leave_port(self, record: DeviceRecord, *, on_purpose: bool = False, again: bool = True) -> None:
        """Report a simulated port as closed; tell a real port's PortLink to drop the device."""
        identity = record.identity
        if identity.simulated:
            self.tell(PORTS, PortClosed(identity.port, on_purpose))
        else:
            self.tell(link_name(identity.port), DeviceDropped(identity.link_id, record.lease.generation, again))

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
        """Move a device whose actor crashed too often to `failed`: zero force, slot freed, one event."""
        device_id = name.partition("/")[2]
        record = self._inventory.value.get(device_id)
        self._runtime.stop_device(record.lease, stopped=True)
        self._runtime.release_device(record.lease)
        self._inventory.replace(mark_failed(self._inventory.value, replace(record, phase=Phase.FAILED)))
        self._leave_port(record, again=False)
        self.tell(HUB, disconnected_event(record, f"its actor failed too often ({error!r}); restart the service"))
        self._tell_readers()

    def _replace(self, records: Iterable[DeviceRecord]) -> None:
        self._inventory.replace(replace(self._inventory.value, devices=sort_devices(records)))
