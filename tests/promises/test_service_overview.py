"""Promises about the service as a whole, from device detection to remembered sessions, tested from outside."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

from tests.promises.conftest import ClientOf, Join, StartService
from tests.support.clients.event_client import EventClient
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import FULL, PromiseSession, force, vector
from tests.support.clients.raw_websocket import RawWebSocket, encode_frame
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

# Messages of that many bytes are sent without reading any frame, until the service reads no more.
LONG: Final = 60_000
STALLED_FRAMES: Final = 20_000


def done(service: RunningService, method: str, path: str, body: object = None) -> Any:
    """The answer of an exchange that succeeds."""
    status, answer = service.request(method, path, body)
    assert status == 200, answer
    return answer


# ---------------------------------------------------------------- devices


@pytest.mark.promise(1)
def test_each_kind_of_device_is_detected(http: HttpClient) -> None:
    """Arms, compacts, grips and pens are detected."""
    groups = http.get("/devices").data

    assert {group: len(entries) for group, entries in groups.items()} == {"arm": 1, "compact": 1, "grip": 2, "pen": 1}


@pytest.mark.promise(2)
def test_wired_and_wireless_grips_are_told_apart(http: HttpClient) -> None:
    """Grips are wired or wireless, and their record says which."""
    assert {grip["config"]["connection"] for grip in http.get("/devices").data["grip"]} == {"wired", "wireless"}


# ---------------------------------------------------------------- the loop


@pytest.mark.promise(4)
def test_frequency_changes_while_the_service_runs(
    service: RunningService, http: HttpClient, events: EventClient
) -> None:
    """The frequency of the control loop is a setting that acts at once."""
    http.post("/settings/control/statistics_period", 1)
    for frequency in (500, 250):
        assert http.post("/settings/control/frequency", frequency).data["data"]["effective"] == frequency
        # A loaded machine may miss ticks; a loop that runs too fast is never below.
        eventually(partial(counted_below, events, frequency * 1.01), f"{frequency} Hz in the statistics", pause_s=0.01)
    assert service.is_running()


def counted_below(events: EventClient, frequency: float) -> bool:
    """Whether some statistics counted ticks, at less than that many a second."""
    return any(0 < one["data"]["frequency"] < frequency for one in events.received_events("main-loop-statistics"))


@pytest.mark.promise(5)
def test_frequency_is_at_most_32_khz(http: HttpClient, join: Join) -> None:
    """The loop runs at up to 32 kHz, and more is refused."""
    path = "/settings/control/frequency"
    for too_much in (32_001, 40_000):
        assert http.post(path, too_much).status == 400
    http.post("/settings/serialization/timestamps", True)
    client, first = join()

    assert http.post(path, 32_000).data["data"]["effective"] == 32_000

    eventually(lambda: client.ask({})["tick"] > first["tick"] + 100, "the loop goes on", pause_s=0.002)


# ---------------------------------------------------------------- sessions and ports


@pytest.mark.promise(6)
def test_each_connection_is_a_session(service: RunningService, join: Join, http: HttpClient) -> None:
    """Clients connect as sessions over WebSocket."""
    ids = [join(url)[1]["session_id"] for url in (service.ws, service.ws_v30)]

    assert [one["session_id"] for one in http.get("/sessions").data["sessions"]] == ids


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        pytest.param(force(y=1), {"current_cursor_force": {"x": 0, "y": 1, "z": 0}}, id="forces"),
        pytest.param(
            {"set_cursor_position": {"position": {"x": 0.01, "y": -0.12, "z": 0.135}}},
            {"current_cursor_position": {"x": 0.01, "y": -0.12, "z": 0.135}, "control_mode": "position"},
            id="positions",
        ),
        pytest.param(
            {"set_angular_torques": {"torques": {"a0": 10, "a1": 20, "a2": 30}}},
            {"current_angular_torques": {"a0": 10, "a1": 20, "a2": 30}},
            id="torques",
        ),
    ],
)
def test_session_sends_commands(session: PromiseSession, commands: object, shown: dict[str, object]) -> None:
    """A session commands forces, positions and torques, and configures."""
    session.wait_entry(lambda entry: shown.items() <= entry["state"].items(), f"{shown}", commands=commands)

    assert session.configure(basis={"permutation": "XZY"})["basis"] == {"permutation": "XZY"}


@pytest.mark.promise(8)
def test_frames_carry_state_and_status_and_config_when_full(session: PromiseSession) -> None:
    """Frames carry state and status of every device, full frames config too."""
    for group in ("arm", "compact", "grip", "pen"):
        assert all({"config", "state", "status"} < set(entry) for entry in session.first[group])
        assert all({"device_id", "state", "status"} == set(entry) for entry in session.ask({})[group])
        assert all("config" in entry for entry in session.ask(FULL)[group])


@pytest.mark.promise(9)
def test_devices_are_configured_and_queried_over_http(http: HttpClient) -> None:
    """Devices are configured and queried over HTTP."""
    assert http.post("/arm/0/config/handedness", {"handedness": "left"}).data == {"handedness": "left"}
    assert http.get("/arm/0/config/handedness").data == {"handedness": "left"}
    assert http.get("/arm/0").data["config"]["handedness"] == "left"


MOUNT: Final = {"position": {"x": 0, "y": 0, "z": 0.5}}


@pytest.mark.promise(10)
@pytest.mark.parametrize(
    ("key", "path", "body"),
    [
        pytest.param("basis", "basis", {"permutation": "XZ-Y"}, id="basis"),
        pytest.param("preset", "preset", {"preset": "arm_front_centered"}, id="preset"),
        pytest.param("mount", "mount", MOUNT, id="flat mount"),
        pytest.param("mount", "mount", {"transform": MOUNT}, id="wrapped mount"),
        pytest.param("damping", "filters/damping", {"scalar": 2}, id="damping"),
        pytest.param("force_gate", "filters/force_gate", {"gain": 0.5}, id="force gate"),
    ],
)
def test_http_accepts_the_shapes_of_websocket(
    session: PromiseSession, client_of: ClientOf, http: HttpClient, key: str, path: str, body: dict[str, object]
) -> None:
    """HTTP bodies have the shapes of WebSocket messages."""
    other = client_of()

    assert http.post(f"/arm/0/config/{path}?session={other.id}", body).status == 200

    assert other.config()[key] == session.configured({key: body})[key] != session.first["arm"][0]["config"][key]


@pytest.mark.promise(11)
def test_events_have_a_channel_of_their_own(service: RunningService, events: EventClient, client_of: ClientOf) -> None:
    """Events come over a WebSocket channel of their own."""
    assert service.events not in (service.ws, service.ws_v30)
    assert events.wait_for_event("session-opened", session_id=client_of().id)["category"] == "session"


@pytest.mark.promise(12)
def test_settings_survive_a_kill(start_service: StartService) -> None:
    """Settings over HTTP are kept on disk, also over kill -9."""
    service = start_service("arm")
    done(service, "POST", "/settings/features/screensaver/timeout", 123)

    service.kill()
    service.start()

    assert done(service, "GET", "/settings/features/screensaver/timeout")["data"]["value"] == 123


# ---------------------------------------------------------------- spaces and navigation


def navigate(session: PromiseSession, **bubble: object) -> Any:
    return session.shown(configure={"navigation": {"mode": "bubble", "bubble": bubble}})


def hand(http: HttpClient, x: float) -> None:
    """The simulated hand holds the arm x metres right of the centre of its reach."""
    place = {"x": x, "y": -0.12, "z": 0.135}
    http.post("/simulation/arm/0", {"hand": {"path": "hold", "position": place, "stiffness": 1000}})


def rate(entry: Any) -> float:
    """m/s at which the scene moves by."""
    return float(np.linalg.norm(vector(entry["state"]["transform_velocity"].get("position", {}))))


def zone(entry: Any) -> str:
    return str(entry["state"]["navigation"]["bubble"]["zone"])


@pytest.mark.promise(13)
def test_position_passes_all_spaces(session: PromiseSession, client_of: ClientOf, http: HttpClient) -> None:
    """Positions go through basis, mount, workspace and navigation, in this order."""
    local = client_of()
    view = {"basis": "XZY", "mount": {"position": {"x": 0, "y": 0, "z": 0.25}}}
    workspace = {"position": {"x": 1, "y": 0, "z": 0}, "scale": {"x": 2, "y": 1, "z": 1}}
    session.shown(configure=view, commands={"set_transform": {"transform": workspace}})
    navigate(session)
    hand(http, 0.09)
    session.wait_entry(lambda entry: zone(entry) != "dead", "the bubble is left")
    hand(http, 0)
    session.wait_entry(lambda entry: zone(entry) == "dead" and rate(entry) == 0, "the scene stands still")

    def expected_place(entry: Any) -> bool:
        navigated = vector(entry["state"]["navigation"]["transform"]["position"])
        x, y, z = vector(local.shown()["state"]["cursor_position"])
        expected = navigated + vector({"x": 1 + 2 * x, "y": z, "z": y + 0.25})
        return bool(navigated[0] > 0 and np.allclose(vector(entry["state"]["cursor_position"]), expected, atol=1e-5))

    session.wait_entry(expected_place, "the cursor is where all four put it")


SHAPES: Final[dict[str, dict[str, object]]] = {
    "sphere": {"r": 0.05},
    "box": {"b": {"x": 0.05, "y": 0.05, "z": 0.05}},
    "rounded_box": {"b": {"x": 0.05, "y": 0.05, "z": 0.05}, "r": 0.01},
    "ellipsoid": {"a": {"x": 0.05, "y": 0.04, "z": 0.03}},
    "capsule": {"a": {"x": 0, "y": 0, "z": 0}, "b": {"x": 0.02, "y": 0, "z": 0}, "r": 0.05},
    "capsule_vertical": {"h": 0.05, "r": 0.05},
    "capped_cylinder": {"a": {"x": 0, "y": 0, "z": 0}, "b": {"x": 0.02, "y": 0, "z": 0}, "r": 0.05},
    "capped_cylinder_vertical": {"h": 0.05, "r": 0.05},
    "torus": {"r1": 0.05, "r2": 0.02},
    "capped_cone": {"a": {"x": 0, "y": 0, "z": 0}, "b": {"x": 0.05, "y": 0, "z": 0}, "r1": 0.05, "r2": 0.03},
    "rounded_cone": {"a": {"x": 0, "y": 0, "z": 0}, "b": {"x": 0.05, "y": 0, "z": 0}, "r1": 0.05, "r2": 0.03},
    "plane": {"n": {"x": 1, "y": 0, "z": 0}, "h": 0.05},
}


@pytest.mark.promise(14)
@pytest.mark.parametrize("primitive", SHAPES)
def test_a_bubble_has_zones_of_any_shape(session: PromiseSession, http: HttpClient, primitive: str) -> None:
    """Bubble Navigation has zones, of twelve signed-distance shapes."""
    shape = {"primitive": primitive, "parameters": SHAPES[primitive]}

    assert zone(navigate(session, shape=shape)) in {"dead", "velocity", "wall"}

    shown = http.get(f"/arm/0/config/navigation?session={session.id}").data["bubble"]["shape"]
    assert shown["primitive"] == primitive
    assert set(shown["parameters"]) == set(SHAPES[primitive])


@pytest.mark.promise(15)
def test_scene_speed_grows_with_the_distance_of_the_hand(session: PromiseSession, http: HttpClient) -> None:
    """Outside of the bubble the scene moves at a speed that grows with the distance, at full speed in the wall."""
    assert rate(navigate(session, velocity={"smoothing": 0.01})) == 0
    hand(http, 0.07)
    session.wait_entry(lambda entry: zone(entry) == "velocity" and 0 < rate(entry) < 0.45, "a middle speed in the zone")
    hand(http, 0.13)
    fast = session.wait_entry(lambda entry: zone(entry) == "wall" and rate(entry) > 0.45, "full speed in the wall")
    assert rate(fast) <= 0.5 + 1e-6


@pytest.mark.promise(17)
def test_a_collision_stops_the_scene(session: PromiseSession, http: HttpClient) -> None:
    """A force against the push slows the scene, which stands at the full-stop force."""
    navigate(session)
    hand(http, 0.1)
    session.wait_entry(lambda entry: rate(entry) > 0.01, "the scene moves")

    session.wait_entry(lambda entry: rate(entry) < 1e-6, "the scene stands", commands=force(x=-3))

    session.wait_entry(lambda entry: rate(entry) > 0.01, "the scene moves again", commands=force())


@pytest.mark.promise(18)
def test_the_bubble_may_drift_towards_the_cursor(session: PromiseSession, http: HttpClient) -> None:
    """The bubble drifts towards the cursor if it is told to."""
    first = navigate(session, center={"mode": "drift"})["state"]["navigation"]["bubble"]["center"]
    http.post("/simulation/arm/0", {"hand": {"path": "circle"}})

    def drifted(entry: Any) -> bool:
        center = entry["state"]["navigation"]["bubble"]["center"]
        return bool(np.linalg.norm(vector(center) - vector(first)) > 1e-4)

    session.wait_entry(drifted, "the centre has moved")


@pytest.mark.promise(19)
def test_navigation_is_configured_over_http_and_websocket(session: PromiseSession, http: HttpClient) -> None:
    """Navigation is configured over HTTP and over WebSocket."""
    path = f"/arm/0/config/navigation?session={session.id}"
    navigate(session, velocity={"max": 0.25})
    assert http.get(path).data["bubble"]["velocity"]["max"] == 0.25

    assert http.post(path, {"mode": "off"}).data["mode"] == "off"

    assert "navigation" not in session.shown()["state"]


# ---------------------------------------------------------------- pairs and calibration


def pair(service: RunningService, device: str) -> Any:
    return done(service, "GET", f"/{device}/config/paired_with")


def paired(service: RunningService, device: str, other: str) -> None:
    eventually(lambda: pair(service, device)["paired_with"] == other, f"{device} with {other}", pause_s=0.01)


def plug(service: RunningService, kind: str, device_id: str) -> None:
    done(service, "POST", "/simulation/devices", {"type": kind, "device_id": device_id})


def unplug(service: RunningService, device: str) -> None:
    device_id = done(service, "GET", f"/{device}")["device_id"]
    done(service, "DELETE", f"/simulation/devices/{device_id}")


@pytest.mark.promise(20)
def test_an_arm_and_a_grip_are_paired(http: HttpClient) -> None:
    """An arm and a grip are paired by themselves."""
    groups = http.get("/devices").data
    arm, grips = groups["arm"][0], {grip["device_id"]: grip for grip in groups["grip"]}
    grip = grips[arm["config"]["paired_with"]]

    assert grip["config"]["paired_with"] == arm["device_id"]
    assert http.get("/arm/0/config/paired_with").data["origin"] == "automatic"


@pytest.mark.promise(21)
@pytest.mark.parametrize("half", ["grip", "arm"])
def test_free_device_replaces_a_half_that_disconnects(start_service: StartService, half: str) -> None:
    """When a half leaves and a free device of its kind is there already, the two are paired at once."""
    service = start_service("arm,grip")
    other = "arm" if half == "grip" else "grip"
    old = done(service, "GET", f"/{half}/0")["device_id"]
    paired(service, f"{other}/0", old)
    plug(service, half, "NEW1")
    eventually(lambda: done(service, "GET", f"/{half}/NEW1")["status"]["ready"], "NEW1 is ready", pause_s=0.01)
    assert pair(service, f"{other}/0")["paired_with"] == old

    done(service, "DELETE", f"/simulation/devices/{old}")

    paired(service, f"{other}/0", "NEW1")


@pytest.mark.promise(22)
@pytest.mark.parametrize(
    ("half", "other"),
    [
        pytest.param("grip", "arm", id="the grip"),
        pytest.param("arm", "grip", id="the arm", marks=pytest.mark.promise(23)),
    ],
)
def test_swapped_half_is_paired(start_service: StartService, half: str, other: str) -> None:
    """When one half of an automatic pair leaves and another comes, the stale pair is dropped and the new half paired."""
    service = start_service("arm,grip")
    unplug(service, f"{half}/0")

    plug(service, half, "NEW1")

    paired(service, f"{other}/0", "NEW1")


@pytest.mark.promise(24)
def test_manual_pair_stays(start_service: StartService) -> None:
    """A pair made by hand is never changed by automatic pairing, and is there after a restart."""
    service = start_service("arm,grip")
    arm, grip = (done(service, "GET", f"/{half}/0")["device_id"] for half in ("arm", "grip"))
    assert done(service, "POST", "/arm/0/config/paired_with", {"device_id": grip})["origin"] == "manual"
    unplug(service, "grip/0")
    plug(service, "grip", "NEW1")
    eventually(lambda: done(service, "GET", "/grip/NEW1")["status"]["ready"], "NEW1 is ready", pause_s=0.01)

    assert pair(service, f"arm/{arm}") == {"paired_with": grip, "origin": "manual"}
    service.stop()
    service.start()
    assert pair(service, f"arm/{arm}") == {"paired_with": grip, "origin": "manual"}


@pytest.mark.promise(25)
def test_device_and_pen_calibrate_together(start_service: StartService) -> None:
    """A device calibrates together with its pen."""
    service = start_service("arm,pen")
    states = ("/arm/0/calibration", "/pen/0/calibration")
    paired(service, "arm/0", done(service, "GET", "/pen/0")["device_id"])

    assert done(service, "POST", "/pen/0/calibration") == {"state": "running"}

    assert [done(service, "GET", path)["state"] for path in states] == ["running", "running"]
    for path in states:
        eventually(partial(calibrated, service, path), path, pause_s=0.02)


def calibrated(service: RunningService, path: str) -> bool:
    return bool(done(service, "GET", path)["state"] == "calibrated")


@pytest.mark.promise(26)
def test_calibration_is_locked_until_the_grip_is_attached(start_service: StartService) -> None:
    """Calibration is locked until a grip is attached."""
    service = start_service("arm,grip")
    path = "/arm/0/calibration"
    done(service, "POST", "/simulation/grip/0", {"attached": False})
    eventually(lambda: done(service, "GET", path) == {"state": "locked"}, "it is locked", pause_s=0.01)
    assert service.request("POST", path)[0] == 409

    done(service, "POST", "/simulation/grip/0", {"attached": True})

    eventually(lambda: service.request("POST", path)[0] == 200, "it is unlocked", pause_s=0.01)


@pytest.mark.promise(28)
def test_connection_loop_blocks_the_port(start_service: StartService) -> None:
    """A port whose device connects again and again is blocked by itself."""
    service = start_service("arm,grip", settings={"devices/detection/period": 100})
    device_id = done(service, "GET", "/arm/0")["device_id"]

    done(service, "POST", "/simulation/arm/0", {"fault": "connection_loop"})

    def blocked() -> bool:
        ports = {one["device_id"]: one["state"] for one in done(service, "GET", "/ports")["ports"]}
        return ports.get(device_id) == "blocked"

    eventually(blocked, "its port is blocked", pause_s=0.02)


# ---------------------------------------------------------------- sessions beside each other


@pytest.mark.promise(29)
def test_stalled_session_delays_no_other(service: RunningService, session: PromiseSession) -> None:
    """Each session has a command buffer of its own, and one that stalls does not hold up the others."""
    with RawWebSocket(service.ws, receive_buffer=4096) as stalled:
        stalled.socket.settimeout(0)
        probe = encode_frame(json.dumps(session.message(commands={"probe_position": {}})) + " " * LONG)
        sent = 0
        with suppress(BlockingIOError):
            while sent < STALLED_FRAMES:
                stalled.socket.sendall(probe)
                sent += 1
        assert 0 < sent < STALLED_FRAMES

        for _ in range(100):
            session.shown(commands=force(y=0.5))
        session.wait_entry(
            lambda entry: entry["state"]["current_cursor_force"]["y"] == 0.5, "0.5 N", commands=force(y=0.5)
        )
        stalled.abort()


def declare(session: PromiseSession, name: str, version: str | None = None) -> None:
    wanted: dict[str, object] = {"profile": {"name": name}}
    if version is not None:
        wanted["required_sdk_version"] = version
    session.ask({"session": {"configure": wanted}})


def declared(http: HttpClient, session: PromiseSession) -> tuple[str, str | None]:
    record = http.get(f"/sessions/{session.id}").data
    return record["profile"]["name"], record["required_sdk_version"]


def left(http: HttpClient, session: PromiseSession) -> None:
    """The session's connection is closed, and the service has noticed."""
    session.peer.close()
    eventually(lambda: http.get(f"/sessions/{session.id}").status == 404, "it has left", pause_s=0.002)


