"""Promises about HTTP routes and WebSocket ports, tested on a running service."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, Final

import pytest

from tests.promises.conftest import Join, StartService
from tests.support.clients.event_client import EventClient
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

IDENTITY: Final = {
    "position": {"x": 0, "y": 0, "z": 0},
    "rotation": {"w": 1, "x": 0, "y": 0, "z": 0},
    "scale": {"x": 1, "y": 1, "z": 1},
}
MOVED: Final = {"x": 0.25, "y": 0, "z": 0}
TURNED: Final = {"w": 0, "x": 0, "y": 0, "z": 1}
GAIN: Final = "/settings/devices/haptic*/filters/force_scale/gain"


def with_query(path: str, query: str) -> str:
    """The path with one more field in its query."""
    return f"{path}{'&' if '?' in path else '?'}{query}"


# ---------------------------------------------------------------- form of the answers

ROUTES: Final[Sequence[tuple[str, str, object]]] = (
    ("GET", "/", ...),
    ("GET", "/settings", ...),
    ("GET", "/settings/control/frequency", ...),
    ("POST", GAIN, 1),
    ("DELETE", GAIN, ...),
    ("GET", "/sessions/{session}", ...),
    ("GET", "/sessions/{session}/profile", ...),
    ("POST", "/sessions/{session}/profile", {"name": "plover"}),
    ("DELETE", "/sessions/{session}/profile", ...),
    ("GET", "/devices", ...),
    ("POST", "/ports/sim0/reset", ...),
    ("GET", "/arm/0/state/transform?session={session}", ...),
    ("POST", "/arm/0/state/transform?session={session}", {"transform": IDENTITY}),
    ("PATCH", "/arm/0/state/transform?session={session}", {"position": MOVED}),
    ("DELETE", "/arm/0/state/transform?session={session}", ...),
    ("GET", "/arm/0/config/basis?session={session}", ...),
    ("POST", "/arm/0/config/basis?session={session}", {"permutation": "XZY"}),
    ("DELETE", "/arm/0/config/basis?session={session}", ...),
    ("GET", "/arm/0/config/mount?session={session}", ...),
    ("POST", "/arm/0/config/mount?session={session}", {"position": MOVED}),
    ("DELETE", "/arm/0/config/mount?session={session}", ...),
    ("GET", "/arm/0/config/preset?session={session}", ...),
    ("POST", "/arm/0/config/preset?session={session}", {"preset": "arm_front"}),
    ("DELETE", "/arm/0/config/preset?session={session}", ...),
    ("GET", "/arm/0/config/transform?session={session}", ...),
    ("POST", "/arm/0/config/transform?session={session}", {"transform": IDENTITY}),
    ("DELETE", "/arm/0/config/transform?session={session}", ...),
    ("GET", "/arm/0/config/filters?session={session}", ...),
    ("POST", "/arm/0/config/filters?session={session}", {"force_gate": {"gain": 0.5}}),
    ("DELETE", "/arm/0/config/filters?session={session}", ...),
    ("POST", "/arm/0/config/filters/damping?session={session}", {"scalar": 1}),
    ("DELETE", "/arm/0/config/filters/damping?session={session}", ...),
    ("GET", "/arm/0/config/handedness", ...),
    ("POST", "/arm/0/config/handedness", {"handedness": "right"}),
    ("DELETE", "/arm/0/config/handedness", ...),
    ("GET", "/arm/0/config/torque_scaling", ...),
    ("POST", "/arm/0/config/torque_scaling", {"enabled": True}),
    ("DELETE", "/arm/0/config/torque_scaling", ...),
    ("GET", "/arm/0/config/gravity_compensation", ...),
    ("POST", "/arm/0/config/gravity_compensation", {"enabled": True}),
    ("DELETE", "/arm/0/config/gravity_compensation", ...),
    ("GET", "/arm/0/config/home_return", ...),
    ("POST", "/arm/0/config/home_return", {"enabled": False}),
    ("DELETE", "/arm/0/config/home_return", ...),
    ("GET", "/home_return", ...),
    ("POST", "/home_return", {"enabled": False}),
    ("DELETE", "/home_return", ...),
)
OLD_ROUTES: Final[Sequence[tuple[int, str, object, object]]] = (
    # promise, path, a body that is taken, a body that is refused
    (184, "/force_scale", {"force_scale": 0.5}, {"force_scale": 99}),
    (185, "/gravity_compensation", {"enable": True, "gravity_scaling_factor": 0.5}, {"enable": 3}),
    (186, "/torque_scaling", {"enable": False}, {"enable": 3}),
    (187, "/device_handednessness", {"handedness": "left"}, {"handedness": "both"}),
    (188, "/serial_enable", {"enable": False}, {"enable": 3}),
    (189, "/experimental/features/grip_dropped_simulation_stopper", {"enable": True}, {"enable": 3}),
    (190, "/experimental/features/screensaver_enable", {"enable": True}, {"enable": 3}),
)


@pytest.mark.promise(155, "`?format=json` puts the answer of any route into the envelope")
@pytest.mark.promise(183)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [*ROUTES, *(("POST", path, good) for _, path, good, _ in OLD_ROUTES)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_route_accepts_the_format_query(http: HttpClient, join: Join, method: str, path: str, body: object) -> None:
    """Every route takes `?format=json` for the envelope and `?format=plain` for the raw shape."""
    place = path.format(session=join()[1]["session_id"])

    wrapped = http.ask(method, with_query(place, "format=json"), body).data
    plain = http.ask(method, with_query(place, "format=plain"), body).data

    assert wrapped["ok"] is True
    assert "ok" not in plain
    assert wrapped["data"].keys() == plain.keys() - {"deprecation_warning"}


@pytest.mark.promise(157)
def test_plain_answer_is_the_value_itself(http: HttpClient) -> None:
    """`?format=plain` answers the raw shape, also where the envelope is the default."""
    assert http.get("/settings/control/frequency?format=plain").data["key"] == "control/frequency"


@pytest.mark.promise(156)
def test_envelope_has_three_members(http: HttpClient) -> None:
    """The envelope is `{ok, error, data}`: a success has a null error, a failure null data."""
    success = http.get("/?format=json")
    failure = http.get("/sessions/999999999?format=json")

    assert success.status == 200
    assert success.json.keys() == failure.json.keys() == {"ok", "error", "data"}
    assert (success.json["ok"], success.json["error"]) == (True, None)
    assert success.json["data"]["interface"]
    assert failure.status == 404
    assert (failure.json["ok"], failure.json["data"]) == (False, None)
    assert "999999999" in failure.json["error"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("GET", "/settings", ..., marks=pytest.mark.promise(158), id="GET /settings"),
        pytest.param(
            "GET", "/settings/control/frequency", ..., marks=pytest.mark.promise(158), id="GET of one setting"
        ),
        pytest.param("POST", GAIN, 1, marks=pytest.mark.promise(158), id="POST of a setting"),
        pytest.param("DELETE", GAIN, ..., marks=pytest.mark.promise(158), id="DELETE of a setting"),
        pytest.param("GET", "/home_return", ..., marks=pytest.mark.promise(159), id="GET /home_return"),
    ],
)
def test_envelope_is_the_default(http: HttpClient, method: str, path: str, body: object) -> None:
    """These routes answer in the envelope without being asked to."""
    answer = http.ask(method, path, body).data

    assert answer["ok"] is True
    assert answer["data"]


@pytest.mark.promise(160)
def test_unknown_format_is_refused(http: HttpClient) -> None:
    """A `format` other than json and plain is 400."""
    assert http.get("/?format=xml").status == 400


# ---------------------------------------------------------------- version, settings


@pytest.mark.promise(161)
def test_root_answers_the_version(http: HttpClient) -> None:
    """`GET /` answers the service's version."""
    version = http.get("/").data

    assert version["project_version"].startswith(version["interface"] + ".")


