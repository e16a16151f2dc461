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
from tests.support.service.desk import Desk
from tests.support.service.polling import eventually

ARM, GRIP = "A001", "B001"
COMPACT = SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001")


class SimulatedDevices(Desk):
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
        return self.said(message)

    def entry(self, group: str, device_id: str) -> Any:
        """A device's entry in the next frame; None when it has none."""
        return next((one for one in self.frame()[group] if one["device_id"] == device_id), None)

    def becomes(self, what: str, seconds: float = 0.02) -> Any:
        """Virtual time passes in small pieces until the client is told."""

        def passed() -> bool:
            self.service.wait(seconds)
            return bool(self.events.heard(what))

        eventually(passed, what, tries=400, pause_s=0.005)
        return self.events.heard(what)[-1]

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
def desk(tmp_path: Path) -> Iterator[SimulatedDevices]:
    with SimulatedDevices(tmp_path) as opened:
        yield opened


# ---------------------------------------------------------------- devices come and go


def test_a_device_comes_while_a_client_is_connected_and_is_ready_after_its_settle_time(desk: SimulatedDevices) -> None:
    reply = desk.ask("POST", "/simulation/devices", {"type": "arm", "firmware": "7.3", "device_id": "049D"})

    assert reply.status == 200
    assert reply.json["device_id"] == "049D"
    assert reply.json["config"]["device_info"]["minor_version"] == 3
    assert not desk.entry("arm", "049D")["status"]["ready"]
    connected = desk.becomes("device-connected")
    assert connected["data"] == {
        "device_id": "049D",
        "device_family": "arm",
        "type": "arm",
        "connection": "simulated",
        "port": "sim2",
        "firmware": "7.3",
    }
    desk.until_ready("049D")
    assert "config" not in desk.entry("arm", "049D")
    full = desk.frame({"session": {"force_render_full_state": {}}})
    assert [one["config"]["type"] for one in full["arm"]] == ["arm", "arm"]


def test_a_device_goes_with_zero_force_and_is_unknown_from_then_on(desk: SimulatedDevices) -> None:
    desk.frame(command(ARM, set_cursor_force=FORCE))
    desk.service.step()
    assert desk.entry("arm", ARM)["state"]["current_cursor_force"]["x"] == pytest.approx(1)
    reader = desk.service.runtime.reader(desk.service.device(ARM).lease)

    reply = desk.ask("DELETE", f"/simulation/devices/{ARM}")
    desk.service.step()

    moved = [{"device_id": GRIP, "index": 0, "was": 1}]
    assert (reply.status, reply.json) == (200, {"device_id": ARM, "moved": moved})
    assert reader.snapshot()["force"].tolist() == [0, 0, 0]
    assert desk.events.hears("device-disconnected")["level"] == "warning"
    frames = [desk.frame(command(ARM, set_cursor_force=FORCE)) for _ in range(3)]
    assert [frame["arm"] for frame in frames] == [[]] * 3
    assert [frame["errors"][0]["path"] for frame in frames] == ["arm[0].device_id"] * 3
    assert desk.ask("DELETE", f"/simulation/devices/{ARM}").status == 404


def test_a_device_that_comes_back_is_the_same_one_with_its_configuration(desk: SimulatedDevices) -> None:
    assert desk.ask("POST", f"/arm/{ARM}/config/handedness", "left").status == 200
    assert desk.ask("POST", f"/arm/{ARM}/config/home_return").status == 200
    before = desk.first["arm"][0]["config"]
    desk.ask("DELETE", f"/simulation/devices/{ARM}")
    desk.service.step()

    assert desk.ask("POST", "/simulation/devices", {"type": "arm", "device_id": ARM}).status == 200

    config = desk.frame({"session": {"force_render_full_state": {}}})["arm"][0]["config"]
    assert (config["handedness"], config["home_return"]) == ("left", {"enabled": True})
    assert config["device_info"] == before["device_info"]


