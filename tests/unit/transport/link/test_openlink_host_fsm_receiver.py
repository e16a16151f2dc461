"""Host state machine with a receiver: grips that appear, leave or stay silent do not affect each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from fastpath.codecs.openlink_messages import (
    DeviceKind,
    FaultFlag,
    Heartbeat,
    Identify,
    Identity,
    Presence,
    Refused,
    RefusedReason,
    Settle,
    SettlePhase,
)
from fastpath.codecs.openlink_py import EVERY_DEVICE, Frame
from tests.support.boards.host_fsm_rig import ARM, GRIP, READY, RECEIVER, HostFsmRig
from transport.link.protocols.openlink.peer import MS


def receiver(rig: HostFsmRig, present: int) -> None:
    rig.receive()
    rig.receive(RECEIVER, Presence(present), device=EVERY_DEVICE)


def test_receiver_without_grips_opens_empty(rig: HostFsmRig) -> None:
    receiver(rig, 0)

    assert rig.host_fsm.receiver
    assert rig.host_fsm.settled
    assert rig.host_fsm.peers == ()
    for _ in range(10):
        assert rig.wait(500) == []
        rig.receive(Presence(0), device=EVERY_DEVICE)
    assert rig.host_fsm.why == ""


def test_restarted_receiver_is_asked_and_lists_its_grips(rig: HostFsmRig) -> None:
    receiver(rig, 0)

    (asked,) = rig.wait(1620)
    assert (asked.device, asked.message) == (EVERY_DEVICE, Identify())
    sent = rig.receive(RECEIVER, Presence(0b1), device=EVERY_DEVICE)

    assert [(frame.device, frame.message) for frame in sent] == [(0, Identify())]
    rig.receive(GRIP)
    rig.receive(READY)
    assert rig.ids() == ["G0"]
    assert rig.host_fsm.why == ""


@pytest.mark.parametrize(("now_here", "ids"), [(GRIP, ["G0"]), (replace(GRIP, device_id="G9"), ["G9"])])
def test_sleeping_grip_behind_a_restarted_receiver_is_identified_again(
    rig: HostFsmRig, now_here: Identity, ids: list[str]
) -> None:
    receiver(rig, 0b1)
    rig.receive(GRIP)
    rig.receive(Settle(SettlePhase.ASLEEP))
    before = rig.host_fsm.peers
    rig.wait(1620)

    sent = rig.receive(RECEIVER, Presence(0b1), device=EVERY_DEVICE)
    assert [(frame.device, frame.message) for frame in sent] == [(0, Identify())]
    rig.receive(now_here)
    rig.receive(Settle(SettlePhase.ASLEEP))

    assert rig.ids() == ids
    assert (rig.host_fsm.peers == before) is (now_here is GRIP)


def test_new_grip_at_an_index_inherits_nothing(rig: HostFsmRig) -> None:
    receiver(rig, 0b1)
    rig.receive(GRIP)
    rig.receive(READY)
    old_ns = rig.now_ns
    rig.wait(10)
    rig.receive(Presence(0), Presence(0b1), device=EVERY_DEVICE)
    rig.receive(replace(GRIP, device_id="G9"))
    rig.receive(Settle(SettlePhase.ASLEEP))

    rig.host_fsm.update_from_thread(0, old_ns, old_ns, int(FaultFlag.HALL), homed=False, calibrated=True)

    (peer,) = rig.host_fsm.peers
    assert (peer.has_state, peer.faults, peer.homed, peer.calibrated, peer.beat_ns) == (
        False,
        FaultFlag(0),
        True,
        False,
        None,
    )


def test_receiver_in_place_of_a_board_ends_the_link(rig: HostFsmRig) -> None:
    rig.awake()
    rig.receive(RECEIVER, device=EVERY_DEVICE)

    assert rig.host_fsm.why == "a receiver answers where a board did"


def test_silent_receiver_ends_the_link(rig: HostFsmRig) -> None:
    receiver(rig, 0)

    sent = rig.wait(1610 + 1000)

    assert len(rig.of_kind(Identify, sent)) == 4
    assert rig.host_fsm.why == "nobody answers IDENTIFY"


def test_grips_behind_a_receiver_are_independent(rig: HostFsmRig) -> None:
    receiver(rig, 0b101)
    assert [(frame.device, frame.message) for frame in rig.sent[1:]] == [(0, Identify()), (2, Identify())]

    rig.receive(GRIP)
    rig.receive(replace(GRIP, device_id="G2"), device=2)
    rig.receive(READY)
    rig.receive(READY, device=2)
    rig.receive(Heartbeat(5, 1.0), device=2)

    assert [(peer.index, peer.beat_ns) for peer in rig.host_fsm.peers] == [(0, None), (2, rig.now_ns)]
    assert rig.host_fsm.find("G2") is rig.host_fsm.peers[1]


def test_grip_replaced_at_its_index_is_another_device(rig: HostFsmRig) -> None:
    receiver(rig, 0b1)
    rig.receive(GRIP)
    rig.receive(READY)
    before = rig.host_fsm.find("G0")
    rig.receive(Presence(0), device=EVERY_DEVICE)
    assert rig.ids() == []

    rig.receive(Presence(0b1), device=EVERY_DEVICE)
    rig.receive(replace(GRIP, device_id="G9"))
    rig.receive(READY)

    assert rig.host_fsm.find("G9") is not before
    assert rig.ids() == ["G9"]


def test_silent_grip_is_searched_again_and_the_receiver_stays(rig: HostFsmRig) -> None:
    receiver(rig, 0b1)
    rig.receive(GRIP)
    rig.receive(READY)

    sent = rig.wait(520)

    assert rig.host_fsm.peers == ()
    assert rig.host_fsm.why == ""
    assert [(frame.device, frame.message) for frame in sent] == [(0, Identify())]


def test_unreachable_grip_is_asked_less_often_and_reported_once(rig: HostFsmRig) -> None:
    receiver(rig, 0b1)
    asked: list[int] = []
    states_ns = rig.now_ns
    for _ in range(6000):
        rig.host_fsm.update_from_thread(0, states_ns, 0, 0)
        for frame in rig.wait(10):
            if isinstance(frame.message, Identify) and frame.device == 0:
                rig.receive(Presence(0b1), device=EVERY_DEVICE)
                rig.receive(Refused(frame.sequence, 1, RefusedReason.DEVICE))
                asked.append(rig.now_ns // (100 * MS))
        rig.receive(Presence(0b1), device=EVERY_DEVICE)

    assert [after - before for before, after in pairwise(asked)][1:7] == [10, 20, 40, 80, 100, 100]
    assert rig.host_fsm.log_sentences == ["index 0 of the receiver: it refused IDENTIFY (device)"]
    assert rig.host_fsm.why == ""

    rig.receive(GRIP)
    rig.receive(READY)
    assert rig.ids() == ["G0"]
    assert rig.host_fsm.peers[0].losses
    for _ in range(101):
        rig.wait(100, states=True)
        rig.receive(Presence(0b1), device=EVERY_DEVICE)
    assert not rig.host_fsm.peers[0].losses


@pytest.mark.parametrize("mute", ["identify", "wake"])
def test_silent_grip_does_not_exclude_others(rig: HostFsmRig, mute: str) -> None:
    receiver(rig, 0b11)
    rig.receive(GRIP)
    rig.receive(READY)
    if mute == "wake":
        rig.receive(replace(GRIP, device_id="G1"), device=1)
    before = rig.host_fsm.settled

    for _ in range(25):
        rig.wait(100, states=True)
        rig.receive(Presence(0b11), device=EVERY_DEVICE)

    assert (before, rig.host_fsm.settled) == (False, True)
    assert rig.ids() == ["G0"]


@pytest.mark.parametrize("kind", [DeviceKind.ARM, DeviceKind.COMPACT])
def test_non_handle_behind_a_receiver_gets_nothing_and_is_reported(rig: HostFsmRig, kind: DeviceKind) -> None:
    receiver(rig, 0b11)
    rig.receive(GRIP)
    rig.receive(READY)

    rig.receive(replace(ARM, kind=kind), device=1)

    assert rig.ids() == ["G0"]
    assert rig.host_fsm.settled
    assert len(rig.host_fsm.log_sentences) == 1


def test_restarted_receiver_counts_frames_from_zero(rig: HostFsmRig) -> None:
    receiver(rig, 0b1)
    rig.receive(GRIP)
    rig.receive(READY)
    rig.host_fsm.step(rig.now_ns, [Frame(EVERY_DEVICE, 0, RECEIVER), Frame(EVERY_DEVICE, 1, Presence(0))])

    assert rig.ids() == []
