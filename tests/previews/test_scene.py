"""Preview `scene`: a full scene in frames, a config that is sent back, and a scene that has no place in the session's space."""

from __future__ import annotations

from typing import Any

import pytest

from fastpath.scene.values import LONGEST_ID, MOST_FIELDS, Scene
from tests.previews.conftest import Join
from tests.support.clients.http_client import HttpClient
from transport.session.device import SessionDevice

ARM = "A001"
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}
AIR = {"field": "damper", "damping": 2.0}
BALL = {"field": "sphere", "centre": {"x": 0, "y": 0, "z": 0}, "radius": 0.03, "stiffness": 500}
BOX = {
    "field": "box",
    "centre": {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3},
    "size": {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3},
    "stiffness": 1 / 3,
}
REASON = "ball: a sphere needs the same scale along x, y and z"


def configured(scene: object) -> dict[str, Any]:
    return {"arm": [{"device_id": ARM, "configure": {"scene": scene}}]}


def config_in(frame: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(entry["config"] for entry in frame["arm"] if entry["device_id"] == ARM)
    return found


def test_largest_scene_is_shown_and_its_config_is_taken_back(join: Join) -> None:
    client, _ = join()
    fields = {f"{index:0{LONGEST_ID}}": BOX for index in range(MOST_FIELDS)}
    assert "errors" not in client.ask(configured({"fields": fields}))

    config = config_in(client.ask(FULL))

    assert list(config["scene"]["fields"]) == list(fields)
    assert "errors" not in client.ask({"arm": [{"device_id": ARM, "configure": config}]})


@pytest.fixture
def no_spheres(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sphere has a place in any session's space."""
    place = SessionDevice._place_scene

    def refuse(device: SessionDevice, scene: Scene) -> bool:
        if any(field.field == "sphere" for field in scene.values()):
            device.scene_fault = REASON
            return False
        return place(device, scene)

    monkeypatch.setattr(SessionDevice, "_place_scene", refuse)


@pytest.mark.usefixtures("no_spheres")
def test_scene_without_a_place_is_named_and_the_one_before_stays(http: HttpClient, join: Join) -> None:
    client, number = join()
    path = f"/arm/{ARM}/config/scene?session={number}"
    assert "errors" not in client.ask(configured({"fields": {"air": AIR}}))

    assert client.ask(configured({"fields": {"ball": BALL}}))["errors"] == [
        {"path": "arm[0].configure.scene", "reason": REASON}
    ]
    assert http.get(path).data == {"fields": {"air": AIR}}

    reply = http.post(path, {"fields": {"ball": BALL}})
    assert (reply.status, reply.error) == (400, REASON)
    assert http.get(path).data == {"fields": {"air": AIR}}
    assert config_in(client.ask(FULL))["scene"] == {"fields": {"air": AIR}}
    assert "errors" not in client.ask({})