def test_what_a_device_has_for_all_sessions_survives_a_restart(tmp_path: Path) -> None:
    with SimulatedDevices(tmp_path) as desk:
        desk.ask("POST", f"/arm/{ARM}/config/handedness", "left")
        desk.ask("POST", f"/arm/{ARM}/config/gravity_compensation", {"scaling_factor": 0.5})
        assert desk.ask("POST", "/save_configuration", {"device_id": ARM}).status == 200
        sections = json.loads((tmp_path / "ledger.json").read_text())
        assert sections["devices"][ARM]["handedness"] == "left"

    with SimulatedDevices(tmp_path) as desk:
        config = desk.first["arm"][0]["config"]
        assert config["handedness"] == "left"
        assert config["gravity_compensation"] == {"enabled": True, "scaling_factor": 0.5}


def test_there_are_sixteen_devices_at_most_and_each_id_once(desk: SimulatedDevices) -> None:
    assert desk.ask("POST", "/simulation/devices", {"type": "pen", "device_id": ARM}).status == 409
    replies = [desk.ask("POST", "/simulation/devices", {"type": "compact"}) for _ in range(15)]

    assert [reply.status for reply in replies] == [200] * 14 + [409]
    assert replies[-1].json["ok"] is False
    assert len(desk.frame()["compact"]) == 14


def test_a_device_that_cannot_be_simulated_is_refused_with_a_sentence(desk: SimulatedDevices) -> None:
    bodies: tuple[object, ...] = ({}, {"type": "robot"}, {"type": "arm", "connection": "usb"}, [], None)
    for body in bodies:
        reply = desk.ask("POST", "/simulation/devices", body)
        assert reply.status == 400
        assert len(reply.json["error"]) > 10

    assert len(desk.service.system.inventory.value.devices) == 2


def test_public_words_name_the_same_devices(desk: SimulatedDevices) -> None:
    desk.ask("POST", "/simulation/devices", {"type": "verse_grip", "device_id": "W"})
    desk.ask("POST", "/simulation/devices", {"type": "grip", "connection": "wired", "device_id": "X"})
    desk.ask("POST", "/simulation/devices", {"type": "minverse", "device_id": "Y"})

    records = {
        one.device_id: (one.kind, str(one.identity.connection)) for one in desk.service.system.inventory.value.devices
    }
    assert records["W"] == records["X"] == ("grip", "wired")
    assert records["Y"] == ("compact", "simulated")


def test_a_position_that_was_held_is_free_for_others_when_the_device_comes_back(desk: SimulatedDevices) -> None:
    position = command(ARM, set_cursor_position={"position": {"x": 0.0, "y": -0.12, "z": 0.135}})
    assert "errors" not in desk.frame(position)
    with connect(desk.service.ws, proxy=None) as other:
        other.recv()

        def asked() -> Any:
            other.send(json.dumps(position))
            return json.loads(other.recv())

        assert "holds" in asked()["errors"][0]["reason"]
        desk.make("arm", ARM, fault="unplug")
        assert desk.frame()["arm"] == asked()["arm"] == []
        desk.make("arm", ARM, fault="none")
        desk.until_ready(ARM)

        assert "errors" not in asked()
        assert "holds" in desk.frame(position)["errors"][0]["reason"]


# ---------------------------------------------------------------- handles and hands


def test_buttons_and_orientation_show_in_the_next_frame(desk: SimulatedDevices) -> None:
    echo = desk.make("grip", GRIP, buttons={"a": True, "c": True}, orientation={"w": 0.6, "x": 0.8, "y": 0, "z": 0})

    assert echo["buttons"] == {"a": True, "b": False, "c": True}
    state = desk.entry("grip", GRIP)["state"]
    assert (state["button"], state["buttons"]) == (True, echo["buttons"])
    assert state["orientation"] == {"w": pytest.approx(0.6), "x": pytest.approx(0.8), "y": 0, "z": 0}
    assert desk.make("grip", GRIP, buttons={"a": False})["buttons"] == {"a": False, "b": False, "c": True}
    assert desk.make("grip", GRIP, orientation=None)["orientation"] is None


