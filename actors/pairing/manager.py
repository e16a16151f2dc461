"""PairingManager, the actor of pairs, attachment and calibrations: applies the rules, keeps the result and reports it.

DevicesChanged or a heartbeat -> rules -> PairingTable (for reads) and UpdateBonds -> DeviceManager -> inventory -> DeviceActor -> loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Bond, DeviceRecord, DevicesChanged, Phase, UpdateBonds
from actors.event.messages import HUB
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.clock import NS_PER_S
from actors.kit.errors import CalibrationLocked, Conflict
from actors.kit.message import Announce
from actors.pairing import calibration, heartbeat, rules
from actors.pairing.calibration import Calibration, Handle
from actors.pairing.events import HANDLES, attachment_event, failure_event, pairing_event
from actors.pairing.heartbeat import Debounce, HeartbeatMonitor
from actors.pairing.messages import (
    PAIRING,
    Calibrate,
    CalibrationEnded,
    CalibrationOverdue,
    CheckHeartbeats,
    Pairing,
    PairManually,
    Progress,
    Reason,
    Unpair,
)
from actors.pairing.pairing_table import PAIRINGS_SECTION
from actors.settings.messages import STORE, SaveLedger, SettingChanged
from actors.values.kinds.base import PairSide

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.pairing.pairing_table import PairingTable
    from actors.pairing.rules import PairingDevice
    from actors.settings.messages import SettingsView

AUTO_PAIRING: Final = "devices/auto_pairing"
ATTACH: Final = "devices/grip/attach_debounce"
DETACH: Final = "devices/grip/detach_debounce"
GONE: Final = frozenset({Phase.DISCONNECTED, Phase.FAILED})
# No firmware takes longer; without an answer by then the run counts as blocked.
LONGEST_CALIBRATION_S: Final = 10.0

HeartbeatSource = Callable[[DeviceRecord, int], "int | None"]
"""(handle, now in ns) -> time of its newest heartbeat in ns, None before the first."""


class PairingManager(ServiceActor):
    """Actor of all pairs. PairingTable and inventory outlive it; a restarted one goes on with their bonds."""

    def __init__(
        self,
        context: Context,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        table: Published[PairingTable],
        newest_heartbeat: HeartbeatSource,
    ) -> None:
        super().__init__(PAIRING, context)
        self._inventory = inventory
        self._settings = settings
        self._table = table
        self._newest_heartbeat = newest_heartbeat
        self._monitors: dict[tuple[str, int], HeartbeatMonitor] = {}
        self._sent_bonds: dict[tuple[str, int], Bond] = {}
        self._check_scheduled = False

    def started(self) -> None:
        """Update the pairs for the connected devices and restart timers."""
        self._save()
        self._update_pairs()
        for device_id, one in self._table.value.calibrations.items():
            if one.run:
                self._start_overdue_timer(device_id, one.run)

    def on_announce(self, message: Announce) -> None:
        """Send pairs and bonds to a new store or DeviceManager."""
        if message.name == STORE:
            self._save()
        elif message.name == DEVICES:
            self._sent_bonds = {}
            self._update_pairs()

    @handles(DevicesChanged)
    def on_devices(self, _message: DevicesChanged) -> None:
        """Update the pairs: a device came, left, woke up or fell asleep."""
        self._update_pairs()

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Pair all connected devices when automatic pairing is enabled."""
        if message.key == AUTO_PAIRING and message.value is True:
            self._update_pairs(also=[record.device_id for record in self._records()])

    @handles(CheckHeartbeats)
    def on_check_heartbeats(self, _message: CheckHeartbeats) -> None:
        """Step every heartbeat monitor; a change of attachment updates pairs and calibration locks."""
        now_ns, debounce = self.context.clock.now_ns(), self._debounce()
        moved: list[DeviceRecord] = []
        for record in self._records():
            if not record.kind.is_handle or _lease_key(record) not in self._monitors:
                continue
            before = self._monitors[_lease_key(record)]
            after = heartbeat.step(before, self._newest_heartbeat(record, now_ns), now_ns, debounce)
            self._monitors[_lease_key(record)] = after
            if after.attached is not before.attached:
                moved.append(record)
        if moved:
            attached = [record for record in moved if self._monitors[_lease_key(record)].attached]
            self._update_pairs(also=[record.device_id for record in attached])
            for record in moved:
                self.tell(HUB, attachment_event(record, attached=record in attached))
        self._check_scheduled = False
        self._schedule_check()

    # ------------------------------------------------------------ requests

    @handles(PairManually)
    def pair_manually(self, message: PairManually) -> Pairing:
        """Pair two devices and dissolve the automatic pairs of both. Return the pair."""
        self._update_pairs()
        self._apply_outcome(
            rules.paired_manually(self._table.value.pairs, self._pairing_devices(), message.device_id, message.partner)
        )
        return self._table.value.pairing(message.device_id)

    @handles(Unpair)
    def unpair(self, message: Unpair) -> Pairing:
        """Dissolve the device's pair. Return an empty pairing."""
        self._update_pairs()
        self._apply_outcome(rules.unpaired(self._table.value.pairs, self._pairing_devices(), message.device_id))
        return self._table.value.pairing(message.device_id)

    @handles(Calibrate)
    def calibrate(self, message: Calibrate) -> Progress:
        """Start a calibration. Return RUNNING, or raise what to do first; a failure also emits an event."""
        self._update_pairs()
        pair = self._table.value.pairs.of(message.device_id)
        mover = self._inventory.value.get(message.device_id if pair is None else pair.mover)
        if mover.kind.spec.pairs_as is not PairSide.MOVER:
            raise CalibrationLocked(message.device_id)
        if mover.phase is not Phase.READY:
            raise Conflict(f"Device {mover.device_id} is {mover.phase}: calibrate it once it is ready.")
        before = self._table.value.calibration(mover.device_id)
        # Run numbers are unique over all devices, since a handle may change its mover.
        run = self._table.value.runs + 1
        after = calibration.start_run(
            before, self._handle(mover.device_id), run, self._calibrating_devices(mover.device_id)
        )
        if after.run == run:
            self._table.replace(replace(self._table.value, runs=run))
        self._publish(self._table.value.pairs, {**self._table.value.calibrations, mover.device_id: after})
        if after.run:
            if after.run != before.run:
                self._start_overdue_timer(mover.device_id, after.run)
            return after.progress
        if after.reason is None:
            raise CalibrationLocked(message.device_id)
        self.tell(HUB, failure_event(mover, after.reason))
        if after.reason is Reason.PEN_ASLEEP:
            raise Conflict(f"Device {mover.device_id} cannot calibrate: wake its paired {HANDLES} first.")
        raise CalibrationLocked(message.device_id)

    @handles(CalibrationEnded)
    def on_calibration_ended(self, message: CalibrationEnded) -> None:
        """Record that one device of the pair finished the run."""
        pair = self._table.value.pairs.of(message.device_id)
        mover = message.device_id if pair is None else pair.mover
        self._end(mover, message.run, message.reason, reported_by=message.device_id)

    @handles(CalibrationOverdue)
    def on_calibration_overdue(self, message: CalibrationOverdue) -> None:
        """Fail the run as blocked if it has not ended."""
        self._end(message.device_id, message.run, Reason.BLOCKED)

    # ------------------------------------------------------------ updates

    def _update_pairs(self, also: Iterable[str] = ()) -> None:
        """Update the pairs for the connected devices; `also` count as newly connected."""
        kept: dict[tuple[str, int], HeartbeatMonitor] = {}
        for record in self._records():
            if record.kind.is_handle:
                kept[_lease_key(record)] = self._monitors.get(_lease_key(record)) or HeartbeatMonitor(
                    attached=record.bond.attached
                )
        self._monitors = kept
        self._schedule_check()
        automatic = self._settings.value.flag(AUTO_PAIRING)
        self._apply_outcome(
            rules.update_pairs(self._table.value.pairs, self._pairing_devices(), automatic=automatic, also=also)
        )

    def _apply_outcome(self, outcome: rules.Outcome) -> None:
        pairs, changes = outcome
        known = self._table.value.pairs.here
        calibrations: dict[str, Calibration] = {}
        for record in self._records():
            if record.kind.has_motors:
                old = self._table.value.calibrations.get(record.device_id)
                if old is None or _lease_key(record) not in known:
                    old = Calibration(calibrated=record.bond.calibrated)
                calibrations[record.device_id] = old
        self._publish(pairs, calibrations)
        if changes:
            self._save()
        for change in changes:
            self.tell(HUB, pairing_event(self._inventory.value, change))

    def _publish(self, pairs: rules.Pairs, calibrations: Mapping[str, Calibration]) -> None:
        """Store pairs and calibrations, locks updated, and send the bonds; a run that lost its handle fails here."""
        table = self._table.value
        seen = {
            device_id: calibration.check_handle(one, self._handle(device_id, pairs))
            for device_id, one in calibrations.items()
        }
        if (pairs, seen) != (table.pairs, dict(table.calibrations)):
            self._table.replace(replace(table, pairs=pairs, calibrations=MappingProxyType(seen)))
        self._send_bonds()
        for device_id, after in seen.items():
            before = calibrations[device_id]
            if before.run and not after.run and after.reason is not None:
                self.tell(HUB, failure_event(self._inventory.value.get(device_id), after.reason))

    def _end(self, device_id: str, run: int, reason: Reason | None, *, reported_by: str = "") -> None:
        table = self._table.value
        before, record = table.calibrations.get(device_id), self._inventory.value.find(device_id)
        if before is None or record is None or before.run != run or not run:
            return
        after = calibration.end_run(before, run, reason, reported_by)
        if not after.run:
            self.context.timers.cancel((self.name, device_id))
        self._publish(table.pairs, {**table.calibrations, device_id: after})
        if reason is not None:
            self.tell(HUB, failure_event(record, reason))

    def _send_bonds(self) -> None:
        """Send the DeviceManager the bonds that changed."""
        bonds = {_lease_key(record): self._bond(record) for record in self._records()}
        new = {lease_key[0]: bond for lease_key, bond in bonds.items() if self._sent_bonds.get(lease_key) != bond}
        self._sent_bonds = bonds
        if new:
            self.tell(DEVICES, UpdateBonds(new))

    def _bond(self, record: DeviceRecord) -> Bond:
        table = self._table.value
        pair = table.pairs.of(record.device_id)
        mover = record.device_id if pair is None else pair.mover
        one = table.calibrations.get(mover, Calibration(calibrated=record.bond.calibrated))
        if pair is None:
            return Bond(attached=self._attached(record), calibrated=one.calibrated)
        partner = self._inventory.value.find(pair.other(record.device_id))
        handle = record if record.kind.is_handle else partner
        return Bond(
            paired_with=pair.other(record.device_id),
            origin=pair.origin,
            partner_slot=-1 if partner is None or partner.phase in GONE else partner.lease.slot,
            attached=handle is not None and self._attached(handle),
            calibrated=one.calibrated,
            run=one.run,
        )

    # ------------------------------------------------------------ queries

    def _records(self) -> list[DeviceRecord]:
        return [record for record in self._inventory.value.devices if record.phase not in GONE]

    def _pairing_devices(self) -> list[PairingDevice]:
        return [
            rules.PairingDevice(
                record.device_id,
                record.kind.spec.pairs_as,
                record.identity.simulated,
                self._attached(record),
                record.lease.generation,
                by_hand=record.identity.found is not None and record.identity.found.by_hand,
            )
            for record in self._records()
        ]

    def _attached(self, record: DeviceRecord) -> bool:
        monitor = self._monitors.get(_lease_key(record))
        return monitor is not None and monitor.attached

    def _handle(self, mover: str, pairs: rules.Pairs | None = None) -> Handle | None:
        """Return the handle of a mover's pair for its lock, None without a pair."""
        pair = (pairs or self._table.value.pairs).of(mover)
        if pair is None:
            return None
        record = self._inventory.value.find(pair.handle)
        if record is None or record.phase in GONE:
            return Handle(here=False)
        return Handle(record.device_id, awake=record.phase is not Phase.ASLEEP, attached=self._attached(record))

    def _calibrating_devices(self, mover: str) -> frozenset[str]:
        """Return the devices that take part in a run: the mover, and its handle if that has a calibration."""
        pair = self._table.value.pairs.of(mover)
        handle = None if pair is None else self._inventory.value.find(pair.handle)
        found = None if handle is None else handle.identity.found
        return frozenset(
            {mover} if handle is None or found is None or not found.calibrates else {mover, handle.device_id}
        )

    def _debounce(self) -> Debounce:
        settings = self._settings.value
        return Debounce(
            attach_ns=round(settings.number(ATTACH) * NS_PER_S), detach_ns=round(settings.number(DETACH) * NS_PER_S)
        )

    def _start_overdue_timer(self, device_id: str, run: int) -> None:
        overdue = CalibrationOverdue(device_id, run)
        self.context.timers.after(LONGEST_CALIBRATION_S, self.name, overdue, key=(self.name, device_id))

    def _schedule_check(self) -> None:
        """Schedule the next check while there are handles."""
        if self._monitors and not self._check_scheduled:
            self._check_scheduled = True
            key = (self.name, CheckHeartbeats)
            self.context.timers.after(heartbeat.PERIOD_S, self.name, CheckHeartbeats(), key=key)

    def _save(self) -> None:
        self.tell(STORE, SaveLedger(PAIRINGS_SECTION, self._table.value.as_json()))


def _lease_key(record: DeviceRecord) -> tuple[str, int]:
    """Return the key of one connection of a device: id and generation of its lease."""
    return record.device_id, record.lease.generation
