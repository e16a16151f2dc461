"""The host's half of the open link protocol: what it says when, and what it makes of what it hears."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from actors.device.messages import DeviceWide
from actors.pairing.messages import Reason
from actors.port.link import Ended
from fastpath.link.messages import (
    Calibrate,
    Calibration,
    CalibrationProgress,
    CalibrationReason,
    Capability,
    Command,
    CommandMode,
    Configuration,
    Configure,
    ConfigureField,
    ConfigureResult,
    DeviceKind,
    FaultFlag,
    FaultReport,
    Heartbeat,
    Identify,
    Identity,
    Led,
    Message,
    Presence,
    Refused,
    RefusedReason,
    Settle,
    SettlePhase,
    State,
    StateFlag,
    Wake,
)
from fastpath.openlink import EVERY_DEVICE, Decoder, Frame
from transport.link.protocols.openlink_peer import MS
from transport.link.protocols.openlink_signs import FAULT, OFF
from transport.link.protocols.openlink_signs import READY as READY_LIGHT
from transport.link.protocols.openlink_signs import SETTLING as SETTLING_LIGHT
from transport.link.protocols.openlink_talk import Talk

EVERYTHING = Capability(0x1FFFF)
ARM = Identity(DeviceKind.ARM, firmware_major=7, firmware_minor=5, capabilities=EVERYTHING, device_id="A1")
GRIP = Identity(DeviceKind.GRIP, wireless=True, rate_hz=50, device_id="G0")
RECEIVER = Identity(DeviceKind.RECEIVER, slots=4, device_id="R")
SETTLING = Settle(SettlePhase.SETTLING, 5000)
READY = Settle(SettlePhase.READY)


class Rig:
    """A talk, its time, and what it said."""

    def __init__(self, tries: int = 3, answer_s: float = 2.0) -> None:
        self.talk = Talk(tries=tries, answer_s=answer_s)
        self.talk.go_on()
        self.now_ns = 10**9
        self.said: list[Frame] = []
        self._sequence = 0

    def hear(self, *messages: Message, device: int = 0) -> list[Frame]:
        frames = []
        for message in messages:
            self._sequence += 1
            frames.append(Frame(device, self._sequence, message))
        return self._step(frames)

    def wait(self, ms: float, *, states: bool = False) -> list[Frame]:
        """Let time pass in steps of 10 ms; with `states` every device goes on sending."""
        said: list[Frame] = []
        for _ in range(round(ms / 10)):
            self.now_ns += 10 * MS
            if states:
                for peer in self.talk.peers:
                    self.talk.seen(peer.index, self.now_ns, 0, 0)
            said += self._step([])
        return said

    def say(self, kind: type[Message], said: list[Frame]) -> list[Frame]:
        return [frame for frame in said if isinstance(frame.message, kind)]

    def ids(self) -> list[str]:
        return [peer.identity.device_id for peer in self.talk.peers if peer.identity is not None]

    def ended(self) -> Ended | None:
        return self.talk.peers[0].ended

    def _step(self, frames: list[Frame]) -> list[Frame]:
        words = self.talk.step(self.now_ns, frames)
        said = [frame for word in words for frame in Decoder().feed(word)]
        self.said += said
        return said

    def awake(self, identity: Identity = ARM) -> None:
        """A board on its own that is ready."""
        self._step([])
        self.hear(identity)
        self.hear(READY)


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.mark.parametrize(("answer_s", "asked"), [(0.1, 1), (0.25, 1), (1.0, 4), (2.0, 8), (30.0, 120)])
def test_it_asks_who_is_there_for_as_long_as_somebody_has_to_answer(answer_s: float, asked: int) -> None:
    rig = Rig(answer_s=answer_s)
    said = rig.hear() + rig.wait(1000 * answer_s - 10)

    assert [(frame.device, frame.message) for frame in said] == [(EVERY_DEVICE, Identify())] * asked
    assert rig.talk.why == ""

    rig.wait(10)
    assert rig.talk.why == "nobody answers IDENTIFY"


def test_a_board_that_starts_anew_when_its_port_is_opened_is_heard_at_last() -> None:
    rig = Rig(answer_s=2.0)
    rig.hear()
    rig.wait(1900)

    rig.hear(ARM)
    rig.hear(READY)

    assert rig.ids() == ["A1"]


@pytest.mark.parametrize("index", [1, 7, EVERY_DEVICE])
def test_a_board_on_its_own_that_is_not_device_0_is_told_apart_from_nobody(rig: Rig, index: int) -> None:
    rig.hear()
    rig.hear(ARM, device=index)
    rig.wait(2010)

    assert not rig.talk.identified
    assert rig.talk.why == f"it answers IDENTIFY as device {index}, and a board on its own is device 0"


def test_a_board_that_answers_is_woken(rig: Rig) -> None:
    rig.hear()

    (frame,) = rig.hear(ARM)

    assert frame == Frame(0, 1, Wake(awake=True, rate_hz=1000))
    assert rig.talk.peers == ()
    assert not rig.talk.settled


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_a_cold_board_may_lose_three_wake_ups(rig: Rig, lost: int) -> None:
    rig.hear()
    said = rig.hear(ARM) + rig.wait(500 * lost)
    rig.hear(SETTLING)

    assert len(rig.say(Wake, said)) == 1 + lost
    assert rig.talk.settled
    assert [peer.phase for peer in rig.talk.peers] == [SettlePhase.SETTLING]


def test_a_board_that_never_wakes_up_ends_the_talk(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM)

    said = rig.wait(3000)

    assert len(rig.say(Wake, said)) == 3
    assert rig.talk.why == "it does not wake up"


def test_nobody_is_woken_before_commands_flow() -> None:
    talk = Talk()
    said = talk.step(1, []) + talk.step(2, [Frame(0, 1, ARM)])

    assert [frame.message for words in said for frame in Decoder().feed(words)] == [Identify()]
    assert talk.identified
    talk.go_on()
    (words,) = talk.step(3, [])
    assert Decoder().feed(words)[0].message == Wake(rate_hz=1000)


def test_commands_are_not_its_business(rig: Rig) -> None:
    rig.awake()

    assert rig.say(Command, rig.wait(400, states=True)) == []


@pytest.mark.parametrize("kind", [DeviceKind.GRIP, DeviceKind.PEN])
def test_a_handle_gets_no_commands(rig: Rig, kind: DeviceKind) -> None:
    rig.awake(replace(GRIP, kind=kind))

    assert rig.wait(200, states=True) == []
    assert rig.talk.peers[0].mode is CommandMode.RELEASE
    assert rig.talk.peers[0].commands_hz == 0


def test_a_board_that_falls_silent_ends_the_talk(rig: Rig) -> None:
    rig.awake()

    rig.wait(500)
    assert rig.talk.why == ""
    rig.wait(10)
    assert rig.talk.why == "it sends nothing any more"


def test_a_board_that_sleeps_may_be_silent_and_wakes_by_itself(rig: Rig) -> None:
    rig.awake()
    rig.hear(Settle(SettlePhase.ASLEEP))

    assert rig.wait(5000) == []
    assert rig.talk.why == ""
    assert not rig.talk.peers[0].awake

    rig.hear(READY)
    assert rig.talk.peers[0].awake


def test_a_board_whose_word_that_it_is_ready_was_lost_is_asked_how_far_it_is(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)
    assert rig.say(Wake, rig.wait(490, states=True)) == []

    assert len(rig.say(Wake, rig.wait(50, states=True))) == 1
    rig.hear(READY)

    assert rig.talk.peers[0].phase is SettlePhase.READY
    assert rig.say(Wake, rig.wait(3000, states=True)) == []


def test_a_board_that_starts_again_while_it_settles_is_lost_and_not_woken(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)
    rig.wait(80, states=True)

    assert rig.say(Wake, rig.wait(500)) == []
    assert rig.talk.why == ""
    assert rig.say(Wake, rig.wait(10)) == []
    assert rig.talk.why == "it sends nothing any more"


def test_a_board_that_goes_on_sending_is_not_lost_for_not_saying_how_far_it_is(rig: Rig) -> None:
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


def test_a_board_that_failed_to_wake_ends_the_talk(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(Settle(SettlePhase.FAILED))

    assert rig.talk.why == "it failed to wake up"


def test_a_doubled_frame_counts_once(rig: Rig) -> None:
    rig.awake()
    rig.hear(READY)
    rig.talk.step(rig.now_ns, [Frame(0, 3, Settle(SettlePhase.ASLEEP))])

    assert rig.talk.peers[0].phase is SettlePhase.READY


# ------------------------------------------------------------------ configuration


def test_a_board_is_told_every_value_that_it_has(rig: Rig) -> None:
    rig.awake()
    rig.talk.configure("A1", DeviceWide(handedness="left", gravity_scale=0.75, home_return=True), save=True)

    (frame,) = rig.say(Configure, rig.hear())

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
def test_a_board_is_not_told_what_it_lacks(rig: Rig, identity: Identity, fields: int) -> None:
    rig.awake(identity)
    rig.talk.configure("A1", DeviceWide(), save=False)

    ((_, _, message),) = rig.say(Configure, rig.hear())

    assert isinstance(message, Configure)
    assert message.fields == fields


def test_a_board_without_configuration_is_told_nothing(rig: Rig) -> None:
    rig.awake(replace(ARM, capabilities=Capability.FORCE))
    rig.talk.configure("A1", DeviceWide(), save=True)
    rig.talk.configure("B9", DeviceWide(), save=True)

    assert rig.say(Configure, rig.hear()) == []


def test_a_configuration_is_said_again_until_it_is_answered(rig: Rig) -> None:
    rig.awake()
    rig.talk.configure("A1", DeviceWide(), save=False)
    first, second = rig.say(Configure, rig.hear() + rig.wait(260, states=True))
    rig.hear(Configuration(first.sequence, ConfigureResult.DONE, Configure()))

    assert first.sequence != second.sequence
    assert rig.say(Configure, rig.wait(2000, states=True)) == []


def test_a_configuration_that_is_never_answered_is_told(rig: Rig) -> None:
    rig.awake()
    rig.talk.configure("A1", DeviceWide(), save=False)
    rig.hear()
    rig.wait(2000, states=True)
    assert rig.talk.peers[0].refusal == "it does not answer CONFIGURE"

    rig.talk.configure("A1", DeviceWide(), save=False)
    (wish,) = rig.say(Configure, rig.hear())
    rig.hear(Configuration(wish.sequence, ConfigureResult.DONE, Configure()))
    assert rig.talk.peers[0].refusal == ""


def test_a_newer_configuration_replaces_one_that_waits(rig: Rig) -> None:
    rig.awake()
    rig.talk.configure("A1", DeviceWide(), save=False)
    (old,) = rig.say(Configure, rig.hear())
    rig.talk.configure("A1", DeviceWide(handedness="left"), save=False)
    rig.hear(Configuration(old.sequence, ConfigureResult.DONE, Configure()))

    (*_, new) = rig.say(Configure, rig.said)
    assert isinstance(new.message, Configure)
    assert new.message.left_handed
    assert rig.say(Configure, rig.wait(260, states=True))


def test_a_board_that_is_busy_is_told_its_configuration_again_until_it_has_it(rig: Rig) -> None:
    rig.awake()
    rig.talk.configure("A1", DeviceWide(), save=False)
    (asked,) = rig.say(Configure, rig.hear())
    for _ in range(20):
        rig.hear(Configuration(asked.sequence, ConfigureResult.BUSY, Configure()))
        assert rig.talk.peers[0].refusal == "it did not take its configuration (busy)"
        assert rig.say(Configure, rig.wait(490, states=True)) == []
        (asked,) = rig.say(Configure, rig.wait(10, states=True))

    rig.hear(Configuration(asked.sequence, ConfigureResult.DONE, Configure()))

    assert rig.talk.peers[0].refusal == ""
    assert rig.say(Configure, rig.wait(2000, states=True)) == []


@pytest.mark.parametrize(
    ("result", "refusal"),
    [
        (ConfigureResult.UNSUPPORTED, "it did not take its configuration (unsupported)"),
        (ConfigureResult.OUT_OF_RANGE, "it did not take its configuration (out of range)"),
        (ConfigureResult.STORAGE_FAILED, "it has its configuration until it loses power (storage failed)"),
    ],
)
def test_a_configuration_that_was_not_taken_is_told_until_one_is(
    rig: Rig, result: ConfigureResult, refusal: str
) -> None:
    rig.awake()
    for answer, told in ((result, refusal), (ConfigureResult.DONE, "")):
        rig.talk.configure("A1", DeviceWide(), save=False)
        (asked,) = rig.say(Configure, rig.hear())
        rig.hear(Configuration(asked.sequence, answer, Configure()))

        assert rig.talk.peers[0].refusal == told


def test_a_request_that_is_refused_is_told_and_not_said_again(rig: Rig) -> None:
    rig.awake()
    rig.talk.configure("A1", DeviceWide(), save=False)
    (asked,) = rig.say(Configure, rig.hear())
    rig.hear(Refused(asked.sequence + 7, 5, RefusedReason.VALUE))
    assert rig.talk.peers[0].refusal == ""

    rig.hear(Refused(asked.sequence, 5, RefusedReason.ASLEEP))

    assert rig.talk.peers[0].refusal == "it refused CONFIGURE (asleep)"
    assert rig.say(Configure, rig.wait(2000, states=True)) == []


def test_a_calibration_that_is_refused_has_failed(rig: Rig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())

    rig.hear(Refused(asked.sequence, 3, RefusedReason.TYPE))

    assert rig.ended() == Ended(3, Reason.BLOCKED)


def test_a_board_that_refuses_to_wake_ends_the_talk(rig: Rig) -> None:
    rig.hear()
    (asked,) = rig.say(Wake, rig.hear(ARM))

    rig.hear(Refused(asked.sequence, 2, RefusedReason.VERSION, 3))

    assert rig.talk.why == "it refused WAKE (it speaks versions up to 3 of the protocol)"


# ------------------------------------------------------------------ light


def test_the_light_shows_how_the_board_is(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM)
    colours = [rig.say(Led, rig.hear(SETTLING)), rig.say(Led, rig.hear(READY))]
    colours.append(rig.say(Led, rig.hear(FaultReport(1, FaultFlag.HALL, FaultFlag.HALL))))
    colours.append(rig.say(Led, rig.hear(Settle(SettlePhase.ASLEEP))))

    assert [[frame.message for frame in said] for said in colours] == [[SETTLING_LIGHT], [READY_LIGHT], [FAULT], [OFF]]


def test_the_light_is_told_again_as_nobody_answers_it(rig: Rig) -> None:
    rig.awake()

    assert [frame.message for frame in rig.say(Led, rig.wait(4100, states=True))] == [READY_LIGHT] * 2


def test_a_board_without_a_light_is_told_of_none(rig: Rig) -> None:
    rig.awake(replace(ARM, capabilities=EVERYTHING & ~Capability.LED))

    assert rig.say(Led, rig.said + rig.wait(4000, states=True)) == []


# ------------------------------------------------------------------ calibration


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
def test_a_calibration_ends_with_its_reason(rig: Rig, told: CalibrationReason, reason: Reason | None) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 7)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
    assert rig.ended() is None
    progress = CalibrationProgress.FAILED if reason else CalibrationProgress.DONE

    rig.hear(Calibration(asked.sequence, progress, told))

    assert rig.ended() == Ended(7, reason)
    assert rig.say(Calibrate, rig.wait(1000, states=True)) == []


@pytest.mark.parametrize("run", [1, 255, 256, 70_000])
def test_a_board_that_calibrates_is_asked_how_far_it_is_as_its_one_word_that_it_is_done_may_be_lost(
    rig: Rig, run: int
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

    assert rig.ended() == Ended(run, None)
    assert rig.say(Calibrate, rig.wait(2000, states=True)) == []


def test_what_was_refused_is_told_until_a_run_is_taken(rig: Rig) -> None:
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
def test_who_falls_asleep_while_it_calibrates_has_failed(rig: Rig, identity: Identity, reason: Reason) -> None:
    rig.awake(identity)
    rig.talk.calibrate(identity.device_id, 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Refused(asked.sequence, 5, RefusedReason.ASLEEP))

    assert rig.ended() == Ended(3, reason)


def test_a_board_that_knows_nothing_of_a_run_has_failed_it(rig: Rig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
    rig.hear(Calibration(asked.sequence, CalibrationProgress.IDLE))

    assert rig.ended() == Ended(3, Reason.BLOCKED)


def test_a_board_that_answers_with_the_sequence_that_began_the_run_is_heard(rig: Rig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (asked,) = rig.say(Calibrate, rig.hear())
    for _ in range(18):
        rig.hear(Calibration(asked.sequence, CalibrationProgress.RUNNING))
        rig.wait(510, states=True)
    rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))

    assert rig.ended() == Ended(3, None)


def test_no_two_runs_after_each_other_have_the_same_number_on_the_line_whatever_theirs_is_here(rig: Rig) -> None:
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


def test_a_run_whose_questions_were_all_lost_goes_on_with_what_the_board_says(rig: Rig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 3)
    (*_, last) = rig.say(Calibrate, rig.hear() + rig.wait(3000, states=True))

    rig.hear(Calibration(last.sequence, CalibrationProgress.RUNNING))
    (again,) = rig.say(Calibrate, rig.wait(510, states=True))
    rig.hear(Calibration(again.sequence, CalibrationProgress.FAILED, CalibrationReason.PEN_LOST))

    assert rig.ended() == Ended(3, Reason.PEN_LOST)


def test_the_same_run_is_begun_once_and_the_end_of_an_older_one_is_none_of_its(rig: Rig) -> None:
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
    rig: Rig, progress: CalibrationProgress
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


def test_a_run_that_has_ended_is_not_ended_again(rig: Rig) -> None:
    rig.awake()
    rig.talk.calibrate("A1", 4)
    (asked,) = rig.say(Calibrate, rig.hear())
    rig.hear(Calibration(asked.sequence, CalibrationProgress.DONE))

    rig.talk.calibrate("A1", 0)

    assert rig.say(Calibrate, rig.hear()) == []
    assert rig.ended() == Ended(4, None)


# ------------------------------------------------------------------ heartbeats, faults, receivers


def test_heartbeats_and_faults_are_seen(rig: Rig) -> None:
    rig.awake(GRIP)
    rig.hear(Heartbeat(5, 1.0), FaultReport(1, FaultFlag.HALL, FaultFlag.HALL))

    (peer,) = rig.talk.peers
    assert peer.beat_ns == rig.now_ns
    assert peer.faults == FaultFlag.HALL

    rig.talk.seen(0, rig.now_ns, rig.now_ns + 5, 0)
    assert peer.beat_ns == rig.now_ns + 5
    assert peer.faults == FaultFlag(0)


def test_a_board_has_settled_when_it_says_so_and_knows_where_it_is(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM)
    rig.hear(SETTLING)
    assert not rig.talk.peers[0].settled

    rig.talk.seen(0, rig.now_ns, 0, 0, homed=False)
    rig.hear(READY)
    assert not rig.talk.peers[0].settled

    rig.talk.seen(0, rig.now_ns, 0, 0, homed=True)
    assert rig.talk.peers[0].settled


def test_a_state_says_whether_the_board_is_calibrated(rig: Rig) -> None:
    rig.awake()
    assert not rig.talk.peers[0].calibrated

    rig.hear(State(flags=StateFlag.AWAKE | StateFlag.CALIBRATED))

    assert rig.talk.peers[0].calibrated


def receiver(rig: Rig, present: int) -> None:
    rig.hear()
    rig.hear(RECEIVER, Presence(present), device=EVERY_DEVICE)


def test_a_receiver_without_grips_is_open_with_nobody(rig: Rig) -> None:
    receiver(rig, 0)

    assert rig.talk.receiver
    assert rig.talk.settled
    assert rig.talk.peers == ()
    for _ in range(10):
        assert rig.wait(500) == []
        rig.hear(Presence(0), device=EVERY_DEVICE)
    assert rig.talk.why == ""


def test_a_receiver_that_has_started_again_is_asked_and_shows_who_is_there(rig: Rig) -> None:
    receiver(rig, 0)

    (asked,) = rig.wait(1620)
    assert (asked.device, asked.message) == (EVERY_DEVICE, Identify())
    said = rig.hear(RECEIVER, Presence(0b1), device=EVERY_DEVICE)

    assert [(frame.device, frame.message) for frame in said] == [(0, Identify())]
    rig.hear(GRIP)
    rig.hear(READY)
    assert rig.ids() == ["G0"]
    assert rig.talk.why == ""


@pytest.mark.parametrize(("now_here", "ids"), [(GRIP, ["G0"]), (replace(GRIP, device_id="G9"), ["G9"])])
def test_who_sleeps_behind_a_receiver_that_has_started_again_says_once_more_who_it_is(
    rig: Rig, now_here: Identity, ids: list[str]
) -> None:
    receiver(rig, 0b1)
    rig.hear(GRIP)
    rig.hear(Settle(SettlePhase.ASLEEP))
    before = rig.talk.peers
    rig.wait(1620)

    said = rig.hear(RECEIVER, Presence(0b1), device=EVERY_DEVICE)
    assert [(frame.device, frame.message) for frame in said] == [(0, Identify())]
    rig.hear(now_here)
    rig.hear(Settle(SettlePhase.ASLEEP))

    assert rig.ids() == ids
    assert (rig.talk.peers == before) is (now_here is GRIP)


def test_a_new_grip_has_nothing_of_the_one_whose_index_it_has(rig: Rig) -> None:
    receiver(rig, 0b1)
    rig.hear(GRIP)
    rig.hear(READY)
    old_ns = rig.now_ns
    rig.wait(10)
    rig.hear(Presence(0), Presence(0b1), device=EVERY_DEVICE)
    rig.hear(replace(GRIP, device_id="G9"))
    rig.hear(Settle(SettlePhase.ASLEEP))

    rig.talk.seen(0, old_ns, old_ns, int(FaultFlag.HALL), homed=False, calibrated=True)

    (peer,) = rig.talk.peers
    assert (peer.told, peer.faults, peer.homed, peer.calibrated, peer.beat_ns) == (
        False,
        FaultFlag(0),
        True,
        False,
        None,
    )


def test_a_receiver_that_answers_where_a_board_did_ends_the_talk(rig: Rig) -> None:
    rig.awake()
    rig.hear(RECEIVER, device=EVERY_DEVICE)

    assert rig.talk.why == "a receiver answers where a board did"


def test_a_receiver_that_does_not_answer_any_more_ends_the_talk(rig: Rig) -> None:
    receiver(rig, 0)

    said = rig.wait(1610 + 1000)

    assert len(rig.say(Identify, said)) == 4
    assert rig.talk.why == "nobody answers IDENTIFY"


def test_every_grip_behind_a_receiver_goes_its_own_way(rig: Rig) -> None:
    receiver(rig, 0b101)
    assert [(frame.device, frame.message) for frame in rig.said[1:]] == [(0, Identify()), (2, Identify())]

    rig.hear(GRIP)
    rig.hear(replace(GRIP, device_id="G2"), device=2)
    rig.hear(READY)
    rig.hear(READY, device=2)
    rig.hear(Heartbeat(5, 1.0), device=2)

    assert [(peer.index, peer.beat_ns) for peer in rig.talk.peers] == [(0, None), (2, rig.now_ns)]
    assert rig.talk.find("G2") is rig.talk.peers[1]


def test_a_grip_that_goes_and_another_that_takes_its_index_are_two(rig: Rig) -> None:
    receiver(rig, 0b1)
    rig.hear(GRIP)
    rig.hear(READY)
    before = rig.talk.find("G0")
    rig.hear(Presence(0), device=EVERY_DEVICE)
    assert rig.ids() == []

    rig.hear(Presence(0b1), device=EVERY_DEVICE)
    rig.hear(replace(GRIP, device_id="G9"))
    rig.hear(READY)

    assert rig.talk.find("G9") is not before
    assert rig.ids() == ["G9"]


def test_a_grip_that_falls_silent_is_looked_for_again_and_the_receiver_stays(rig: Rig) -> None:
    receiver(rig, 0b1)
    rig.hear(GRIP)
    rig.hear(READY)

    said = rig.wait(520)

    assert rig.talk.peers == ()
    assert rig.talk.why == ""
    assert [(frame.device, frame.message) for frame in said] == [(0, Identify())]


def test_a_grip_that_cannot_be_reached_is_asked_less_and_less_often_and_told_of_once(rig: Rig) -> None:
    receiver(rig, 0b1)
    asked: list[int] = []
    states_ns = rig.now_ns
    for _ in range(6000):
        rig.talk.seen(0, states_ns, 0, 0)
        for frame in rig.wait(10):
            if isinstance(frame.message, Identify) and frame.device == 0:
                rig.hear(Presence(0b1), device=EVERY_DEVICE)
                rig.hear(Refused(frame.sequence, 1, RefusedReason.DEVICE))
                asked.append(rig.now_ns // (100 * MS))
        rig.hear(Presence(0b1), device=EVERY_DEVICE)

    assert [after - before for before, after in pairwise(asked)][1:7] == [10, 20, 40, 80, 100, 100]
    assert rig.talk.complaints == ["index 0 of the receiver: it refused IDENTIFY (device)"]
    assert rig.talk.why == ""

    rig.hear(GRIP)
    rig.hear(READY)
    assert rig.ids() == ["G0"]
    assert rig.talk.peers[0].losses
    for _ in range(101):
        rig.wait(100, states=True)
        rig.hear(Presence(0b1), device=EVERY_DEVICE)
    assert not rig.talk.peers[0].losses


@pytest.mark.parametrize("mute", ["identify", "wake"])
def test_a_mute_grip_keeps_no_other_one_out(rig: Rig, mute: str) -> None:
    receiver(rig, 0b11)
    rig.hear(GRIP)
    rig.hear(READY)
    if mute == "wake":
        rig.hear(replace(GRIP, device_id="G1"), device=1)
    before = rig.talk.settled

    for _ in range(25):
        rig.wait(100, states=True)
        rig.hear(Presence(0b11), device=EVERY_DEVICE)

    assert (before, rig.talk.settled) == (False, True)
    assert rig.ids() == ["G0"]


@pytest.mark.parametrize("kind", [DeviceKind.ARM, DeviceKind.COMPACT])
def test_what_is_no_handle_gets_nothing_behind_a_receiver_and_is_told_of(rig: Rig, kind: DeviceKind) -> None:
    receiver(rig, 0b11)
    rig.hear(GRIP)
    rig.hear(READY)

    rig.hear(replace(ARM, kind=kind), device=1)

    assert rig.ids() == ["G0"]
    assert rig.talk.settled
    assert len(rig.talk.complaints) == 1


def test_a_receiver_that_has_started_again_counts_its_frames_from_zero(rig: Rig) -> None:
    receiver(rig, 0b1)
    rig.hear(GRIP)
    rig.hear(READY)
    rig.talk.step(rig.now_ns, [Frame(EVERY_DEVICE, 0, RECEIVER), Frame(EVERY_DEVICE, 1, Presence(0))])

    assert rig.ids() == []


def test_an_index_that_nobody_told_of_is_nobody(rig: Rig) -> None:
    rig.hear()
    rig.hear(ARM, device=3)

    assert rig.talk.peers == ()


def test_goodbye_puts_motors_to_rest_first_and_then_devices_to_sleep(rig: Rig) -> None:
    rig.awake()

    words = [Decoder().feed(word)[0].message for word in rig.talk.goodbye()]

    assert words == [Command(), Wake(awake=False, rate_hz=0)]
