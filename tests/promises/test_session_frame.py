"""Promises about the fields of a session frame, in v3.0 and v3.1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

from tests.promises.conftest import ClientOf, StartService
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import FULL, PromiseSession, force
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.process import RunningService

PLACE: Final = {"x": 0.01, "y": -0.12, "z": 0.135}
ANGLES: Final = {"a0": 1, "a1": 70, "a2": -130}
TORQUES: Final = {"a0": 10, "a1": 20, "a2": 30}
VERSIONS: Final = ("3.0", "3.1")
# Command, and the value of the field that it changes.
CHANGES: Final[dict[str, tuple[dict[str, Any], object]]] = {
    "current_cursor_force": (force(y=1), {"x": 0, "y": 1, "z": 0}),
    "current_cursor_position": ({"set_cursor_position": {"position": PLACE}}, PLACE),
    "current_angular_torques": ({"set_angular_torques": {"torques": TORQUES}}, TORQUES),
    "current_angular_position": ({"set_angular_position": {"angles": ANGLES}}, ANGLES),
    "control_domain": ({"set_angular_torques": {"torques": TORQUES}}, "angular"),
    "control_mode": ({"set_cursor_position": {"position": PLACE}}, "position"),
    "transform": ({"set_transform": {"transform": {"scale": 2}}}, {"scale": {"x": 2, "y": 2, "z": 2}}),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "field", [pytest.param(field, marks=pytest.mark.promise(115 + n)) for n, field in enumerate(CHANGES)]
)
def test_state_field_shows_the_command(client_of: ClientOf, version: str, field: str) -> None:
    """A field of `state`, in v3.0 and v3.1"""
    commands, wanted = CHANGES[field]
    for group in ("arm", "compact"):
        assert field in client_of(version=version).shown(group)["state"]
    one = client_of(version=version)

    one.wait_entry(lambda entry: entry["state"][field] == wanted, f"{field} is {wanted}", commands=commands)


@pytest.mark.promise(122)
@pytest.mark.parametrize("version", VERSIONS)
def test_transform_velocity_is_the_rate_of_the_scene(client_of: ClientOf, http: HttpClient, version: str) -> None:
    """The field `transform_velocity` of `state`, in v3.0 and v3.1."""
    one = client_of(version=version)
    assert one.shown()["state"]["transform_velocity"] == {}
    one.shown(configure={"navigation": {"mode": "bubble"}})
    http.post("/simulation/arm/0", {"hand": {"path": "hold", "position": {"x": 0.12, "y": -0.12, "z": 0.135}}})

    def moves(entry: Any) -> bool:
        return bool(entry["state"]["transform_velocity"].get("position", {}).get("x", 0) > 0.01)

    one.wait_entry(moves, "the scene moves to the right")


@pytest.mark.promise(123)
@pytest.mark.parametrize("version", VERSIONS)
def test_config_has_every_documented_field(client_of: ClientOf, version: str) -> None:
    """`config` tells identity, connection, partner, device-wide values and everything that can be configured."""
    one = client_of(version=version)
    wanted = {"type", "connection", "port", "device_info", "extended_device_id", "extended_firmware_version"}
    wanted |= {"handedness", "torque_scaling", "gravity_compensation", "home_return", "paired_with"}
    wanted |= {"basis", "mount", "preset", "force_gate", "damping"}
    for group in ("arm", "compact"):
        assert wanted <= set(one.config(group))
    for group in ("grip", "pen"):
        assert {"type", "connection", "port", "paired_with"} <= set(one.config(group))


@pytest.mark.promise(124)
def test_safety_is_hidden_until_its_setting_is_on(session: PromiseSession, http: HttpClient) -> None:
    """`status.safety` is hidden by default."""
    assert "safety" not in session.ask(FULL)["arm"][0]["status"]

    http.post("/settings/serialization/status_safety", True)

    assert {"ebrake", "fod_stage", "stalled", "oscillation_stage"} <= set(session.shown()["status"]["safety"])


@pytest.mark.promise(125)
def test_session_id_is_never_zero(client_of: ClientOf, http: HttpClient) -> None:
    """A session's id is a positive whole number, in everything that the service sends."""
    ids = [client_of(version=version).id for version in VERSIONS for _ in range(3)]
    listed = [one["session_id"] for one in http.get("/sessions").data["sessions"]]

    assert listed == ids
    assert [type(one) for one in ids] == [int] * len(ids)
    assert min(ids) > 0


