"""Each kind of event is raised by what really causes it, over real sockets, and arrives on the event channel as it was decided.

A kind of the catalogue has a row in CAUSES, or stands in AWAITED with what it waits for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest
from websockets.sync.client import ClientConnection, connect

from actors.control import timekeeper
from actors.device.messages import SimulatedSpec
from actors.event.catalog import CATALOG, SAFETY_LEVELS
from actors.port.messages import PORTS, PortClosed, PortOpened
from actors.values.identity import Connection, Firmware, Kind
from tests.support.listener import Listener
from tests.support.polling import eventually
from tests.support.running_system import RunningSystem

ARM, OLD_ARM, COMPACT, GRIP = "A001", "A073", "C001", "B001"
DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, ARM),
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, OLD_ARM, Firmware(7, 3)),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, COMPACT),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, GRIP),
)
# Slow enough that every tick runs on a busy machine too.
SETTINGS: Final = {"control/frequency": 400, "control/statistics_period": 1}
# The rate is judged over 0.4 s instead of 1 s.
TURNS: Final = 80
LOOPS: Final = 5

DEVICE: Final = frozenset({"device_id", "device_family"})
PLACE: Final = DEVICE | {"type", "connection", "port", "firmware"}
PAIR: Final = DEVICE | {"paired_with", "origin", "dropped"}
PORT: Final = frozenset({"port", "state", "reason"})
WARNING: Final = frozenset({"session_id", "reason"})
RATE: Final = frozenset({"target_hz", "measured_hz"})
UNSUPPORTED: Final = DEVICE | {"feature", "firmware", "required"}

FORCE: Final = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0.5}}}
POSITION: Final = {"set_cursor_position": {"position": {"x": 0, "y": -0.1, "z": 0.1}}}

Cause = Callable[[RunningSystem], object]


def session(system: RunningSystem, query: str = "") -> AbstractContextManager[ClientConnection]:
    """A client of the session channel."""
    return connect(f"{system.ws}/?{query}", compression=None, proxy=None)


def said(client: ClientConnection, message: Mapping[str, Any]) -> Any:
    """The frame that answers a message."""
    client.send(json.dumps(message))
    return json.loads(client.recv())


def commanded(client: ClientConnection, commands: Mapping[str, Any], device_id: str = ARM) -> Any:
    return said(client, {"arm": [{"device_id": device_id, "commands": commands}]})


def configured(client: ClientConnection, configure: Mapping[str, Any], device_id: str = ARM) -> Any:
    return said(client, {"arm": [{"device_id": device_id, "configure": configure}]})


# ---------------------------------------------------------------- causes


def start(_system: RunningSystem) -> None:
    """The devices of the start connected before anybody listened; `since` tells of them."""


def refused_position(system: RunningSystem) -> None:
    with session(system) as holder, session(system) as other:
        holder.recv()
        other.recv()
        commanded(holder, POSITION)
        commanded(other, POSITION)


def damping_of_an_old_arm(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        configured(client, {"damping": {"scalar": 1}}, OLD_ARM)


def home_return_of_an_old_arm(system: RunningSystem) -> None:
    assert system.ask("POST", f"/arm/{OLD_ARM}/home_return").status == 422


def stop(system: RunningSystem) -> None:
    assert system.ask("POST", f"/arm/{ARM}/stop").status == 200


def release(system: RunningSystem) -> None:
    assert system.ask("DELETE", f"/arm/{ARM}/stop").status == 200


def connection_loop(system: RunningSystem) -> None:
    """The link of the compact's port drops and opens again, too often."""
    port = system.system.inventory.value.get(COMPACT).identity.port
    for _ in range(LOOPS):
        system.directory.tell(PORTS, PortClosed(port))
        system.directory.tell(PORTS, PortOpened(port, port, COMPACT))


def port_reset(system: RunningSystem) -> None:
    (blocked,) = (one for one in system.ask("GET", "/ports").json["ports"] if one["state"] == "blocked")
    assert system.ask("POST", f"/ports/{blocked['port']}/reset").status == 200


def pair_dissolved(system: RunningSystem) -> None:
    assert system.ask("DELETE", f"/arm/{ARM}/config/paired_with").status == 200