@pytest.mark.promise(162)
def test_all_settings_are_listed(http: HttpClient) -> None:
    """`GET /settings` lists the settings, each with value, type hint, constraint and description."""
    records = http.get("/settings?format=plain").data

    assert "control/frequency" in records
    assert all({"value", "type_hint", "metadata", "description"} <= record.keys() for record in records.values())


@pytest.mark.promise(163, "`GET /settings/{key}` answers one setting")
@pytest.mark.promise(164, "`POST /settings/{key}` sets the value")
@pytest.mark.promise(165, "`DELETE /settings/{key}` resets the value")
def test_setting_is_read_set_and_reset(http: HttpClient) -> None:
    """A setting is read with GET, set with POST and reset to its default with DELETE."""
    read = http.get(GAIN).data["data"]
    written = http.post(GAIN, 0.5).data["data"]
    reset = http.delete(GAIN).data["data"]

    assert [one["value"] for one in (read, written, reset)] == [1, 0.5, 1]


# ---------------------------------------------------------------- sessions


@pytest.mark.promise(166)
def test_session_record_has_its_fields(http: HttpClient, join: Join) -> None:
    """`GET /sessions/{session}` answers the session that the selector matches."""
    session_id = join()[1]["session_id"]

    assert http.get(f"/sessions/{session_id}").data["session_id"] == session_id
    assert http.get("/sessions/*").data["session_count"] == 1


