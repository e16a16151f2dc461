"""Basis, mount, preset and filters over HTTP on the whole service: per session, and as defaults of new sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.session.messages import MANAGER, ConfigureDefaults, SetDamping, SetForceGate, SetPreset
from actors.session.messages import SetBasis as Basis
from actors.values.spatial import ORIGIN
from tests.service.http.areas.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

IDENTITY: dict[str, Any] = {
    "position": {"x": 0, "y": 0, "z": 0},
    "rotation": {"w": 1, "x": 0, "y": 0, "z": 0},
    "scale": {"x": 1, "y": 1, "z": 1},
}
MOVED = {**IDENTITY, "position": {"x": 0.5, "y": 0, "z": 0}}
AREAS = ["basis", "mount", "preset", "filters", "filters/damping", "filters/force_gate"]
BODIES: dict[str, Any] = {
    "basis": {"permutation": "XZ-Y"},
    "mount": {"transform": MOVED},
    "preset": {"preset": "arm_front_centered"},
    "filters": {"damping": {"scalar": 2}, "force_gate": {"gain": 0.5}},
    "filters/damping": {"scalar": 1, "vector": {"x": 0, "y": 2, "z": 0}},
    "filters/force_gate": {"gain": 0.25},
}
START: dict[str, Any] = {
    "basis": {"permutation": "XYZ"},
    "mount": {"transform": IDENTITY},
    "preset": {"preset": "defaults"},
    "filters": {"damping": {"scalar": 0}, "force_gate": {"gain": 0.3}},
    "filters/damping": {"scalar": 0},
    "filters/force_gate": {"gain": 0.3},
}


def path(area: str, session: object = None, device: str = "arm/A001") -> str:
    return f"/{device}/config/{area}" + ("" if session is None else f"?session={session}")


def full(peer: RawWebSocket) -> Any:
    """`config` of the first arm, as the session sees it."""
    return peer.ask({"session": {"force_render_full_state": {}}})["arm"][0]["config"]


@pytest.fixture
def start_values(service: InProcessService) -> Iterator[None]:
    """They are as they were when the test is over."""
    yield
    for device_id in ("A001", "C001"):
        changes = (
            Basis(device_id, None),
            SetPreset(device_id, None),
            SetDamping(device_id, 0.0, ORIGIN),
            SetForceGate(device_id, None),
        )
        service.await_edge(service.bridge.ask(MANAGER, ConfigureDefaults(changes)))


# ---------------------------------------------------------------- one session


@pytest.mark.parametrize("area", AREAS)
def test_a_value_is_set_read_and_cleared(http: HttpClient, join: Join, area: str) -> None:
    _, mine = join()

    assert http.get(path(area, mine)).data == START[area]
    assert http.post(path(area, mine), BODIES[area]).data == BODIES[area]
    assert http.get(path(area, mine)).data == BODIES[area]
    assert http.delete(path(area, mine)).data == START[area]
    assert http.get(path(area, mine)).data == START[area]


@pytest.mark.parametrize("area", AREAS)
def test_value_applies_to_one_session_only(http: HttpClient, join: Join, area: str) -> None:
    (_, mine), (_, other) = join(), join()

    http.post(path(area, mine), BODIES[area])

    assert http.get(path(area, other)).data == START[area]


def test_session_shows_values_set_over_http(http: HttpClient, join: Join) -> None:
    client, mine = join()

    http.post(path("basis", mine), "YZX")
    http.post(path("filters", mine), {"damping": {"scalar": 3}, "force_gate": 0.5})
    http.post(path("preset", mine), "arm_front_centered")
    shown = full(client)

    assert shown["basis"] == {"permutation": "YZX"}
    assert (shown["damping"], shown["force_gate"]) == ({"scalar": 3}, {"gain": 0.5})
    assert shown["preset"] == "arm_front_centered"
    assert shown["mount"]["position"] == {"x": 0.12, "y": -0.135, "z": 0}


def test_loop_applies_values_set_over_http(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, mine = join()
    http.post(path("basis", mine), {"permutation": "YZX"})
    service.step(2)

    state = client.ask({})["arm"][0]["state"]
    internal = service.state("A001")["position"]

    seen = [state["cursor_position"][key] for key in "xyz"]
    assert seen == pytest.approx([internal[1], internal[2], internal[0]])


def test_mount_keeps_omitted_parts_and_makes_the_preset_custom(http: HttpClient, join: Join) -> None:
    _, mine = join()
    turned = {"w": 0.6, "x": 0.8, "y": 0, "z": 0}

    http.post(path("mount", mine), {"position": {"x": 0.5, "y": 0, "z": 0}})
    echo = http.post(path("mount", mine), {"transform": {"rotation": turned, "scale": 2}}).data["transform"]

    assert list(echo) == ["position", "rotation", "scale"]
    assert list(echo["rotation"]) == ["w", "x", "y", "z"]
    assert echo["position"]["x"] == 0.5
    assert echo["scale"] == {"x": 2, "y": 2, "z": 2}
    assert http.get(path("preset", mine)).data == {"preset": "custom"}
    assert http.delete(path("mount", mine)).data == {"transform": IDENTITY}
    assert http.get(path("preset", mine)).data == {"preset": "defaults"}


def test_names_of_both_vocabularies_are_accepted_and_the_requested_one_shown(http: HttpClient, join: Join) -> None:
    _, mine = join()

    assert http.post(path("preset", mine, "minverse/0"), "minverse_zup").data == {"preset": "compact_zup"}
    assert http.get(path("preset", mine, "compact/0") + "&vocabulary=inverse").data == {"preset": "minverse_zup"}


def test_a_grip_has_a_basis(http: HttpClient, join: Join) -> None:
    _, mine = join()

    assert http.post(path("basis", mine, "grip/0"), "YZX").data == {"permutation": "YZX"}


def test_cleared_device_basis_returns_to_the_session_s(http: HttpClient, join: Join) -> None:
    client, mine = join()
    client.ask({"session": {"configure": {"basis": "ZXY"}}})
    http.post(path("basis", mine), "YZX")

    assert http.delete(path("basis", mine)).data == {"permutation": "ZXY"}


def test_change_raises_an_event_with_its_scopes_and_no_change_none(
    http: HttpClient, join: Join, emitted: list[tuple[str, Any]]
) -> None:
    _, mine = join()
    emitted.clear()

    http.post(path("preset", mine), "arm_front_centered")
    http.post(path("preset", mine), "arm_front_centered")
    http.get(path("preset", mine))

    updated = [data for kind, data in emitted if kind == "session-updated"]
    assert updated == [{"session_id": mine, "scopes": ["config.mount", "config.preset"]}]


# ---------------------------------------------------------------- several


def test_pattern_of_devices_gives_a_result_for_each(http: HttpClient, join: Join) -> None:
    _, mine = join()

    reply = http.post(path("preset", mine, "haptic*/*"), "arm_front")

    assert reply.data == {
        "results": [
            {"session_id": mine, "device_id": device_id, "ok": True, "preset": "arm_front"}
            for device_id in ("A001", "OLD1", "C001")
        ]
    }


def test_refused_device_does_not_prevent_the_others(http: HttpClient, join: Join) -> None:
    _, mine = join()

    status, body = http.post(path("preset", mine, "inverse*/*"), "compact_zup")

    assert status == 400
    assert [(one["device_id"], one["ok"]) for one in body["results"]] == [
        ("A001", False),
        ("OLD1", False),
        ("C001", True),
    ]
    assert body["results"][0]["error"].startswith('body: an arm has no preset "compact_zup"')
    assert http.get(path("preset", mine, "compact/0")).data == {"preset": "compact_zup"}


@pytest.mark.parametrize("selector", ["brush", "br*", "b%2A"])
def test_profile_name_changes_all_its_sessions(http: HttpClient, join: Join, selector: str) -> None:
    (_, one), (_, two), (_, other) = join("brush"), join("brush"), join("pen")
    eventually(lambda: http.get("/sessions/brush").json.get("session_count") == 2, "both are called brush")

    results = http.post(path("basis", selector), "YZX").data["results"]

    assert [result["session_id"] for result in results] == [one, two]
    assert http.get(path("basis", two)).data == {"permutation": "YZX"}
    assert http.get(path("basis", other)).data == {"permutation": "XYZ"}
    assert http.get(path("basis", selector)).data["results"] == results


@pytest.mark.parametrize("area", AREAS)
def test_a_delete_without_a_session_clears_every_session(http: HttpClient, join: Join, area: str) -> None:
    (_, one), (_, two) = join(), join()
    for session in (one, two):
        http.post(path(area, session), BODIES[area])

    results = http.delete(path(area)).data["results"]

    assert results == [
        {"session_id": session, "device_id": "A001", "ok": True, **START[area]} for session in (one, two)
    ]
    assert http.get(path(area, two)).data == START[area]


def test_delete_without_sessions_changes_nothing(http: HttpClient) -> None:
    assert http.delete(path("mount")).data == {"results": []}


def test_reading_several_devices_gives_a_result_for_each(http: HttpClient, join: Join) -> None:
    _, mine = join()

    assert http.get(path("mount", mine, "*/*")).data["results"] == [
        {"session_id": mine, "device_id": device_id, "ok": True, "transform": IDENTITY}
        for device_id in ("A001", "OLD1", "C001")
    ]
    assert http.get(path("mount", mine, "compact/*")).data == {"transform": IDENTITY}


# ---------------------------------------------------------------- what new sessions start with


@pytest.mark.usefixtures("start_values")
@pytest.mark.parametrize("area", AREAS)
def test_defaults_apply_to_new_sessions_only(http: HttpClient, join: Join, area: str) -> None:
    _, before = join()

    assert http.post(path(area, "default"), BODIES[area]).data == BODIES[area]
    _, after = join()

    assert http.get(path(area, "default")).data == BODIES[area]
    assert http.get(path(area, before)).data == START[area]
    assert http.get(path(area, after)).data == BODIES[area]
    assert http.delete(path(area, "default")).data == START[area]
    assert http.get(path(area, after)).data == BODIES[area]


@pytest.mark.usefixtures("start_values")
@pytest.mark.parametrize("area", [area for area in AREAS if area != "mount"])
def test_delete_restores_the_defaults_of_new_sessions(http: HttpClient, join: Join, area: str) -> None:
    zero = {"scalar": 0, "vector": {"x": 0, "y": 0, "z": 0}}
    factory = {"filters/damping": zero}.get(area, START[area])
    http.post(path(area, "default"), BODIES[area])
    _, mine = join()

    http.post(path(area, mine), factory)
    assert http.get(path(area, mine)).data == START[area]

    assert http.delete(path(area, mine)).data == BODIES[area]
    assert http.delete(path(area, "default")).data == START[area]


@pytest.mark.usefixtures("start_values")
def test_defaults_are_stored_before_the_answer(service: InProcessService, http: HttpClient) -> None:
    http.post(path("filters/force_gate", "default"), {"gain": 0.75})

    stored: Any = service.system.ledger.section("defaults")
    assert stored["devices"]["A001"]["force_gate"] == 0.75


@pytest.mark.usefixtures("start_values")
def test_defaults_of_several_devices_name_no_session(http: HttpClient) -> None:
    results = http.post(path("basis", "default", "inverse*/*1"), "XYZ").data["results"]

    assert [list(one) for one in results] == [["device_id", "ok", "permutation"]] * 3


# ---------------------------------------------------------------- profiles with a preset of their own


def test_profile_becomes_freeform_as_the_setting_says(
    http: HttpClient, join: Join, emitted: list[tuple[str, Any]]
) -> None:
    client, mine = join("clay")
    setting = "/settings/presets/freeform_profiles"
    moved = {"session_id": mine, "scopes": ["config.mount", "config.preset"]}

    def compact() -> Any:
        return client.ask({"session": {"force_render_full_state": {}}})["compact"][0]

    for value, preset in ((["clay*"], "compact_zup"), (["*freeform*"], "defaults")):
        emitted.clear()
        assert http.post(setting, value).status == 200
        assert compact()["config"]["preset"] == preset
        eventually(lambda: ("session-updated", moved) in emitted, "the session was told")
    assert http.delete(setting).status == 200


# ---------------------------------------------------------------- old firmware


@pytest.mark.parametrize("area", ["filters", "filters/damping"])
@pytest.mark.parametrize(
    ("method", "session"),
    [("POST", "mine"), ("POST", "default"), ("DELETE", "mine"), ("DELETE", "default"), ("DELETE", "none")],
)
def test_damping_on_an_old_firmware_is_422_with_an_event(
    http: HttpClient, join: Join, emitted: list[tuple[str, Any]], area: str, session: str, method: str
) -> None:
    _, mine = join()
    where = path(area, {"mine": mine, "default": "default", "none": None}[session], "arm/OLD1")

    reply = http.ask(method, where, BODIES[area] if method == "POST" else ...)

    assert reply.status == 422
    assert [data for kind, data in emitted if kind == "device-protocol-unsupported"] == [
        {"device_id": "OLD1", "device_family": "arm", "feature": "damping", "firmware": "7.3", "required": "7.5"}
    ]
    assert http.get(path("filters", mine, "arm/OLD1")).data == START["filters"]


@pytest.mark.parametrize("words", ["neutral", "inverse"])
def test_config_of_an_old_firmware_can_be_sent_back(
    service: InProcessService, emitted: list[tuple[str, Any]], words: str
) -> None:
    with RawWebSocket(service.ws, {"vocabulary": words}) as client:
        first = client.frame()
        group = "arm" if words == "neutral" else "inverse3"
        emitted.clear()
        for entry in first[group]:
            reply = client.ask({group: [{"device_id": entry["device_id"], "configure": entry["config"]}]})
            assert "errors" not in reply
        again = client.ask({"session": {"force_render_full_state": {}}})

    assert [entry["config"] for entry in again[group]] == [entry["config"] for entry in first[group]]
    assert "device-protocol-unsupported" not in [kind for kind, _ in emitted]


def test_old_firmware_without_sessions_is_422_too(service: InProcessService, http: HttpClient) -> None:
    service.wait_for_sessions()

    status, body = http.delete(path("filters/damping", None, "arm/*"))

    assert status == 422
    assert [(one["device_id"], one["ok"]) for one in body["results"]] == [("OLD1", False)]
    assert http.delete(path("filters/damping", None, "arm/OLD1")).status == 422


def test_several_devices_with_one_refused_change_the_others(http: HttpClient, join: Join) -> None:
    _, mine = join()

    status, body = http.post(path("filters", mine, "arm/*"), {"damping": {"scalar": 1}, "force_gate": {"gain": 0.5}})

    assert status == 422
    assert [one["ok"] for one in body["results"]] == [True, False]
    assert http.get(path("filters/force_gate", mine, "arm/OLD1")).data == {"gain": 0.3}


def test_force_gate_of_an_old_firmware_can_be_set(http: HttpClient, join: Join) -> None:
    _, mine = join()

    assert http.post(path("filters", mine, "arm/OLD1"), {"force_gate": 1}).data["force_gate"] == {"gain": 1}


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("area", "body", "sentence"),
    [
        ("basis", {"permutation": "XXZ"}, "body.permutation: "),
        ("basis", {"permutation": 5}, "body.permutation: a string is needed, not a number"),
        ("basis", {}, "body.permutation: permutation is missing"),
        ("basis", None, "body: a string is needed, not null"),
        ("basis", [], "body: a string is needed, not an array"),
        ("mount", {"position": {"x": 1, "y": 2}}, "body.position.z: all of x, y, z are needed"),
        ("mount", {"transform": {"rotation": {"w": 2, "x": 0, "y": 0, "z": 0}}}, "body.transform.rotation: "),
        ("mount", {"scale": 0}, "body.scale: a scale must be greater than 0"),
        ("mount", {"scale": -1}, "body.scale: "),
        ("mount", {"position": {"x": True, "y": 0, "z": 0}}, "body.position.x: a number is needed, not a boolean"),
        ("mount", "arm_front", "body: an object is needed, not a string"),
        ("preset", "nobody", 'body: an arm has no preset "nobody": '),
        ("preset", "compact_zup", 'body: an arm has no preset "compact_zup"'),
        ("preset", {"preset": 1}, "body.preset: a string is needed, not a number"),
        ("preset", {}, "body.preset: preset is missing"),
        ("filters", {}, "body: damping, force_gate or both are needed"),
        ("filters", [], "body: an object is needed, not an array"),
        ("filters", {"damping": {}}, "body.damping: scalar, vector or both are needed"),
        ("filters", {"damping": {"scalar": 1}, "force_gate": {"gain": 2}}, "body.force_gate: "),
        ("filters", {"damping": {"scalar": 21}, "force_gate": {"gain": 1}}, "body.damping: damping is 0 to 20"),
        ("filters/damping", {"scalar": -1}, "body: damping is 0 to 20 N s/m"),
        ("filters/damping", {"scalar": "1"}, "body.scalar: a number is needed, not a string"),
        ("filters/damping", {"vector": {"x": 1}}, "body.vector.y: all of x, y, z are needed"),
        ("filters/damping", 1, "body: an object is needed, not a number"),
        ("filters/force_gate", {"gain": 1.01}, "body: the gain of the force gate is 0 to 1"),
        ("filters/force_gate", -0.1, "body: the gain of the force gate is 0 to 1"),
        ("filters/force_gate", {}, "body.gain: gain is missing"),
        ("filters/force_gate", {"gain": None}, "body.gain: a number is needed, not null"),
        ("basis", ..., "Send a JSON body."),
    ],
)
@pytest.mark.parametrize("session", ["mine", "default"])
def test_a_bad_body_is_400_and_changes_nothing(
    http: HttpClient, join: Join, area: str, body: object, sentence: str, session: str
) -> None:
    _, mine = join()
    where = path(area, mine if session == "mine" else "default")

    reply = http.post(where, body)

    assert reply.status == 400
    assert reply.error.startswith(sentence)
    assert http.get(where).data == START[area]


def test_unknown_keys_are_named_and_ignored(http: HttpClient, join: Join) -> None:
    _, mine = join()

    reply = http.post(path("filters", mine), {"damping": {"scalar": 1, "scaler": 2}, "gate": 1}).data

    assert sorted(reply["warnings"]) == [
        'unknown key "damping.scaler" was ignored',
        'unknown key "gate" was ignored',
    ]
    assert reply["damping"] == {"scalar": 1}


@pytest.mark.parametrize("area", AREAS)
def test_reading_and_setting_need_a_session(http: HttpClient, area: str) -> None:
    for reply in (http.get(path(area)), http.post(path(area), BODIES[area])):
        assert reply.status == 400
        assert reply.error.startswith("?session=: ")


@pytest.mark.parametrize("session", ["99999", "nobody", ":7", "%2399999", "no*", "default:0"])
def test_unknown_session_is_404(http: HttpClient, session: str) -> None:
    for reply in (
        http.get(path("basis", session)),
        http.post(path("basis", session), "XYZ"),
        http.delete(path("basis", session)),
    ):
        assert reply.status == 404
        assert "There is no session" in reply.error


def test_empty_session_selector_is_400(http: HttpClient) -> None:
    assert http.get(path("basis", "")).status == 400
    assert http.delete(path("basis", "")).status == 400


@pytest.mark.parametrize("area", [area for area in AREAS if area != "basis"])
@pytest.mark.parametrize("device", ["grip/B001", "grip/0", "grip/*", "*/B001", "*/B*"])
def test_named_grip_has_only_a_basis(http: HttpClient, area: str, device: str) -> None:
    reply = http.delete(path(area, "default", device))

    assert reply.status == 422
    assert reply.error.startswith("a grip has no ")


@pytest.mark.parametrize("device", ["arm/nobody", "arm/7", "pen/0", "arm/x*", "grip/Q*", "grip/A001", "nope/0"])
def test_unknown_device_is_404(http: HttpClient, device: str) -> None:
    assert http.get(path("mount", "default", device)).status == 404
    assert http.delete(path("mount", "default", device)).status == 404


def test_other_methods_and_areas_are_refused(http: HttpClient) -> None:
    assert http.patch(path("mount", "default"), {}).status == 405
    assert http.get("/arm/0/config/nothing").status == 404
    assert http.get("/arm/%zz/config/mount?session=default").status == 400