@pytest.mark.promise(30)
def test_a_session_declares_profile_and_version(session: PromiseSession, http: HttpClient) -> None:
    """A session declares a profile and the SDK version that it requires."""
    declare(session, "declares", "3.4.19")

    assert declared(http, session) == ("declares", "3.4.19")


@pytest.mark.promise(31)
def test_profile_and_version_are_restored_with_the_session(
    session: PromiseSession, client_of: ClientOf, http: HttpClient
) -> None:
    """Profile and version are remembered: both with the session's id, the version also with the profile's name."""
    declare(session, "comes back", "3.4.19")
    left(http, session)

    again = client_of(session_id=session.id)
    assert again.id == session.id
    assert declared(http, again) == ("comes back", "3.4.19")

    namesake = client_of()
    assert declared(http, namesake) == ("default", None)
    declare(namesake, "comes back")
    assert declared(http, namesake) == ("comes back", "3.4.19")


@pytest.mark.promise(32)
def test_another_session_of_the_profile_changes_no_version(
    session: PromiseSession, client_of: ClientOf, http: HttpClient
) -> None:
    """The version that a session declared is not overwritten by another session of the same profile."""
    name = "shared name"
    declare(session, name, "3.4.18")
    other = client_of()
    other.ask({"session": {"configure": {"required_sdk_version": "3.5.1"}}})
    declare(other, name)
    assert declared(http, session) == (name, "3.4.18")
    assert declared(http, other) == (name, "3.5.1")
    left(http, session)
    left(http, other)

    for one, version in ((session, "3.4.18"), (other, "3.5.1")):
        again = client_of(session_id=one.id)
        assert declared(http, again) == (name, version)
        declare(again, name)
        assert declared(http, again) == (name, version)


@pytest.mark.promise(33)
def test_profiles_filter_sessions(client_of: ClientOf, http: HttpClient) -> None:
    """Profile names filter sessions."""
    ids = []
    for name in ("paint 1", "paint 2", "sculpt"):
        one = client_of()
        declare(one, name)
        ids.append(one.id)

    def found(selector: str) -> list[int]:
        answer = http.get(f"/sessions/{selector}").data
        return [one["session_id"] for one in answer.get("sessions", [answer])]

    assert found("sculpt") == ids[2:]
    assert found("paint*") == ids[:2]


@pytest.mark.promise(34)
def test_profiles_target_sessions(client_of: ClientOf, http: HttpClient) -> None:
    """Profile names and wildcards target sessions, with GET too when they match one session."""
    target, other = client_of(), client_of()
    declare(target, "targeted one")
    declare(other, "not that one")

    assert http.post("/arm/0/config/basis?session=targeted*", {"permutation": "XZY"}).status == 200

    assert target.config()["basis"] == {"permutation": "XZY"}
    assert other.config()["basis"] == {"permutation": "XYZ"}
    for selector in ("targeted%20one", "targeted*"):
        assert http.get(f"/arm/0/config/basis?session={selector}").data == {"permutation": "XZY"}
