"""Simulation over HTTP for client developers without hardware: effects in frames and events; virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import dist
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.service.polling import eventually
from tests.support.service.stepped_service import SteppedService

ARM, GRIP = "A001", "B001"
COMPACT = SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001")


class SimulatedDevices(SteppedService):
    """Makes simulated devices do what a test wants."""

    def __init__(self, folder: Path, **settings: object) -> None:
        super().__init__(folder, settings)

    def make(self, kind: str, device_id: str, **change: object) -> Any:
        """The echo of a change that is taken, seen by the loop."""
        reply = self.ask("POST", f"/simulation/{kind}/{device_id}", change)
        assert reply.status == 200, reply.body
        self.service.step()
        return reply.json

    def frame(self, message: Mapping[str, object] | None = None) -> Any:
        return self.frame_for(message)

    def entry(self, group: str, device_id: str) -> Any:
        """A device's entry in the next frame; None when it has none."""
        return next((one for one in self.frame()[group] if one["device_id"] == device_id), None)

    def becomes(self, what: str, seconds: float = 0.02) -> Any:
        """Virtual time passes in small pieces until the client is told."""

        def passed() -> bool:
            self.service.wait(seconds)
            return bool(self.events.received_events(what))

        eventually(passed, what, tries=400, pause_s=0.005)
        return self.events.received_events(what)[-1]

    def until_ready(self, device_id: str) -> None:
        """Virtual time passes until an arm takes commands."""

        def ready() -> bool:
            self.service.wait(0.05)
            entry = self.entry("arm", device_id)
            return bool(entry and entry["status"]["ready"])

        eventually(ready, "it is ready", tries=400, pause_s=0.005)


def command(device_id: str, **commands: object) -> dict[str, object]:
    return {"arm": [{"device_id": device_id, "commands": commands}]}


FORCE = {"vector": {"x": 1.0, "y": 0.0, "z": 0.0}}


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[SimulatedDevices]:
    with SimulatedDevices(tmp_path) as opened:
        yield opened


# ---------------------------------------------------------------- devices come and go


def test_added_device_is_ready_after_its_settle_time(setup: SimulatedDevices) -> None:
    reply = setup.ask("POST", "/simulation/devices", {"type": "arm", "firmware": "7.3", "device_id": "049D"})

    assert reply.status == 200
    assert reply.json["device_id"] == "049D"
    assert reply.json["config"]["device_info"]["minor_version"] == 3
    assert not setup.entry("arm", "049D")["status"]["ready"]
    connected = setup.becomes("device-connected")
    assert connected["data"] == {
        "device_id": "049D",
        "device_family": "arm",
        "type": "arm",
        "connection": "simulated",
        "port": "sim2",
        "firmware": "7.3",
    }
    setup.until_ready("049D")
    assert "config" not in setup.entry("arm", "049D")
    full = setup.frame({"session": {"force_render_full_state": {}}})
    assert [one["config"]["type"] for one in full["arm"]] == ["arm", "arm"]


def test_removed_device_ends_at_zero_force_and_is_unknown(setup: SimulatedDevices) -> None:
    setup.frame(command(ARM, set_cursor_force=FORCE))
    setup.service.step()
    assert setup.entry("arm", ARM)["state"]["current_cursor_force"]["x"] == pytest.approx(1)
    reader = setup.service.runtime.reader(setup.service.device(ARM).lease)

    reply = setup.ask("DELETE", f"/simulation/devices/{ARM}")
    setup.service.step()

    moved = [{"device_id": GRIP, "index": 0, "was": 1}]
    assert (reply.status, reply.json) == (200, {"device_id": ARM, "moved": moved})
    assert reader.snapshot()["force"].tolist() == [0, 0, 0]
    assert setup.events.wait_for_event("device-disconnected")["level"] == "warning"
    frames = [setup.frame(command(ARM, set_cursor_force=FORCE)) for _ in range(3)]
    assert [frame["arm"] for frame in frames] == [[]] * 3
    assert [frame["errors"][0]["path"] for frame in frames] == ["arm[0].device_id"] * 3
    assert setup.ask("DELETE", f"/simulation/devices/{ARM}").status == 404


