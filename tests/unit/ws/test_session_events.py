"""Events that a session channel emits: faulty messages at most once a second with a count, others at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from actors.event.catalog import EVENT_KINDS
from actors.event.messages import Emit
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import inventory_of
from transport.session.command_gap import SlowSession
from transport.session.events import SessionEvents
from transport.wire.deprecation_notices import DeprecationNotices
from transport.wire.hint_limit import AT_ONCE, HintLimit

FAULTS = [("arm[0].device_id", "device_id is missing"), ("boat", "unknown")]


class SessionEventsRig(ActorRig):
    """One session's events on a manual clock, and the hub that hears them."""

    def __init__(self) -> None:
        super().__init__(start_ns=10**9)
        system = SimpleNamespace(
            context=self.context, metrics=self.context.metrics, runtime=SimpleNamespace(now_ns=self.clock.now_ns)
        )
        self.events = SessionEvents(cast("Any", system), 7)

    @property
    def heard(self) -> list[Emit]:
        return self.hub.of(Emit)

    def only(self) -> Emit:
        (emit,) = self.heard
        assert set(EVENT_KINDS[emit.kind].data) <= set(emit.data)
        return emit


@pytest.fixture
def rig() -> SessionEventsRig:
    return SessionEventsRig()


def test_faulty_message_event_has_its_first_fault(rig: SessionEventsRig) -> None:
    rig.events.faulty(FAULTS, '{"arm": [{}], "boat": 1}')

    assert rig.only().data == {
        "session_id": 7,
        "received_data": '{"arm": [{}], "boat": 1}',
        "path": "arm[0].device_id",
        "reason": "device_id is missing",
        "suppressed": 0,
    }
    assert rig.only().message == "session 7: arm[0].device_id: device_id is missing"


def test_invalid_json_event_has_no_path(rig: SessionEventsRig) -> None:
    rig.events.faulty([("", "no JSON: x")], b"{")

    assert rig.only().message == "session 7: the message: no JSON: x"


@pytest.mark.parametrize(
    ("message", "shown"), [("x" * 1000, "x" * 256), (b"x" * 1000, "x" * 256), (b"\xff{", "\N{REPLACEMENT CHARACTER}{")]
)
def test_event_has_the_start_of_the_message(rig: SessionEventsRig, message: str | bytes, shown: str) -> None:
    rig.events.faulty(FAULTS, message)

    assert rig.only().data["received_data"] == shown


def test_one_event_per_second_covers_all_faulty_messages(rig: SessionEventsRig) -> None:
    for _ in range(6):
        rig.events.faulty(FAULTS, "{")
    rig.clock.advance(0.999)
    rig.events.faulty(FAULTS, "{")
    assert len(rig.heard) == 1

    rig.clock.advance(0.001)
    rig.events.faulty(FAULTS, "{")
    rig.clock.advance(1)
    rig.events.faulty(FAULTS, "{")

    assert [emit.data["suppressed"] for emit in rig.heard] == [0, 6, 0]


def test_every_fault_is_counted(rig: SessionEventsRig) -> None:
    for _ in range(3):
        rig.events.faulty(FAULTS, "{")

    assert rig.context.metrics.registry.get_sample_value("hapticd_input_faults_total") == 6


def test_busy_device_event_names_its_holder(rig: SessionEventsRig) -> None:
    (record,) = inventory_of("compact").devices

    rig.events.busy(record, 3)

    assert rig.only().kind == "device-busy"
    assert rig.only().data == {
        "session_id": 7,
        "device_id": record.device_id,
        "device_family": "compact",
        "held_by": 3,
    }


def test_repeated_refusal_raises_one_event_per_second(rig: SessionEventsRig) -> None:
    (record,) = inventory_of("compact").devices

    for _ in range(1_000):
        rig.events.busy(record, 3)
    rig.clock.advance(0.999)
    rig.events.busy(record, 3)
    assert len(rig.heard) == 1

    rig.clock.advance(0.001)
    rig.events.busy(record, 3)
    assert len(rig.heard) == 2


def test_limited_events_have_their_own_time(rig: SessionEventsRig) -> None:
    (record,) = inventory_of("compact").devices
    began_ns = rig.clock.now_ns()

    rig.events.busy(record, 3)
    rig.events.faulty(FAULTS, "{")
    rig.events.deprecated([("set_angular_torque", "set_angular_torques")], DeprecationNotices())
    rig.clock.advance(1)
    rig.events.busy(record, 3)

    assert [emit.at_ns for emit in rig.heard] == [began_ns, began_ns, began_ns, began_ns + 10**9]


def test_timeout_event_has_interval_lost_force_and_setting(
    rig: SessionEventsRig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.events.timed_out(SlowSession(0.1, 0.4), 0.05, HintLimit())

    assert rig.only().data == {
        "session_id": 7,
        "reason": "command_timeout",
        "interval": 0.1,
        "force_lost": 0.4,
        "setting": "sessions/command_timeout",
    }
    (line,) = caplog.messages
    assert line == rig.only().message
    for part in ("session 7 ", "0.100 s", "sessions/command_timeout (0.05 s)", "40% of its force"):
        assert part in line


def test_log_lines_about_slow_sessions_are_limited(rig: SessionEventsRig, caplog: pytest.LogCaptureFixture) -> None:
    limit = HintLimit()
    for _ in range(AT_ONCE + 5):
        rig.events.timed_out(SlowSession(0.1, 0.4), 0.05, limit)

    assert len(caplog.messages) == AT_ONCE
    assert len(rig.heard) == AT_ONCE + 5
