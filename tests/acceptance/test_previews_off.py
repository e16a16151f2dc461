"""Previews that are off: their keys are refused with the setting's name, and frames are as without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from actors.modules.built_in import built_in
from tests.acceptance.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket

SETTINGS = {module.setting for module in built_in()}
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}
POINT = {"x": 0, "y": 0, "z": 0}
CONTACT = {"shape": "plane", "point": POINT, "normal": {"x": 0, "y": 0, "z": 1}, "stiffness": 500, "damping": 2}
SCENE = {"fields": {"wind": {"field": "constant", "force": {"x": 0, "y": 0, "z": 0}}}}
# What they change is felt, and shown in no frame of its own.
UNSHOWN = {"features/session_force_scale/enabled", "features/contact/enabled"}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("configure.clutch", {"configure": {"clutch": {"ratio": 0.5}}}, "features/clutch/enabled"),
    (
        "commands.set_transform.pivot",
        {"commands": {"set_transform": {"transform": {"scale": 2}, "pivot": POINT}}},
        "features/workspace_zoom/enabled",
    ),
    ("commands.hfx", {"commands": {"hfx": {}}}, "features/hfx/enabled"),
    ("commands.set_contact", {"commands": {"set_contact": CONTACT}}, "features/contact/enabled"),
    ("configure.scene", {"configure": {"scene": SCENE}}, "features/scene/enabled"),
]
SESSION_SETTING = "features/session_force_scale/enabled"
SESSION = {"session": {"configure": {"force_scale": {"gain": 0}}}}


def raw_full(client: RawWebSocket) -> bytes:
    """The text of a full frame, after another message was answered."""
    client.send(FULL)
    return client.next().payload


def test_every_preview_has_a_message_in_this_file() -> None:
    assert {setting for _, _, setting in REFUSED} | {SESSION_SETTING} == SETTINGS


@pytest.mark.parametrize("setting", sorted(SETTINGS))
def test_every_preview_is_off_by_default(http: HttpClient, setting: str) -> None:
    assert http.get(f"/settings/{setting}").data["data"]["value"] is False


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize("vocabulary", ["neutral", "inverse"])
def test_keyword_of_a_disabled_preview_is_refused_naming_its_setting(join: Join, version: str, vocabulary: str) -> None:
    client, _ = join(version=version, vocabulary=vocabulary)
    before = raw_full(client)

    for path, entry, setting in REFUSED:
        (error,) = client.ask({"arm": [{"device_id": "A001", **entry}]})["errors"]
        assert error["path"] == f"arm[0].{path}"
        assert error["reason"].endswith(f"is a preview: set {setting} first")
    (error,) = client.ask(SESSION)["errors"]
    assert error["path"] == "session.configure.force_scale"
    assert SESSION_SETTING in error["reason"]

    assert raw_full(client) == before
    for word in ("clutch", "force_scale", "pivot", "hfx", "set_contact", "scene", "navigation"):
        assert f'"{word}"'.encode() not in before


@pytest.fixture
def others_on(http: HttpClient, setting: str) -> Iterator[None]:
    """Every preview but one is on."""
    for other in SETTINGS - {setting}:
        http.post(f"/settings/{other}", {"value": True})
    yield
    for other in SETTINGS - {setting}:
        http.post(f"/settings/{other}", {"value": False})


@pytest.mark.usefixtures("others_on")
@pytest.mark.parametrize(
    ("word", "sent", "setting"),
    [
        *(
            (path.rpartition(".")[2], {"arm": [{"device_id": "A001", **entry}]}, setting)
            for path, entry, setting in REFUSED
        ),
        ("force_scale", SESSION, SESSION_SETTING),
    ],
)
def test_single_disabled_preview_is_refused_and_leaves_frames_unchanged(
    join: Join, word: str, sent: dict[str, Any], setting: str
) -> None:
    client, _ = join(vocabulary="neutral")
    before = raw_full(client)
    (error,) = client.ask(sent)["errors"]

    assert error["reason"].endswith(f"is a preview: set {setting} first")
    assert raw_full(client) == before
    assert [shown for shown in ("clutch", "hfx", word) if f'"{shown}"'.encode() in before] == sorted(
        {"clutch", "hfx"} - {word}
    )


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize("session", ["mine", "default"])
def test_pivot_over_http_is_400_naming_the_setting(http: HttpClient, join: Join, method: str, session: str) -> None:
    _, first = join()
    path = f"/arm/A001/state/transform?session={first['session_id'] if session == 'mine' else session}"

    reply = http.ask(method, path, {"transform": {"scale": 2}, "pivot": POINT})

    assert reply.status == 400
    assert "features/workspace_zoom/enabled" in reply.error
    assert json.dumps(http.get(path).data["transform"]["scale"]) == '{"x": 1, "y": 1, "z": 1}'


ON: list[tuple[str, dict[str, Any]]] = [
    *((setting, {"arm": [{"device_id": "A001", **entry}]}) for _, entry, setting in REFUSED),
    (SESSION_SETTING, SESSION),
]
UNZOOMED = {
    "arm": [{"device_id": "A001", "commands": {"set_transform": {"transform": {"scale": 1, "position": POINT}}}}]
}


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize(("setting", "used"), ON, ids=[setting.split("/")[1] for setting, _ in ON])
def test_preview_disabled_after_use_leaves_no_trace_in_frames(
    http: HttpClient, join: Join, version: str, setting: str, used: dict[str, Any]
) -> None:
    """The loop stands, so that every number is what it was: in the session that used it, and in one that only looked on."""
    (mine, _), (other, _) = (join(version=version, vocabulary="neutral") for _ in range(2))
    before = [raw_full(mine), raw_full(other)]

    http.post(f"/settings/{setting}", {"value": True})
    try:
        assert "errors" not in mine.ask(used)
        shown = [raw_full(mine), raw_full(other)]
        if setting == "features/workspace_zoom/enabled":
            assert "errors" not in mine.ask(UNZOOMED)
    finally:
        http.post(f"/settings/{setting}", {"value": False})

    assert (shown[0] == before[0]) is (setting in UNSHOWN)
    assert [raw_full(mine), raw_full(other)] == before
