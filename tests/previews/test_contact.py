"""Preview `contact`: a wall that the loop renders for a client that only says where it is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.previews.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

ENABLED = "/settings/features/contact/enabled"
ARM = "A001"
HOME = {"x": 0.0, "y": -0.12, "z": 0.135}
FLOOR = {"shape": "plane", "point": HOME, "normal": {"x": 0, "y": 0, "z": 1}, "stiffness": 500, "damping": 5}
SKEWED = {"scale": {"x": 1, "y": 1, "z": 2}}
ZERO = {"x": 0, "y": 0, "z": 0}
BALL = {"shape": "sphere", "centre": HOME, "radius": 0.03, "stiffness": 500, "damping": 5}


def one(body: object, device_id: str = ARM, group: str = "arm", **more: object) -> dict[str, Any]:
    return {group: [{"device_id": device_id, "commands": {"set_contact": body, **more}}]}


def hand_at(service: InProcessService, http: HttpClient, above: float) -> None:
    """The hand holds the arm so far above home (m), and has settled."""
    held = {"path": "hold", "position": {**HOME, "z": HOME["z"] + above}}
    assert http.post(f"/simulation/arm/{ARM}", {"hand": held}).status == 200
    service.wait(0.5)


def felt(service: InProcessService) -> float:
    """Force along z, N."""
    return float(service.state(ARM)["force"][2])


def hold(service: InProcessService, client: RawWebSocket, body: object = FLOOR, seconds: float = 0.2) -> float:
    """The force along z (N) after some seconds in which the contact is sent each 20 ms."""
    for _ in range(round(seconds / 0.02)):
        assert "errors" not in client.ask(one(body))
        service.wait(0.02)
    return felt(service)


def push(service: InProcessService, http: HttpClient, client: RawWebSocket, body: object = FLOOR) -> float:
    """The force when the hand has gone from above to far below the surface while the client sends it."""
    hand_at(service, http, 0.04)
    hold(service, client, body, 0.04)
    held = {"path": "hold", "position": {**HOME, "z": HOME["z"] - 0.01}}
    assert http.post(f"/simulation/arm/{ARM}", {"hand": held}).status == 200
    return hold(service, client, body, 1.0)


@pytest.mark.parametrize("body", [FLOOR, {**BALL, "centre": {**HOME, "z": HOME["z"] - 0.03}}])
def test_hand_feels_the_contact_and_nothing_once_the_client_is_silent(
    service: InProcessService, http: HttpClient, join: Join, body: object
) -> None:
    client, _ = join()

    assert push(service, http, client, body) > 0.5
    frame = client.ask(one(body))
    assert frame["arm"][0]["state"]["control_mode"] == "force"
    service.wait(0.045)
    assert felt(service) > 0.5
    service.wait(0.03)
    assert felt(service) == 0


def test_contact_keeps_its_force_from_message_to_message(
    service: InProcessService, http: HttpClient, join: Join
) -> None:
    client, _ = join()
    push(service, http, client)

    lowest = min(hold(service, client, seconds=0.02) for _ in range(20))
    for _ in range(40):
        client.ask(one(FLOOR))
        service.step()
        lowest = min(lowest, felt(service))
    assert lowest > 0.5


def test_contact_around_the_hand_does_not_push(service: InProcessService, http: HttpClient, join: Join) -> None:
    hand_at(service, http, -0.01)
    client, _ = join()

    assert abs(hold(service, client)) < 0.2


def test_message_without_the_contact_releases_it(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    push(service, http, client)

    client.ask({"arm": [{"device_id": ARM, "commands": {}}]})
    service.step()
    assert felt(service) == 0


def test_message_without_commands_leaves_the_contact(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    before = push(service, http, client)

    client.ask({})
    service.step()
    assert felt(service) == pytest.approx(before, rel=0.1)


def test_disabling_the_module_releases_the_contact(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    push(service, http, client)

    http.post(ENABLED, {"value": False})
    try:
        client.ask({})
        service.step(2)
        assert felt(service) == 0
        (error,) = client.ask(one(FLOOR))["errors"]
        assert error == {
            "path": "arm[0].commands.set_contact",
            "reason": "set_contact is a preview: set features/contact/enabled first",
        }
        service.step(2)
        assert felt(service) == 0
    finally:
        http.post(ENABLED, {"value": True})


def test_stop_takes_the_contact_away(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    push(service, http, client)

    http.post("/stop", {})
    try:
        service.step(2)
        assert felt(service) == 0
    finally:
        http.delete("/stop")


def test_closed_session_takes_its_contact_along(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    push(service, http, client)

    client.close()
    service.wait_for_sessions()
    service.step(2)
    assert felt(service) == 0


def test_faulty_contact_is_named_releases_the_last_one_and_loses_nothing(
    service: InProcessService, http: HttpClient, join: Join
) -> None:
    client, _ = join()
    push(service, http, client)

    force = {"vector": {"x": 0.5, "y": 0, "z": 0}}
    frame = client.ask(one({**FLOOR, "stiffness": -1}, set_cursor_force=force))
    service.wait(0.02)

    (error,) = frame["errors"]
    assert error == {
        "path": "arm[0].commands.set_contact.stiffness",
        "reason": "the number must be between 0 and 2000",
    }
    assert tuple(service.state(ARM)["force"]) == pytest.approx((0.5, 0, 0))


def test_of_two_contacts_in_a_message_the_later_counts(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    weak, faulty = {**FLOOR, "stiffness": 1}, {**FLOOR, "normal": {"x": 0, "y": 0, "z": 0}}
    push(service, http, client)

    entries = [*one(FLOOR)["arm"], *one(weak)["arm"]]
    assert "errors" not in client.ask({"arm": entries})
    service.step()
    assert felt(service) < 0.1

    push(service, http, client)
    (error,) = client.ask({"arm": [*one(FLOOR)["arm"], *one(faulty)["arm"]]})["errors"]
    assert error["path"] == "arm[1].commands.set_contact.normal"
    service.step()
    assert felt(service) == 0


@pytest.mark.parametrize(
    ("sent", "path", "because"),
    [
        (one(FLOOR, "B001", "grip"), "grip[0].commands.set_contact", "this device takes no set_contact"),
        (one({}), "arm[0].commands.set_contact.shape", "shape must be plane or sphere"),
        (one(None), "arm[0].commands.set_contact", "an object is needed"),
        (one({**BALL, "radius": 0}), "arm[0].commands.set_contact.radius", "between 0.001 and 1000000"),
        (one({**FLOOR, "soft": 1}), "arm[0].commands.set_contact.soft", "unknown: only shape, point, normal"),
        (one(FLOOR, "Z999"), "arm[0].device_id", "no such device"),
        (
            {"arm": [{"device_id": ARM, "commands": {"set_contact": BALL, "set_transform": {"transform": SKEWED}}}]},
            "arm[0].commands.set_contact",
            "a sphere needs the same scale along x, y and z",
        ),
        (
            {"arm": [{"device_id": ARM, "configure": {"clutch": {"ratio": 0}}, "commands": {"set_contact": FLOOR}}]},
            "arm[0].commands.set_contact",
            "the clutch is frozen",
        ),
    ],
)
def test_message_that_no_contact_comes_of_says_what_to_change(
    join: Join, sent: dict[str, Any], path: str, because: str
) -> None:
    client, _ = join()

    (error,) = client.ask(sent)["errors"]

    assert error["path"] == path
    assert because in error["reason"]


def test_wall_in_a_turned_and_scaled_space_is_felt_at_its_place(
    service: InProcessService, http: HttpClient, join: Join
) -> None:
    client, _ = join()
    workspace = {"transform": {"position": {"x": 1, "y": 0, "z": 0}, "scale": {"x": 10, "y": 5, "z": 2}}}
    client.ask({"arm": [{"device_id": ARM, "commands": {"set_transform": workspace}}]})
    point = {"x": 1 + 10 * HOME["x"], "y": 5 * HOME["y"], "z": 2 * HOME["z"]}

    moved = push(service, http, client, {**FLOOR, "point": point})
    client.ask(
        {"arm": [{"device_id": ARM, "commands": {"set_transform": {"transform": {"scale": 1, "position": ZERO}}}}]}
    )
    assert moved == pytest.approx(push(service, http, client), rel=0.05)
