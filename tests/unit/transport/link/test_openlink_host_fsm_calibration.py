"""Host state machine during a calibration: begin once, poll until the end, report the reason."""

from __future__ import annotations

import pytest

from actors.pairing.messages import Reason
from actors.port.link_interface import CalibrationResult
from fastpath.codecs.openlink_messages import (
    Calibrate,
    Calibration,
    CalibrationProgress,
    CalibrationReason,
    Identity,
    Refused,
    RefusedReason,
)
from tests.support.boards.host_fsm_rig import ARM, GRIP, HostFsmRig


def test_refused_calibration_fails(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 3)
    (asked,) = rig.of_kind(Calibrate, rig.receive())

    rig.receive(Refused(asked.sequence, 3, RefusedReason.TYPE))

    assert rig.ended() == CalibrationResult(3, Reason.BLOCKED)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (CalibrationReason.NONE, None),
        (CalibrationReason.BLOCKED, Reason.BLOCKED),
        (CalibrationReason.OSCILLATING_HALL, Reason.OSCILLATING_HALL),
        (CalibrationReason.PEN_NOT_CONNECTED, Reason.PEN_NOT_CONNECTED),
        (CalibrationReason.PEN_ASLEEP, Reason.PEN_ASLEEP),
        (CalibrationReason.PEN_LOST, Reason.PEN_LOST),
    ],
)
def test_calibration_ends_with_its_reason(rig: HostFsmRig, told: CalibrationReason, reason: Reason | None) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 7)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    rig.receive(Calibration(asked.sequence, CalibrationProgress.RUNNING))
    assert rig.ended() is None
    progress = CalibrationProgress.FAILED if reason else CalibrationProgress.DONE

    rig.receive(Calibration(asked.sequence, progress, told))

    assert rig.ended() == CalibrationResult(7, reason)
    assert rig.of_kind(Calibrate, rig.wait(1000, states=True)) == []


@pytest.mark.parametrize("run", [1, 255, 256, 70_000])
def test_calibrating_board_is_polled(rig: HostFsmRig, run: int) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", run)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    for _ in range(12):
        rig.receive(Calibration(asked.sequence, CalibrationProgress.RUNNING))
        assert rig.of_kind(Calibrate, rig.wait(490, states=True)) == []
        (again,) = rig.of_kind(Calibrate, rig.wait(10, states=True))
        assert again.message == asked.message == Calibrate(run=1)
        asked = again

    rig.receive(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.ended() == CalibrationResult(run, None)
    assert rig.of_kind(Calibrate, rig.wait(2000, states=True)) == []


def test_refusal_is_reported_until_a_run_is_accepted(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 3)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    rig.receive(Refused(asked.sequence, 5, RefusedReason.VALUE))
    assert rig.host_fsm.peers[0].refusal == "it refused CALIBRATE (value)"

    rig.host_fsm.calibrate("A1", 4)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    rig.receive(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.host_fsm.peers[0].refusal == ""


@pytest.mark.parametrize(("identity", "reason"), [(ARM, Reason.BLOCKED), (GRIP, Reason.PEN_ASLEEP)])
def test_device_sleeping_during_a_calibration_fails_it(rig: HostFsmRig, identity: Identity, reason: Reason) -> None:
    rig.awake(identity)
    rig.host_fsm.calibrate(identity.device_id, 3)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    rig.receive(Refused(asked.sequence, 5, RefusedReason.ASLEEP))

    assert rig.ended() == CalibrationResult(3, reason)


def test_board_without_a_run_fails_it(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 3)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    rig.receive(Calibration(asked.sequence, CalibrationProgress.RUNNING))
    rig.receive(Calibration(asked.sequence, CalibrationProgress.IDLE))

    assert rig.ended() == CalibrationResult(3, Reason.BLOCKED)


def test_answer_with_the_sequence_of_the_request_counts(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 3)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    for _ in range(18):
        rig.receive(Calibration(asked.sequence, CalibrationProgress.RUNNING))
        rig.wait(510, states=True)
    rig.receive(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.ended() == CalibrationResult(3, None)


def test_consecutive_runs_have_different_numbers_on_the_line(rig: HostFsmRig) -> None:
    rig.awake()
    numbers: list[int] = []
    for run in range(5, 5 + 255 * 300, 255):
        rig.host_fsm.calibrate("A1", run)
        (asked,) = rig.of_kind(Calibrate, rig.receive())
        assert isinstance(asked.message, Calibrate)
        numbers.append(asked.message.run)
        rig.receive(Calibration(asked.sequence, CalibrationProgress.DONE))
        rig.wait(10, states=True)

    assert numbers == [*range(1, 256), *range(1, 46)]


def test_run_with_lost_polls_follows_the_board(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 3)
    (*_, last) = rig.of_kind(Calibrate, rig.receive() + rig.wait(3000, states=True))

    rig.receive(Calibration(last.sequence, CalibrationProgress.RUNNING))
    (again,) = rig.of_kind(Calibrate, rig.wait(510, states=True))
    rig.receive(Calibration(again.sequence, CalibrationProgress.FAILED, CalibrationReason.PEN_LOST))

    assert rig.ended() == CalibrationResult(3, Reason.PEN_LOST)


def test_run_is_begun_once_and_an_older_end_is_ignored(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 1)
    (first,) = rig.of_kind(Calibrate, rig.receive())
    rig.host_fsm.calibrate("A1", 1)
    assert rig.of_kind(Calibrate, rig.receive()) == []
    rig.host_fsm.calibrate("A1", 2)
    rig.receive()

    rig.receive(Calibration(first.sequence, CalibrationProgress.DONE))

    assert rig.host_fsm.peers[0].ended is None


@pytest.mark.parametrize("progress", CalibrationProgress)
def test_run_ended_by_the_other_half_is_aborted_until_answered(rig: HostFsmRig, progress: CalibrationProgress) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 0)
    assert rig.of_kind(Calibrate, rig.receive()) == []
    rig.host_fsm.calibrate("A1", 4)
    rig.receive()

    rig.host_fsm.calibrate("A1", 0)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    assert asked.message == Calibrate(start=False)
    rig.receive(Calibration(asked.sequence, progress, CalibrationReason.NONE))
    assert rig.of_kind(Calibrate, rig.wait(1000, states=True)) == []

    assert rig.ended() is None


def test_ended_run_is_not_aborted_again(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.calibrate("A1", 4)
    (asked,) = rig.of_kind(Calibrate, rig.receive())
    rig.receive(Calibration(asked.sequence, CalibrationProgress.DONE))

    rig.host_fsm.calibrate("A1", 0)

    assert rig.of_kind(Calibrate, rig.receive()) == []
    assert rig.ended() == CalibrationResult(4, None)
