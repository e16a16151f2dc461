"""Pairing and calibration of one device: DeviceActor passes its bond from PairingManager to the loop and reports the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from actors.device.actor import CALIBRATION_S, DeviceActor
from actors.device.messages import Bond, BondChanged, CalibrationDue, DeviceRecord, Inventory, Phase, actor_name
from actors.device.params import device_params, status_flags
from actors.kit.published import Published
from actors.pairing.messages import PAIRING, CalibrationEnded, Reason
from actors.port.messages import CalibrateOverLink, link_name
from actors.values.simulation import Fault, Simulation
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import StatusFlag
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, settings_view, simulated_records
from tests.support.boards.fake_links import GRIP

RUN = 3


class BondRig(ActorRig):
    """The actor of an arm that is paired with a grip, without a thread, on a stepped loop."""

    def __init__(self) -> None:
        super().__init__()
        self.runtime = Runtime(stepping=True, realtime=False)
        self.arm, self.grip = simulated_records(self.runtime, "arm", "grip")
        self.inventory.replace(Inventory((self.arm, self.grip)))
        self.pairing = FakeActor(self.context, PAIRING)
        self.myself = FakeActor(self.context, actor_name(self.arm.device_id))
        self.actor = self.again()
        self.writer = self.runtime.writer(self.runtime.lease_session("1"), self.arm.lease)

    def again(self) -> DeviceActor:
        self.actor = DeviceActor(self.context, self.runtime, self.inventory, self.settings, self.arm.device_id)
        self.actor.started()
        return self.actor

    def bond(self, **changes: Any) -> None:
        """The inventory shows another bond of the arm."""
        self.arm = replace(self.arm, bond=replace(self.arm.bond, **changes))
        self.inventory.replace(Inventory((self.arm, self.grip)))
        self.actor.on_bond(BondChanged())

    def applied(self) -> float:
        """The force that the loop applies while 1 N is commanded."""
        for _ in range(20):
            self.writer.begin()
            self.writer.force(0, 0, 1)
            self.writer.publish()
            self.runtime.step(20)
        return float(self.runtime.reader(self.arm.lease).snapshot()["force"][2])

    def due(self, seconds: float) -> list[CalibrationDue]:
        self.wait(seconds)
        return self.myself.of(CalibrationDue)


def test_no_force_is_put_out_while_a_calibration_runs() -> None:
    rig = BondRig()
    assert rig.applied() == pytest.approx(1)

    rig.bond(run=RUN)
    assert rig.applied() == 0
    rig.bond(run=0)
    assert rig.applied() == pytest.approx(1)


def test_simulated_calibration_takes_one_second_and_reports_its_result() -> None:
    rig = BondRig()

    rig.bond(run=RUN)
    assert rig.due(CALIBRATION_S - 0.001) == []
    (due,) = rig.due(0.001)
    rig.actor.on_calibration_due(due)

    assert CALIBRATION_S == 1
    assert rig.pairing.of(CalibrationEnded) == [CalibrationEnded(rig.arm.device_id, RUN)]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.NONE, None),
        (Fault.STALL, None),
        (Fault.CALIBRATION_BLOCKED, Reason.BLOCKED),
        (Fault.OSCILLATING_HALL, Reason.OSCILLATING_HALL),
    ],
)
@pytest.mark.parametrize("of_grip", [False, True])
def test_fault_of_either_half_fails_the_calibration(fault: Fault, reason: Reason | None, *, of_grip: bool) -> None:
    rig = BondRig()
    ill = Simulation(fault=fault)
    if of_grip:
        rig.grip = replace(rig.grip, simulation=ill)
    else:
        rig.arm = replace(rig.arm, simulation=ill)
    rig.bond(run=RUN, paired_with=rig.grip.device_id)

    rig.actor.on_calibration_due(CalibrationDue(RUN))

    assert rig.pairing.of(CalibrationEnded) == [CalibrationEnded(rig.arm.device_id, RUN, reason)]


def test_late_end_of_a_finished_run_is_ignored() -> None:
    rig = BondRig()
    rig.bond(run=RUN)
    rig.bond(run=0)

    rig.actor.on_calibration_due(CalibrationDue(RUN))

    assert rig.pairing.told == []


@pytest.mark.parametrize("calibrates", [True, False])
def test_real_handle_with_the_capability_calibrates_over_its_link(calibrates: bool) -> None:
    rig = BondRig()
    link = FakeActor(rig.context, link_name(rig.grip.identity.port))
    found = replace(GRIP, calibrates=calibrates)
    grip = replace(rig.grip, identity=replace(rig.grip.identity, simulated=False, found=found))
    rig.inventory.replace(Inventory((rig.arm, grip)))
    actor = DeviceActor(rig.context, rig.runtime, rig.inventory, Published(settings_view()), grip.device_id)
    actor.started()

    rig.inventory.replace(Inventory((rig.arm, replace(grip, bond=replace(grip.bond, run=RUN)))))
    actor.on_bond(BondChanged())

    # An actor that has come back does not know whether the last one ended what it began.
    began = [CalibrateOverLink(GRIP.device_id, run) for run in (0, RUN)] if calibrates else []
    assert link.of(CalibrateOverLink) == began

    rig.inventory.replace(Inventory((rig.arm, grip)))
    actor.on_bond(BondChanged())
    assert link.of(CalibrateOverLink) == [*began, *began[:1]]


def test_actor_crash_during_a_calibration_restarts_it() -> None:
    rig = BondRig()
    rig.bond(run=RUN)

    rig.again()

    assert rig.due(CALIBRATION_S) == [CalibrationDue(RUN)]
    assert rig.applied() == 0


def test_other_bond_change_does_not_restart_the_calibration() -> None:
    rig = BondRig()
    rig.bond(run=RUN)
    rig.clock.advance(CALIBRATION_S / 2)

    rig.bond(paired_with=rig.grip.device_id)

    assert rig.due(CALIBRATION_S / 2) == [CalibrationDue(RUN)]


@pytest.mark.parametrize("phase", Phase)
def test_only_a_ready_device_with_motors_that_does_not_calibrate_takes_commands(phase: Phase) -> None:
    rig = BondRig()

    def accepts(record: DeviceRecord, run: int) -> bool:
        shown = replace(record, phase=phase, bond=replace(record.bond, run=run))
        assert bool(device_params(shown, 0)["accepts_commands"]) is shown.accepts
        return shown.accepts

    assert accepts(rig.arm, 0) is (phase is Phase.READY)
    assert not accepts(rig.arm, RUN)
    assert not accepts(rig.grip, 0)


def test_loop_gets_partner_and_attachment() -> None:
    rig = BondRig()
    bond = Bond("1605", partner_slot=4, attached=False, calibrated=False)
    params = device_params(replace(rig.arm, bond=bond), 0)

    assert params["grip_slot"] == 4
    assert status_flags(replace(rig.arm, bond=bond)) & (StatusFlag.FLAG_ATTACHED | StatusFlag.FLAG_CALIBRATED) == 0
    assert status_flags(replace(rig.arm, bond=replace(bond, attached=True))) & StatusFlag.FLAG_ATTACHED
    assert status_flags(replace(rig.arm, bond=replace(bond, calibrated=True))) & StatusFlag.FLAG_CALIBRATED


def test_new_real_device_has_an_unknown_bond() -> None:
    assert Bond.at_first(simulated=True) == Bond(attached=True, calibrated=True)
    assert Bond.at_first(simulated=True, beats=False) == Bond(calibrated=True)
    assert Bond.at_first(simulated=False) == Bond()
