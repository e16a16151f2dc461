"""DeviceActor: takes one device from connecting to ready, and is the only writer of its loop parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.device.configuration import changed
from actors.device.events import sent_nothing, sleep_event, stale_event
from actors.device.messages import (
    MANAGER,
    BondChanged,
    CalibrationDue,
    ConfigureDevice,
    DeviceChanged,
    DeviceDozed,
    DeviceLost,
    DeviceRested,
    DeviceSettled,
    DeviceSilent,
    DeviceWide,
    Inventory,
    Phase,
    SafetyTripped,
    SimulationChanged,
    actor_name,
    unsupported_event,
)
from actors.device.params import device_params
from actors.device.safety import ACTING_SETTINGS, limits_of, safety_events
from actors.event.messages import HUB
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.errors import FirmwareTooOld
from actors.kit.message import Announce
from actors.pairing.messages import PAIRING, CalibrationEnded, Reason
from actors.port.messages import AwakeChanged, CalibrateOverLink, ConfigureOverLink, HomedChanged, link_name
from actors.settings.messages import SettingChanged
from actors.values.simulation import Fault

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime

SETTLE: Final = "devices/settle_time"
SIMULATED_SETTLE: Final = "simulation/settle_time"
# A device that finds out where it is after its settle time waits so long: what was commanded for where it seemed to be has faded.
HOMED_S: Final = 0.2
# How long a simulated calibration takes.
CALIBRATION_S: Final = 1.0
CALIBRATION_FAULTS: Final[Mapping[Fault, Reason]] = MappingProxyType(
    {Fault.OSCILLATING_HALL: Reason.OSCILLATING_HALL, Fault.CALIBRATION_BLOCKED: Reason.BLOCKED}
)
FORCE_SCALE: Final = "filters/force_scale/gain"
NS_PER_MS: Final = 1_000_000


class DeviceActor(ServiceActor):
    """Starts from the device's record in the inventory, which outlives it: a restarted actor goes on where it was."""

    def __init__(
        self,
        context: Context,
        runtime: Runtime,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        device_id: str,
    ) -> None:
        super().__init__(actor_name(device_id), context)
        self._runtime = runtime
        self._inventory = inventory
        self._settings = settings
        self._record = inventory.value.get(device_id)
        self._awake = self._record.phase is not Phase.ASLEEP
        # Whether the device knows where it is; None: its link has not said.
        self._homed: bool | None = None if self._record.identity.found and not self._record.ready else True
        self._window_over = False

    def started(self) -> None:
        """Connect a new device; take up one that was ready."""
        record = self._inventory.value.find(self._record.device_id)
        if record is None:
            # Taken away before this thread began.
            return
        self._record = record
        self._configure_hardware()
        if self._record.phase in (Phase.READY, Phase.ASLEEP):
            self._publish()
            # Whether the last one's word to end a run was still said is not known.
            self._calibrate(may_run=True)
            return
        self._enter(Phase.SETTLING)
        self._settle(self._settle_s())

    @handles(DeviceSettled)
    def on_settled(self, _message: DeviceSettled) -> None:
        """Commands are taken from now on, if the device knows where it is."""
        self._window_over = True
        self._be_ready()

    @handles(AwakeChanged)
    def on_awake(self, message: AwakeChanged) -> None:
        """A real device fell asleep or woke up; one that settles is shown asleep when it has settled."""
        if message.generation == self._record.lease.generation:
            self._awake = message.awake
            self._be(Phase.READY if message.awake else Phase.ASLEEP)

    @handles(HomedChanged)
    def on_homed(self, message: HomedChanged) -> None:
        """A real device that does not know where it is settles until it does; its settle time runs meanwhile, and once."""
        if message.generation != self._record.lease.generation:
            return
        before, self._homed = self._homed, message.homed
        if not message.homed:
            if self._record.ready:
                self._enter(Phase.SETTLING)
                self._settle(self._settle_s())
        elif before is False and self._window_over:
            self._settle(min(HOMED_S, self._settle_s()))
        else:
            self._be_ready()

    @handles(BondChanged)
    def on_bond(self, _message: BondChanged) -> None:
        """The loop is told, with zero force while a calibration runs; the device calibrates once for each run."""
        record = self._inventory.value.find(self._record.device_id)
        if record is not None:
            run, self._record = self._record.bond.run, replace(self._record, bond=record.bond)
            self._publish()
            if record.bond.run != run:
                self._calibrate(may_run=bool(run))

    @handles(CalibrationDue)
    def on_calibration_due(self, message: CalibrationDue) -> None:
        """The simulated firmware says how it went: by the faults that the device or its handle has."""
        device_id, bond = self._record.device_id, self._record.bond
        if message.run == bond.run:
            ids = (device_id, bond.paired_with)
            reasons = (CALIBRATION_FAULTS.get(fault_of(self._inventory.value, one)) for one in ids if one is not None)
            reason = next((reason for reason in reasons if reason is not None), None)
            self.tell(PAIRING, CalibrationEnded(device_id, bond.run, reason))

    @handles(SimulationChanged)
    def on_simulation(self, message: SimulationChanged) -> None:
        """The loop is told; then the device falls asleep or wakes up, if that was asked for."""
        record = self._inventory.value.find(self._record.device_id)
        if record is not None and record.lease == self._record.lease:
            self._record = replace(self._record, simulation=record.simulation)
            self._publish()
        if message.awake is not None:
            self._be(Phase.READY if message.awake else Phase.ASLEEP)

    @handles(DeviceRested)
    def on_rested(self, message: DeviceRested) -> None:
        """A simulated handle that nobody moves falls asleep; a real one says so itself."""
        record = self._record
        if message.generation == record.lease.generation and record.identity.simulated and record.kind.is_handle:
            self._be(Phase.ASLEEP)

    @handles(DeviceSilent)
    def on_silent(self, message: DeviceSilent) -> None:
        """First its data are stale, then the device is gone."""
        record = self._record
        if message.generation != record.lease.generation:
            return
        if message.gone:
            self.tell(MANAGER, DeviceLost(record.device_id, message.generation, sent_nothing(message.silent_ns)))
        else:
            self.tell(HUB, stale_event(record, round(message.silent_ns / NS_PER_MS, 1)))

    @handles(SafetyTripped)
    def on_tripped(self, message: SafetyTripped) -> None:
        """The loop has acted already: here it is said."""
        if message.generation == self._record.lease.generation:
            for event in safety_events(self._record, message.before, message.now):
                self.tell(HUB, event)

    @handles(DeviceDozed)
    def on_dozed(self, message: DeviceDozed) -> None:
        """The screensaver begins or ends; the device obeys as before."""
        if message.generation == self._record.lease.generation:
            self.tell(HUB, sleep_event(self._record, awake=message.awake))

    @handles(ConfigureDevice)
    def configure(self, message: ConfigureDevice) -> DeviceWide:
        """The configuration for all sessions after the change, which the loop has already; InvalidInput, FirmwareTooOld."""
        try:
            wide = changed(self._record, message)
        except FirmwareTooOld as error:
            self.tell(HUB, unsupported_event(self._record, error))
            raise
        if wide != self._record.wide:
            self._record = replace(self._record, wide=wide)
            self._publish()
            self._say_changed()
            self._configure_hardware()
        return wide

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """A force scale may be this device's: the settings know which one counts."""
        scale = message.key.startswith("devices/") and message.key.endswith(f"/{FORCE_SCALE}")
        if scale or message.key in ACTING_SETTINGS:
            self._publish()

    def on_announce(self, message: Announce) -> None:
        """A new manager may not have heard of the last change."""
        if message.name == MANAGER:
            self._say_changed()

    def _settle(self, seconds: float) -> None:
        self._window_over = False
        self.context.timers.after(seconds, self.name, DeviceSettled(), key=(self.name, "settle"))

    def _be_ready(self) -> None:
        """From settling to ready, or asleep, once its time is over and it knows where it is."""
        if self._record.phase is Phase.SETTLING and self._window_over and self._homed:
            self._enter(Phase.READY)
            if not self._awake:
                self._be(Phase.ASLEEP)

    def _settle_s(self) -> float:
        identity = self._record.identity
        if identity.found is not None and identity.found.settle_s is not None:
            return identity.found.settle_s
        if not identity.kind.spec.settles:
            return 0.0
        return self._settings.value.number(SIMULATED_SETTLE if identity.simulated else SETTLE)

    def _calibrate(self, *, may_run: bool) -> None:
        """Begin the run that the bond names; without one, end what may still run. Handles do if they have a calibration of their own.

        A simulated handle has none.
        """
        run, identity = self._record.bond.run, self._record.identity
        if not (run or may_run):
            return
        if identity.found is None:
            if run and identity.kind.has_motors:
                due = CalibrationDue(run)
                self.context.timers.after(CALIBRATION_S, self.name, due, key=(self.name, CalibrationDue))
        elif identity.kind.has_motors or identity.found.calibrates:
            self.tell(link_name(identity.port), CalibrateOverLink(identity.link_id, run))

    def _configure_hardware(self) -> None:
        """A real device follows what it has for all sessions."""
        identity = self._record.identity
        if not identity.simulated and identity.kind.has_motors:
            self.tell(link_name(identity.port), ConfigureOverLink(identity.link_id, self._record.wide))

    def _enter(self, phase: Phase) -> None:
        self._record = replace(self._record, phase=phase)
        self._publish()
        self._say_changed()

    def _be(self, phase: Phase) -> None:
        """Asleep or ready: only a device that is one of them becomes the other, and says so."""
        if {self._record.phase, phase} == {Phase.READY, Phase.ASLEEP}:
            self._enter(phase)
            self.tell(HUB, sleep_event(self._record, awake=phase is not Phase.ASLEEP))

    def _say_changed(self) -> None:
        record = self._record
        self.tell(MANAGER, DeviceChanged(record.device_id, record.phase, record.wide, record.lease.generation))

    def _publish(self) -> None:
        settings = self._settings.value
        params = device_params(
            self._record, settings.integer("simulation/seed"), self._force_scale(), limits_of(settings)
        )
        self._runtime.publish_device(self._record.lease, params)

    def _force_scale(self) -> float:
        gain = self._settings.value.device(self._record.device_id, self._record.kind, FORCE_SCALE)
        return float(gain) if isinstance(gain, (int, float)) else 1.0


def fault_of(inventory: Inventory, device_id: str) -> Fault:
    """The simulated fault of a device, NONE for one that is away or has none."""
    record = inventory.find(device_id)
    return Fault.NONE if record is None else record.fault