@pytest.mark.promise(167, "`GET /sessions/{session}/profile` answers the profile")
@pytest.mark.promise(168, "`POST /sessions/{session}/profile` sets the profile")
@pytest.mark.promise(169, "`DELETE /sessions/{session}/profile` clears the profile")
def test_profile_is_read_set_and_cleared(http: HttpClient, join: Join) -> None:
    """A session's profile is read with GET, set with POST and cleared with DELETE."""
    path = f"/sessions/{join()[1]['session_id']}/profile"

    assert http.get(path).data == {"name": "default"}
    assert http.post(path, {"name": "heron"}).data == http.get(path).data == {"name": "heron"}
    assert http.delete(path).data == http.get(path).data == {"name": "default"}


# ---------------------------------------------------------------- devices


@pytest.mark.promise(170)
def test_devices_are_listed(http: HttpClient) -> None:
    """`GET /devices` lists the devices by type."""
    groups = http.get("/devices").data

    assert list(groups) == ["arm", "compact", "grip", "pen"]
    assert [len(group) for group in groups.values()] == [1, 1, 2, 1]


@pytest.mark.promise(171)
def test_devices_in_the_space_of_a_session(http: HttpClient, join: Join) -> None:
    """`GET /devices?session=<selector>` converts coordinates into that session's application space."""
    client, first = join()
    far = {"position": {"x": 0, "y": 50, "z": 0}}
    client.ask({"arm": [{"device_id": first["arm"][0]["device_id"], "configure": {"mount": far}}]})

    def depth(query: str) -> float:
        return float(http.get(f"/devices{query}").data["arm"][0]["state"]["cursor_position"]["y"])

    assert depth(f"?session={first['session_id']}") == pytest.approx(50, abs=1)
    assert depth("") == pytest.approx(0, abs=1)


@pytest.mark.promise(172)
def test_devices_in_the_space_of_the_one_session_of_a_pattern(http: HttpClient, join: Join) -> None:
    """`GET /devices?session=<pattern>` takes a pattern that matches exactly one session."""
    client, first = join()
    client.ask({"session": {"configure": {"profile": {"name": "heron"}}}})
    client.ask({"arm": [{"device_id": first["arm"][0]["device_id"], "configure": {"mount": {"position": MOVED}}}]})

    reply = http.get("/devices?session=her*")

    assert reply.status == 200, reply.json
    assert reply.json["arm"][0]["config"]["mount"] == {"position": MOVED}


# ---------------------------------------------------------------- workspace transform


@pytest.mark.promise(173, "`GET …/state/transform` answers the workspace transform")
@pytest.mark.promise(174, "`POST …/state/transform` sets the workspace transform")
@pytest.mark.promise(175, "`PATCH …/state/transform` changes what is sent and keeps the rest")
@pytest.mark.promise(176, "`DELETE …/state/transform` resets the workspace transform")
def test_transform_is_read_set_changed_and_reset(http: HttpClient, join: Join) -> None:
    """A workspace transform is read with GET, replaced with POST, changed with PATCH and reset with DELETE."""
    path = f"/arm/0/state/transform?session={join()[1]['session_id']}"
    set_to = {**IDENTITY, "position": MOVED}
    changed_to = {**set_to, "rotation": TURNED}

    assert http.get(path).data == {"transform": IDENTITY}
    assert http.post(path, {"transform": set_to}).data == http.get(path).data == {"transform": set_to}
    assert http.patch(path, {"rotation": TURNED}).data == http.get(path).data == {"transform": changed_to}
    assert http.delete(path).data == http.get(path).data == {"transform": IDENTITY}


@pytest.mark.promise(177)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_transform_echo_is_complete_and_ordered(service: RunningService, join: Join, method: str) -> None:
    """The answer echoes the transform that was sent: all three components, rotation as w, x, y, z."""
    path = f"/arm/0/state/transform?session={join()[1]['session_id']}"

    status, text = service.request_raw(method, path, {"rotation": TURNED})

    assert status == 200
    assert [text.index(f'"{key}"') for key in ("position", "rotation", "scale")] == sorted(
        text.index(f'"{key}"') for key in ("position", "rotation", "scale")
    )
    assert '"rotation":{"w":0,"x":0,"y":0,"z":1}' in text.replace(" ", "")


