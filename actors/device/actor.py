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
    DeviceLost,
    DeviceRested,
    DeviceSettled,
    DeviceSilent,
    DeviceWide,
    IdleSleepChanged,
    Inventory,
    Phase,
    ResumeDevice,
    SafetyTripped,
    SimulationChanged,
    actor_name,
    unsupported_event,
)
from actors.device.params import FORCE_SCALE, device_params, force_scale
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
# Wait after a late homing: commands for the position before it have faded by then.
HOMED_S: Final = 0.2
# Duration of a simulated calibration.
CALIBRATION_S: Final = 1.0
CALIBRATION_FAULTS: Final[Mapping[Fault, Reason]] = MappingProxyType(
    {Fault.OSCILLATING_HALL: Reason.OSCILLATING_HALL, Fault.CALIBRATION_BLOCKED: Reason.BLOCKED}
)
NS_PER_MS: Final = 1_000_000


class DeviceActor(ServiceActor):
    """Actor of one device. Its record is in the inventory, so a restarted actor continues in the same phase."""

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
        # Whether the position is absolute; None: not reported yet.
        self._homed: bool | None = None if self._record.identity.found and not self._record.ready else True
        self._settle_time_over = False

    def started(self) -> None:
        """Start settling a new device; publish the parameters of one that was ready before a restart."""
        record = self._inventory.value.find(self._record.device_id)
        if record is None:
            # Removed before this thread started.
            return
        self._record = record
        # A series that begins at 0 shows its first increase too.
        self.context.metrics.device_silences.labels(record.device_id)
        self._configure_hardware()
        if self._record.phase in (Phase.READY, Phase.ASLEEP):
            self._publish()
            # The crashed actor may not have aborted a run that is over.
            self._calibrate(may_run=True)
            return
        self._enter_phase(Phase.SETTLING)
        self._settle(self._settle_s())

    @handles(DeviceSettled)
    def on_settled(self, _message: DeviceSettled) -> None:
        """End the settle time: the device becomes ready if its position is absolute."""
        self._settle_time_over = True
        self._check_ready()

    @handles(AwakeChanged)
    def on_awake(self, message: AwakeChanged) -> None:
        """Handle that a real device fell asleep or woke up; while it settles only store it."""
        if message.generation == self._record.lease.generation:
            self._awake = message.awake
            self._set_sleep(Phase.READY if message.awake else Phase.ASLEEP)

    @handles(HomedChanged)
    def on_homed(self, message: HomedChanged) -> None:
        """Settle again while a real device has no absolute position; its settle time runs once meanwhile."""
        if message.generation != self._record.lease.generation:
            return
        before, self._homed = self._homed, message.homed
        if not message.homed:
            if self._record.ready:
                self._enter_phase(Phase.SETTLING)
                self._settle(self._settle_s())
        elif before is False and self._settle_time_over:
            self._settle(min(HOMED_S, self._settle_s()))
        else:
            self._check_ready()

    @handles(BondChanged)
    def on_bond(self, _message: BondChanged) -> None:
        """Publish the new bond (zero force while a calibration runs) and start or abort the device's own calibration."""
        record = self._inventory.value.find(self._record.device_id)
        if record is not None:
            run, self._record = self._record.bond.run, replace(self._record, bond=record.bond)
            self._publish()
            if record.bond.run != run:
                self._calibrate(may_run=bool(run))

    @handles(CalibrationDue)
    def on_calibration_due(self, message: CalibrationDue) -> None:
        """End a simulated calibration: it fails by the faults of the device or its handle."""
        device_id, bond = self._record.device_id, self._record.bond
        if message.run == bond.run:
            ids = (device_id, bond.paired_with)
            reasons = (CALIBRATION_FAULTS.get(fault_of(self._inventory.value, one)) for one in ids if one is not None)
            reason = next((reason for reason in reasons if reason is not None), None)
            self.tell(PAIRING, CalibrationEnded(device_id, bond.run, reason))

    @handles(SimulationChanged)
    def on_simulation(self, message: SimulationChanged) -> None:
        """Publish the changed simulation, then fall asleep or wake up if requested."""
        record = self._inventory.value.find(self._record.device_id)
        if record is not None and record.lease == self._record.lease:
            self._record = replace(self._record, simulation=record.simulation)
            self._publish()
        if message.awake is not None:
            self._set_sleep(Phase.READY if message.awake else Phase.ASLEEP)

    @handles(DeviceRested)
    def on_rested(self, message: DeviceRested) -> None:
        """Put a resting simulated handle to sleep; a real one reports sleep itself."""
        record = self._record
        if message.generation == record.lease.generation and record.identity.simulated and record.kind.is_handle:
            self._set_sleep(Phase.ASLEEP)

    @handles(DeviceSilent)
    def on_silent(self, message: DeviceSilent) -> None:
        """Emit an event for stale data; report the device as lost after a longer silence."""
        record = self._record
        if message.generation != record.lease.generation:
            return
        if message.gone:
            self.tell(MANAGER, DeviceLost(record.device_id, message.generation, sent_nothing(message.silent_ns)))
        else:
            self.context.metrics.device_silences.labels(record.device_id).inc()
            self.tell(HUB, stale_event(record, round(message.silent_ns / NS_PER_MS, 1)))

    @handles(SafetyTripped)
    def on_tripped(self, message: SafetyTripped) -> None:
        """Emit the events of monitors that acted in the loop."""
        if message.generation == self._record.lease.generation:
            for event in safety_events(self._record, message.before, message.now):
                self.tell(HUB, event)

    @handles(IdleSleepChanged)
    def on_idle_sleep(self, message: IdleSleepChanged) -> None:
        """Emit the start or end of idle sleep; the device still obeys commands."""
        if message.generation == self._record.lease.generation:
            self.tell(HUB, sleep_event(self._record, awake=message.awake))

    @handles(ConfigureDevice)
    def configure(self, message: ConfigureDevice) -> DeviceWide:
        """Change and publish the device-wide configuration. Return it; InvalidInput, FirmwareTooOld."""
        try:
            wide = changed(self._record, message)
        except FirmwareTooOld as error:
            self.tell(HUB, unsupported_event(self._record, error))
            raise
        if wide != self._record.wide:
            self._record = replace(self._record, wide=wide)
            self._publish()
            self._report_change()
            self._configure_hardware()
        return wide

    @handles(ResumeDevice)
    def resume(self, _message: ResumeDevice) -> bool:
        """Request the end of a latched e-brake. Return whether one waited for it."""
        return self._runtime.resume_device(self._record.lease)

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Publish the parameters after a change of a force scale or a safety limit."""
        scale = message.key.startswith("devices/") and message.key.endswith(f"/{FORCE_SCALE}")
        if scale or message.key in ACTING_SETTINGS:
            self._publish()

    def on_announce(self, message: Announce) -> None:
        """Report phase and configuration to a new DeviceManager."""
        if message.name == MANAGER:
            self._report_change()

    def _settle(self, seconds: float) -> None:
        self._settle_time_over = False
        self.context.timers.after(seconds, self.name, DeviceSettled(), key=(self.name, "settle"))

    def _check_ready(self) -> None:
        """Go from settling to ready or asleep, once the settle time is over and the position is absolute."""
        if self._record.phase is Phase.SETTLING and self._settle_time_over and self._homed:
            self._enter_phase(Phase.READY)
            if not self._awake:
                self._set_sleep(Phase.ASLEEP)

    def _settle_s(self) -> float:
        identity = self._record.identity
        if identity.found is not None and identity.found.settle_s is not None:
            return identity.found.settle_s
        if not identity.kind.spec.settles:
            return 0.0
        return self._settings.value.number(SIMULATED_SETTLE if identity.simulated else SETTLE)

    def _calibrate(self, *, may_run: bool) -> None:
        """Start calibration `bond.run`; 0 aborts a running one. Handles only if they have a calibration of their own.

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
        """Send the device-wide configuration to a real device."""
        identity = self._record.identity
        if not identity.simulated and identity.kind.has_motors:
            self.tell(link_name(identity.port), ConfigureOverLink(identity.link_id, self._record.wide))

    def _enter_phase(self, phase: Phase) -> None:
        self._record = replace(self._record, phase=phase)
        self._publish()
        self._report_change()

    def _set_sleep(self, phase: Phase) -> None:
        """Change between ready and asleep and emit the event; no effect in any other phase."""
        if {self._record.phase, phase} == {Phase.READY, Phase.ASLEEP}:
            self._enter_phase(phase)
            self.tell(HUB, sleep_event(self._record, awake=phase is not Phase.ASLEEP))

    def _report_change(self) -> None:
        record = self._record
        self.tell(MANAGER, DeviceChanged(record.device_id, record.phase, record.wide, record.lease.generation))

    def _publish(self) -> None:
        settings = self._settings.value
        params = device_params(
            self._record, settings.integer("simulation/seed"), force_scale(self._record, settings), limits_of(settings)
        )
        self._runtime.publish_device(self._record.lease, params)


def fault_of(inventory: Inventory, device_id: str) -> Fault:
    """Return the simulated fault of a device; NONE if it is absent or has none."""
    record = inventory.find(device_id)
    return Fault.NONE if record is None else record.fault
