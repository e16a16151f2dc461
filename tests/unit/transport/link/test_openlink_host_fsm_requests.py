"""Host state machine: configuration sent to a board, its answers, and its status light."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.device.messages import DeviceWide
from fastpath.codecs.openlink_messages import (
    Capability,
    Configuration,
    Configure,
    ConfigureField,
    ConfigureResult,
    Fault,
    FaultFlag,
    Identity,
    Led,
    Refused,
    RefusedReason,
    Settle,
    SettlePhase,
)
from tests.support.boards.host_fsm_rig import ARM, EVERYTHING, READY, SETTLING, HostFsmRig
from transport.link.protocols.openlink.status_text import FAULT, OFF
from transport.link.protocols.openlink.status_text import READY as READY_LIGHT
from transport.link.protocols.openlink.status_text import SETTLING as SETTLING_LIGHT


def test_every_configured_value_is_sent(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.configure("A1", DeviceWide(handedness="left", gravity_scale=0.75, home_return=True), save=True)

    (frame,) = rig.of_kind(Configure, rig.receive())

    assert frame.message == Configure(ConfigureField(0x801F), True, True, True, True, 0.75)


@pytest.mark.parametrize(
    ("identity", "fields"),
    [
        (replace(ARM, firmware_minor=3), 0x000F),
        (replace(ARM, firmware_minor=4), 0x001F),
        (replace(ARM, firmware_minor=10), 0x001F),
        (replace(ARM, capabilities=Capability.TORQUE | Capability.HANDEDNESS), 0x0001),
        (replace(ARM, capabilities=Capability.TORQUE | Capability.GRAVITY), 0x000C),
    ],
)
def test_unsupported_values_are_not_sent(rig: HostFsmRig, identity: Identity, fields: int) -> None:
    rig.awake(identity)
    rig.host_fsm.configure("A1", DeviceWide(), save=False)

    ((_, _, message),) = rig.of_kind(Configure, rig.receive())

    assert isinstance(message, Configure)
    assert message.fields == fields


def test_board_without_configuration_is_sent_nothing(rig: HostFsmRig) -> None:
    rig.awake(replace(ARM, capabilities=Capability.FORCE))
    rig.host_fsm.configure("A1", DeviceWide(), save=True)
    rig.host_fsm.configure("B9", DeviceWide(), save=True)

    assert rig.of_kind(Configure, rig.receive()) == []


def test_configuration_is_repeated_until_answered(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.configure("A1", DeviceWide(), save=False)
    first, second = rig.of_kind(Configure, rig.receive() + rig.wait(260, states=True))
    rig.receive(Configuration(first.sequence, ConfigureResult.DONE, Configure()))

    assert first.sequence != second.sequence
    assert rig.of_kind(Configure, rig.wait(2000, states=True)) == []


def test_unanswered_configuration_is_reported(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.configure("A1", DeviceWide(), save=False)
    rig.receive()
    rig.wait(2000, states=True)
    assert rig.host_fsm.peers[0].refusal == "it does not answer CONFIGURE"

    rig.host_fsm.configure("A1", DeviceWide(), save=False)
    (request,) = rig.of_kind(Configure, rig.receive())
    rig.receive(Configuration(request.sequence, ConfigureResult.DONE, Configure()))
    assert rig.host_fsm.peers[0].refusal == ""


def test_newer_configuration_replaces_a_pending_one(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.configure("A1", DeviceWide(), save=False)
    (old,) = rig.of_kind(Configure, rig.receive())
    rig.host_fsm.configure("A1", DeviceWide(handedness="left"), save=False)
    rig.receive(Configuration(old.sequence, ConfigureResult.DONE, Configure()))

    (*_, new) = rig.of_kind(Configure, rig.sent)
    assert isinstance(new.message, Configure)
    assert new.message.left_handed
    assert rig.of_kind(Configure, rig.wait(260, states=True))


def test_busy_board_gets_its_configuration_again(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.configure("A1", DeviceWide(), save=False)
    (asked,) = rig.of_kind(Configure, rig.receive())
    for _ in range(20):
        rig.receive(Configuration(asked.sequence, ConfigureResult.BUSY, Configure()))
        assert rig.host_fsm.peers[0].refusal == "it did not take its configuration (busy)"
        assert rig.of_kind(Configure, rig.wait(490, states=True)) == []
        (asked,) = rig.of_kind(Configure, rig.wait(10, states=True))

    rig.receive(Configuration(asked.sequence, ConfigureResult.DONE, Configure()))

    assert rig.host_fsm.peers[0].refusal == ""
    assert rig.of_kind(Configure, rig.wait(2000, states=True)) == []


@pytest.mark.parametrize(
    ("result", "refusal"),
    [
        (ConfigureResult.UNSUPPORTED, "it did not take its configuration (unsupported)"),
        (ConfigureResult.OUT_OF_RANGE, "it did not take its configuration (out of range)"),
        (ConfigureResult.STORAGE_FAILED, "it has its configuration until it loses power (storage failed)"),
    ],
)
def test_refused_configuration_is_reported_until_one_is_accepted(
    rig: HostFsmRig, result: ConfigureResult, refusal: str
) -> None:
    rig.awake()
    for answer, told in ((result, refusal), (ConfigureResult.DONE, "")):
        rig.host_fsm.configure("A1", DeviceWide(), save=False)
        (asked,) = rig.of_kind(Configure, rig.receive())
        rig.receive(Configuration(asked.sequence, answer, Configure()))

        assert rig.host_fsm.peers[0].refusal == told


def test_refused_request_is_reported_and_not_repeated(rig: HostFsmRig) -> None:
    rig.awake()
    rig.host_fsm.configure("A1", DeviceWide(), save=False)
    (asked,) = rig.of_kind(Configure, rig.receive())
    rig.receive(Refused(asked.sequence + 7, 5, RefusedReason.VALUE))
    assert rig.host_fsm.peers[0].refusal == ""

    rig.receive(Refused(asked.sequence, 5, RefusedReason.ASLEEP))

    assert rig.host_fsm.peers[0].refusal == "it refused CONFIGURE (asleep)"
    assert rig.of_kind(Configure, rig.wait(2000, states=True)) == []


def test_status_light_shows_the_board_state(rig: HostFsmRig) -> None:
    rig.receive()
    rig.receive(ARM)
    colours = [rig.of_kind(Led, rig.receive(SETTLING)), rig.of_kind(Led, rig.receive(READY))]
    colours.append(rig.of_kind(Led, rig.receive(Fault(1, FaultFlag.HALL, FaultFlag.HALL))))
    colours.append(rig.of_kind(Led, rig.receive(Settle(SettlePhase.ASLEEP))))

    assert [[frame.message for frame in sent] for sent in colours] == [[SETTLING_LIGHT], [READY_LIGHT], [FAULT], [OFF]]


def test_status_light_is_repeated_without_an_answer(rig: HostFsmRig) -> None:
    rig.awake()

    assert [frame.message for frame in rig.of_kind(Led, rig.wait(4100, states=True))] == [READY_LIGHT] * 2


def test_board_without_a_light_gets_no_light_message(rig: HostFsmRig) -> None:
    rig.awake(replace(ARM, capabilities=EVERYTHING & ~Capability.LED))

    assert rig.of_kind(Led, rig.sent + rig.wait(4000, states=True)) == []
