"""PairingManager, the actor of pairs, handle detection and calibrations; the rules decide, it remembers and sends.

DevicesChanged or a heartbeat -> rules -> the book (for every GET) and ShowBonds -> DeviceManager -> inventory -> DeviceActor -> loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Bond, DeviceRecord, DevicesChanged, Phase, ShowBonds
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
    ListenForHeartbeats,
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
# No firmware takes longer; one that says nothing until then is blocked.
LONGEST_CALIBRATION_S: Final = 10.0

Hear = Callable[[DeviceRecord, int], "int | None"]
"""When the newest heartbeat of a handle came (ns), None for none yet; given the handle and the present time."""


class PairingManager(ServiceActor):
    """The book and the inventory outlive it; a restarted manager goes on with the bonds that they show."""

    def __init__(
        self,
        context: Context,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        book: Published[PairingTable],
        hear: Hear,
    ) -> None:
        super().__init__(PAIRING, context)
        self._inventory = inventory
        self._settings = settings
        self._book = book
        self._hear = hear
        self._hearts: dict[tuple[str, int], HeartbeatMonitor] = {}
        self._told: dict[tuple[str, int], Bond] = {}
        self._listening = False

    def started(self) -> None:
        """Take up what is here, and listen."""
        self._save()
        self._decide()
        for device_id, one in self._book.value.calibrations.items():
            if one.run:
                self._expect_end(device_id, one.run)

    def on_announce(self, message: Announce) -> None:
        """A new store or manager may not have what the last one was told."""
        if message.name == STORE:
            self._save()
        elif message.name == DEVICES:
            self._told = {}
            self._decide()

    @handles(DevicesChanged)
    def on_devices(self, _message: DevicesChanged) -> None:
        """Somebody came, went, woke up or fell asleep."""
        self._decide()

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Automatic pairing that is switched on pairs who is here."""
        if message.key == AUTO_PAIRING and message.value is True:
            self._decide(also=[record.device_id for record in self._records()])

    @handles(ListenForHeartbeats)
    def on_listen(self, _message: ListenForHeartbeats) -> None:
        """Step every heart; a handle that was attached may find its other half, and unlocks or locks the calibration."""
        now_ns, debounce = self.context.clock.now_ns(), self._debounce()
        moved: list[DeviceRecord] = []
        for record in self._records():
            if not record.kind.is_handle or _life(record) not in self._hearts:
                continue
            before = self._hearts[_life(record)]
            after = heartbeat.step(before, self._hear(record, now_ns), now_ns, debounce)
            self._hearts[_life(record)] = after
            if after.attached is not before.attached:
                moved.append(record)
        if moved:
            attached = [record for record in moved if self._hearts[_life(record)].attached]
            self._decide(also=[record.device_id for record in attached])
            for record in moved:
                self.tell(HUB, attachment_event(record, attached=record in attached))
        self._listening = False
        self._listen()

    # ------------------------------------------------------------ wishes

    @handles(PairManually)
    def pair_manually(self, message: PairManually) -> Pairing:
        """The pair as it is now; the automatic pairs of both are dissolved."""
        self._decide()
        self._outcome(rules.paired_manually(self._book.value.pairs, self._halves(), message.device_id, message.partner))
        return self._book.value.pairing(message.device_id)

    @handles(Unpair)
    def unpair(self, message: Unpair) -> Pairing:
        """Nobody."""
        self._decide()
        self._outcome(rules.unpaired(self._book.value.pairs, self._halves(), message.device_id))
        return self._book.value.pairing(message.device_id)

    @handles(Calibrate)
    def calibrate(self, message: Calibrate) -> Progress:
        """RUNNING, or an error that says what to do first; a failure is also an event."""
        self._decide()
        pair = self._book.value.pairs.of(message.device_id)
        mover = self._inventory.value.get(message.device_id if pair is None else pair.mover)
        if mover.kind.spec.pairs_as is not PairSide.MOVER:
            raise CalibrationLocked(message.device_id)
        if mover.phase is not Phase.READY:
            raise Conflict(f"Device {mover.device_id} is {mover.phase}: calibrate it once it is ready.")
        before = self._book.value.calibration(mover.device_id)
        # A handle meets many devices: no two runs have one number.
        run = self._book.value.runs + 1
        after = calibration.start_run(before, self._handle(mover.device_id), run, self._who_calibrates(mover.device_id))
        if after.run == run:
            self._book.replace(replace(self._book.value, runs=run))
        self._show(self._book.value.pairs, {**self._book.value.calibrations, mover.device_id: after})
        if after.run:
            if after.run != before.run:
                self._expect_end(mover.device_id, after.run)
            return after.progress
        if after.reason is None:
            raise CalibrationLocked(message.device_id)
        self.tell(HUB, failure_event(mover, after.reason))
        if after.reason is Reason.PEN_ASLEEP:
            raise Conflict(f"Device {mover.device_id} cannot calibrate: wake its paired {HANDLES} first.")
        raise CalibrationLocked(message.device_id)

    @handles(CalibrationEnded)
    def on_calibration_ended(self, message: CalibrationEnded) -> None:
        """One of the pair says how it went."""
        pair = self._book.value.pairs.of(message.device_id)
        mover = message.device_id if pair is None else pair.mover
        self._end(mover, message.run, message.reason, said_by=message.device_id)

    @handles(CalibrationOverdue)
    def on_calibration_overdue(self, message: CalibrationOverdue) -> None:
        """The device says nothing."""
        self._end(message.device_id, message.run, Reason.BLOCKED)

    # ------------------------------------------------------------ deciding

    def _decide(self, also: Iterable[str] = ()) -> None:
        """What becomes of the pairs with the devices that are here now; `also` count as having appeared."""
        kept: dict[tuple[str, int], HeartbeatMonitor] = {}
        for record in self._records():
            if record.kind.is_handle:
                kept[_life(record)] = self._hearts.get(_life(record)) or HeartbeatMonitor(attached=record.bond.attached)
        self._hearts = kept
        self._listen()
        automatic = self._settings.value.flag(AUTO_PAIRING)
        self._outcome(rules.update_pairs(self._book.value.pairs, self._halves(), automatic=automatic, also=also))

    def _outcome(self, outcome: rules.Outcome) -> None:
        pairs, changes = outcome
        known = self._book.value.pairs.here
        calibrations: dict[str, Calibration] = {}
        for record in self._records():
            if record.kind.has_motors:
                old = self._book.value.calibrations.get(record.device_id)
                if old is None or _life(record) not in known:
                    old = Calibration(calibrated=record.bond.calibrated)
                calibrations[record.device_id] = old
        self._show(pairs, calibrations)
        if changes:
            self._save()
        for change in changes:
            self.tell(HUB, pairing_event(self._inventory.value, change))

    def _show(self, pairs: rules.Pairs, calibrations: Mapping[str, Calibration]) -> None:
        """Into the book and the inventory, the locks as the pairs say; a run that loses its handle fails here."""
        book = self._book.value
        seen = {
            device_id: calibration.check_handle(one, self._handle(device_id, pairs))
            for device_id, one in calibrations.items()
        }
        if (pairs, seen) != (book.pairs, dict(book.calibrations)):
            self._book.replace(replace(book, pairs=pairs, calibrations=MappingProxyType(seen)))
        self._tell_bonds()
        for device_id, after in seen.items():
            before = calibrations[device_id]
            if before.run and not after.run and after.reason is not None:
                self.tell(HUB, failure_event(self._inventory.value.get(device_id), after.reason))

    def _end(self, device_id: str, run: int, reason: Reason | None, *, said_by: str = "") -> None:
        book = self._book.value
        before, record = book.calibrations.get(device_id), self._inventory.value.find(device_id)
        if before is None or record is None or before.run != run or not run:
            return
        after = calibration.end_run(before, run, reason, said_by)
        if not after.run:
            self.context.timers.cancel((self.name, device_id))
        self._show(book.pairs, {**book.calibrations, device_id: after})
        if reason is not None:
            self.tell(HUB, failure_event(record, reason))

    def _tell_bonds(self) -> None:
        """Tell the DeviceManager of the bonds that it was not told of yet."""
        bonds = {_life(record): self._bond(record) for record in self._records()}
        new = {life[0]: bond for life, bond in bonds.items() if self._told.get(life) != bond}
        self._told = bonds
        if new:
            self.tell(DEVICES, ShowBonds(new))

    def _bond(self, record: DeviceRecord) -> Bond:
        book = self._book.value
        pair = book.pairs.of(record.device_id)
        mover = record.device_id if pair is None else pair.mover
        one = book.calibrations.get(mover, Calibration(calibrated=record.bond.calibrated))
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

    # ------------------------------------------------------------ what is here

    def _records(self) -> list[DeviceRecord]:
        return [record for record in self._inventory.value.devices if record.phase not in GONE]

    def _halves(self) -> list[PairingDevice]:
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
        heart = self._hearts.get(_life(record))
        return heart is not None and heart.attached

    def _handle(self, mover: str, pairs: rules.Pairs | None = None) -> Handle | None:
        """The other half of a device with motors, as its lock sees it."""
        pair = (pairs or self._book.value.pairs).of(mover)
        if pair is None:
            return None
        record = self._inventory.value.find(pair.handle)
        if record is None or record.phase in GONE:
            return Handle(here=False)
        return Handle(record.device_id, awake=record.phase is not Phase.ASLEEP, attached=self._attached(record))

    def _who_calibrates(self, mover: str) -> frozenset[str]:
        """Whose ends of a run are awaited: the device's, and its handle's if that has a calibration of its own."""
        pair = self._book.value.pairs.of(mover)
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

    def _expect_end(self, device_id: str, run: int) -> None:
        overdue = CalibrationOverdue(device_id, run)
        self.context.timers.after(LONGEST_CALIBRATION_S, self.name, overdue, key=(self.name, device_id))

    def _listen(self) -> None:
        """Listen again in a moment, while there is somebody to listen to."""
        if self._hearts and not self._listening:
            self._listening = True
            key = (self.name, ListenForHeartbeats)
            self.context.timers.after(heartbeat.PERIOD_S, self.name, ListenForHeartbeats(), key=key)

    def _save(self) -> None:
        self.tell(STORE, SaveLedger(PAIRINGS_SECTION, self._book.value.as_json()))


def _life(record: DeviceRecord) -> tuple[str, int]:
    """A device from one connection to the next."""
    return record.device_id, record.lease.generation
