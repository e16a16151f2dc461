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
    sent = rig.receive() + rig.wait(1000 * answer_s - 10)

    assert [(frame.device, frame.message) for frame in sent] == [(EVERY_DEVICE, Identify())] * asked
    assert rig.host_fsm.why == ""

    rig.wait(10)
    assert rig.host_fsm.why == "nobody answers IDENTIFY"


def test_board_that_resets_on_open_is_identified() -> None:
    rig = HostFsmRig(answer_s=2.0)
    rig.receive()
    rig.wait(1900)

    rig.receive(ARM)
    rig.receive(READY)

    assert rig.ids() == ["A1"]


@pytest.mark.parametrize("index", [1, 7, EVERY_DEVICE])
def test_single_board_with_another_index_is_refused_with_its_reason(rig: HostFsmRig, index: int) -> None:
    rig.receive()
    rig.receive(ARM, device=index)
    rig.wait(2010)

    assert not rig.host_fsm.identified
    assert rig.host_fsm.why == f"it answers IDENTIFY as device {index}, and a board on its own is device 0"


def test_identified_board_is_woken(rig: HostFsmRig) -> None:
    rig.receive()

    (frame,) = rig.receive(ARM)

    assert frame == Frame(0, 1, Wake(awake=True, rate_hz=1000))
    assert rig.host_fsm.peers == ()
    assert not rig.host_fsm.settled


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_three_lost_wake_ups_are_tolerated(rig: HostFsmRig, lost: int) -> None:
    rig.receive()
    sent = rig.receive(ARM) + rig.wait(500 * lost)
    rig.receive(SETTLING)

    assert len(rig.of_kind(Wake, sent)) == 1 + lost
    assert rig.host_fsm.settled
    assert [peer.phase for peer in rig.host_fsm.peers] == [SettlePhase.SETTLING]


def test_board_that_never_wakes_ends_the_link(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)

    sent = rig.wait(3000)

    assert len(rig.of_kind(Wake, sent)) == 3
    assert rig.host_fsm.why == "it does not wake up"


def test_no_board_is_woken_before_commands_flow() -> None:
    host_fsm = HostFsm()
    sent = host_fsm.step(1, []) + host_fsm.step(2, [Frame(0, 1, ARM)])

    assert [frame.message for words in sent for frame in Decoder().feed(words)] == [Identify()]
    assert host_fsm.identified
    host_fsm.start_waking()
    (words,) = host_fsm.step(3, [])
    assert Decoder().feed(words)[0].message == Wake(rate_hz=1000)


def test_host_fsm_sends_no_commands(rig: HostFsmRig) -> None:
    rig.awake()

    assert rig.of_kind(Command, rig.wait(400, states=True)) == []


@pytest.mark.parametrize("kind", [DeviceKind.GRIP, DeviceKind.PEN])
def test_handle_gets_no_commands(rig: HostFsmRig, kind: DeviceKind) -> None:
    rig.awake(replace(GRIP, kind=kind))

    assert rig.wait(200, states=True) == []
    assert rig.host_fsm.peers[0].mode is CommandMode.RELEASE
    assert rig.host_fsm.peers[0].commands_hz == 0


def test_silent_board_ends_the_link(rig: HostFsmRig) -> None:
    rig.awake()

    rig.wait(500)
    assert rig.host_fsm.why == ""
    rig.wait(10)
    assert rig.host_fsm.why == "it sent nothing for 510 ms"


def test_sleeping_board_may_be_silent_and_wakes_by_itself(rig: HostFsmRig) -> None:
    rig.awake()
    rig.receive(Settle(SettlePhase.ASLEEP))

    assert rig.wait(5000) == []
    assert rig.host_fsm.why == ""
    assert not rig.host_fsm.peers[0].awake

    rig.receive(READY)
    assert rig.host_fsm.peers[0].awake