def test_returning_device_keeps_its_configuration(setup: SimulatedDevices) -> None:
    assert setup.ask("POST", f"/arm/{ARM}/config/handedness", "left").status == 200
    assert setup.ask("POST", f"/arm/{ARM}/config/home_return").status == 200
    before = setup.first["arm"][0]["config"]
    setup.ask("DELETE", f"/simulation/devices/{ARM}")
    setup.service.step()

    assert setup.ask("POST", "/simulation/devices", {"type": "arm", "device_id": ARM}).status == 200

    config = setup.frame({"session": {"force_render_full_state": {}}})["arm"][0]["config"]
    assert (config["handedness"], config["home_return"]) == ("left", {"enabled": True})
    assert config["device_info"] == before["device_info"]


def test_device_wide_configuration_survives_a_restart(tmp_path: Path) -> None:
    with SimulatedDevices(tmp_path) as setup:
        setup.ask("POST", f"/arm/{ARM}/config/handedness", "left")
        setup.ask("POST", f"/arm/{ARM}/config/gravity_compensation", {"scaling_factor": 0.5})
        assert setup.ask("POST", "/save_configuration", {"device_id": ARM}).status == 200
        sections = json.loads((tmp_path / "ledger.json").read_text())
        assert sections["devices"][ARM]["handedness"] == "left"

    with SimulatedDevices(tmp_path) as setup:
        config = setup.first["arm"][0]["config"]
        assert config["handedness"] == "left"
        assert config["gravity_compensation"] == {"enabled": True, "scaling_factor": 0.5}


def test_at_most_sixteen_devices_with_unique_ids(setup: SimulatedDevices) -> None:
    assert setup.ask("POST", "/simulation/devices", {"type": "pen", "device_id": ARM}).status == 409
    replies = [setup.ask("POST", "/simulation/devices", {"type": "compact"}) for _ in range(15)]

    assert [reply.status for reply in replies] == [200] * 14 + [409]
    assert replies[-1].json["ok"] is False
    assert len(setup.frame()["compact"]) == 14


def test_invalid_simulated_device_is_refused_with_a_sentence(setup: SimulatedDevices) -> None:
    bodies: tuple[object, ...] = ({}, {"type": "robot"}, {"type": "arm", "connection": "usb"}, [], None)
    for body in bodies:
        reply = setup.ask("POST", "/simulation/devices", body)
        assert reply.status == 400
        assert len(reply.json["error"]) > 10

    assert len(setup.service.system.inventory.value.devices) == 2


def test_inverse_vocabulary_names_the_same_devices(setup: SimulatedDevices) -> None:
    setup.ask("POST", "/simulation/devices", {"type": "verse_grip", "device_id": "W"})
    setup.ask("POST", "/simulation/devices", {"type": "grip", "connection": "wired", "device_id": "X"})
    setup.ask("POST", "/simulation/devices", {"type": "minverse", "device_id": "Y"})

    records = {
        one.device_id: (one.kind, str(one.identity.connection)) for one in setup.service.system.inventory.value.devices
    }
    assert records["W"] == records["X"] == ("grip", "wired")
    assert records["Y"] == ("compact", "simulated")


def test_held_position_is_released_when_the_device_returns(setup: SimulatedDevices) -> None:
    position = command(ARM, set_cursor_position={"position": {"x": 0.0, "y": -0.12, "z": 0.135}})
    assert "errors" not in setup.frame(position)
    with connect(setup.service.ws, proxy=None) as other:
        other.recv()

        def asked() -> Any:
            other.send(json.dumps(position))
            return json.loads(other.recv())

        assert "holds" in asked()["errors"][0]["reason"]
        setup.make("arm", ARM, fault="unplug")
        assert setup.frame()["arm"] == asked()["arm"] == []
        setup.make("arm", ARM, fault="none")
        setup.until_ready(ARM)

        assert "errors" not in asked()
        assert "holds" in setup.frame(position)["errors"][0]["reason"]


# ---------------------------------------------------------------- handles and hands


def test_buttons_and_orientation_show_in_the_next_frame(setup: SimulatedDevices) -> None:
    echo = setup.make("grip", GRIP, buttons={"a": True, "c": True}, orientation={"w": 0.6, "x": 0.8, "y": 0, "z": 0})

    assert echo["buttons"] == {"a": True, "b": False, "c": True}
    state = setup.entry("grip", GRIP)["state"]
    assert (state["button"], state["buttons"]) == (True, echo["buttons"])
    assert state["orientation"] == {"w": pytest.approx(0.6), "x": pytest.approx(0.8), "y": 0, "z": 0}
    assert setup.make("grip", GRIP, buttons={"a": False})["buttons"] == {"a": False, "b": False, "c": True}
    assert setup.make("grip", GRIP, orientation=None)["orientation"] is None


