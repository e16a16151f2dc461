"""Device-wide configuration over HTTP on the whole service: values, the device's record, its stop, saving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.device.messages import ConfigureDevice
from tests.service.http.areas.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

START: dict[str, Any] = {
    "handedness": {"handedness": "right"},
    "torque_scaling": {"enabled": True},
    "gravity_compensation": {"enabled": True, "scaling_factor": 1},
    "home_return": {"enabled": False},
}
OTHER: dict[str, Any] = {
    "handedness": {"handedness": "left"},
    "torque_scaling": {"enabled": False},
    "gravity_compensation": {"enabled": False, "scaling_factor": 0.5},
    "home_return": {"enabled": True},
}
AREAS = list(START)


def path(area: str, device: str = "arm/A001") -> str:
    return f"/{device}/config/{area}"


@pytest.fixture(autouse=True)
def as_it_was(service: InProcessService) -> Iterator[None]:
    """Every device, when a test is over."""
    yield
    reset = ConfigureDevice("right", torque_scaling=True, gravity_compensation=True, gravity_scale=1.0)
    for device_id in ("A001", "OLD1", "C001"):
        service.await_edge(service.bridge.ask(f"device/{device_id}", reset))
    for device_id in ("A001", "C001"):
        service.await_edge(service.bridge.ask(f"device/{device_id}", ConfigureDevice(home_return=False)))
    HttpClient(service.http).delete("/stop")


# ---------------------------------------------------------------- one value of one device


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("device", ["arm/A001", "inverse3/0", "compact/C001", "haptic*/C001"])
def test_a_value_is_set_read_and_cleared(http: HttpClient, area: str, device: str) -> None:
    assert http.get(path(area, device)).data == START[area]
    assert http.post(path(area, device), OTHER[area]).data == OTHER[area]
    assert http.get(path(area, device)).data == OTHER[area]
    assert http.delete(path(area, device)).data == START[area]
    assert http.get(path(area, device)).data == START[area]


def test_new_session_shows_the_value_in_its_config(http: HttpClient, join: Join) -> None:
    client, _ = join()
    for area in AREAS:
        http.post(path(area), OTHER[area])

    def config() -> Any:
        return client.ask({"session": {"force_render_full_state": {}}})["arm"][0]["config"]

    def shown() -> bool:
        now = config()
        return {area: now[area] for area in AREAS} == {**OTHER, "handedness": "left"}

    eventually(shown, "the frame shows all of it")


def test_a_left_hand_turns_the_first_joint_the_other_way(service: InProcessService, http: HttpClient) -> None:
    def joint() -> float:
        return float(service.state("A001")["joint"][0])

    def to_the_side() -> bool:
        service.wait(0.1)
        return abs(joint()) > 2

    eventually(to_the_side, "the hand is off the middle of its circle")
    right = joint()

    http.post(path("handedness"), "left")
    service.step(1)

    assert joint() == pytest.approx(-right, abs=0.5)


@pytest.mark.parametrize(
    ("area", "body", "echo"),
    [
        ("handedness", "left", {"handedness": "left"}),
        ("torque_scaling", False, {"enabled": False}),
        ("gravity_compensation", {"enabled": False}, {"enabled": False, "scaling_factor": 1}),
        ("gravity_compensation", {"scaling_factor": 1.5}, {"enabled": True, "scaling_factor": 1.5}),
        ("home_return", True, {"enabled": True}),
        ("home_return", {"enabled": False}, {"enabled": False}),
        ("home_return", ..., {"enabled": True}),
    ],
)
def test_short_bodies_are_accepted(http: HttpClient, area: str, body: object, echo: object) -> None:
    assert http.post(path(area), body).data == echo


@pytest.mark.parametrize(
    ("area", "body", "sentence"),
    [
        ("handedness", {"handedness": "both"}, "handedness is left or right"),
        ("handedness", {"handedness": None}, "body.handedness: a string is needed, not null"),
        ("handedness", {}, "body.handedness: handedness is missing"),
        ("handedness", [], "body: a string is needed, not an array"),
        ("handedness", ..., "Send a JSON body."),
        ("torque_scaling", {"enabled": 1}, "body.enabled: true or false is needed, not a number"),
        ("torque_scaling", {"enabled": "true"}, "body.enabled: true or false is needed, not a string"),
        ("torque_scaling", {}, "body.enabled: enabled is missing"),
        ("torque_scaling", None, "body: true or false is needed, not null"),
        ("torque_scaling", ..., "Send a JSON body."),
        ("gravity_compensation", {}, "body: enabled, scaling_factor or both are needed"),
        ("gravity_compensation", True, "body: an object is needed, not a boolean"),
        ("gravity_compensation", {"scaling_factor": 1.6}, "the scaling factor of the gravity compensation is 0 to 1.5"),
        ("gravity_compensation", {"enabled": False, "scaling_factor": -1}, "the scaling factor"),
        ("gravity_compensation", {"scaling_factor": True}, "body.scaling_factor: a number is needed, not a boolean"),
        ("gravity_compensation", {"enabled": None}, "body.enabled: true or false is needed, not null"),
        ("gravity_compensation", ..., "Send a JSON body."),
        ("home_return", {"enabled": "on"}, "body.enabled: true or false is needed, not a string"),
        ("home_return", {}, "body.enabled: enabled is missing"),
        ("home_return", None, "body: true or false is needed, not null"),
    ],
)
def test_a_bad_body_is_400_and_changes_nothing(http: HttpClient, area: str, body: object, sentence: str) -> None:
    reply = http.post(path(area), body)

    assert reply.status == 400
    assert reply.error.startswith(sentence)
    assert http.get(path(area)).data == START[area]


def test_unknown_keys_are_named_and_ignored(http: HttpClient) -> None:
    reply = http.post(path("torque_scaling"), {"enabled": False, "on": 1}).data

    assert reply == {"enabled": False, "warnings": ['unknown key "on" was ignored']}


# ---------------------------------------------------------------- several, and none


@pytest.mark.parametrize("area", ["handedness", "torque_scaling", "gravity_compensation"])
def test_pattern_gives_a_result_for_each_device_with_the_area(http: HttpClient, area: str) -> None:
    results = http.post(path(area, "*/*"), OTHER[area]).data["results"]

    assert results == [{"device_id": device_id, "ok": True, **OTHER[area]} for device_id in ("A001", "OLD1", "C001")]
    assert http.get(path(area, "*/*")).data["results"] == results


@pytest.mark.parametrize("area", AREAS)
def test_grip_has_no_device_wide_area(http: HttpClient, area: str) -> None:
    for reply in (http.get(path(area, "grip/0")), http.post(path(area, "grip/B001"), OTHER[area])):
        assert reply.status == 422
        assert reply.error.startswith(f"a grip has no {area}")
    assert http.delete(path(area, "grip/*")).status == 422
    assert http.delete(path(area, "arm/nobody")).status == 404


# ---------------------------------------------------------------- return-to-home


def test_home_return_applies_to_all_devices(http: HttpClient) -> None:
    http.post("/arm/A001/home_return")

    assert http.get("/home_return").data == {
        "ok": True,
        "error": None,
        "data": {
            "results": [
                {"device_id": "A001", "enabled": True},
                {"device_id": "OLD1", "enabled": False},
                {"device_id": "C001", "enabled": False},
            ]
        },
    }
    assert len(http.get("/home_return?format=plain").data["results"]) == 3


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("where", ["/arm/OLD1/home_return", "/arm/OLD1/config/home_return"])
def test_home_return_on_an_old_firmware_is_422_with_an_event(
    http: HttpClient, emitted: list[tuple[str, Any]], method: str, where: str
) -> None:
    assert http.ask(method, where).status == 422

    assert emitted == [
        (
            "device-protocol-unsupported",
            {
                "device_id": "OLD1",
                "device_family": "arm",
                "feature": "home_return",
                "firmware": "7.3",
                "required": "7.4",
            },
        )
    ]


def test_home_return_everywhere_with_an_old_firmware_is_422_and_the_others_have_acted(http: HttpClient) -> None:
    status, body = http.post("/home_return")

    assert status == 422
    assert [(one["device_id"], one["ok"]) for one in body["results"]] == [
        ("A001", True),
        ("OLD1", False),
        ("C001", True),
    ]
    assert http.get("/compact/0/home_return").data == {"enabled": True}
    assert http.delete("/home_return").status == 422
    assert http.get("/compact/0/home_return").data == {"enabled": False}
    assert http.post("/home_return", {"enabled": "yes"}).status == 400


# ---------------------------------------------------------------- one record


def test_record_is_the_frame_entry_with_its_holder(http: HttpClient) -> None:
    listed = http.get("/devices").data["compact"][0]
    record = http.get("/compact/0").data

    assert list(record) == ["device_id", "config", "state", "status", "held_by", "reports", "interruptions"]
    assert record["config"] == listed["config"]
    assert listed["interruptions"].keys() == record["interruptions"].keys()
    assert (record["device_id"], record["held_by"], record["reports"]) == ("C001", None, "")
    assert http.get("/3.0/compact/0").data["config"]["device_info"]["model"] == 5
    assert http.get("/inverse3/C001?vocabulary=inverse").data["config"]["type"] == "minverse"
    assert http.get("/grip/B001").data["config"]["type"] == "grip"
    assert "interruptions" not in http.get("/grip/B001").data


def test_session_that_holds_a_position_is_named(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, mine = join()

    client.ask(
        {"arm": [{"device_id": "A001", "commands": {"set_cursor_position": {"position": {"x": 0, "y": 0, "z": 0}}}}]}
    )
    assert http.get("/arm/A001").data["held_by"] == mine

    service.wait(0.1)
    assert http.get("/arm/A001").data["held_by"] is None


@pytest.mark.parametrize(("device", "status"), [("arm/9", 404), ("pen/0", 404), ("nope/0", 404)])
def test_unknown_device_is_404(http: HttpClient, device: str, status: int) -> None:
    assert http.get(f"/{device}").status == status


# ---------------------------------------------------------------- stop


def test_one_device_is_stopped_and_released(service: InProcessService, http: HttpClient) -> None:
    assert http.get("/arm/A001/stop").data == {"device_id": "A001", "stopped": False}
    assert http.post("/arm/A001/stop").data == {"device_id": "A001", "stopped": True}
    assert http.get("/stop").data == {"stopped": True, "everything": False, "devices": ["A001"]}
    assert http.get("/arm/A001/stop").data["stopped"]
    assert not http.get("/compact/0/stop").data["stopped"]
    stored: Any = service.system.ledger.section("stop")
    assert stored["device_ids"] == ("A001",)
    assert http.delete("/arm/A001/stop").data == {"device_id": "A001", "stopped": False}
    assert not http.get("/stop").data["stopped"]


def test_several_devices_are_stopped_and_one_released(http: HttpClient) -> None:
    assert http.post("/arm/*/stop").data["results"] == [
        {"device_id": "A001", "stopped": True, "ok": True},
        {"device_id": "OLD1", "stopped": True, "ok": True},
    ]
    http.post("/stop")

    assert http.get("/compact/0/stop").data["stopped"]
    assert http.delete("/compact/*/stop").data["results"] == [{"device_id": "C001", "stopped": False, "ok": True}]
    assert http.get("/stop").data["devices"] == ["A001", "OLD1"]


@pytest.mark.parametrize(("device", "status"), [("grip/0", 422), ("grip/*", 422), ("arm/9", 404)])
def test_invalid_stop_is_refused(http: HttpClient, device: str, status: int) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert http.ask(method, f"/{device}/stop").status == status


def test_stop_of_several_is_read_with_results(http: HttpClient) -> None:
    http.post("/arm/A001/stop")

    assert http.get("/arm/*/stop").data["results"] == [
        {"device_id": "A001", "stopped": True, "ok": True},
        {"device_id": "OLD1", "stopped": False, "ok": True},
    ]
    assert http.delete("/arm/A001/stop").data == {"device_id": "A001", "stopped": False}


# ---------------------------------------------------------------- saving


def test_a_configuration_is_saved(http: HttpClient) -> None:
    assert http.post("/save_configuration", {"device_id": "A001"}).data == {"device_id": "A001"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"device_id": 1}, 400),
        ([], 400),
        (..., 400),
        ({"device_id": "B001"}, 422),
        ({"device_id": "0"}, 404),
    ],
)
def test_invalid_save_request_is_refused(http: HttpClient, body: object, status: int) -> None:
    assert http.post("/save_configuration", body).status == status


# ---------------------------------------------------------------- the force scale


def test_force_scale_setting_applies(service: InProcessService, http: HttpClient, join: Join) -> None:
    client, _ = join()
    up = {"arm": [{"device_id": "A001", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}

    def applied() -> float:
        for _ in range(8):
            client.ask(up)
            service.wait(0.02)
        return float(service.state("A001")["force"][2])

    assert applied() == pytest.approx(1)
    http.post("/settings/devices/haptic*/filters/force_scale/gain", 0.5)
    try:
        eventually(lambda: applied() == pytest.approx(0.5), "the force is scaled")
    finally:
        http.delete("/settings/devices/haptic*/filters/force_scale/gain")
