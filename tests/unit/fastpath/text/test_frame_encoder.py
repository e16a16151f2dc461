"""Each device in a frame: every field against the device state and the session's view."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.layout.dtypes import SIMULATION_PARAMS
from fastpath.text.encoder import FrameEncoder
from tests.support.loop.readings import READINGS, read_out
from tests.unit.fastpath.text.frame_rig import FrameRig, Json, shape

CALIBRATED, POWER, READY, STARTED, CONNECTED, AWAKE, ATTACHED = 1, 2, 4, 8, 16, 32, 64
NO_MOVE, NO_TURN, NO_SCALE = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
TURN = (0.5, 0.5, -0.5, 0.5)
ZERO_XYZ: Json = {"x": 0, "y": 0, "z": 0}
ZERO_JOINTS = {"a0": 0, "a1": 0, "a2": 0}
IDENTITY: dict[str, Json] = {
    "position": ZERO_XYZ,
    "rotation": {"w": 1, "x": 0, "y": 0, "z": 0},
    "scale": {"x": 1, "y": 1, "z": 1},
}

Workspace: TypeAlias = tuple[Sequence[float], Sequence[float], Sequence[float]]


@pytest.fixture
def rig() -> FrameRig:
    return FrameRig()


def numbers(value: dict[str, float]) -> list[np.float32]:
    return [np.float32(number) for number in value.values()]


def exactly(values: Iterable[float]) -> list[np.float32]:
    return [np.float32(value) for value in values]


def read(field: str, values: Iterable[float]) -> list[np.float32]:
    """What a frame shows of a reading in device space."""
    return exactly(read_out(field, values))


def turn_matrix(q: Iterable[float]) -> NDArray[np.float64]:
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


# ---------------------------------------------------------------- state


@pytest.mark.parametrize("device_id", ["049D", "16A5"])
def test_device_space_shows_the_state_as_it_is(rig: FrameRig, device_id: str) -> None:
    writer = rig.writer(device_id)
    writer.force(0.5, -1, 0.25)
    writer.publish()
    rig.runtime.step(150)
    seen = rig.reader(device_id).snapshot()
    state = rig.frame(device_id)["state"]
    assert np.count_nonzero(seen["velocity"]) == np.count_nonzero(seen["force"]) == 3
    assert numbers(state["cursor_position"]) == read("cursor_position", seen["position"])
    assert numbers(state["cursor_velocity"]) == read("cursor_velocity", seen["velocity"])
    assert numbers(state["angular_position"]) == read("angular_position", seen["joint"])
    assert numbers(state["angular_velocity"]) == read("angular_velocity", seen["joint_velocity"])
    assert numbers(state["body_orientation"]) == read("body_orientation", seen["orientation"])
    assert numbers(state["current_cursor_force"]) == read("current_cursor_force", seen["force"])
    assert numbers(state["current_angular_torques"]) == read("current_angular_torques", seen["torque"])
    assert state["current_cursor_position"] == ZERO_XYZ
    assert state["current_angular_position"] == ZERO_JOINTS
    assert (state["control_domain"], state["control_mode"]) == ("cartesian", "force")


@pytest.mark.parametrize("device_id", ["049D", "16A5", "1605", "16F2", "1700"])
def test_decimals_match_the_device_resolution(rig: FrameRig, device_id: str) -> None:
    longest: dict[str, int] = {}
    for _ in range(50):
        rig.runtime.step(37)
        text = FrameEncoder(None, [("g", [rig.entry(device_id)])], version=31).encode()
        for field, shown in json.loads(text, parse_float=Decimal)["g"][0]["state"].items():
            for number in shown.values() if isinstance(shown, dict) else [shown]:
                if isinstance(number, Decimal):
                    longest[field] = max(longest.get(field, 0), -int(number.as_tuple().exponent))
                    assert len(str(number)) <= len(READINGS[field][1])
    assert longest == {field: READINGS[field][0] for field in longest}
    assert longest


def test_application_space_is_workspace_after_mount_after_basis(rig: FrameRig) -> None:
    writer = rig.writer("049D")
    writer.force(0.5, -1, 0.25)
    writer.publish()
    rig.runtime.step(150)
    seen = rig.reader("049D").snapshot()
    writer.set_basis((1, 2, 0), (1, -1, 1))
    writer.set_mount((0.1, 0.2, 0.3), (0.6, 0.0, 0.8, 0.0), (2.0, 3.0, 4.0))
    writer.set_workspace((-1.0, 2.0, 0.5), TURN, (0.5, 2.0, 1.5))
    state = rig.frame("049D", writer)["state"]
    basis = np.array([[0, 1, 0], [0, 0, -1], [1, 0, 0]])
    mount, workspace = turn_matrix((0.6, 0.0, 0.8, 0.0)), turn_matrix(TURN)
    local = (0.1, 0.2, 0.3) + mount @ ((2, 3, 4) * (basis @ read_out("cursor_position", seen["position"])))
    position = (-1, 2, 0.5) + workspace @ ((0.5, 2, 1.5) * local)
    moving = basis @ read_out("cursor_velocity", seen["velocity"])
    velocity = workspace @ ((0.5, 2, 1.5) * (mount @ ((2, 3, 4) * moving)))
    force = workspace @ mount @ basis @ read_out("current_cursor_force", seen["force"])
    assert numbers(state["cursor_position"]) == pytest.approx(position, rel=1e-6)
    assert numbers(state["cursor_velocity"]) == pytest.approx(velocity, rel=1e-6)
    assert numbers(state["current_cursor_force"]) == pytest.approx(force, rel=1e-6)
    assert numbers(state["angular_position"]) == read("angular_position", seen["joint"])
    assert numbers(state["current_angular_torques"]) == read("current_angular_torques", seen["torque"])
    body = turn_matrix(list(state["body_orientation"].values()))
    assert body == pytest.approx(workspace @ mount @ basis @ turn_matrix(seen["orientation"]) @ basis.T, abs=4e-5)


@pytest.mark.parametrize("rotation", [(-0.6, 0.0, 0.8, 0.0), (-1.0, 0.0, 0.0, 0.0), (-0.5, 0.5, -0.5, 0.5)])
def test_body_orientation_is_the_quaternion_with_positive_w(rig: FrameRig, rotation: tuple[float, ...]) -> None:
    rig.runtime.step()
    writer = rig.writer("049D")
    writer.set_workspace(NO_MOVE, rotation, NO_SCALE)
    state = rig.frame("049D", writer)["state"]
    assert numbers(state["body_orientation"]) == exactly(-np.array(rotation))
    entry = rig.entry("049D", writer)
    shown = FrameEncoder(None, [("g", [entry])], version=31).encode().split(b'"body_orientation":')[1].split(b"}")[0]
    assert b":-0," not in shown + b","
    assert numbers(state["transform"]["rotation"]) == exactly(rotation)


def test_a_grip_is_seen_through_the_session_s_basis_only(rig: FrameRig) -> None:
    rig.runtime.step(500)
    seen = rig.reader("1605").snapshot()["orientation"]
    writer = rig.writer("1605")
    assert numbers(rig.frame("1605", writer)["state"]["orientation"]) == read("orientation", seen)
    writer.set_basis((1, 0, 2), (1, 1, 1))
    writer.set_mount((1.0, 2.0, 3.0), TURN, NO_SCALE)
    basis = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    mirrored = turn_matrix(list(rig.frame("1605", writer)["state"]["orientation"].values()))
    assert mirrored == pytest.approx(basis @ turn_matrix(seen) @ basis.T, abs=4e-5)


@pytest.mark.parametrize("device_id", ["1605", "16F2", "1700"])
@pytest.mark.parametrize("bits", range(8))
def test_buttons_are_shown_by_name(rig: FrameRig, device_id: str, bits: int) -> None:
    rig.publish(device_id, buttons=bits)
    rig.runtime.step()
    state = rig.frame(device_id)["state"]
    assert state["button"] is (bits != 0)
    assert state["buttons"] == {"a": bool(bits & 1), "b": bool(bits & 2), "c": bool(bits & 4)}
    assert state["hall"] == 0


def test_only_a_wireless_grip_has_a_battery(rig: FrameRig) -> None:
    rig.runtime.step(100)
    seen = rig.reader("16F2").snapshot()
    state = rig.frame("16F2")["state"]
    assert exactly([state["battery_level"]]) == read("battery_level", [float(seen["battery_level"])])
    assert exactly([state["battery_voltage"]]) == read("battery_voltage", [float(seen["battery_voltage"])])
    wired, pen = rig.frame("1605"), rig.frame("1700")
    assert list(wired["state"]) == ["orientation", "hall", "button", "buttons", "transform"]
    assert shape(pen["state"]) == shape(wired["state"])
    assert shape(pen["status"]) == shape(wired["status"])


# ---------------------------------------------------------------- commands as shown


def test_device_without_commands_is_idle_without_domain(rig: FrameRig) -> None:
    state = rig.frame("049D")["state"]
    assert (state["control_domain"], state["control_mode"]) == ("undefined", "idle")


@pytest.mark.parametrize(
    ("command", "domain", "mode"),
    [
        ("force", "cartesian", "force"),
        ("torque", "angular", "force"),
        ("position", "cartesian", "position"),
        ("angle", "angular", "position"),
    ],
)
def test_domain_and_mode_follow_the_command(rig: FrameRig, command: str, domain: str, mode: str) -> None:
    writer = rig.writer("049D")
    getattr(writer, command)(0.01, 0.02, 0.03)
    writer.publish()
    rig.runtime.step()
    state = rig.frame("049D", version=30)["state"]
    assert (state["control_domain"], state["control_mode"], state["mode"]) == (domain, mode, mode)
    rig.runtime.step(4000)
    state = rig.frame("049D")["state"]
    assert (state["control_domain"], state["control_mode"]) == (domain, "idle")


def test_a_held_position_is_shown_in_application_space(rig: FrameRig) -> None:
    writer = rig.writer("049D")
    writer.set_basis((2, 0, 1), (-1, 1, 1))
    writer.set_workspace((1.0, 0.0, 0.0), TURN, (2.0, 2.0, 2.0))
    writer.position(1.01, 0.25, -0.5)
    writer.publish()
    rig.runtime.step()
    state = rig.frame("049D", writer)["state"]
    assert numbers(state["current_cursor_position"]) == pytest.approx((1.01, 0.25, -0.5), rel=1e-6)
    assert state["current_angular_position"] == ZERO_JOINTS
    held = rig.reader("049D").snapshot()["target"]
    assert numbers(rig.frame("049D")["state"]["current_cursor_position"]) == exactly(held)


def test_held_angles_are_shown_in_degrees(rig: FrameRig) -> None:
    writer = rig.writer("049D")
    writer.set_workspace((1, 2, 3), TURN, NO_SCALE)
    writer.angle(1.5, -20.25, 30)
    writer.publish()
    rig.runtime.step()
    state = rig.frame("049D", writer)["state"]
    assert state["current_angular_position"] == {"a0": 1.5, "a1": -20.25, "a2": 30}
    assert state["current_cursor_position"] == ZERO_XYZ


def test_a_stopped_device_shows_no_held_set_point(rig: FrameRig) -> None:
    writer = rig.writer("049D")
    writer.position(0, -0.1, 0.1)
    writer.angle(1, 2, 3)
    writer.publish()
    rig.runtime.stop_device(rig.leases["049D"], stopped=True)
    rig.runtime.step()
    assert np.count_nonzero(rig.reader("049D").snapshot()["target_joint"]) == 3
    state = rig.frame("049D", writer)["state"]
    assert state["control_mode"] == "idle"
    assert state["current_cursor_position"] == ZERO_XYZ
    assert state["current_angular_position"] == ZERO_JOINTS


# ---------------------------------------------------------------- transforms


@pytest.mark.parametrize(
    ("workspace", "shown"),
    [
        ((NO_MOVE, NO_TURN, NO_SCALE), {}),
        (((0, 0, 2), NO_TURN, NO_SCALE), {"position": {"x": 0, "y": 0, "z": 2}}),
        ((NO_MOVE, (0.6, 0.8, 0, 0), NO_SCALE), {"rotation": {"w": 0.6, "x": 0.8, "y": 0, "z": 0}}),
        ((NO_MOVE, NO_TURN, (1, 2, 1)), {"scale": {"x": 1, "y": 2, "z": 1}}),
        (((1, 0, 0), NO_TURN, (2, 2, 2)), {"position": {"x": 1, "y": 0, "z": 0}, "scale": {"x": 2, "y": 2, "z": 2}}),
        (((1e-50, 0, 0), NO_TURN, (1 + 1e-12, 1, 1)), {}),
        ((NO_MOVE, (-1, 0, 0, 0), NO_SCALE), {"rotation": {"w": -1, "x": 0, "y": 0, "z": 0}}),
    ],
)
@pytest.mark.parametrize("device_id", ["049D", "1605"])
def test_a_transform_shows_its_sub_fields_that_are_not_identity(
    rig: FrameRig, device_id: str, workspace: Workspace, shown: dict[str, object]
) -> None:
    writer = rig.writer(device_id)
    writer.set_workspace(*workspace)
    transform = rig.frame(device_id, writer)["state"]["transform"]
    assert transform == shown
    assert list(transform) == list(shown)
    for option in ("complete_transforms", "explicit_fields"):
        complete = rig.frame(device_id, writer, **{option: True})["state"]["transform"]
        assert complete == IDENTITY | shown
        assert shape(complete) == shape(IDENTITY)


def test_transform_velocity_is_empty_at_rest_and_zero_with_explicit_fields(rig: FrameRig) -> None:
    assert rig.frame("049D")["state"]["transform_velocity"] == {}
    assert rig.frame("049D", complete_transforms=True)["state"]["transform_velocity"] == {}
    explicit = rig.frame("049D", explicit_fields=True)["state"]["transform_velocity"]
    assert explicit == {"position": ZERO_XYZ, "rotation": ZERO_XYZ}


# ---------------------------------------------------------------- status


@pytest.mark.parametrize("on", [0, CALIBRATED, POWER, READY, STARTED, CONNECTED, AWAKE, ATTACHED, 127])
def test_status_shows_the_flags(rig: FrameRig, on: int) -> None:
    for device_id in rig.kinds:
        rig.publish(device_id, flags=on)
    rig.runtime.step()
    for device_id in ("049D", "16A5"):
        assert rig.frame(device_id)["status"] == {
            "calibrated": bool(on & CALIBRATED), "in_use": False, "power_supply": bool(on & POWER),
            "ready": bool(on & READY), "started": bool(on & STARTED),
        }  # fmt: skip
    for device_id in ("1605", "16F2", "1700"):
        assert rig.frame(device_id)["status"] == {
            "ready": bool(on & READY), "error": 0, "connected": bool(on & CONNECTED), "awake": bool(on & AWAKE),
            "attached": bool(on & ATTACHED),
        }  # fmt: skip


@pytest.mark.parametrize("fillers", [0, 62, 63, 64, 200, 254])
def test_in_use_means_commanded_by_another_session(fillers: int) -> None:
    rig = FrameRig(max_sessions=256)
    for number in range(fillers):
        rig.runtime.lease_session(f"filler {number}")
    own, other = rig.writer("049D"), rig.writer("049D", "8")

    def in_use() -> list[bool]:
        rig.runtime.step()
        return [rig.frame("049D", writer)["status"]["in_use"] for writer in (own, other, None)]

    assert in_use() == [False, False, False]
    own.force(0, 0, 1)
    own.publish()
    assert in_use() == [False, True, True]
    other.force(0, 0, 1)
    other.publish()
    assert in_use() == [True, True, True]
    own.begin()
    own.publish()
    assert in_use() == [True, False, True]


def test_safety_is_shown_when_asked_for(rig: FrameRig) -> None:
    rig.runtime.step()
    safe = {"ebrake": False, "fod_stage": "idle", "stalled": False, "oscillation_stage": 8, "stopped": False}
    assert rig.frame("049D", status_safety=True)["status"]["safety"] == safe
    rig.runtime.stop_device(rig.leases["049D"], stopped=True)
    rig.runtime.step()
    assert rig.frame("049D", status_safety=True)["status"]["safety"] == safe | {"stopped": True}
    assert "safety" not in rig.frame("1605", status_safety=True)["status"]


def test_safety_shows_what_the_monitors_do(rig: FrameRig) -> None:
    rig.runtime.step()
    shoved = np.zeros((), dtype=SIMULATION_PARAMS)
    shoved["push"], shoved["push_revision"] = (9, 0, 0), 1
    rig.publish("049D", simulation=shoved)
    rig.runtime.step(40)
    safety = rig.frame("049D", status_safety=True)["status"]["safety"]
    assert list(safety) == ["ebrake", "fod_stage", "stalled", "oscillation_stage", "stopped"]
    assert safety == {"ebrake": True, "fod_stage": "idle", "stalled": False, "oscillation_stage": 8, "stopped": False}
    assert "safety" not in rig.frame("049D")["status"]