def test_hand_moves_to_its_position_and_circles_there(setup: SimulatedDevices) -> None:
    place = {"x": 0.05, "y": -0.1, "z": 0.2}
    echo = setup.make("arm", ARM, hand={"position": place})
    assert echo["hand"] == {
        "path": "rest",
        "position": {k: pytest.approx(v) for k, v in place.items()},
        "stiffness": 150,
    }
    setup.service.wait(3)
    assert away(setup, place) < 2e-3

    setup.make("arm", ARM, hand={"path": "circle"})
    setup.service.wait(3)
    assert away(setup, place) == pytest.approx(0.03, abs=0.01)

    setup.make("arm", ARM, hand={"path": "hold"})
    held = setup.entry("arm", ARM)["state"]["cursor_position"]
    setup.service.wait(2)
    assert away(setup, held) < 1e-2


def away(setup: SimulatedDevices, place: Mapping[str, float]) -> float:
    """How far the cursor is from a place, m."""
    cursor = setup.entry("arm", ARM)["state"]["cursor_position"]
    return dist([cursor[axis] for axis in "xyz"], [place[axis] for axis in "xyz"])


def test_stiff_hand_yields_less(setup: SimulatedDevices) -> None:
    def given_way(stiffness: float) -> float:
        setup.make("arm", ARM, hand={"path": "rest", "stiffness": stiffness})
        setup.service.wait(1)
        before = setup.entry("arm", ARM)["state"]["cursor_position"]
        for _ in range(50):
            setup.frame(command(ARM, set_cursor_force={"vector": {"x": 3, "y": 0, "z": 0}}))
            setup.service.wait(0.02)
        return away(setup, before)

    soft, stiff = given_way(100), given_way(1000)
    assert soft > 4 * stiff


def test_attachment_and_detachment_are_shown(setup: SimulatedDevices) -> None:
    assert setup.entry("grip", GRIP)["status"]["attached"]
    assert setup.make("grip", GRIP, attached=False)["attached"] is False

    event = setup.becomes("grip-attachment-changed")
    assert event["data"] == {"device_id": GRIP, "device_family": "grip", "attached": False}

    def shown() -> bool:
        setup.service.step()
        return not setup.entry("grip", GRIP)["status"]["attached"]

    eventually(shown, "it is shown", pause_s=0.005)


def test_battery_below_each_threshold_raises_one_event(setup: SimulatedDevices) -> None:
    for level, kind, severity in ((0.2, "device-battery-low", "warning"), (0.04, "device-battery-critical", "error")):
        assert setup.make("grip", GRIP, battery_level=level)["battery_level"] == pytest.approx(level)
        assert setup.entry("grip", GRIP)["state"]["battery_level"] == pytest.approx(level, abs=1e-4)
        event = setup.becomes(kind, 0.005)
        assert event["level"] == severity
        assert event["data"]["battery_level"] == pytest.approx(level, abs=1e-3)
    setup.service.wait(1)
    assert (
        len(setup.events.received_events("device-battery-low"))
        == len(setup.events.received_events("device-battery-critical"))
        == 1
    )


def test_battery_drains_and_raises_events(tmp_path: Path) -> None:
    with SimulatedDevices(tmp_path, control__frequency=100) as setup:
        setup.make("grip", GRIP, battery_level=0.205)

        assert setup.becomes("device-battery-low", 2)["data"]["battery_level"] == pytest.approx(0.2, abs=2e-3)


def test_handle_sleeps_after_five_minutes_at_rest_and_wakes_on_motion(tmp_path: Path) -> None:
    with SimulatedDevices(tmp_path, control__frequency=100) as setup:
        setup.make("grip", GRIP, hand={"path": "rest"})
        setup.service.wait(290)
        setup.frame()
        assert setup.entry("grip", GRIP)["status"]["awake"]

        assert setup.becomes("device-sleep", 1)["data"]["awake"] is False
        assert not setup.entry("grip", GRIP)["status"]["awake"]

        setup.make("grip", GRIP, hand={"path": "circle"})
        setup.events.wait_for_event("device-sleep", awake=True)
        assert setup.entry("grip", GRIP)["status"]["awake"]