def rotations(value: Any) -> Iterator[dict[str, float]]:
    """Every quaternion in a frame, with its keys in their order."""
    if isinstance(value, dict):
        if "w" in value:
            yield value
        for part in value.values():
            yield from rotations(part)
    elif isinstance(value, list):
        for part in value:
            yield from rotations(part)


@pytest.mark.promise(126)
@pytest.mark.parametrize("version", VERSIONS)
def test_rotations_are_ordered_w_x_y_z(client_of: ClientOf, version: str) -> None:
    """Rotations of a frame are ordered w, x, y, z."""
    one = client_of(version=version)
    turned = {"rotation": {"z": 0, "y": 1, "x": 0, "w": 0}}
    one.configure(mount=turned)
    one.shown(commands={"set_transform": {"transform": turned}})
    one.peer.send(FULL)

    found = list(rotations(json.loads(one.peer.text())))

    assert len(found) >= 2 + 5
    assert all(list(each) == ["w", "x", "y", "z"] for each in found)


@pytest.mark.promise(127)
def test_rotations_are_unit_quaternions_from_the_first_frame_on(start_service: StartService) -> None:
    """Rotations are unit quaternions in every frame, also in the first ones of a device."""
    service = start_service("arm")
    with RawWebSocket(service.ws) as peer:
        session = PromiseSession(peer)
        found: list[float] = []
        for number, kind in enumerate(("arm", "compact", "grip", "pen") * 2):
            found += norms_until_ready(service, session, kind, f"N{number}")

    assert len(found) > 40
    assert found == pytest.approx(np.ones(len(found)), abs=1e-3)


def norms_until_ready(service: RunningService, session: PromiseSession, kind: str, device_id: str) -> list[float]:
    """Norms of all rotations in the frames from before a device comes until it is ready."""
    found: list[float] = []
    plug = partial(service.request, "POST", "/simulation/devices", {"type": kind, "device_id": device_id})
    with ThreadPoolExecutor(1) as beside:
        plugged = beside.submit(plug)
        ready = False
        while not ready:
            frame = session.ask({})
            found += (float(np.linalg.norm(list(each.values()))) for each in rotations(frame))
            ready = any(entry["device_id"] == device_id and entry["status"]["ready"] for entry in frame[kind])
        assert plugged.result()[0] == 200
    return found


@pytest.mark.promise(128)
@pytest.mark.parametrize("version", VERSIONS)
def test_entry_has_three_extensible_objects(client_of: ClientOf, http: HttpClient, version: str) -> None:
    """A device's entry has the objects `config`, `state` and `status`, which settings and modules extend."""
    one = client_of(version=version)
    groups = ("arm", "compact", "grip", "pen")
    frame = one.ask(FULL)
    for group in groups:
        entries = frame[group].values() if version == "3.0" else frame[group]
        assert all(isinstance(entry[part], dict) for entry in entries for part in ("config", "state", "status"))

    http.post("/settings/serialization/status_safety", True)
    http.post("/settings/features/hfx/enabled", True)
    one.shown(configure={"navigation": {"mode": "bubble"}})

    frame = one.ask(FULL)
    (arm,) = frame["arm"].values() if version == "3.0" else frame["arm"]
    assert "navigation" in arm["config"]
    assert "hfx" in arm["state"]
    assert "safety" in arm["status"]