def test_the_hand_goes_where_it_is_sent_and_draws_its_circle_there(desk: SimulatedDevices) -> None:
    place = {"x": 0.05, "y": -0.1, "z": 0.2}
    echo = desk.make("arm", ARM, hand={"position": place})
    assert echo["hand"] == {
        "path": "rest",
        "position": {k: pytest.approx(v) for k, v in place.items()},
        "stiffness": 150,
    }
    desk.service.wait(3)
    assert away(desk, place) < 2e-3

    desk.make("arm", ARM, hand={"path": "circle"})
    desk.service.wait(3)
    assert away(desk, place) == pytest.approx(0.03, abs=0.01)

    desk.make("arm", ARM, hand={"path": "hold"})
    held = desk.entry("arm", ARM)["state"]["cursor_position"]
    desk.service.wait(2)
    assert away(desk, held) < 1e-2


def away(desk: SimulatedDevices, place: Mapping[str, float]) -> float:
    """How far the cursor is from a place, m."""
    cursor = desk.entry("arm", ARM)["state"]["cursor_position"]
    return dist([cursor[axis] for axis in "xyz"], [place[axis] for axis in "xyz"])


def test_a_stiff_hand_gives_way_less(desk: SimulatedDevices) -> None:
    def given_way(stiffness: float) -> float:
        desk.make("arm", ARM, hand={"path": "rest", "stiffness": stiffness})
        desk.service.wait(1)
        before = desk.entry("arm", ARM)["state"]["cursor_position"]
        for _ in range(50):
            desk.frame(command(ARM, set_cursor_force={"vector": {"x": 3, "y": 0, "z": 0}}))
            desk.service.wait(0.02)
        return away(desk, before)

    soft, stiff = given_way(100), given_way(1000)
    assert soft > 4 * stiff


def test_an_attachment_and_its_loss_show(desk: SimulatedDevices) -> None:
    assert desk.entry("grip", GRIP)["status"]["attached"]
    assert desk.make("grip", GRIP, attached=False)["attached"] is False

    event = desk.becomes("grip-attachment-changed")
    assert event["data"] == {"device_id": GRIP, "device_family": "grip", "attached": False}

    def shown() -> bool:
        desk.service.step()
        return not desk.entry("grip", GRIP)["status"]["attached"]

    eventually(shown, "it is shown", pause_s=0.005)


def test_a_charge_that_falls_past_the_thresholds_is_told_once_each(desk: SimulatedDevices) -> None:
    for level, kind, severity in ((0.2, "device-battery-low", "warning"), (0.04, "device-battery-critical", "error")):
        assert desk.make("grip", GRIP, battery_level=level)["battery_level"] == pytest.approx(level)
        assert desk.entry("grip", GRIP)["state"]["battery_level"] == pytest.approx(level, abs=1e-4)
        event = desk.becomes(kind, 0.005)
        assert event["level"] == severity
        assert event["data"]["battery_level"] == pytest.approx(level, abs=1e-3)
    desk.service.wait(1)
    assert len(desk.events.heard("device-battery-low")) == len(desk.events.heard("device-battery-critical")) == 1


def test_a_battery_drains_by_itself_and_says_so(tmp_path: Path) -> None:
    with SimulatedDevices(tmp_path, control__frequency=100) as desk:
        desk.make("grip", GRIP, battery_level=0.205)

        assert desk.becomes("device-battery-low", 2)["data"]["battery_level"] == pytest.approx(0.2, abs=2e-3)


def test_a_handle_falls_asleep_after_five_minutes_at_rest_and_wakes_when_it_is_moved(tmp_path: Path) -> None:
    with SimulatedDevices(tmp_path, control__frequency=100) as desk:
        desk.make("grip", GRIP, hand={"path": "rest"})
        desk.service.wait(290)
        desk.frame()
        assert desk.entry("grip", GRIP)["status"]["awake"]

        assert desk.becomes("device-sleep", 1)["data"]["awake"] is False
        assert not desk.entry("grip", GRIP)["status"]["awake"]

        desk.make("grip", GRIP, hand={"path": "circle"})
        desk.events.hears("device-sleep", awake=True)
        assert desk.entry("grip", GRIP)["status"]["awake"]


def test_a_device_that_is_asleep_takes_no_commands_and_says_why(desk: SimulatedDevices) -> None:
    assert desk.make("arm", ARM, awake=False)["awake"] is False
    desk.events.hears("device-sleep", device_id=ARM, awake=False)

    frame = desk.frame(command(ARM, set_cursor_force=FORCE))

    assert "asleep" in frame["errors"][0]["reason"]
    assert desk.make("arm", ARM, awake=True)["awake"] is True
    assert "errors" not in desk.frame(command(ARM, set_cursor_force=FORCE))


