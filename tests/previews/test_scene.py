"""Preview `scene`: what a hand feels of it and frames show, how it ends, and a scene that has no place in the session's space."""

from __future__ import annotations

from typing import Any

import pytest

from fastpath.scene.values import LONGEST_ID, MOST_FIELDS, Scene
from tests.previews.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
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
HOME = {"x": 0.0, "y": -0.12, "z": 0.135}
FLOOR = {"field": "plane", "point": HOME, "normal": {"x": 0, "y": 0, "z": 1}, "stiffness": 500, "damping": 5}
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


def wait(service: InProcessService, client: RawWebSocket, seconds: float) -> dict[str, Any]:
    """The arm's entry in the last frame of a client that sends an empty message each 50 ms, as a slow one does."""
    frame: dict[str, Any] = {}
    for _ in range(round(seconds / 0.05)):
        frame = client.ask({})
        service.wait(0.05)
    return next(entry for entry in frame["arm"] if entry["device_id"] == ARM)


def put_hand(http: HttpClient, above: float) -> None:
    held = {"path": "hold", "position": {**HOME, "z": HOME["z"] + above}}
    assert http.post(f"/simulation/arm/{ARM}", {"hand": held}).status == 200


def pushed(service: InProcessService, http: HttpClient, client: RawWebSocket) -> dict[str, Any]:
    """The arm's entry when the hand has gone from above to far below the floor, at 20 messages a second."""
    put_hand(http, 0.04)
    wait(service, client, 0.5)
    assert "errors" not in client.ask(configured({"fields": {"floor": FLOOR}}))
    wait(service, client, 0.1)
    put_hand(http, -0.01)
    return wait(service, client, 1.0)


def felt(service: InProcessService) -> float:
    """Force along z, N."""
    return float(service.state(ARM)["force"][2])


def test_hand_feels_a_surface_that_is_described_once(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    entry = pushed(service, http, client)

    shown = entry["state"]["scene"]
    assert felt(service) > 0.5
    assert shown["touched"] == ["floor"]
    assert shown["force"]["z"] == pytest.approx(felt(service), rel=0.1)
    assert shown["proxy"]["z"] == pytest.approx(HOME["z"], abs=1e-6)
    assert shown["depth"] == pytest.approx(felt(service) / 500, rel=0.2)
    assert entry["state"]["control_mode"] == "force"

    assert "errors" not in client.ask(configured({"fields": {"floor": None}}))
    assert "scene" not in wait(service, client, 0.1)["state"]
    assert felt(service) == 0


def test_scene_fades_after_its_time_out_and_comes_back(service: InProcessService, http: HttpClient, join: Join) -> None:
    assert http.post("/settings/scene/timeout", {"value": 0.2}).status == 200
    client, _ = join()
    pushed(service, http, client)
    service.wait(0.12)
    assert felt(service) > 0.5
    service.wait(0.2)
    assert felt(service) == 0
    # A surface comes back without a push: the hand presses it anew.
    wait(service, client, 0.2)
    put_hand(http, 0.04)
    wait(service, client, 0.5)
    put_hand(http, -0.01)
    wait(service, client, 1.0)
    assert felt(service) > 0.5
    assert http.delete("/settings/scene/timeout").status == 200


def test_scene_ends_with_its_session_and_with_the_setting(
    service: InProcessService, http: HttpClient, join: Join
) -> None:
    client, _ = join()
    pushed(service, http, client)
    try:
        assert http.post("/settings/features/scene/enabled", {"value": False}).status == 200
        wait(service, client, 0.1)
        assert felt(service) == 0
    finally:
        assert http.post("/settings/features/scene/enabled", {"value": True}).status == 200
    pushed(service, http, client)
    client.close()
    service.wait_for_sessions()
    service.step(2)
    assert felt(service) == 0


def test_field_that_has_no_place_in_the_space_is_refused_by_name(join: Join) -> None:
    client, _ = join()
    skewed = {
        "arm": [{"device_id": ARM, "commands": {"set_transform": {"transform": {"scale": {"x": 1, "y": 1, "z": 2}}}}}]
    }
    client.ask(skewed)
    client.ask(configured({"fields": {"air": AIR}}))

    (error,) = client.ask(configured({"fields": {"ball": BALL}}))["errors"]
    assert error["reason"].startswith("field ball: a sphere needs the same scale")
    assert config_in(client.ask(FULL))["scene"] == {"fields": {"air": AIR}}