def test_sleeping_device_refuses_commands_with_the_reason(setup: SimulatedDevices) -> None:
    assert setup.make("arm", ARM, awake=False)["awake"] is False
    setup.events.wait_for_event("device-sleep", device_id=ARM, awake=False)

    frame = setup.frame(command(ARM, set_cursor_force=FORCE))

    assert "asleep" in frame["errors"][0]["reason"]
    assert setup.make("arm", ARM, awake=True)["awake"] is True
    assert "errors" not in setup.frame(command(ARM, set_cursor_force=FORCE))


def test_impossible_change_is_refused_as_a_whole(setup: SimulatedDevices) -> None:
    bodies: tuple[tuple[str, str, dict[str, object]], ...] = (
        ("arm", ARM, {"hand": {"position": {"x": 9, "y": 0, "z": 0}}}),
        ("arm", ARM, {"buttons": {"a": True}}),
        ("grip", GRIP, {"battery_level": 1.5}),
        ("grip", GRIP, {"fault": "stall"}),
        ("grip", GRIP, {"fault": "fire"}),
    )
    for kind, device_id, body in bodies:
        before = setup.service.device(device_id)
        reply = setup.ask("POST", f"/simulation/{kind}/{device_id}", {"awake": False, **body})
        assert reply.status == 400
        assert len(reply.json["error"]) > 10
        setup.service.step()
        assert setup.service.device(device_id) == before


def test_several_devices_give_one_result_each_and_unknown_keys_are_named(setup: SimulatedDevices) -> None:
    reply = setup.ask("POST", "/simulation/*/*", {"attached": False, "colour": 1})

    assert reply.status == 400
    assert [(one["device_id"], one["ok"]) for one in reply.json["results"]] == [(ARM, False), (GRIP, True)]
    assert reply.json["warnings"] == ['unknown key "colour" was ignored']
    assert setup.ask("POST", "/simulation/arm/NONE", {"awake": True}).status == 404


# ---------------------------------------------------------------- faults


def test_unplug_fault_removes_the_device_until_cleared(setup: SimulatedDevices) -> None:
    assert setup.make("arm", ARM, fault="unplug")["fault"] == "unplug"
    assert setup.frame(command(ARM, set_cursor_force=FORCE))["errors"][0]["path"] == "arm[0].device_id"
    assert setup.frame()["arm"] == []
    setup.events.wait_for_event("device-disconnected", device_id=ARM)
    assert setup.ask("POST", "/simulation/devices", {"type": "arm", "device_id": ARM}).status == 409

    assert setup.make("arm", ARM, fault="none")["fault"] == "none"

    assert not setup.entry("arm", ARM)["status"]["ready"]
    setup.events.wait_for_event("device-connected", device_id=ARM)
    setup.until_ready(ARM)
    setup.frame(command(ARM, set_cursor_force=FORCE))
    setup.service.wait(0.02)
    assert setup.entry("arm", ARM)["state"]["current_cursor_force"]["x"] == pytest.approx(1)


