"""Host state machine of the open link protocol: identify, wake up, command, time out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastpath.codecs.openlink_messages import (
    Command,
    CommandMode,
    DeviceKind,
    Fault,
    FaultFlag,
    Heartbeat,
    Identify,
    Refused,
    RefusedReason,
    Settle,
    SettlePhase,
    State,
    StateFlag,
    Wake,
)
from fastpath.codecs.openlink_py import EVERY_DEVICE, Decoder, Frame
from tests.support.boards.host_fsm_rig import ARM, GRIP, READY, SETTLING, HostFsmRig
from transport.link.protocols.openlink.host_fsm import HostFsm


@pytest.mark.parametrize(("answer_s", "asked"), [(0.1, 1), (0.25, 1), (1.0, 4), (2.0, 8), (30.0, 120)])
def test_identify_is_repeated_until_the_deadline(answer_s: float, asked: int) -> None:
    rig = HostFsmRig(answer_s=answer_s)
    said = rig.hear() + rig.wait(1000 * answer_s - 10)

    assert [(frame.device, frame.message) for frame in said] == [(EVERY_DEVICE, Identify())] * asked
    assert rig.talk.why == ""

    rig.wait(10)
    assert rig.talk.why == "nobody answers IDENTIFY"


def test_board_that_resets_on_open_is_identified() -> None:
    rig = HostFsmRig(answer_s=2.0)
    rig.hear()
    rig.wait(1900)

    rig.hear(ARM)
    rig.hear(READY)

    assert rig.ids() == ["A1"]


@pytest.mark.parametrize("index", [1, 7, EVERY_DEVICE])
def test_single_board_with_another_index_is_refused_with_its_reason(rig: HostFsmRig, index: int) -> None:
    rig.hear()
    rig.hear(ARM, device=index)
    rig.wait(2010)

    assert not rig.talk.identified
    assert rig.talk.why == f"it answers IDENTIFY as device {index}, and a board on its own is device 0"


def test_identified_board_is_woken(rig: HostFsmRig) -> None:
    rig.hear()

    (frame,) = rig.hear(ARM)

    assert frame == Frame(0, 1, Wake(awake=True, rate_hz=1000))
    assert rig.talk.peers == ()
    assert not rig.talk.settled


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_three_lost_wake_ups_are_tolerated(rig: HostFsmRig, lost: int) -> None:
    rig.hear()
    said = rig.hear(ARM) + rig.wait(500 * lost)
    rig.hear(SETTLING)

    assert len(rig.say(Wake, said)) == 1 + lost
    assert rig.talk.settled
    assert [peer.phase for peer in rig.talk.peers] == [SettlePhase.SETTLING]


def test_board_that_never_wakes_ends_the_link(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM)

    said = rig.wait(3000)

    assert len(rig.say(Wake, said)) == 3
    assert rig.talk.why == "it does not wake up"


def test_no_board_is_woken_before_commands_flow() -> None:
    talk = HostFsm()
    said = talk.step(1, []) + talk.step(2, [Frame(0, 1, ARM)])

    assert [frame.message for words in said for frame in Decoder().feed(words)] == [Identify()]
    assert talk.identified
    talk.start_waking()
    (words,) = talk.step(3, [])
    assert Decoder().feed(words)[0].message == Wake(rate_hz=1000)


def test_host_fsm_sends_no_commands(rig: HostFsmRig) -> None:
    rig.awake()

    assert rig.say(Command, rig.wait(400, states=True)) == []


@pytest.mark.parametrize("kind", [DeviceKind.GRIP, DeviceKind.PEN])
def test_handle_gets_no_commands(rig: HostFsmRig, kind: DeviceKind) -> None:
    rig.awake(replace(GRIP, kind=kind))

    assert rig.wait(200, states=True) == []
    assert rig.talk.peers[0].mode is CommandMode.RELEASE
    assert rig.talk.peers[0].commands_hz == 0


def test_silent_board_ends_the_link(rig: HostFsmRig) -> None:
    rig.awake()

    rig.wait(500)
    assert rig.talk.why == ""
    rig.wait(10)
    assert rig.talk.why == "it sent nothing for 510 ms"


def test_sleeping_board_may_be_silent_and_wakes_by_itself(rig: HostFsmRig) -> None:
    rig.awake()
    rig.hear(Settle(SettlePhase.ASLEEP))

    assert rig.wait(5000) == []
    assert rig.talk.why == ""
    assert not rig.talk.peers[0].awake

    rig.hear(READY)
    assert rig.talk.peers[0].awake


def test_lost_ready_message_is_requested(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)
    assert rig.say(Wake, rig.wait(490, states=True)) == []

    assert len(rig.say(Wake, rig.wait(50, states=True))) == 1
    rig.hear(READY)

    assert rig.talk.peers[0].phase is SettlePhase.READY
    assert rig.say(Wake, rig.wait(3000, states=True)) == []


def test_board_restarting_while_settling_is_lost_and_not_woken(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)
    rig.wait(80, states=True)

    assert rig.say(Wake, rig.wait(500)) == []
    assert rig.talk.why == ""
    assert rig.say(Wake, rig.wait(10)) == []
    assert rig.talk.why == "it sent nothing for 510 ms"


def test_sending_board_without_a_status_answer_is_kept(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)

    said = rig.say(Wake, rig.wait(6000, states=True))
    assert len(said) == 11
    refusals = 0
    for _ in range(300):
        for frame in rig.say(Wake, rig.wait(10, states=True)):
            refusals += 1
            rig.hear(Refused(frame.sequence, 2, RefusedReason.VALUE))

    assert refusals == 6
    assert rig.talk.why == rig.talk.peers[0].refusal == ""
    rig.hear(READY)
    assert rig.talk.peers[0].settled


def test_board_failing_to_wake_ends_the_link(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(Settle(SettlePhase.FAILED))

    assert rig.talk.why == "it failed to wake up"


def test_duplicate_frame_counts_once(rig: HostFsmRig) -> None:
    rig.awake()
    rig.hear(READY)
    rig.talk.step(rig.now_ns, [Frame(0, 3, Settle(SettlePhase.ASLEEP))])

    assert rig.talk.peers[0].phase is SettlePhase.READY


def test_board_refusing_to_wake_ends_the_link(rig: HostFsmRig) -> None:
    rig.hear()
    (asked,) = rig.say(Wake, rig.hear(ARM))

    rig.hear(Refused(asked.sequence, 2, RefusedReason.VERSION, 3))

    assert rig.talk.why == "it refused WAKE (it speaks versions up to 3 of the protocol)"


def test_heartbeats_and_faults_are_seen(rig: HostFsmRig) -> None:
    rig.awake(GRIP)
    rig.hear(Heartbeat(5, 1.0), Fault(1, FaultFlag.HALL, FaultFlag.HALL))

    (peer,) = rig.talk.peers
    assert peer.beat_ns == rig.now_ns
    assert peer.faults == FaultFlag.HALL

    rig.talk.update_from_thread(0, rig.now_ns, rig.now_ns + 5, 0)
    assert peer.beat_ns == rig.now_ns + 5
    assert peer.faults == FaultFlag(0)


def test_board_is_settled_when_ready_and_homed(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)
    assert not rig.talk.peers[0].settled

    rig.talk.update_from_thread(0, rig.now_ns, 0, 0, homed=False)
    rig.hear(READY)
    assert not rig.talk.peers[0].settled

    rig.talk.update_from_thread(0, rig.now_ns, 0, 0, homed=True)
    assert rig.talk.peers[0].settled


def test_state_has_the_calibrated_flag(rig: HostFsmRig) -> None:
    rig.awake()
    assert not rig.talk.peers[0].calibrated

    rig.hear(State(flags=StateFlag.AWAKE | StateFlag.CALIBRATED))

    assert rig.talk.peers[0].calibrated


def test_message_of_an_unknown_index_is_ignored(rig: HostFsmRig) -> None:
    rig.hear()
    rig.hear(ARM, device=3)

    assert rig.talk.peers == ()


def test_shutdown_stops_motors_then_puts_devices_to_sleep(rig: HostFsmRig) -> None:
    rig.awake()

    words = [Decoder().feed(word)[0].message for word in rig.talk.sleep_frames()]

    assert words == [Command(), Wake(awake=False, rate_hz=0)]
