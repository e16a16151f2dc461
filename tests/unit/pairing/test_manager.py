"""PairingManager as a plain object: messages in and out, and what a restarted one takes over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Bond, DeviceRecord, DevicesChanged, Inventory, Phase, UpdateBonds
from actors.event.messages import HUB, Emit
from actors.kit.errors import CalibrationLocked, Conflict, HapticError, NoSuchDevice
from actors.kit.message import Announce
from actors.kit.published import Published
from actors.pairing.manager import LONGEST_CALIBRATION_S, PairingManager
from actors.pairing.messages import (
    PAIRING,
    Calibrate,
    CalibrationEnded,
    CalibrationOverdue,
    CheckHeartbeats,
    Origin,
    Pairing,
    PairManually,
    Progress,
    Reason,
    Unpair,
)
from actors.pairing.pairing_table import PAIRINGS_SECTION, PairingTable
from actors.settings.immutable_json import freeze
from actors.settings.messages import STORE, SaveLedger, SettingChanged
from fastpath.arena.runtime import Runtime
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, settings_view, simulated_records
from tests.support.boards.fake_links import GRIP

AUTO, MANUAL = Origin.AUTOMATIC, Origin.MANUAL


class PairingRig(ActorRig):
    """A manager without a thread over devices of a stepped runtime; `silent` handles send no heartbeats."""

    def __init__(self, *words: str, ledger: object = None, **settings: object) -> None:
        super().__init__({f"devices/{key.replace('__', '/')}": value for key, value in settings.items()})
        self.devices = FakeActor(self.context, DEVICES)
        self.myself = FakeActor(self.context, PAIRING)
        self.devices.hears = self._show
        self.runtime = Runtime(stepping=True, realtime=False)
        self.all = simulated_records(self.runtime, *words)
        self.inventory.replace(Inventory(self.all))
        self.table = Published(PairingTable.from_json(freeze(ledger) if ledger is not None else None))
        self.silent: set[str] = set()
        self.manager = self.again()

    def again(self) -> PairingManager:
        """Another manager, as after a crash; it has started."""
        self.manager = PairingManager(
            self.context,
            self.inventory,
            self.settings,
            self.table,
            lambda record, now_ns: None if record.device_id in self.silent else now_ns,
        )
        self.manager.started()
        return self.manager

    def calibrating(self, device_id: str) -> None:
        """That handle is a real one with a calibration of its own."""
        found = replace(GRIP, calibrates=True)
        self.all = tuple(
            replace(one, identity=replace(one.identity, simulated=False, found=found))
            if one.device_id == device_id
            else one
            for one in self.all
        )
        self.inventory.replace(Inventory(self.all))
        self.manager.on_devices(DevicesChanged())

    def _show(self) -> None:
        """As the DeviceManager does."""
        told = self.devices.of(UpdateBonds)[-1].bonds
        shown = (replace(one, bond=told.get(one.device_id, one.bond)) for one in self.inventory.value.devices)
        self.inventory.replace(Inventory(tuple(shown)))

    def here(self, *records: DeviceRecord) -> None:
        """Exactly these are here; who comes back has a new lease."""
        known = {one.device_id: one for one in self.inventory.value.devices}
        new = (replace(one, lease=self.runtime.lease_device(one.device_id)) for one in records)
        self.inventory.replace(Inventory(tuple(known.get(one.device_id, one) for one in new)))
        self.manager.on_devices(DevicesChanged())

    def phase(self, device_id: str, phase: Phase) -> None:
        """The device is in that phase, and the inventory says so."""
        self.inventory.replace(
            Inventory(
                tuple(
                    replace(one, phase=phase) if one.device_id == device_id else one
                    for one in self.inventory.value.devices
                )
            )
        )
        self.manager.on_devices(DevicesChanged())

    def listen(self, seconds: float, *, silent: Iterable[str] = ()) -> None:
        """Time passes while these handles are silent."""
        self.silent = set(silent)
        for _ in range(round(seconds / 0.02)):
            self.clock.advance(0.02)
            self.manager.on_check_heartbeats(CheckHeartbeats())

    def bond(self, device_id: str) -> Bond:
        return self.inventory.value.get(device_id).bond

    def pairs(self) -> dict[str, str | None]:
        return {one.device_id: one.bond.paired_with for one in self.inventory.value.devices}

    def heard(self, kind: str) -> list[Any]:
        """The data of what the hub was told."""
        return [emit.data for emit in self.hub.of(Emit) if emit.kind == kind]

    @property
    def saved(self) -> object:
        saves = [save.value for save in self.store.of(SaveLedger) if save.section == PAIRINGS_SECTION]
        return saves[-1] if saves else None

    def progress(self, device_id: str) -> Progress:
        return self.table.value.calibration(device_id).progress


@pytest.fixture
def rig() -> PairingRig:
    return PairingRig("arm", "grip")


def ids(rig: PairingRig) -> list[str]:
    return [one.device_id for one in rig.all]


# ---------------------------------------------------------------- pairs


def test_present_devices_are_paired_at_start_and_published_once(rig: PairingRig) -> None:
    arm, grip = ids(rig)

    assert rig.pairs() == {arm: grip, grip: arm}
    assert rig.bond(arm).origin is AUTO
    assert [rig.bond(one).partner_slot for one in (arm, grip)] == [rig.all[1].lease.slot, rig.all[0].lease.slot]
    (event,) = rig.heard("device-pairing-changed")
    assert event == {
        "device_id": arm,
        "device_family": "arm",
        "paired_with": grip,
        "origin": "automatic",
        "dropped": None,
    }
    assert rig.table.value.pairing(grip) == Pairing(arm, AUTO)
    rig.manager.on_devices(DevicesChanged())
    assert len(rig.devices.of(UpdateBonds)) == 1


def test_absent_half_stays_paired_without_its_slot(rig: PairingRig) -> None:
    arm, grip = ids(rig)

    rig.here(rig.all[0])

    assert rig.bond(arm).paired_with == grip
    assert rig.bond(arm).partner_slot == -1
    assert not rig.bond(arm).attached
    rig.here(*rig.all)
    assert rig.bond(arm).partner_slot == rig.all[1].lease.slot


def test_swap_event_names_the_dropped_handle() -> None:
    rig = PairingRig("arm", "grip", "grip")
    arm, old, new = rig.all
    rig.here(arm, old)
    rig.here(arm)

    rig.here(arm, new)

    assert rig.heard("device-pairing-changed")[-1] | {"device_family": ""} == {
        "device_id": arm.device_id,
        "device_family": "",
        "paired_with": new.device_id,
        "origin": "automatic",
        "dropped": old.device_id,
    }


def test_disabled_automatic_pairing_pairs_none_until_enabled() -> None:
    rig = PairingRig("arm", "grip", auto_pairing=False)
    arm, grip = ids(rig)
    assert rig.pairs() == {arm: None, grip: None}

    rig.settings.replace(settings_view())
    rig.manager.on_setting(SettingChanged("devices/grip/attach_debounce", 0.3))
    assert rig.pairs()[arm] is None
    rig.manager.on_setting(SettingChanged("devices/auto_pairing", value=True))

    assert rig.pairs() == {arm: grip, grip: arm}


def test_manual_pair_round_trips_through_the_ledger() -> None:
    rig = PairingRig("arm", "grip", "grip")
    arm, first, second = ids(rig)

    assert rig.manager.pair_manually(PairManually(second, arm)) == Pairing(arm, MANUAL)

    assert rig.saved == {"manual": [[arm, second]]}
    again = PairingRig("arm", "grip", "grip", ledger=rig.saved)
    assert again.pairs() == {arm: second, first: None, second: arm}
    assert again.heard("device-pairing-changed") == []


def test_dissolved_pair_is_removed_from_the_ledger_and_stays_dissolved(rig: PairingRig) -> None:
    arm, grip = ids(rig)
    rig.manager.pair_manually(PairManually(arm, grip))

    assert rig.manager.unpair(Unpair(grip)) == Pairing()
    assert rig.saved == {"manual": []}
    rig.again()

    assert rig.pairs() == {arm: None, grip: None}
    assert rig.heard("device-pairing-changed")[-1]["paired_with"] is None


@pytest.mark.parametrize("message", [PairManually("nobody", "X"), Unpair("nobody"), Calibrate("nobody")])
def test_absent_device_is_refused(rig: PairingRig, message: Any) -> None:
    with pytest.raises(NoSuchDevice):
        rig.manager.on_receive(message)


def test_restarted_device_manager_and_store_are_sent_the_pairs(rig: PairingRig) -> None:
    bonds = rig.devices.of(UpdateBonds)[-1]
    saves = len(rig.store.told)

    rig.manager.on_announce(Announce(DEVICES))
    rig.manager.on_announce(Announce(STORE))
    rig.manager.on_announce(Announce(HUB))

    assert rig.devices.of(UpdateBonds)[1:] == [bonds]
    assert len(rig.store.told) == saves + 1


# ---------------------------------------------------------------- attachment


def test_silent_grip_is_detached_after_the_debounce_and_attached_again(rig: PairingRig) -> None:
    arm, grip = ids(rig)

    rig.listen(1)
    assert rig.heard("grip-attachment-changed") == []
    rig.listen(0.08, silent=[grip])
    assert rig.bond(grip).attached
    rig.listen(0.04, silent=[grip])
    assert (rig.bond(grip).attached, rig.bond(arm).attached) == (False, False)
    rig.listen(0.18)
    assert not rig.bond(grip).attached
    rig.listen(0.06)

    assert (rig.bond(grip).attached, rig.bond(arm).attached) == (True, True)
    assert rig.heard("grip-attachment-changed") == [
        {"device_id": grip, "device_family": "grip", "attached": False},
        {"device_id": grip, "device_family": "grip", "attached": True},
    ]


def test_the_debounce_is_a_setting(rig: PairingRig) -> None:
    _, grip = ids(rig)
    rig.listen(0.1)
    rig.settings.replace(settings_view({"devices/grip/detach_debounce": 0.5}))

    rig.listen(0.4, silent=[grip])
    assert rig.bond(grip).attached
    rig.listen(0.2, silent=[grip])
    assert not rig.bond(grip).attached


def test_attached_grip_gets_a_free_arm() -> None:
    rig = PairingRig("arm", "grip", auto_pairing=False)
    arm, grip = ids(rig)
    rig.listen(0.2, silent=[grip])
    rig.settings.replace(settings_view())

    rig.listen(0.4)

    assert rig.pairs() == {arm: grip, grip: arm}


def test_restarted_manager_keeps_attachments(rig: PairingRig) -> None:
    _, grip = ids(rig)
    rig.listen(0.3, silent=[grip])

    rig.again()

    rig.clock.advance(0.02)
    assert rig.context.timers.fire_due() == 1
    assert rig.myself.of(CheckHeartbeats) == [CheckHeartbeats()]
    assert not rig.bond(grip).attached


def test_no_handle_needs_no_timer() -> None:
    rig = PairingRig("arm")

    assert len(rig.context.timers) == 0


# ---------------------------------------------------------------- calibration


def test_run_is_shown_on_both_halves_and_ends_calibrated(rig: PairingRig) -> None:
    arm, grip = ids(rig)
    assert rig.progress(arm) is Progress.CALIBRATED

    assert rig.manager.calibrate(Calibrate(grip)) is Progress.RUNNING

    run = rig.bond(arm).run
    assert run == rig.bond(grip).run == 1
    assert rig.manager.calibrate(Calibrate(arm)) is Progress.RUNNING
    rig.manager.on_calibration_ended(CalibrationEnded(arm, run))
    assert (rig.bond(arm).run, rig.bond(grip).run) == (0, 0)
    assert rig.bond(arm).calibrated
    assert rig.bond(grip).calibrated
    assert rig.progress(grip) is Progress.CALIBRATED
    assert rig.heard("device-calibration-failed") == []


@pytest.mark.parametrize("first", [0, 1])
def test_run_ends_when_both_halves_are_done(first: int) -> None:
    rig = PairingRig("compact", "pen")
    both = ids(rig)
    rig.calibrating(both[1])
    rig.manager.calibrate(Calibrate(both[0]))

    rig.manager.on_calibration_ended(CalibrationEnded(both[first], 1))
    assert rig.progress(both[0]) is Progress.RUNNING
    assert [rig.bond(one).run for one in both] == [1, 1]
    rig.manager.on_calibration_ended(CalibrationEnded(both[1 - first], 1))

    assert rig.progress(both[0]) is Progress.CALIBRATED
    assert [rig.bond(one).run for one in both] == [0, 0]


def test_pen_failure_fails_the_run_of_both() -> None:
    rig = PairingRig("compact", "pen")
    compact, pen = ids(rig)
    rig.calibrating(pen)
    rig.manager.calibrate(Calibrate(compact))

    rig.manager.on_calibration_ended(CalibrationEnded(pen, 1, Reason.OSCILLATING_HALL))

    assert rig.heard("device-calibration-failed") == [
        {"device_id": compact, "device_family": "compact", "reason": "oscillating_hall"}
    ]
    assert rig.progress(compact) is Progress.FAILED
    assert rig.manager.calibrate(Calibrate(compact)) is Progress.RUNNING
    assert rig.bond(pen).run == 2


def test_pen_without_a_result_fails_the_run_at_the_time_limit() -> None:
    rig = PairingRig("compact", "pen")
    compact, pen = ids(rig)
    rig.calibrating(pen)
    rig.manager.calibrate(Calibrate(compact))
    rig.manager.on_calibration_ended(CalibrationEnded(compact, 1))

    rig.clock.advance(LONGEST_CALIBRATION_S)
    rig.context.timers.fire_due()
    for overdue in rig.myself.of(CalibrationOverdue):
        rig.manager.on_calibration_overdue(overdue)

    assert [one["reason"] for one in rig.heard("device-calibration-failed")] == ["blocked"]


def test_end_without_a_run_is_no_failure(rig: PairingRig) -> None:
    rig.manager.calibrate(Calibrate(ids(rig)[0]))
    rig.manager.on_calibration_ended(CalibrationEnded(ids(rig)[0], 1))

    rig.manager.on_calibration_ended(CalibrationEnded(ids(rig)[0], 0, Reason.BLOCKED))

    assert rig.progress(ids(rig)[0]) is Progress.CALIBRATED
    assert rig.heard("device-calibration-failed") == []


def test_handle_swapped_during_a_run_ends_it_at_once() -> None:
    rig = PairingRig("compact", "pen", "pen")
    compact, pen, other = ids(rig)
    assert rig.bond(compact).paired_with == pen
    rig.manager.calibrate(Calibrate(compact))

    rig.manager.pair_manually(PairManually(compact, other))

    assert [one["reason"] for one in rig.heard("device-calibration-failed")] == ["pen_lost"]
    assert [rig.bond(one).run for one in (compact, pen, other)] == [0, 0, 0]


def test_handle_moved_to_another_device_gets_a_new_run_number() -> None:
    rig = PairingRig("compact", "pen", "compact")
    one, pen, other = ids(rig)
    rig.manager.pair_manually(PairManually(one, pen))
    rig.manager.calibrate(Calibrate(one))
    rig.manager.on_calibration_ended(CalibrationEnded(one, 1))
    rig.manager.unpair(Unpair(pen))
    rig.manager.pair_manually(PairManually(other, pen))

    rig.manager.calibrate(Calibrate(other))

    assert rig.bond(pen).run == 2


def test_calibration_is_locked_while_detached_and_unlocked_by_attaching(rig: PairingRig) -> None:
    arm, grip = ids(rig)
    rig.listen(0.2, silent=[grip])
    assert rig.progress(arm) is Progress.LOCKED

    with pytest.raises(CalibrationLocked):
        rig.manager.calibrate(Calibrate(arm))

    rig.listen(0.4)
    assert rig.manager.calibrate(Calibrate(arm)) is Progress.RUNNING
    assert rig.heard("device-calibration-failed") == []


@pytest.mark.parametrize("word", ["arm", "pen"])
def test_calibration_is_locked_without_a_partner(word: str) -> None:
    rig = PairingRig(word)

    with pytest.raises(CalibrationLocked):
        rig.manager.calibrate(Calibrate(ids(rig)[0]))
    assert rig.progress(ids(rig)[0]) is Progress.LOCKED


@pytest.mark.parametrize("reason", [Reason.BLOCKED, Reason.OSCILLATING_HALL])
def test_firmware_failure_raises_an_event_each_time(rig: PairingRig, reason: Reason) -> None:
    arm, _ = ids(rig)

    for run in (1, 2):
        rig.manager.calibrate(Calibrate(arm))
        rig.manager.on_calibration_ended(CalibrationEnded(arm, run, reason))
        rig.manager.on_calibration_ended(CalibrationEnded(arm, run))

    assert (
        rig.heard("device-calibration-failed")
        == [{"device_id": arm, "device_family": "arm", "reason": str(reason)}] * 2
    )
    assert rig.progress(arm) is Progress.FAILED
    assert not rig.bond(arm).calibrated


def test_disconnected_pen_is_a_failure_and_an_error() -> None:
    rig = PairingRig("compact", "pen")
    compact, _ = ids(rig)
    rig.here(rig.all[0])

    with pytest.raises(CalibrationLocked):
        rig.manager.calibrate(Calibrate(compact))

    assert [one["reason"] for one in rig.heard("device-calibration-failed")] == ["pen_not_connected"]


def test_sleeping_pen_is_a_failure_and_an_error() -> None:
    rig = PairingRig("compact", "pen")
    compact, pen = ids(rig)
    rig.phase(pen, Phase.ASLEEP)

    with pytest.raises(Conflict, match="wake"):
        rig.manager.calibrate(Calibrate(compact))

    assert [one["reason"] for one in rig.heard("device-calibration-failed")] == ["pen_asleep"]
    rig.phase(pen, Phase.READY)
    assert rig.manager.calibrate(Calibrate(compact)) is Progress.RUNNING


@pytest.mark.parametrize("how", ["unplugged", "detached", "unpaired", "asleep"])
def test_lost_pen_ends_the_run_with_one_failure(how: str) -> None:
    rig = PairingRig("compact", "pen")
    compact, pen = ids(rig)
    rig.manager.calibrate(Calibrate(compact))

    match how:
        case "unplugged":
            rig.here(rig.all[0])
        case "detached":
            rig.listen(0.2, silent=[pen])
        case "unpaired":
            rig.manager.unpair(Unpair(pen))
        case _:
            rig.phase(pen, Phase.ASLEEP)
    rig.manager.on_calibration_ended(CalibrationEnded(compact, 1))

    reason = "pen_asleep" if how == "asleep" else "pen_lost"
    assert [one["reason"] for one in rig.heard("device-calibration-failed")] == [reason]
    assert rig.bond(compact).run == 0
    assert rig.progress(compact) is Progress.FAILED


def test_silent_device_fails_as_blocked(rig: PairingRig) -> None:
    arm, _ = ids(rig)
    rig.manager.calibrate(Calibrate(arm))

    rig.clock.advance(LONGEST_CALIBRATION_S)
    rig.context.timers.fire_due()
    for overdue in rig.myself.of(CalibrationOverdue):
        rig.manager.on_calibration_overdue(overdue)

    assert [one["reason"] for one in rig.heard("device-calibration-failed")] == ["blocked"]


@pytest.mark.parametrize("phase", [Phase.SETTLING, Phase.ASLEEP])
def test_device_not_ready_does_not_calibrate(rig: PairingRig, phase: Phase) -> None:
    arm, _ = ids(rig)
    rig.phase(arm, phase)

    with pytest.raises(Conflict, match=str(phase)):
        rig.manager.calibrate(Calibrate(arm))


def test_restarted_manager_gets_the_end_of_a_run(rig: PairingRig) -> None:
    arm, _ = ids(rig)
    rig.manager.calibrate(Calibrate(arm))

    rig.again()
    rig.manager.on_calibration_ended(CalibrationEnded(arm, 1))

    assert rig.progress(arm) is Progress.CALIBRATED
    assert rig.bond(arm).run == 0


def test_reconnected_device_starts_with_its_record(rig: PairingRig) -> None:
    arm, _ = ids(rig)
    rig.manager.calibrate(Calibrate(arm))
    rig.manager.on_calibration_ended(CalibrationEnded(arm, 1, Reason.BLOCKED))
    rig.here(rig.all[1])

    rig.here(*rig.all)

    assert rig.progress(arm) is Progress.CALIBRATED


def test_refused_requests_change_no_pair(rig: PairingRig) -> None:
    arm, grip = ids(rig)

    for one, other in [(arm, arm), ("", grip), (arm, "x" * 10_000), (grip, grip)]:
        with pytest.raises(HapticError):
            rig.manager.pair_manually(PairManually(one, other))
    assert rig.pairs() == {arm: grip, grip: arm}