def test_hanging_device_becomes_stale_then_disconnected(setup: SimulatedDevices) -> None:
    setup.frame(command(ARM, set_cursor_force=FORCE))
    setup.service.step()
    setup.make("arm", ARM, fault="hang")
    assert setup.entry("arm", ARM)["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
    frozen = setup.entry("arm", ARM)["state"]

    # Long enough for stale, and time stands until that is told: it would be gone after 0.5 s.
    setup.service.wait(0.1)
    assert setup.events.wait_for_event("device-safety-triggered")["data"]["safety_type"] == "device_stale"
    assert setup.entry("arm", ARM)["state"] == frozen
    assert setup.events.received_events("device-disconnected") == []
    setup.becomes("device-disconnected")
    assert setup.frame()["arm"] == []

    setup.make("arm", ARM, fault="none")
    setup.events.wait_for_event("device-connected", device_id=ARM)


def test_throw_fault_moves_the_device_and_the_hand_takes_it_back(setup: SimulatedDevices) -> None:
    setup.make("arm", ARM, hand={"path": "rest"})
    setup.service.wait(1)
    setup.make("arm", ARM, fault="throw")
    speeds: list[float] = []
    for _ in range(40):
        setup.service.step(4)
        speeds.append(setup.entry("arm", ARM)["state"]["cursor_velocity"]["x"])
    assert max(speeds) > 3

    setup.make("arm", ARM, fault="none")
    setup.service.wait(5)
    assert away(setup, {"x": 0, "y": -0.12, "z": 0.135}) < 3e-3


def test_stalled_device_does_not_move_under_its_peak_force(setup: SimulatedDevices) -> None:
    setup.make("arm", ARM, hand={"path": "rest"}, fault="stall")
    before = setup.entry("arm", ARM)["state"]["cursor_position"]
    for _ in range(20):
        setup.frame(command(ARM, set_cursor_force={"vector": {"x": 10, "y": 0, "z": 0}}))
        setup.service.wait(0.02)

    assert away(setup, before) < 2e-3


def test_foreign_object_fault_pushes_the_device(setup: SimulatedDevices) -> None:
    setup.make("arm", ARM, hand={"path": "rest"})
    setup.service.wait(1)
    setup.make("arm", ARM, fault="foreign_object")
    setup.service.wait(2)

    assert away(setup, {"x": 0, "y": -0.12, "z": 0.135}) > 0.03
    assert setup.entry("arm", ARM)["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}


def test_connection_loop_fault_blocks_the_port_until_reset(setup: SimulatedDevices) -> None:
    port = setup.service.device(ARM).identity.port
    setup.make("arm", ARM, fault="connection_loop")

    setup.becomes("port-blocked", 0.05)

    assert setup.events.received_events("port-blocked")[0]["data"]["port"] == port
    eventually(lambda: setup.frame()["arm"] == [], "the device is kept away")
    assert setup.ask("POST", f"/simulation/arm/{ARM}", {"fault": "none"}).status == 409
    assert setup.ask("POST", f"/ports/{port}/reset").status == 200
    setup.until_ready(ARM)
    setup.events.wait_for_event("port-state-changed", port=port)
    comings = [
        event["name"].removeprefix("device-")
        for event in setup.events.events
        if event["name"] in ("device-connected", "device-disconnected") and event["data"]["device_id"] == ARM
    ]
    # A device that the fifth loop keeps away has not connected.
    assert comings[-10:] == ["disconnected", "connected"] * 5
    assert comings.count("disconnected") == 5


@pytest.mark.parametrize("fault", ["oscillating_hall", "calibration_blocked"])
def test_calibration_fault_is_kept_in_the_record(setup: SimulatedDevices, fault: str) -> None:
    assert setup.make("arm", ARM, fault=fault)["fault"] == fault
    assert setup.service.device(ARM).fault == fault
    assert setup.ask("GET", f"/simulation/arm/{ARM}").json["fault"] == fault


# ---------------------------------------------------------------- what a device has for all sessions shows


def test_home_return_pulls_with_at_most_one_newton_until_a_command(setup: SimulatedDevices) -> None:
    setup.make("arm", ARM, hand={"position": {"x": 0.1, "y": -0.12, "z": 0.135}})
    setup.service.wait(2)
    assert setup.ask("POST", f"/arm/{ARM}/home_return").status == 200
    setup.service.wait(2)

    pull = setup.entry("arm", ARM)["state"]["current_cursor_force"]
    assert -1.001 <= pull["x"] < -0.95

    setup.frame(command(ARM, set_cursor_force={"vector": {"x": 0, "y": 0, "z": 0.5}}))
    setup.service.step(2)
    assert setup.entry("arm", ARM)["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": pytest.approx(0.5)}


def test_left_handed_device_inverts_its_first_joint(setup: SimulatedDevices) -> None:
    setup.make("arm", ARM, hand={"position": {"x": 0.1, "y": -0.12, "z": 0.135}})
    setup.service.wait(2)
    right = setup.entry("arm", ARM)["state"]["angular_position"]["a0"]
    assert abs(right) > 5

    setup.ask("POST", f"/arm/{ARM}/config/handedness", "left")
    setup.service.step(2)

    assert setup.entry("arm", ARM)["state"]["angular_position"]["a0"] == pytest.approx(-right, abs=0.1)


def test_uncompensated_device_sinks(setup: SimulatedDevices) -> None:
    setup.make("arm", ARM, hand={"path": "rest"})
    setup.service.wait(2)
    before = setup.entry("arm", ARM)["state"]["cursor_position"]["z"]

    setup.ask("POST", f"/arm/{ARM}/config/gravity_compensation", {"enabled": False})
    setup.service.wait(2)

    assert before - setup.entry("arm", ARM)["state"]["cursor_position"]["z"] > 0.01
