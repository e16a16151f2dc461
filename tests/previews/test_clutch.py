"""Preview `clutch`: the scene cursor moves by the ratio and never jumps; forces continue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.previews.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

# Frames hold float32: near 0.3 m their last digit is worth this much.
DIGIT = 3e-8


def arm(client: RawWebSocket, **entry: object) -> Any:
    return client.ask({"arm": [{"device_id": "A001", **entry}]})["arm"][0]["state"]


def clutch(client: RawWebSocket, ratio: float) -> Any:
    return arm(client, configure={"clutch": {"ratio": ratio}})


def cursor(state: Any) -> np.ndarray:
    return np.array([state["cursor_position"][axis] for axis in "xyz"])


def offset(state: Any) -> np.ndarray:
    return np.array([state["clutch"]["offset"][axis] for axis in "xyz"])


def test_the_cursor_moves_by_the_ratio_and_never_jumps(service: InProcessService, join: Join) -> None:
    client, _ = join()
    other, _ = join()
    arm(client, configure={"basis": "XZ-Y", "mount": {"rotation": {"w": 0.6, "x": 0, "y": 0.8, "z": 0}, "scale": 2}})
    arm(client, commands={"set_transform": {"transform": {"scale": {"x": 3, "y": 1, "z": 0.5}}}})
    plain = arm(client)
    assert plain["clutch"] == {"ratio": 1, "offset": {"x": 0, "y": 0, "z": 0}}

    last, moved = cursor(plain), np.zeros(3)
    for ratio in (0.5, 0, 0.25, 1, 0.5, 1):
        state = clutch(client, ratio)
        assert cursor(state) == pytest.approx(last, abs=10 * DIGIT)
        assert state["clutch"]["ratio"] == ratio
        assert offset(state) == pytest.approx(np.zeros(3), abs=1e-12)
        before_device, before = cursor(arm(other)), cursor(state)
        velocity_scale = ratio
        service.wait(0.2)
        state = arm(client)
        last = cursor(state)
        device = np.linalg.norm(cursor(arm(other)) - before_device)
        assert device > 0.005
        if ratio == 0:
            assert last == pytest.approx(before, abs=DIGIT)
            assert all(abs(state["cursor_velocity"][axis]) == 0 for axis in "xyz")
        else:
            assert np.linalg.norm(last - before) > 0.1 * velocity_scale * device
        moved += offset(state)
    assert np.linalg.norm(moved) > 0.01
    assert arm(client)["transform"]["position"] == pytest.approx(dict(zip("xyz", moved, strict=True)), abs=20 * DIGIT)


def test_offset_is_the_suppressed_motion(service: InProcessService, join: Join) -> None:
    client, _ = join()
    other, _ = join()
    clutch(client, 0.5)
    service.wait(0.3)

    state = arm(client)

    assert cursor(state) == pytest.approx(cursor(arm(other)) + offset(state), abs=DIGIT)
    assert np.linalg.norm(offset(state)) > 0.005


@pytest.mark.parametrize("ratio", [0, 0.5, 1])
def test_forces_continue_at_every_ratio(service: InProcessService, join: Join, ratio: float) -> None:
    client, _ = join()
    clutch(client, ratio)

    for _ in range(5):
        arm(client, commands={"set_cursor_force": {"vector": {"x": 1.5, "y": 0, "z": -0.5}}})
        service.wait(0.01)

    assert service.state("A001")["force"] == pytest.approx([1.5, 0, -0.5])


def test_position_is_in_the_scene_and_unreachable_with_a_frozen_clutch(service: InProcessService, join: Join) -> None:
    client, _ = join()
    state = clutch(client, 0.5)
    anchor = cursor(state)
    wanted = {axis: float(part) + 0.01 for axis, part in zip("xyz", anchor, strict=True)}
    hold = {"set_cursor_position": {"position": wanted}}

    arm(client, commands=hold)
    service.step(2)
    assert service.state("A001")["target"] == pytest.approx(anchor + 0.02, abs=10 * DIGIT)

    clutch(client, 0)
    service.step(2)
    assert service.state("A001")["mode"] == 0
    (error,) = client.ask({"arm": [{"device_id": "A001", "commands": hold}]})["errors"]
    assert "the clutch is frozen" in error["reason"]


def test_disabling_folds_the_offset_removes_the_field_and_motion_continues(
    service: InProcessService, join: Join, http: HttpClient
) -> None:
    client, _ = join()
    clutch(client, 0)
    service.wait(0.2)
    last = cursor(arm(client))

    http.post("/settings/features/clutch/enabled", False)
    state = arm(client)
    service.wait(0.2)
    later = arm(client)
    http.post("/settings/features/clutch/enabled", True)

    assert cursor(state) == pytest.approx(last, abs=DIGIT)
    assert "clutch" not in state
    assert np.linalg.norm(cursor(later) - last) > 0.005


def test_http_shows_devices_as_the_session_s_frames(join: Join, http: HttpClient) -> None:
    client, session_id = join()
    clutch(client, 0.25)

    (shown,) = http.get(f"/devices?session={session_id}").data["arm"]

    assert shown["state"]["clutch"] == arm(client)["clutch"]


@pytest.mark.parametrize(
    ("group", "device_id", "sent", "because"),
    [
        ("arm", "A001", {"ratio": 2}, "between 0 and 1"),
        ("arm", "A001", {"ratio": "half"}, "a number is needed"),
        ("arm", "A001", {}, "ratio is missing"),
        ("arm", "A001", 0.5, "an object is needed"),
        ("grip", "B001", {"ratio": 0.5}, "only an arm and a compact"),
    ],
)
def test_invalid_clutch_is_named_and_changes_nothing(
    join: Join, group: str, device_id: str, sent: object, because: str
) -> None:
    client, _ = join()

    frame = client.ask({group: [{"device_id": device_id, "configure": {"clutch": sent}}]})

    assert because in frame["errors"][0]["reason"]
    assert frame["arm"][0]["state"]["clutch"]["ratio"] == 1
    assert "clutch" not in frame["grip"][0]["state"]