@pytest.mark.promise(178)
@pytest.mark.parametrize("body", [{"positon": MOVED}, {"transform": {"positon": MOVED}}], ids=["flat", "wrapped"])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_misspelt_transform_changes_nothing(http: HttpClient, join: Join, method: str, body: object) -> None:
    """A transform body in which nothing is valid is 400, names the key and changes nothing."""
    path = f"/arm/0/state/transform?session={join()[1]['session_id']}"
    http.post(path, {"position": MOVED})

    reply = http.ask(method, path, body)

    assert reply.status == 400, reply.json
    assert "positon" in reply.json["error"]
    assert http.get(path).data["transform"]["position"] == MOVED


# ---------------------------------------------------------------- damping, return to home


@pytest.mark.promise(179)
@pytest.mark.parametrize(
    "damping",
    [
        pytest.param({"scalar": 2}, marks=pytest.mark.promise(180, "damping is uniform with a number"), id="uniform"),
        pytest.param(
            {"vector": {"x": 1, "y": 2, "z": 3}},
            marks=pytest.mark.promise(181, "damping is directional with a vector"),
            id="directional",
        ),
    ],
)
def test_damping_is_set_and_cleared(http: HttpClient, join: Join, damping: dict[str, Any]) -> None:
    """`POST` and `DELETE` of `config/filters/damping` under the device selector set and clear the damping."""
    path = f"/arm/0/config/filters/damping?session={join()[1]['session_id']}"

    assert damping.items() <= http.post(path, damping).data.items()
    assert damping.items() <= http.get(path).data.items()
    assert http.delete(path).data == http.get(path).data == {"scalar": 0}


@pytest.mark.promise(182)
@pytest.mark.parametrize("path", ["/home_return", "/haptic*/*/home_return"])
def test_home_return_is_read_set_and_cleared(http: HttpClient, path: str) -> None:
    """`/home_return` takes GET, POST and DELETE."""

    def enabled() -> list[bool]:
        return [one["enabled"] for one in http.get("/home_return?format=plain").data["results"]]

    assert http.post(path, {"enabled": True}).status == 200
    assert enabled() == [True, True]
    assert http.delete(path).status == 200
    assert enabled() == [False, False]


# ---------------------------------------------------------------- deprecated routes


@pytest.mark.parametrize(
    ("path", "body"),
    [pytest.param(path, good, marks=pytest.mark.promise(number), id=path) for number, path, good, _ in OLD_ROUTES],
)
def test_deprecated_route_still_acts(http: HttpClient, path: str, body: object) -> None:
    """A deprecated route still works, and its answer carries `deprecation_warning`."""
    answer = http.post(path, body).data

    assert "deprecated" in answer["deprecation_warning"]


@pytest.mark.promise(191)
@pytest.mark.parametrize(("path", "body"), [(path, bad) for _, path, _, bad in OLD_ROUTES], ids=lambda value: value)
@pytest.mark.parametrize("form", ["plain", "json"])
def test_refused_call_of_a_deprecated_route(http: HttpClient, path: str, body: object, form: str) -> None:
    """A refused call of a deprecated route carries `deprecation_warning` too."""
    reply = http.post(f"{path}?format={form}", body)

    assert reply.status == 400
    assert "deprecated" in reply.json.get("deprecation_warning", "")


# ---------------------------------------------------------------- WebSocket ports


@pytest.mark.promise(192)
def test_each_frame_version_has_its_port(service: RunningService, http: HttpClient) -> None:
    """Frames are v3.1 on the session port, whose default is 10001, and v3.0 on the legacy port."""
    with RawWebSocket(service.ws) as new, RawWebSocket(service.ws_v30) as old:
        assert isinstance(new.frame()["arm"], list)
        assert isinstance(old.frame()["arm"], dict)
    assert http.get("/settings/communication/websocket/port?format=plain").data["default"] == 10001


@pytest.mark.promise(193)
def test_event_port_is_a_setting(start_service: StartService) -> None:
    """The event channel listens on the port that `communication/events/port` gives."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    service = start_service("arm", settings={"communication/events/port": port})

    with EventClient(f"ws://127.0.0.1:{port}") as listener, RawWebSocket(service.ws) as client:
        session_id = client.frame()["session_id"]
        eventually(lambda: listener.received_events("session-opened", session_id=session_id), "it tells", pause_s=0.01)