def test_what_cannot_be_done_is_refused_whole(desk: SimulatedDevices) -> None:
    bodies: tuple[tuple[str, str, dict[str, object]], ...] = (
        ("arm", ARM, {"hand": {"position": {"x": 9, "y": 0, "z": 0}}}),
        ("arm", ARM, {"buttons": {"a": True}}),
        ("grip", GRIP, {"battery_level": 1.5}),
        ("grip", GRIP, {"fault": "stall"}),
        ("grip", GRIP, {"fault": "fire"}),
    )
    for kind, device_id, body in bodies:
        before = desk.service.device(device_id)
        reply = desk.ask("POST", f"/simulation/{kind}/{device_id}", {"awake": False, **body})
        assert reply.status == 400
        assert len(reply.json["error"]) > 10
        desk.service.step()
        assert desk.service.device(device_id) == before


def test_several_devices_answer_one_by_one_and_unknown_keys_are_named(desk: SimulatedDevices) -> None:
    reply = desk.ask("POST", "/simulation/*/*", {"attached": False, "colour": 1})

    assert reply.status == 400
    assert [(one["device_id"], one["ok"]) for one in reply.json["results"]] == [(ARM, False), (GRIP, True)]
    assert reply.json["warnings"] == ['unknown key "colour" was ignored']
    assert desk.ask("POST", "/simulation/arm/NONE", {"awake": True}).status == 404


# ---------------------------------------------------------------- faults


def test_an_unplugged_device_is_gone_until_the_fault_is_cleared(desk: SimulatedDevices) -> None:
    assert desk.make("arm", ARM, fault="unplug")["fault"] == "unplug"
    assert desk.frame(command(ARM, set_cursor_force=FORCE))["errors"][0]["path"] == "arm[0].device_id"
    assert desk.frame()["arm"] == []
    desk.events.hears("device-disconnected", device_id=ARM)
    assert desk.ask("POST", "/simulation/devices", {"type": "arm", "device_id": ARM}).status == 409

    assert desk.make("arm", ARM, fault="none")["fault"] == "none"

    assert not desk.entry("arm", ARM)["status"]["ready"]
    desk.events.hears("device-connected", device_id=ARM)
    desk.until_ready(ARM)
    desk.frame(command(ARM, set_cursor_force=FORCE))
    desk.service.wait(0.02)
    assert desk.entry("arm", ARM)["state"]["current_cursor_force"]["x"] == pytest.approx(1)


