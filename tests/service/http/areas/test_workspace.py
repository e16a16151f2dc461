"""Workspace transform over HTTP on the whole service: replace, change in part, clear; the session sees it at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.service.http.areas.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

IDENTITY: dict[str, Any] = {
    "position": {"x": 0, "y": 0, "z": 0},
    "rotation": {"w": 1, "x": 0, "y": 0, "z": 0},
    "scale": {"x": 1, "y": 1, "z": 1},
}
AWAY = {"x": 1, "y": 2, "z": 3}
TURNED = {"w": 0, "x": 0, "y": 0, "z": 1}
PATHS = ["state", "config"]


def path(session: object = None, where: str = "state", device: str = "arm/A001") -> str:
    return f"/{device}/{where}/transform" + ("" if session is None else f"?session={session}")


@pytest.mark.parametrize("where", PATHS)
def test_a_transform_is_set_read_and_cleared(http: HttpClient, join: Join, where: str) -> None:
    _, mine = join()
    whole = {"transform": {**IDENTITY, "position": AWAY}}

    assert http.get(path(mine, where)).data == {"transform": IDENTITY}
    assert http.post(path(mine, where), {"position": AWAY}).data == whole
    assert [http.get(path(mine, one)).data for one in PATHS] == [whole, whole]
    assert http.delete(path(mine, where)).data == {"transform": IDENTITY}
    assert http.get(path(mine, where)).data == {"transform": IDENTITY}


def test_post_replaces_and_patch_keeps(http: HttpClient, join: Join) -> None:
    _, mine = join()

    http.post(path(mine), {"transform": {"position": AWAY, "scale": 2}})
    patched = http.patch(path(mine), {"rotation": TURNED}).data["transform"]
    posted = http.post(path(mine), {"transform": {"rotation": TURNED}}).data["transform"]

    assert patched == {"position": AWAY, "rotation": TURNED, "scale": {"x": 2, "y": 2, "z": 2}}
    assert posted == {**IDENTITY, "rotation": TURNED}
    assert list(posted["rotation"]) == ["w", "x", "y", "z"]


def test_session_shows_the_transform_at_once(http: HttpClient, join: Join) -> None:
    client, mine = join()
    before = client.ask({})["arm"][0]["state"]["cursor_position"]

    http.post(path(mine), {"position": AWAY})
    state = client.ask({})["arm"][0]["state"]

    assert state["transform"]["position"] == AWAY
    for key, offset in AWAY.items():
        assert state["cursor_position"][key] == pytest.approx(before[key] + offset, abs=1e-5)


def test_transform_set_by_the_session_is_read_over_http(http: HttpClient, join: Join) -> None:
    client, mine = join()

    client.ask({"arm": [{"device_id": "A001", "commands": {"set_transform": {"transform": {"position": AWAY}}}}]})

    assert http.get(path(mine)).data["transform"]["position"] == AWAY


def test_transform_applies_to_one_session_only(http: HttpClient, join: Join) -> None:
    (_, mine), (_, other) = join(), join()

    http.post(path(mine), {"position": AWAY})

    assert http.get(path(other)).data == {"transform": IDENTITY}


def test_change_raises_an_event_and_no_change_none(
    http: HttpClient, join: Join, emitted: list[tuple[str, Any]]
) -> None:
    _, mine = join()
    emitted.clear()

    for _ in range(2):
        http.post(path(mine), {"position": AWAY})
    http.get(path(mine))
    http.post(f"/arm/A001/config/basis?session={mine}", "YZX")

    def scopes() -> list[list[str]]:
        return [data["scopes"] for kind, data in emitted if kind == "session-updated"]

    eventually(lambda: ["config.basis"] in scopes(), "the last change is told")
    assert scopes() == [["config.transform"], ["config.basis"]]


def test_a_pattern_answers_a_result_for_each(http: HttpClient, join: Join) -> None:
    _, mine = join()

    results = http.patch(path(mine, device="haptic*/*"), {"position": AWAY}).data["results"]

    assert [(one["session_id"], one["device_id"], one["ok"]) for one in results] == [
        (mine, "A001", True),
        (mine, "OLD1", True),
        (mine, "C001", True),
    ]
    assert results[0]["transform"]["position"] == AWAY
    assert http.get(path(mine, device="*/*")).data["results"] == results


def test_a_delete_without_a_session_clears_every_session(http: HttpClient, join: Join) -> None:
    (_, one), (_, two) = join(), join()
    for session in (one, two):
        http.post(path(session), {"position": AWAY})

    results = http.delete(path()).data["results"]

    assert [(result["session_id"], result["transform"]) for result in results] == [(one, IDENTITY), (two, IDENTITY)]
    assert http.get(path(two)).data == {"transform": IDENTITY}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"position": {"x": 1}}, "body.position.y: all of x, y, z are needed"),
        ({"transform": {"scale": 0}}, "body.transform.scale: "),
        ({"transform": []}, "body.transform: an object is needed, not an array"),
        ({"rotation": {"w": 0, "x": 0, "y": 0, "z": 0}}, "body.rotation: "),
        ([], "body: an object is needed, not an array"),
        (None, "body: an object is needed, not null"),
        (
            {"pivot": AWAY, "transform": {"scale": 2}},
            "body.pivot: pivot is a preview: set features/workspace_zoom/enabled",
        ),
        (..., "Send a JSON body."),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_bad_body_is_400_and_changes_nothing(
    http: HttpClient, join: Join, method: str, body: object, sentence: str
) -> None:
    _, mine = join()

    reply = http.ask(method, path(mine), body)

    assert reply.status == 400
    assert reply.error.startswith(sentence)
    assert http.get(path(mine)).data == {"transform": IDENTITY}


def test_unknown_keys_are_named_and_ignored(http: HttpClient, join: Join) -> None:
    _, mine = join()

    reply = http.post(path(mine), {"transform": {"position": AWAY, "origin": 1}}).data

    assert reply["warnings"] == ['unknown key "transform.origin" was ignored']
    assert reply["transform"]["position"] == AWAY


def test_reading_and_setting_need_a_session_and_a_connected_one(http: HttpClient) -> None:
    for reply in (http.get(path()), http.post(path(), {}), http.patch(path(), {})):
        assert reply.status == 400
        assert reply.error.startswith("?session=: ")
    assert http.get(path("99999")).status == 404


@pytest.fixture
def start_values(http: HttpClient) -> Iterator[None]:
    """They are as they were when the test is over."""
    yield
    http.delete(path("default", device="haptic*/*"))


@pytest.mark.usefixtures("start_values")
@pytest.mark.parametrize("where", PATHS)
def test_stored_transform_applies_to_new_sessions_only(
    service: InProcessService, http: HttpClient, join: Join, where: str
) -> None:
    _, before = join()

    assert http.post(path("default", where), {"position": AWAY}).data == {"transform": {**IDENTITY, "position": AWAY}}
    client, after = join()
    state = client.ask({})["arm"][0]["state"]

    assert state["transform"] == {"position": AWAY}
    internal = service.state("A001")["position"]
    assert [state["cursor_position"][key] - AWAY[key] for key in "xyz"] == pytest.approx(list(internal), abs=1e-6)
    assert http.get(path(after)).data["transform"]["position"] == AWAY
    assert http.get(path(before)).data == {"transform": IDENTITY}
    assert http.get(path("default", where)).data["transform"]["position"] == AWAY
    assert http.delete(path(after)).data == {"transform": IDENTITY}
    assert http.get(path("default")).data["transform"]["position"] == AWAY


@pytest.mark.usefixtures("start_values")
def test_the_stored_transform_is_replaced_patched_and_cleared_as_a_sessions_own(http: HttpClient) -> None:
    http.post(path("default"), {"position": AWAY, "scale": 2})

    patched = http.patch(path("default"), {"rotation": TURNED}).data["transform"]
    assert patched == {"position": AWAY, "rotation": TURNED, "scale": {"x": 2, "y": 2, "z": 2}}
    assert http.post(path("default"), {"rotation": TURNED}).data == {"transform": {**IDENTITY, "rotation": TURNED}}
    results = http.delete(path("default", device="arm/*")).data["results"]
    assert results == [{"device_id": one, "ok": True, "transform": IDENTITY} for one in ("A001", "OLD1")]


@pytest.mark.usefixtures("start_values")
def test_stored_transform_is_on_disk_before_the_answer(service: InProcessService, http: HttpClient) -> None:
    http.post(path("default"), {"position": AWAY})

    stored: Any = service.system.ledger.section("defaults")

    assert stored["devices"]["A001"]["workspace"][0] == (1, 2, 3)


@pytest.mark.usefixtures("start_values")
def test_devices_are_listed_in_the_space_of_a_new_session(http: HttpClient, join: Join) -> None:
    http.post(path("default"), {"position": AWAY, "rotation": TURNED, "scale": 3})
    http.post("/arm/A001/config/basis?session=default", "YZX")
    http.post("/arm/A001/config/preset?session=default", "arm_front_centered")
    try:
        _, mine = join()

        assert http.get("/devices?session=default").data == http.get(f"/devices?session={mine}").data
        assert http.get("/devices").data != http.get("/devices?session=default").data
    finally:
        http.delete("/arm/A001/config/preset?session=default")
        http.delete("/arm/A001/config/basis?session=default")


@pytest.mark.parametrize(("device", "status"), [("grip/B001", 422), ("grip/*", 422), ("arm/9", 404), ("nope/0", 404)])
def test_unsupported_device_has_no_transform(http: HttpClient, join: Join, device: str, status: int) -> None:
    _, mine = join()

    assert http.get(path(mine, device=device)).status == status
    assert http.delete(path(mine, device=device)).status == status


def test_only_the_state_is_patched(http: HttpClient) -> None:
    assert http.patch(path("default", "config"), {}).status == 405
