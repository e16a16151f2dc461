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


def test_a_calibration_that_is_refused_has_failed(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())

    rig.hear(Refused(asked.sequence, 3, RefusedReason.TYPE))

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
def test_a_calibration_ends_with_its_reason(rig: HostFsmRig, told: CalibrationReason, reason: Reason | None) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 7)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
    assert rig.ended() is None
    progress = CalibrationProgress.FAILED if reason else CalibrationProgress.DONE

    rig.hear(Calibration(asked.sequence, progress, told))

    assert rig.ended() == CalibrationResult(7, reason)
    assert rig.say(Calibrate, rig.wait(1000, states=True)) == []


@pytest.mark.parametrize("run", [1, 255, 256, 70_000])
def test_a_board_that_calibrates_is_asked_how_far_it_is_as_its_one_word_that_it_is_done_may_be_lost(
    rig: HostFsmRig, run: int
) -> None:
    rig.awake()
    rig.talk.calibrate("A1", run)
    (asked,) = rig.say(Calibrate, rig.hear())
    for _ in range(12):
        rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
        assert rig.say(Calibrate, rig.wait(490, states=True)) == []
        (again,) = rig.say(Calibrate, rig.wait(10, states=True))
        assert again.message == asked.message == Calibrate(run=1)
        asked = again

    rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.ended() == CalibrationResult(run, None)
    assert rig.say(Calibrate, rig.wait(2000, states=True)) == []


def test_what_was_refused_is_told_until_a_run_is_taken(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Refused(asked.sequence, 5, RefusedReason.VALUE))
    assert rig.talk.peers[0].refusal == "it refused CALIBRATE (value)"

    rig.talk.calibrate("A1", 4)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.talk.peers[0].refusal == ""


@pytest.mark.parametrize(("identity", "reason"), [(ARM, Reason.BLOCKED), (GRIP, Reason.PEN_ASLEEP)])
def test_who_falls_asleep_while_it_calibrates_has_failed(rig: HostFsmRig, identity: Identity, reason: Reason) -> None:
    rig.awake(identity)
    rig.talk.calibrate(identity.device_id, 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Refused(asked.sequence, 5, RefusedReason.ASLEEP))

    assert rig.ended() == CalibrationResult(3, reason)


def test_a_board_that_knows_nothing_of_a_run_has_failed_it(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
    rig.hear(Calibration(asked.sequence, CalibrationProgress.IDLE))

    assert rig.ended() == CalibrationResult(3, Reason.BLOCKED)


def test_a_board_that_answers_with_the_sequence_that_began_the_run_is_heard(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    for _ in range(18):
        rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
        rig.wait(510, states=True)
    rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.ended() == CalibrationResult(3, None)


def test_no_two_runs_after_each_other_have_the_same_number_on_the_line_whatever_theirs_is_here(rig: HostFsmRig) -> None:
    rig.awake()
    numbers: list[int] = []
    for run in range(5, 5 + 255 * 300, 255):
        rig.talk.calibrate("A1", run)
        (asked,) = rig.say(Calibrate, rig.hear())
        assert isinstance(asked.message, Calibrate)
        numbers.append(asked.message.run)
        rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))
        rig.wait(10, states=True)

    assert numbers == [*range(1, 256), *range(1, 46)]


def test_a_run_whose_questions_were_all_lost_goes_on_with_what_the_board_says(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (*_, last) = rig.say(Calibrate, rig.hear() + rig.wait(3000, states=True))

    rig.hear(Calibration(last.sequence, CalibrationProgress.RUNNING))
    (again,) = rig.say(Calibrate, rig.wait(510, states=True))
    rig.hear(Calibration(again.sequence, CalibrationProgress.FAILED, CalibrationReason.PEN_LOST))

    assert rig.ended() == CalibrationResult(3, Reason.PEN_LOST)


def test_the_same_run_is_begun_once_and_the_end_of_an_older_one_is_none_of_its(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 1)
    (first,) = rig.say(Calibrate, rig.hear())
    rig.talk.calibrate("A1", 1)
    assert rig.say(Calibrate, rig.hear()) == []
    rig.talk.calibrate("A1", 2)
    rig.hear()

    rig.hear(Calibration(first.sequence, CalibrationProgress.DONE))

    assert rig.talk.peers[0].ended is None


@pytest.mark.parametrize("progress", CalibrationProgress)
def test_a_run_that_is_over_for_the_other_half_is_ended_until_the_board_answers(
    rig: HostFsmRig, progress: CalibrationProgress
) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 0)
    assert rig.say(Calibrate, rig.hear()) == []
    rig.talk.calibrate("A1", 4)
    rig.hear()

    rig.talk.calibrate("A1", 0)
    (asked,) = rig.say(Calibrate, rig.hear())
    assert asked.message == Calibrate(start=False)
    rig.hear(Calibration(asked.sequence, progress, CalibrationReason.NONE))
    assert rig.say(Calibrate, rig.wait(1000, states=True)) == []

    assert rig.ended() is None


def test_a_run_that_has_ended_is_not_ended_again(rig: HostFsmRig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 4)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))

    rig.talk.calibrate("A1", 0)

    assert rig.say(Calibrate, rig.hear()) == []
    assert rig.ended() == CalibrationResult(4, None)