def test_lost_ready_message_is_requested(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)
    rig.receive(SETTLING)
    assert rig.of_kind(Wake, rig.wait(490, states=True)) == []

    assert len(rig.of_kind(Wake, rig.wait(50, states=True))) == 1
    rig.receive(READY)

    assert rig.host_fsm.peers[0].phase is SettlePhase.READY
    assert rig.of_kind(Wake, rig.wait(3000, states=True)) == []


def test_board_restarting_while_settling_is_lost_and_not_woken(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)
    rig.receive(SETTLING)
    rig.wait(80, states=True)

    assert rig.of_kind(Wake, rig.wait(500)) == []
    assert rig.host_fsm.why == ""
    assert rig.of_kind(Wake, rig.wait(10)) == []
    assert rig.host_fsm.why == "it sent nothing for 510 ms"


def test_sending_board_without_a_status_answer_is_kept(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)
    rig.receive(SETTLING)

    sent = rig.of_kind(Wake, rig.wait(6000, states=True))
    assert len(sent) == 11
    refusals = 0
    for _ in range(300):
        for frame in rig.of_kind(Wake, rig.wait(10, states=True)):
            refusals += 1
            rig.receive(Refused(frame.sequence, 2, RefusedReason.VALUE))

    assert refusals == 6
    assert rig.host_fsm.why == rig.host_fsm.peers[0].refusal == ""
    rig.receive(READY)
    assert rig.host_fsm.peers[0].settled


def test_board_failing_to_wake_ends_the_link(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)
    rig.receive(Settle(SettlePhase.FAILED))

    assert rig.host_fsm.why == "it failed to wake up"


def test_duplicate_frame_counts_once(rig: HostFsmRig) -> None:
    rig.awake()
    rig.receive(READY)
    rig.host_fsm.step(rig.now_ns, [Frame(0, 3, Settle(SettlePhase.ASLEEP))])

    assert rig.host_fsm.peers[0].phase is SettlePhase.READY


def test_board_refusing_to_wake_ends_the_link(rig: HostFsmRig) -> None:
    rig.receive()
    (asked,) = rig.of_kind(Wake, rig.receive(ARM))

    rig.receive(Refused(asked.sequence, 2, RefusedReason.VERSION, 3))

    assert rig.host_fsm.why == "it refused WAKE (it speaks versions up to 3 of the protocol)"


def test_heartbeats_and_faults_are_seen(rig: HostFsmRig) -> None:
    rig.awake(GRIP)
    rig.receive(Heartbeat(5, 1.0), Fault(1, FaultFlag.HALL, FaultFlag.HALL))

    (peer,) = rig.host_fsm.peers
    assert peer.beat_ns == rig.now_ns
    assert peer.faults == FaultFlag.HALL

    rig.host_fsm.update_from_thread(0, rig.now_ns, rig.now_ns + 5, 0)
    assert peer.beat_ns == rig.now_ns + 5
    assert peer.faults == FaultFlag(0)


def test_board_is_settled_when_ready_and_homed(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)
    rig.receive(SETTLING)
    assert not rig.host_fsm.peers[0].settled

    rig.host_fsm.update_from_thread(0, rig.now_ns, 0, 0, homed=False)
    rig.receive(READY)
    assert not rig.host_fsm.peers[0].settled

    rig.host_fsm.update_from_thread(0, rig.now_ns, 0, 0, homed=True)
    assert rig.host_fsm.peers[0].settled


def test_state_has_the_calibrated_flag(rig: HostFsmRig) -> None:
    rig.awake()
    assert not rig.host_fsm.peers[0].calibrated

    rig.receive(State(flags=StateFlag.AWAKE | StateFlag.CALIBRATED))

    assert rig.host_fsm.peers[0].calibrated


def test_message_of_an_unknown_index_is_ignored(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM, device=3)

    assert rig.host_fsm.peers == ()


def test_shutdown_stops_motors_then_puts_devices_to_sleep(rig: HostFsmRig) -> None:
    rig.awake()

    words = [Decoder().feed(word)[0].message for word in rig.host_fsm.sleep_frames()]

    assert words == [Command(), Wake(awake=False, rate_hz=0)]
