"""Preview `session_force_scale`: one session scales another's force; the scale ends with the session that set it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.previews.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

RAMP_S = 0.06


def push(client: RawWebSocket, **force: float) -> Any:
    vector = {"x": 0.0, "y": 0.0, "z": 0.0, **force}
    return client.ask({"arm": [{"device_id": "A001", "commands": {"set_cursor_force": {"vector": vector}}}]})


def hold(client: RawWebSocket, x: float) -> Any:
    position = {"x": x, "y": -0.12, "z": 0.135}
    return client.ask({"arm": [{"device_id": "A001", "commands": {"set_cursor_position": {"position": position}}}]})


def scale(client: RawWebSocket, **sent: object) -> Any:
    return client.ask({"session": {"configure": {"force_scale": sent}}})


def after(service: InProcessService, seconds: float, *pushes: tuple[RawWebSocket, dict[str, float]]) -> list[float]:
    """The arm's force when some clients have gone on pushing for a time."""
    for _ in range(round(seconds / 0.01)):
        for client, force in pushes:
            push(client, **force)
        service.wait(0.01)
    return [float(part) for part in service.state("A001")["force"]]


def test_scaled_session_s_force_ramps_down_alone(service: InProcessService, join: Join) -> None:
    (game, game_id), (menu, _) = join(), join()
    both = ((game, {"x": 2.0}), (menu, {"z": 1.0}))
    assert after(service, 0.02, *both) == pytest.approx([2, 0, 1])

    assert "errors" not in scale(menu, gain=0, session=game_id)
    service.wait(0.025)
    assert service.state("A001")["force"][0] == pytest.approx(1, abs=0.05)
    assert after(service, RAMP_S, *both) == pytest.approx([0, 0, 1])

    scale(menu, gain=1)
    assert after(service, RAMP_S, *both) == pytest.approx([2, 0, 1])


def test_scale_ends_with_the_session_that_set_it(service: InProcessService, join: Join) -> None:
    (game, _), (menu, menu_id) = join("game one"), join()
    scale(menu, gain=0.25, session="game*")
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == pytest.approx(0.5)

    menu.close()
    eventually(lambda: menu_id not in service.bridge.channels, "the menu is gone")
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == pytest.approx(2)


def test_session_scaled_to_zero_while_silent_outputs_nothing(service: InProcessService, join: Join) -> None:
    game, game_id = join()
    menu, _ = join()
    scale(menu, gain=0, session=game_id)
    service.wait(0.1)

    push(game, x=3.0)
    service.step(2)

    assert service.state("A001")["force"] == pytest.approx([0, 0, 0])


def test_session_may_scale_itself(service: InProcessService, join: Join) -> None:
    game, _ = join()
    scale(game, gain=0.5)
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == pytest.approx(1)
    scale(game, gain=1)
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == pytest.approx(2)


def test_session_scaled_to_zero_releases_its_held_position(service: InProcessService, join: Join) -> None:
    (game, game_id), (menu, menu_id) = join(), join()
    assert "errors" not in hold(game, 0.05)
    assert "holds the position" in hold(menu, -0.05)["errors"][0]["reason"]

    scale(menu, gain=0, session=game_id)
    assert "errors" not in hold(menu, -0.05)
    assert "errors" not in hold(game, 0.05)
    for _ in range(8):
        hold(game, 0.05)
        hold(menu, -0.05)
        service.wait(0.01)
    assert service.state("A001")["target"][0] == pytest.approx(-0.05)

    scale(menu, gain=1)
    (error,) = hold(game, 0.05)["errors"]
    assert error["reason"] == f"session {menu_id} holds the position of A001"
    service.step(2)
    assert service.state("A001")["target"][0] == pytest.approx(-0.05)


def test_scale_set_over_http_stays_until_delete(service: InProcessService, join: Join, http: HttpClient) -> None:
    game, game_id = join()
    path = f"/sessions/{game_id}/force_scale"
    assert http.get(path).data == {"gain": 1}

    assert http.post(path, {"gain": 0}).data == {"gain": 0}
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == 0
    scale(game, gain=1)
    assert after(service, 0.1, (game, {"x": 2.0}))[0] == 0
    assert http.get(path).data == {"gain": 0}

    assert http.delete(path).data == {"gain": 1}
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == pytest.approx(2)


def test_pattern_over_http_scales_each_session(join: Join, http: HttpClient) -> None:
    ids = [join(f"duck {n}")[1] for n in range(2)]

    reply = http.post("/sessions/duck*/force_scale", {"gain": 0.5})

    assert reply.data == {"results": [{"session_id": one, "ok": True, "gain": 0.5} for one in ids]}


@pytest.mark.parametrize(
    ("sent", "path", "because"),
    [
        ({}, "force_scale.gain", "gain is missing"),
        ({"gain": 2}, "force_scale.gain", "between 0 and 1"),
        ({"gain": -0.1}, "force_scale.gain", "between 0 and 1"),
        ({"gain": None}, "force_scale.gain", "a number is needed"),
        ({"gain": True}, "force_scale.gain", "a number is needed"),
        ({"gain": 0, "session": "nobody"}, "force_scale", 'There is no session "nobody"'),
        ({"gain": 0, "session": "default"}, "force_scale", 'There is no session "default"'),
        ({"gain": 0, "session": ""}, "force_scale.session", "Name a session"),
        ({"gain": 0, "session": None}, "force_scale.session", "a session is named by"),
        (0.5, "force_scale", "an object is needed"),
    ],
    ids=str,
)
def test_invalid_scale_is_named_and_changes_nothing(
    service: InProcessService, join: Join, sent: object, path: str, because: str
) -> None:
    game, _ = join()

    (error,) = game.ask({"session": {"configure": {"force_scale": sent}}})["errors"]

    assert error["path"] == f"session.configure.{path}"
    assert because in error["reason"]
    assert after(service, 0.02, (game, {"x": 2.0}))[0] == pytest.approx(2)


@pytest.mark.parametrize("body", [{}, {"gain": 1.1}, {"gain": "0"}, [0], None])
def test_a_bad_body_is_400(join: Join, http: HttpClient, body: object) -> None:
    assert http.post(f"/sessions/{join()[1]}/force_scale", body).status == 400


def test_disabling_restores_every_scale_at_once(service: InProcessService, join: Join, http: HttpClient) -> None:
    game, game_id = join()
    path = f"/sessions/{game_id}/force_scale"
    setting = "/settings/features/session_force_scale/enabled"
    http.post(path, {"gain": 0})
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == 0

    http.post(setting, False)
    assert after(service, RAMP_S, (game, {"x": 2.0}))[0] == pytest.approx(2)
    assert "features/session_force_scale/enabled" in http.get(path).error
    assert http.get(path).status == 400

    http.post(setting, True)
    assert http.get(path).data == {"gain": 1}
