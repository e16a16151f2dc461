"""Each kind of event is raised by its real cause and arrives on the event channel as specified.

Each kind of the catalogue has a row in CAUSES; what safety monitors raise stands in BY_MONITORS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pytest

from actors.control import timekeeper
from actors.device.messages import SimulatedSpec
from actors.event.catalog import EVENT_KINDS, SAFETY_LEVELS
from actors.values.identity import Connection, Firmware, Kind
from tests.support.clients.event_client import EventClient
from tests.support.service.event_causes import (
    ARM,
    COMPACT,
    GRIP,
    LOOPS,
    OLD_ARM,
    PEN,
    SPARE,
    Cause,
    a_damping_over_http,
    a_failsafe_process_that_is_killed,
    a_new_preset,
    a_profile,
    a_session,
    a_session_that_never_was,
    a_version_to_come,
    an_old_command,
    an_old_route,
    an_unknown_group,
    asleep,
    calibration_that_loses_its_pen,
    calibration_with,
    calibration_with_a_pen_that_sleeps,
    calibration_without_its_pen,
    charge_of,
    commands_that_come_too_seldom,
    connection_loop,
    damping_of_an_old_arm,
    hang,
    home_return_of_an_old_arm,
    interrupted,
    let_go,
    pair_dissolved,
    port_reset,
    refused_position,
    release,
    start,
    starved,
    starved_a_little,
    stop,
)
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, ARM),
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, OLD_ARM, Firmware(7, 3)),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, COMPACT),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, SPARE),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, GRIP),
    SimulatedSpec(Kind.PEN, Connection.SIMULATED, PEN),
)
# Slow enough that every tick runs on a busy machine too.
SETTINGS: Final = {"control/frequency": 400, "control/statistics_period": 1}
# The rate is judged over 0.4 s instead of 1 s.
TURNS: Final = 80

DEVICE: Final = frozenset({"device_id", "device_family"})
PLACE: Final = DEVICE | {"type", "connection", "port", "firmware"}
PAIR: Final = DEVICE | {"paired_with", "origin", "dropped"}
PORT: Final = frozenset({"port", "state", "reason"})
BATTERY: Final = DEVICE | {"battery_level"}
FAILURE: Final = DEVICE | {"reason"}
WARNING: Final = frozenset({"session_id", "reason"})
RATE: Final = frozenset({"target_hz", "measured_hz"})
UNSUPPORTED: Final = DEVICE | {"feature", "firmware", "required"}

# ---------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class Row:
    """What `cause` raises: an event with exactly these keys in its data, among them the values `known`."""

    kind: str
    category: str
    level: str
    keys: frozenset[str]
    cause: Cause
    known: Mapping[str, object]

    def __str__(self) -> str:
        words = (
            str(value)
            for key, value in self.known.items()
            if key in {"reason", "safety_type", "feature", "awake", "attached"}
        )
        return " ".join((self.kind, *words))


CAUSES: Final = (
    Row("device-connected", "device", "info", PLACE, start, {"device_id": ARM, "connection": "simulated"}),
    Row("device-busy", "device", "warning", DEVICE | {"session_id", "held_by"}, refused_position, {"device_id": ARM}),
    Row(
        "device-protocol-unsupported",
        "device",
        "warning",
        UNSUPPORTED,
        damping_of_an_old_arm,
        {"device_id": OLD_ARM, "feature": "damping", "firmware": "7.3", "required": "7.5"},
    ),
    Row(
        "device-protocol-unsupported",
        "device",
        "warning",
        UNSUPPORTED,
        home_return_of_an_old_arm,
        {"device_id": OLD_ARM, "feature": "home_return", "firmware": "7.3", "required": "7.4"},
    ),
    Row("device-safety-triggered", "device", "error", DEVICE | {"safety_type"}, stop, {"safety_type": "stopped"}),
    Row("device-safety-triggered", "device", "notice", DEVICE | {"safety_type"}, release, {"safety_type": "released"}),
    Row(
        "device-connection-loop",
        "device",
        "warning",
        DEVICE | {"port", "loops", "window_s"},
        connection_loop,
        {"device_id": COMPACT, "loops": LOOPS, "window_s": 10},
    ),
    Row("port-blocked", "device", "error", PORT, start, {"state": "blocked", "reason": "connection_loop"}),
    Row("device-disconnected", "device", "warning", PLACE, start, {"device_id": COMPACT, "type": "compact"}),
    Row("port-state-changed", "device", "notice", PORT, port_reset, {"state": "active", "reason": "reset"}),
    Row(
        "device-pairing-changed",
        "device",
        "info",
        PAIR,
        start,
        {"device_id": ARM, "paired_with": GRIP, "origin": "automatic", "dropped": None},
    ),
    Row(
        "device-pairing-changed",
        "device",
        "info",
        PAIR,
        pair_dissolved,
        {"device_id": ARM, "paired_with": None, "dropped": GRIP},
    ),
    Row("device-sleep", "device", "info", DEVICE | {"awake"}, asleep, {"device_id": GRIP, "awake": False}),
    Row("device-sleep", "device", "info", DEVICE | {"awake"}, asleep, {"device_id": GRIP, "awake": True}),
    Row("grip-attachment-changed", "device", "info", DEVICE | {"attached"}, let_go, {"attached": False}),
    Row("grip-attachment-changed", "device", "info", DEVICE | {"attached"}, let_go, {"attached": True}),
    Row("device-battery-low", "device", "warning", BATTERY, charge_of(0.2), {"device_id": GRIP}),
    Row("device-battery-critical", "device", "error", BATTERY, charge_of(0.04), {"device_id": GRIP}),
    Row(
        "device-safety-triggered",
        "device",
        "warning",
        DEVICE | {"safety_type", "silent_ms"},
        hang,
        {"safety_type": "device_stale"},
    ),
    *(
        Row("device-calibration-failed", "device", "warning", FAILURE, cause, {"device_id": SPARE, "reason": reason})
        for reason, cause in (
            ("pen_not_connected", calibration_without_its_pen),
            ("pen_asleep", calibration_with_a_pen_that_sleeps),
            ("pen_lost", calibration_that_loses_its_pen),
            ("blocked", calibration_with("calibration_blocked")),
            ("oscillating_hall", calibration_with("oscillating_hall")),
        )
    ),
    Row("session-opened", "session", "info", frozenset({"session_id", "profile"}), a_session, {"profile": "default"}),
    Row("session-closed", "session", "info", frozenset({"session_id", "profile"}), a_session, {"profile": "default"}),
    Row(
        "session-updated",
        "session",
        "info",
        frozenset({"session_id", "scopes"}),
        a_new_preset,
        {"scopes": ["config.mount", "config.preset"]},
    ),
    Row("session-updated", "session", "info", frozenset({"session_id", "scopes"}), a_profile, {"scopes": ["profile"]}),
    Row(
        "session-updated",
        "session",
        "info",
        frozenset({"session_id", "scopes"}),
        a_damping_over_http,
        {"scopes": ["config.damping"]},
    ),
    Row(
        "session-warning",
        "session",
        "warning",
        WARNING | {"interval", "force_lost", "setting"},
        commands_that_come_too_seldom,
        {"reason": "command_timeout", "setting": "sessions/command_timeout"},
    ),
    Row("session-warning", "session", "warning", WARNING, a_session_that_never_was, {"reason": "resume_refused"}),
    Row("session-warning", "session", "warning", WARNING, a_version_to_come, {"reason": "sdk_version"}),
    Row(
        "device-force-interrupted",
        "device",
        "warning",
        DEVICE | {"interrupted_s", "force_lost", "gaps", "longest_ms", "window_s", "cause"},
        interrupted,
        {"device_id": ARM},
    ),
    Row("control-rate-low", "system", "warning", RATE, starved_a_little, {"target_hz": 400}),
    Row("control-rate-critical", "system", "error", RATE, starved(0.3), {"target_hz": 400}),
    Row(
        "failsafe-changed",
        "system",
        "error",
        frozenset({"running", "reason", "ports", "restarts"}),
        a_failsafe_process_that_is_killed,
        {"running": False, "ports": 0},
    ),
    Row(
        "main-loop-statistics",
        "system",
        "info",
        frozenset({"frequency", "ticks", "missed", "devices", "sessions", "tick_cost_us"})
        | {"lateness_p50_us", "lateness_p99_us", "lateness_max_us"},
        starved(1),
        {"sessions": 0},
    ),
    Row(
        "invalid-io-channel",
        "input",
        "warning",
        frozenset({"session_id", "received_data", "path", "reason", "suppressed"}),
        an_unknown_group,
        {"path": "boat", "suppressed": 0},
    ),
    Row(
        "command-deprecated",
        "input",
        "notice",
        frozenset({"command", "session_id", "replacement", "suppressed"}),
        an_old_command,
        {"suppressed": 0},
    ),
    Row(
        "http-route-deprecated",
        "input",
        "notice",
        frozenset({"route", "replacement"}),
        an_old_route,
        {"route": "POST /torque_scaling", "replacement": "POST /{device}/{id}/config/torque_scaling"},
    ),
)
# Raised by a simulated fault in virtual time, which takes seconds of the device's: tests/scenarios/test_safety.py.
BY_MONITORS: Final = frozenset(
    {
        "ebrake_triggered",
        "ebrake_released",
        "fod_stage_changed",
        "stall_detected",
        "stability_ceiling",
        "thermal_derating",
        "oscillation_detected",
        "grip_dropped",
        # tests/scenarios/test_optional_monitors.py
        "ebrake_waiting",
        "kinetic_energy_limit",
        "power_limit",
        "contact_energy_limit",
        "stiffness_warning",
        "stop_braking",
        "enable_released",
    }
)
ELSEWHERE: Final = {
    "events_dropped": "tests/service/ws/test_event_streams.py: who does not read loses the oldest",
    "actor_failed": "tests/scenarios/test_killed_actors.py: a session whose actor keeps failing",
}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(timekeeper, "FACTS_EVERY", TURNS)
        with RunningSystem(tmp_path_factory.mktemp("state"), simulated=DEVICES, settings=SETTINGS) as running:
            yield running


@pytest.fixture(scope="module")
def listener(system: RunningSystem) -> Iterator[EventClient]:
    with EventClient(system.events, since="1970-01-01T00:00:00Z") as listening:
        yield listening


@pytest.mark.promise(194, "Each kind of event is raised by its cause")
@pytest.mark.parametrize("row", CAUSES, ids=str)
def test_each_cause_raises_its_event_as_specified(system: RunningSystem, listener: EventClient, row: Row) -> None:
    row.cause(system)
    event = listener.wait_for_event(row.kind, **row.known)

    assert list(event) == ["name", "category", "level", "time", "data", "message"]
    assert (event["category"], event["level"]) == (row.category, row.level)
    assert set(event["data"]) == row.keys
    assert event["message"]
    assert event["time"].endswith("Z")
    assert len(event["time"]) == len("2030-01-31T12:00:00.000000Z")


@pytest.mark.promise(194, "Each kind of event is raised by its cause")
def test_every_event_kind_has_a_cause() -> None:
    assert {row.kind for row in CAUSES} == set(EVENT_KINDS), "a kind of the catalogue needs a row in CAUSES"


def test_every_safety_type_has_a_cause_here_or_in_the_monitor_tests() -> None:
    raised = {str(row.known["safety_type"]) for row in CAUSES if row.kind == "device-safety-triggered"}

    assert raised | BY_MONITORS == set(SAFETY_LEVELS)
    assert raised & BY_MONITORS == set()


def test_every_session_warning_has_a_cause() -> None:
    raised = {str(row.known["reason"]) for row in CAUSES if row.kind == "session-warning"}

    assert raised | set(ELSEWHERE) == set(EVENT_KINDS["session-warning"].reasons)


def test_every_calibration_failure_has_a_cause() -> None:
    kind = "device-calibration-failed"

    assert {str(row.known["reason"]) for row in CAUSES if row.kind == kind} == set(EVENT_KINDS[kind].reasons)


@pytest.mark.parametrize("row", CAUSES, ids=str)
def test_catalogue_agrees_with_the_raised_events(row: Row) -> None:
    entry = EVENT_KINDS[row.kind]

    assert row.category == entry.category
    assert row.level in entry.levels
    assert row.keys == entry.keys(row.known)


# ---------------------------------------------------------------- who hears what


def test_kinds_level_and_since_filters_combine(system: RunningSystem, listener: EventClient) -> None:
    def stops() -> list[str]:
        return [event["time"] for event in listener.received_events("device-safety-triggered", safety_type="stopped")]

    before = len(stops())
    stop(system)
    release(system)
    eventually(lambda: len(stops()) > before, "the stop is heard", pause_s=0.005, tries=4_000)
    since = stops()[before]
    filters = {"kinds": "device-safety-triggered,session-opened", "level": "error"}
    stop(system)
    with EventClient(system.events, since=since, **filters) as late:
        late.wait_for_event("device-safety-triggered")
        release(system)
        a_session(system)
        stop(system)
        eventually(lambda: len(late.events) >= 2, "the next stop", pause_s=0.005, tries=4_000)
    release(system)

    assert [event["data"]["safety_type"] for event in late.events] == ["stopped", "stopped"]
    assert all(event["time"] > since for event in late.events)


def test_subscriber_receives_events_in_its_vocabulary(system: RunningSystem) -> None:
    with EventClient(system.events, since="1970-01-01", kinds="device-connected", vocabulary="inverse") as other:
        connected = other.wait_for_event("device-connected", device_id=COMPACT)

    assert (connected["data"]["device_family"], connected["data"]["type"]) == ("inverse", "minverse")