def a_session(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()


def a_new_preset(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        configured(client, {"preset": "arm_front_centered"})


def a_profile(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        said(client, {"session": {"configure": {"profile": {"name": "drawing"}}}})


def a_damping_over_http(system: RunningSystem) -> None:
    with session(system) as client:
        session_id = json.loads(client.recv())["session_id"]
        path = f"/arm/{ARM}/config/filters/damping?session={session_id}"
        assert system.ask("POST", path, {"scalar": 1}).status == 200


def commands_that_come_too_seldom(system: RunningSystem) -> None:
    def faded() -> int:
        return int(system.shown(system.device(ARM))["faded"])

    def fades(times: int) -> bool:
        return faded() >= times

    with session(system) as client:
        client.recv()
        begun = faded()
        for times in range(1, 5):
            commanded(client, FORCE)
            eventually(partial(fades, begun + times), "the force fades", pause_s=0.002, tries=5_000)


def a_session_that_never_was(system: RunningSystem) -> None:
    with session(system, "session_id=999999999") as client:
        client.recv()


def a_version_to_come(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        said(client, {"session": {"configure": {"required_sdk_version": "99"}}})


def starved(ratio: float) -> Cause:
    def cause(system: RunningSystem) -> None:
        assert system.ask("POST", "/simulation/loop", {"ratio": ratio}).status == 200

    return cause


def an_unknown_group(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        said(client, {"boat": 1})


def an_old_command(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        commanded(client, {"set_cursor_force": {"values": [0, 0, 0]}})


def an_old_route(system: RunningSystem) -> None:
    assert system.ask("POST", "/torque_scaling", {"enable": True}).status == 200


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
        words = (str(value) for key, value in self.known.items() if key in {"reason", "safety_type", "feature"})
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
        WARNING | {"interval", "setting"},
        commands_that_come_too_seldom,
        {"reason": "command_timeout", "setting": "sessions/command_timeout"},
    ),
    Row("session-warning", "session", "warning", WARNING, a_session_that_never_was, {"reason": "resume_refused"}),
    Row("session-warning", "session", "warning", WARNING, a_version_to_come, {"reason": "sdk_version"}),
    Row("control-rate-low", "system", "warning", RATE, starved(0.7), {"target_hz": 400}),
    Row("control-rate-critical", "system", "error", RATE, starved(0.3), {"target_hz": 400}),
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
        frozenset({"route", "replacement", "suppressed"}),
        an_old_route,
        {"route": "POST /torque_scaling", "replacement": "POST /{device}/{id}/config/torque_scaling"},
    ),
)
AWAITED: Final = {
    "device-sleep": "nothing puts a device to sleep yet",
    "grip-attachment-changed": "nothing takes a simulated grip out of its hand yet",
    "device-calibration-failed": "nothing makes a simulated calibration fail yet",
    "device-battery-low": "nobody tells the hub of a charge yet",
    "device-battery-critical": "nobody tells the hub of a charge yet",
}
AWAITED_SAFETY: Final = {
    "ebrake_triggered": "a monitor of the force path",
    "ebrake_released": "a monitor of the force path",
    "fod_stage_changed": "a monitor of the force path",
    "stall_detected": "a monitor of the force path",
    "stability_ceiling": "a monitor of the force path",
    "thermal_derating": "only hardware gets warm",
    "device_stale": "only a real port falls silent",
    "oscillation_detected": "a filter of the force path",
    "grip_dropped": "needs a paired grip",
}
ELSEWHERE: Final = {
    "events_dropped": "tests/unit/transport/ws/test_events.py: who does not read loses the oldest",
    "actor_failed": "tests/scenarios/test_killed_actors.py: a session whose actor keeps failing",
}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(timekeeper, "FACTS_EVERY", TURNS)
        with RunningSystem(tmp_path_factory.mktemp("state"), simulated=DEVICES, settings=SETTINGS) as running:
            yield running


@pytest.fixture(scope="module")
def listener(system: RunningSystem) -> Iterator[Listener]:
    with Listener(system.events, since="1970-01-01T00:00:00Z") as listening:
        yield listening


@pytest.mark.parametrize("row", CAUSES, ids=str)
def test_a_cause_raises_its_event_and_it_arrives_as_decided(
    system: RunningSystem, listener: Listener, row: Row
) -> None:
    row.cause(system)
    event = listener.hears(row.kind, **row.known)

    assert list(event) == ["name", "category", "level", "time", "data", "message"]
    assert (event["category"], event["level"]) == (row.category, row.level)
    assert set(event["data"]) == row.keys
    assert event["message"]
    assert event["time"].endswith("Z")
    assert len(event["time"]) == len("2030-01-31T12:00:00.000000Z")


def test_every_kind_has_a_cause_or_says_what_it_waits_for() -> None:
    raised = {row.kind for row in CAUSES}

    assert raised | set(AWAITED) == set(CATALOG), "a kind of the catalogue needs a row in CAUSES"
    assert raised & set(AWAITED) == set(), "what has a cause waits for nothing"


def test_every_safety_type_has_a_cause_or_says_what_it_waits_for() -> None:
    raised = {str(row.known["safety_type"]) for row in CAUSES if row.kind == "device-safety-triggered"}

    assert raised | set(AWAITED_SAFETY) == set(SAFETY_LEVELS)
    assert raised & set(AWAITED_SAFETY) == set()


def test_every_warning_to_a_session_has_a_cause() -> None:
    raised = {str(row.known["reason"]) for row in CAUSES if row.kind == "session-warning"}

    assert raised | set(ELSEWHERE) == set(CATALOG["session-warning"].reasons)


@pytest.mark.parametrize("row", CAUSES, ids=str)
def test_the_catalogue_says_the_same_of_it(row: Row) -> None:
    entry = CATALOG[row.kind]

    assert row.category == entry.category
    assert row.level in entry.levels
    assert row.keys == {*entry.data, *entry.reasons.get(str(row.known.get("reason")), ())}


# ---------------------------------------------------------------- who hears what


def test_kinds_level_and_since_choose_together(system: RunningSystem, listener: Listener) -> None:
    def stops() -> list[str]:
        return [event["time"] for event in listener.heard("device-safety-triggered", safety_type="stopped")]

    before = len(stops())
    stop(system)
    release(system)
    eventually(lambda: len(stops()) > before, "the stop is heard", pause_s=0.005, tries=4_000)
    since = stops()[before]
    filters = {"kinds": "device-safety-triggered,session-opened", "level": "error"}
    stop(system)
    with Listener(system.events, since=since, **filters) as late:
        late.hears("device-safety-triggered")
        release(system)
        a_session(system)
        stop(system)
        eventually(lambda: len(late.events) >= 2, "the next stop", pause_s=0.005, tries=4_000)
    release(system)

    assert [event["data"]["safety_type"] for event in late.events] == ["stopped", "stopped"]
    assert all(event["time"] > since for event in late.events)


def test_a_subscriber_hears_in_its_own_words(system: RunningSystem) -> None:
    with Listener(system.events, since="1970-01-01", kinds="device-connected", vocabulary="inverse") as other:
        connected = other.hears("device-connected", device_id=COMPACT)

    assert (connected["data"]["device_family"], connected["data"]["type"]) == ("inverse", "minverse")