def test_a_device_that_hangs_is_stale_and_then_gone(desk: SimulatedDevices) -> None:
    desk.frame(command(ARM, set_cursor_force=FORCE))
    desk.service.step()
    desk.make("arm", ARM, fault="hang")
    assert desk.entry("arm", ARM)["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
    frozen = desk.entry("arm", ARM)["state"]

    # Long enough for stale, and time stands until that is told: it would be gone after 0.5 s.
    desk.service.wait(0.1)
    assert desk.events.hears("device-safety-triggered")["data"]["safety_type"] == "device_stale"
    assert desk.entry("arm", ARM)["state"] == frozen
    assert desk.events.heard("device-disconnected") == []
    desk.becomes("device-disconnected")
    assert desk.frame()["arm"] == []

    desk.make("arm", ARM, fault="none")
    desk.events.hears("device-connected", device_id=ARM)


def test_a_throw_sends_the_device_off_and_the_hand_takes_it_back(desk: SimulatedDevices) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.service.wait(1)
    desk.make("arm", ARM, fault="throw")
    speeds: list[float] = []
    for _ in range(40):
        desk.service.step(4)
        speeds.append(desk.entry("arm", ARM)["state"]["cursor_velocity"]["x"])
    assert max(speeds) > 3

    desk.make("arm", ARM, fault="none")
    desk.service.wait(5)
    assert away(desk, {"x": 0, "y": -0.12, "z": 0.135}) < 3e-3


def test_a_stalled_device_does_not_give_way_to_its_peak_force(desk: SimulatedDevices) -> None:
    desk.make("arm", ARM, hand={"path": "rest"}, fault="stall")
    before = desk.entry("arm", ARM)["state"]["cursor_position"]
    for _ in range(20):
        desk.frame(command(ARM, set_cursor_force={"vector": {"x": 10, "y": 0, "z": 0}}))
        desk.service.wait(0.02)

    assert away(desk, before) < 2e-3


def test_a_foreign_object_pushes_the_device_aside(desk: SimulatedDevices) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.service.wait(1)
    desk.make("arm", ARM, fault="foreign_object")
    desk.service.wait(2)

    assert away(desk, {"x": 0, "y": -0.12, "z": 0.135}) > 0.03
    assert desk.entry("arm", ARM)["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}


def test_a_connection_loop_blocks_the_port_until_it_is_reset(desk: SimulatedDevices) -> None:
    port = desk.service.device(ARM).identity.port
    desk.make("arm", ARM, fault="connection_loop")

    desk.becomes("port-blocked", 0.05)

    assert desk.events.heard("port-blocked")[0]["data"]["port"] == port
    eventually(lambda: desk.frame()["arm"] == [], "the device is kept away")
    assert desk.ask("POST", f"/simulation/arm/{ARM}", {"fault": "none"}).status == 409
    assert desk.ask("POST", f"/ports/{port}/reset").status == 200
    desk.until_ready(ARM)
    desk.events.hears("port-state-changed", port=port)
    comings = [
        event["name"].removeprefix("device-")
        for event in desk.events.events
        if event["name"] in ("device-connected", "device-disconnected") and event["data"]["device_id"] == ARM
    ]
    # A device that the fifth loop keeps away has not connected.
    assert comings[-10:] == ["disconnected", "connected"] * 5
    assert comings.count("disconnected") == 5


@pytest.mark.parametrize("fault", ["oscillating_hall", "calibration_blocked"])
def test_a_fault_of_the_calibration_is_kept_in_the_record(desk: SimulatedDevices, fault: str) -> None:
    assert desk.make("arm", ARM, fault=fault)["fault"] == fault
    assert desk.service.device(ARM).fault == fault
    assert desk.ask("GET", f"/simulation/arm/{ARM}").json["fault"] == fault


# ---------------------------------------------------------------- what a device has for all sessions shows


def test_return_to_home_pulls_with_at_most_a_newton_until_somebody_commands(desk: SimulatedDevices) -> None:
    desk.make("arm", ARM, hand={"position": {"x": 0.1, "y": -0.12, "z": 0.135}})
    desk.service.wait(2)
    assert desk.ask("POST", f"/arm/{ARM}/home_return").status == 200
    desk.service.wait(2)

    pull = desk.entry("arm", ARM)["state"]["current_cursor_force"]
    assert -1.001 <= pull["x"] < -0.95

    desk.frame(command(ARM, set_cursor_force={"vector": {"x": 0, "y": 0, "z": 0.5}}))
    desk.service.step(2)
    assert desk.entry("arm", ARM)["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": pytest.approx(0.5)}


def test_a_left_handed_device_turns_its_first_joint_the_other_way(desk: SimulatedDevices) -> None:
    desk.make("arm", ARM, hand={"position": {"x": 0.1, "y": -0.12, "z": 0.135}})
    desk.service.wait(2)
    right = desk.entry("arm", ARM)["state"]["angular_position"]["a0"]
    assert abs(right) > 5

    desk.ask("POST", f"/arm/{ARM}/config/handedness", "left")
    desk.service.step(2)

    assert desk.entry("arm", ARM)["state"]["angular_position"]["a0"] == pytest.approx(-right, abs=0.1)


def test_a_device_whose_weight_is_not_compensated_sinks(desk: SimulatedDevices) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.service.wait(2)
    before = desk.entry("arm", ARM)["state"]["cursor_position"]["z"]

    desk.ask("POST", f"/arm/{ARM}/config/gravity_compensation", {"enabled": False})
    desk.service.wait(2)

    assert before - desk.entry("arm", ARM)["state"]["cursor_position"]["z"] > 0.01
