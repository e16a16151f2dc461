"""A kind added only by its spec and its frame fields works in the whole service."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

STATE: Final = [
    "angular_position",
    "angular_velocity",
    "current_angular_torques",
    "control_domain",
    "control_mode",
]
TORQUE_NMM: Final = 15.0
FRAMES: Final = 400


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    command = [sys.executable, "-m", "tests.kinds.knob.start"]
    settings = {"simulation/settle_time": 0}
    with RunningService(command=command, simulate="arm,grip,knob", settings=settings) as running:
        yield running


@pytest.fixture(scope="module")
def knob(service: RunningService) -> str:
    """Its id."""
    status, devices = service.request("GET", "/devices")
    assert status == 200
    (entry,) = devices["knob"]
    return str(entry["device_id"])


def ask(channel: ClientConnection, message: object) -> Any:
    """The frame that answers a message."""
    channel.send(json.dumps(message))
    return json.loads(channel.recv())


def test_discovery_shows_the_knob_in_a_group_of_its_own(service: RunningService, knob: str) -> None:
    status, record = service.request("GET", f"/knob/{knob}")

    assert status == 200
    assert (record["config"]["type"], record["config"]["connection"]) == ("knob", "simulated")
    assert record["config"]["device_info"]["device_type"] == 90
    assert not {"preset", "mount", "filters", "damping", "force_gate", "handedness"} & record["config"].keys()
    assert record["config"]["torque_scaling"] == {"enabled": True}
    assert record["status"]["ready"]
    assert service.request("GET", "/knob/0")[1]["device_id"] == knob
    assert service.request("GET", "/turn_knob/0?vocabulary=inverse")[1]["config"]["type"] == "turn_knob"


@pytest.mark.parametrize(("words", "group"), [("neutral", "knob"), ("inverse", "turn_knob")])
def test_frames_show_the_knob_in_both_vocabularies(service: RunningService, knob: str, words: str, group: str) -> None:
    with connect(f"{service.ws}/?vocabulary={words}") as channel:
        first = json.loads(channel.recv())
        frame = ask(channel, {})

    assert first[group][0]["config"]["type"] == group
    (entry,) = frame[group]
    assert entry["device_id"] == knob
    assert list(entry["state"]) == STATE
    assert list(entry["state"]["angular_position"]) == ["a0"]
    assert list(entry["status"]) == ["calibrated", "in_use", "power_supply", "ready", "started"]


def test_frame_v30_is_keyed_by_id(service: RunningService, knob: str) -> None:
    with connect(service.ws_v30) as channel:
        channel.recv()
        frame = ask(channel, {})

    assert [*STATE, "mode"] == list(frame["knob"][knob]["state"])


def test_torque_turns_the_knob(service: RunningService, knob: str) -> None:
    def commanded(channel: ClientConnection, torque: float) -> Any:
        torques = {"a0": torque, "a1": 0, "a2": 0}
        message = {"knob": [{"device_id": knob, "commands": {"set_angular_torques": {"torques": torques}}}]}
        for _ in range(FRAMES):
            ask(channel, message)

        def reached() -> Any:
            state = ask(channel, message)["knob"][0]["state"]
            return state if state["current_angular_torques"]["a0"] == pytest.approx(torque, abs=1.0) else None

        # On a busy machine a message may come so late that the one before it was fading.
        return eventually(reached, f"a torque of {torque:g} N.mm", pause_s=0.001)

    status, _ = service.request("POST", f"/simulation/knob/{knob}", {"hand": {"path": "rest"}})
    assert status == 200
    with connect(service.ws) as channel:
        channel.recv()
        forward, back = commanded(channel, TORQUE_NMM), commanded(channel, -TORQUE_NMM)

    assert (forward["control_domain"], forward["control_mode"]) == ("angular", "force")
    assert forward["angular_position"]["a0"] > back["angular_position"]["a0"] + 1


@pytest.mark.parametrize(
    ("commands", "because"),
    [
        ({"set_cursor_force": {"vector": {"x": 1, "y": 0, "z": 0}}}, "takes no set_cursor_force: send it to an arm or a compact"),
        ({"set_transform": {"transform": {}}}, "takes no set_transform: send it to an arm or a compact"),
    ],
)  # fmt: skip
def test_cursor_command_is_refused(service: RunningService, knob: str, commands: object, because: str) -> None:
    with connect(service.ws) as channel:
        channel.recv()
        frame = ask(channel, {"knob": [{"device_id": knob, "commands": commands}]})

    assert because in frame["errors"][0]["reason"]


def test_knob_is_never_paired(service: RunningService, knob: str) -> None:
    _, devices = service.request("GET", "/devices")
    grip = devices["grip"][0]["device_id"]

    status, refused = service.request("POST", f"/knob/{knob}/config/paired_with", {"device_id": grip})

    assert status == 400
    assert f"{knob} is never paired: a pair is an arm or compact with a grip or pen." in refused["error"]
    assert service.request("GET", f"/knob/{knob}/config/paired_with")[1]["paired_with"] is None
    assert devices["arm"][0]["config"]["paired_with"] == grip


def test_unsupported_area_is_refused_with_422(service: RunningService, knob: str) -> None:
    status, refused = service.request("GET", f"/knob/{knob}/config/mount?session=default")

    assert (status, refused["error"]) == (422, "a knob has no mount: send it to an arm or a compact.")


def test_settings_exist_for_the_kind(service: RunningService) -> None:
    key = "devices/knob/filters/force_scale/gain"

    status, record = service.request("POST", f"/settings/{key}", 0.5)

    assert status == 200, record
    _, shown = service.request("GET", f"/settings/{key}")
    assert shown["data"]["value"] == 0.5


def test_openapi_names_it_wherever_devices_are_named(service: RunningService) -> None:
    status, page = service.request("GET", "/openapi.json")

    assert status == 200
    parameters = {
        path: {one["name"]: one["schema"] for one in operations["get"].get("parameters", ()) if "name" in one}
        for path, operations in page["paths"].items()
        if "get" in operations
    }
    words = parameters["/{device}/{id}"]["device"]["enum"]
    assert {"knob", "turn_knob", "arm", "inverse3"} <= set(words)
    assert "devices/knob/filters/force_scale/gain" in json.dumps(page)
    states = [one["properties"]["state"] for one in page["components"]["schemas"]["Device"]["anyOf"]]
    assert [*states[-1]["properties"]] == states[-1]["required"] == STATE
    assert states[-1]["properties"]["angular_position"]["required"] == ["a0"]
    bodies = json.dumps(page["paths"]["/simulation/devices"]["post"])
    assert '"knob"' in bodies
    assert '"turn_knob"' in bodies
