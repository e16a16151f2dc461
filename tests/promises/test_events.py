"""Promises about the event channel: each test causes an event from outside and receives it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, Final

import pytest

from tests.promises.conftest import Join, Plug
from tests.support.clients.event_client import EventClient
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

FULL: Final[dict[str, Any]] = {"session": {"force_render_full_state": {}}}
MOUNT: Final = {"position": {"x": 0.25, "y": 0, "z": 0}}
SINCE_THE_START: Final = "1970-01-01T00:00:00Z"
THROTTLE_S: Final = 30.0
# Events are counted by the time of their source and stamped when the hub sends them, which a busy machine may delay.
LATE_S: Final = 2.0
OLD_COMMANDS: Final = {
    "set_cursor_force": {"values": [0, 0, 0.1]},
    "set_cursor_position": {"values": [0, -0.12, 0.135]},
    "set_angular_position": {"values": [1, 70, -130]},
    "set_angular_torques": {"values": [1, 1, 1]},
}
# Where the peak force takes more than 0.6 of the torque limit at the first joint.
FAR_OUT: Final = {"arm": {"x": 0.2, "y": -0.26, "z": 0.2}, "compact": {"x": -0.06, "y": -0.18, "z": 0.1}}
FAR_ENOUGH_M: Final = {"arm": -0.245, "compact": -0.168}
TORQUES: Final = {"arm": {"a0": 6000, "a1": 0, "a2": 0}, "compact": {"a0": 1200, "a1": 0, "a2": 0}}


@pytest.fixture
def bench(empty_service: RunningService) -> HttpClient:
    """HTTP of the service that devices are plugged into."""
    return HttpClient(empty_service.http)


@pytest.fixture
def bench_events(empty_service: RunningService) -> Iterator[EventClient]:
    """Events of the service that devices are plugged into."""
    with EventClient(empty_service.events) as listener:
        yield listener


def simulate(http: HttpClient, device_id: str, **change: object) -> None:
    """POST /simulation of one device."""
    reply = http.post(f"/simulation/*/{device_id}", change)
    assert reply.status == 200, reply.json


def seconds(event: Any) -> float:
    """Time of an event, s since the epoch."""
    return datetime.fromisoformat(event["time"]).timestamp()


# ---------------------------------------------------------------- devices


@pytest.mark.promise(195)
def test_device_connection_and_disconnection_raise_events(
    bench: HttpClient, bench_events: EventClient, plug: Plug
) -> None:
    """A device that connects or disconnects raises an event."""
    device_id = plug("arm", "1195")
    connected = bench_events.wait_for_event("device-connected", device_id=device_id)
    simulate(bench, device_id, fault="unplug")
    disconnected = bench_events.wait_for_event("device-disconnected", device_id=device_id)

    assert connected["data"]["type"] == disconnected["data"]["type"] == "arm"


@pytest.mark.promise(196)
def test_brake_raises_an_event(bench: HttpClient, bench_events: EventClient, plug: Plug) -> None:
    """A device that is thrown brakes and raises `device-safety-triggered` with `ebrake_triggered`."""
    device_id = plug("arm", "1196")
    simulate(bench, device_id, fault="throw")

    assert bench_events.wait_for_event("device-safety-triggered", device_id=device_id, safety_type="ebrake_triggered")


@pytest.mark.promise(197)
def test_foreign_object_raises_an_event(bench: HttpClient, bench_events: EventClient, plug: Plug) -> None:
    """What pushes an arm whose grip is let go raises `device-safety-triggered` with `fod_stage_changed`."""
    arm, grip = plug("arm", "1197"), plug("grip", "2197")
    bench_events.wait_for_event("device-pairing-changed", device_id=arm, paired_with=grip)
    simulate(bench, grip, attached=False)
    bench_events.wait_for_event("grip-attachment-changed", device_id=grip, attached=False)
    simulate(bench, arm, fault="foreign_object")

    told = bench_events.wait_for_event("device-safety-triggered", device_id=arm, safety_type="fod_stage_changed")
    assert told["data"]["from"] == "idle"


@pytest.mark.promise(198)
def test_stall_raises_an_event(
    empty_service: RunningService, bench: HttpClient, bench_events: EventClient, plug: Plug
) -> None:
    """A device that is commanded hard far out and does not move raises `device-safety-triggered` with `stall_detected`."""
    ids = {kind: plug(kind, device_id) for kind, device_id in (("arm", "1198"), ("compact", "2198"))}
    with RawWebSocket(empty_service.ws) as client:
        client.frame()
        for kind, device_id in ids.items():
            simulate(bench, device_id, hand={"path": "hold", "position": FAR_OUT[kind]})

        def arrived() -> bool:
            frame = client.ask({})
            return all(frame[kind][0]["state"]["cursor_position"]["y"] < FAR_ENOUGH_M[kind] for kind in ids)

        eventually(arrived, "the devices are far out", pause_s=0.01)
        for device_id in ids.values():
            simulate(bench, device_id, fault="stall")
        push = {
            kind: [{"device_id": device_id, "commands": {"set_angular_torques": {"torques": TORQUES[kind]}}}]
            for kind, device_id in ids.items()
        }

        def told() -> bool:
            client.ask(push)
            heard = bench_events.received_events("device-safety-triggered", safety_type="stall_detected")
            return {event["data"]["device_id"] for event in heard} == set(ids.values())

        eventually(told, "both stalls are told", pause_s=0.01)


@pytest.mark.promise(199)
def test_calibration_failure_raises_an_event(bench: HttpClient, bench_events: EventClient, plug: Plug) -> None:
    """A calibration that fails raises `device-calibration-failed` with its reason."""
    compact, grip = plug("compact", "1199"), plug("grip", "2199")
    bench_events.wait_for_event("device-pairing-changed", device_id=compact, paired_with=grip)
    simulate(bench, compact, fault="calibration_blocked")
    path = f"/compact/{compact}/calibration"
    eventually(lambda: bench.post(path).status == 200, "the calibration starts", pause_s=0.01)

    assert bench_events.wait_for_event("device-calibration-failed", device_id=compact)["data"]["reason"] == "blocked"


# ---------------------------------------------------------------- battery


@pytest.mark.promise(200)
def test_no_battery_alert_before_a_reading(bench: HttpClient, bench_events: EventClient, plug: Plug) -> None:
    """A wireless grip that connects with enough charge raises no battery alert, also not before its first reading."""
    grips = [f"20{number:02d}" for number in range(8)]
    for grip in grips:
        plug("grip", grip)
        eventually(partial(charged, bench, grip), "its charge is read", pause_s=0.005)
    last = grips[-1]
    simulate(bench, last, battery_level=0.04)
    bench_events.wait_for_event("device-battery-critical", device_id=last)

    alerts = [event for event in bench_events.events if event["name"].startswith("device-battery")]
    assert {event["data"]["device_id"] for event in alerts} == {last}


def charged(http: HttpClient, device_id: str) -> bool:
    """Whether a wireless grip shows more charge than raises an alert."""
    return bool(http.get(f"/grip/{device_id}").data["state"]["battery_level"] > 0.2)


@pytest.mark.promise(216)
def test_low_and_critical_battery_raise_events_with_the_true_level(
    bench: HttpClient, bench_events: EventClient, plug: Plug
) -> None:
    """A wireless grip raises `device-battery-low` and `device-battery-critical` with the charge that it has."""
    grip = plug("grip", "2216")
    for charge, kind in ((0.19, "device-battery-low"), (0.04, "device-battery-critical")):
        simulate(bench, grip, battery_level=charge)
        assert bench_events.wait_for_event(kind, device_id=grip)["data"]["battery_level"] == pytest.approx(
            charge, abs=0.01
        )


@pytest.mark.promise(215)
def test_wired_grip_raises_no_battery_alert(bench: HttpClient, bench_events: EventClient, plug: Plug) -> None:
    """A wired grip shows no charge and never raises a battery alert."""
    wired, wireless = plug("grip", "2215", connection="wired"), plug("grip", "3215")
    shown = bench.get(f"/grip/{wired}").data
    assert shown["config"]["connection"] == "wired"
    assert "battery_level" not in shown["state"]
    bench.post(f"/simulation/grip/{wired}", {"battery_level": 0.01})
    simulate(bench, wireless, battery_level=0.04)
    bench_events.wait_for_event("device-battery-critical", device_id=wireless)

    assert not [
        event
        for event in bench_events.events
        if event["name"].startswith("device-battery") and event["data"]["device_id"] == wired
    ]


# ---------------------------------------------------------------- sessions, loop


@pytest.mark.promise(201)
def test_session_warning_is_sent(events: EventClient, join: Join) -> None:
    """A session that asks for an id that it cannot have raises `session-warning`."""
    session_id = join(session_id=999_999_999)[1]["session_id"]

    assert events.wait_for_event("session-warning", session_id=session_id)["data"]["reason"] == "resume_refused"


@pytest.mark.promise(205)
def test_loop_statistics_are_sent(http: HttpClient, events: EventClient) -> None:
    """`main-loop-statistics` tells frequency, ticks and lateness of the loop every `control/statistics_period`."""
    assert http.post("/settings/control/statistics_period", 1).status == 200

    data = events.wait_for_event("main-loop-statistics")["data"]

    assert {"frequency", "ticks", "missed", "lateness_p99_us", "tick_cost_us"} <= data.keys()


# ---------------------------------------------------------------- input


@pytest.mark.promise(203)
def test_invalid_input_raises_an_event(events: EventClient, join: Join) -> None:
    """A message with a part that is not valid raises `invalid-io-channel` with the path of that part."""
    client, first = join()
    client.ask({"boat": []})

    assert events.wait_for_event("invalid-io-channel", session_id=first["session_id"])["data"]["path"] == "boat"


@pytest.mark.promise(204)
def test_deprecation_raises_an_event(
    service: RunningService, http: HttpClient, events: EventClient, join: Join
) -> None:
    """A deprecated route raises `http-route-deprecated`, a deprecated command `command-deprecated`, with the replacement."""
    client, first = join()
    assert http.post("/torque_scaling", {"enable": True}).status == 200
    client.ask({"arm": [{"device_id": first["arm"][0]["device_id"], "commands": {"probe_cursor_position": {}}}]})

    assert events.wait_for_event("http-route-deprecated", route="POST /torque_scaling")["data"]["replacement"]
    with EventClient(service.events, since=SINCE_THE_START) as all_events:
        told = all_events.wait_for_event("command-deprecated", command="probe_cursor_position")
        assert "probe_position" in told["data"]["replacement"]


@pytest.mark.promise(210)
@pytest.mark.parametrize("command", OLD_COMMANDS)
def test_values_in_a_command_raise_an_event(service: RunningService, join: Join, command: str) -> None:
    """`values` in one of the four commands raises `command-deprecated`; the last 30 s may have brought it already."""
    client, first = join()
    entry = {"device_id": first["arm"][0]["device_id"], "commands": {command: OLD_COMMANDS[command]}}
    assert "errors" not in client.ask({"arm": [entry]})

    with EventClient(service.events, since=SINCE_THE_START) as events:
        assert events.wait_for_event("command-deprecated", command=command)["data"]["replacement"]


@pytest.mark.promise(211)
def test_deprecated_command_raises_one_event_in_thirty_seconds(service: RunningService, join: Join) -> None:
    """However often `values` is sent, two events for one command are at least 30 s apart."""
    client, first = join()
    entry = {"device_id": first["arm"][0]["device_id"], "commands": OLD_COMMANDS}
    for _ in range(50):
        client.ask({"arm": [entry]})
    client.ask({"boat": []})

    with EventClient(service.events, since=SINCE_THE_START) as events:
        # What was raised before it has been heard by then.
        events.wait_for_event("invalid-io-channel", session_id=first["session_id"])
        for command in OLD_COMMANDS:
            told = [seconds(event) for event in events.received_events("command-deprecated", command=command)]
            assert told
            assert all(later - earlier >= THROTTLE_S - LATE_S for earlier, later in pairwise(told))


# ---------------------------------------------------------------- session-updated


@pytest.mark.promise(212)
def test_session_updated_on_change_only(events: EventClient, join: Join) -> None:
    """`session-updated` is raised when a session's configuration changes, and not when it stays as it is."""
    client, first = join()
    session_id, device_id = first["session_id"], first["arm"][0]["device_id"]
    for preset in ("arm_front_centered", "arm_front_centered", "arm_front"):
        frame = client.ask({"arm": [{"device_id": device_id, "configure": {"preset": preset}}], **FULL})
        assert frame["arm"][0]["config"]["preset"] == preset
    client.close()
    events.wait_for_event("session-closed", session_id=session_id)

    told = events.received_events("session-updated", session_id=session_id)
    # Changes within a tenth of a second may be told together.
    assert 1 <= len(told) <= 2
    assert all("config.preset" in event["data"]["scopes"] for event in told)


@pytest.mark.promise(213)
@pytest.mark.parametrize(
    ("part", "scope"),
    [
        ({"mount": MOUNT}, "config.mount"),
        ({"basis": {"permutation": "XZY"}}, "config.basis"),
        ({"preset": "arm_front"}, "config.preset"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_scopes_of_a_device_are_prefixed(events: EventClient, join: Join, part: dict[str, Any], scope: str) -> None:
    """`session-updated` reports the scopes `config.mount`, `config.basis` and `config.preset`, never the bare words."""
    client, first = join()
    client.ask({"arm": [{"device_id": first["arm"][0]["device_id"], "configure": part}]})

    scopes = events.wait_for_event("session-updated", session_id=first["session_id"])["data"]["scopes"]
    assert scope in scopes
    assert not {"mount", "basis", "preset"} & set(scopes)


@pytest.mark.promise(214)
def test_scopes_of_a_session_level_basis(events: EventClient, join: Join) -> None:
    """A session-level basis reports `basis` and, as every device's basis changes, `config.basis`."""
    client, first = join()
    client.ask({"session": {"configure": {"basis": {"permutation": "XZY"}}}})

    scopes = events.wait_for_event("session-updated", session_id=first["session_id"])["data"]["scopes"]
    assert set(scopes) == {"basis", "config.basis"}
