"""Coordinate spaces over WebSocket and HTTP agree with plain matrices for every basis, mount and workspace.

Numbers on the wire are float32, so they are held to that; the formulas of the loop itself are held to 1e-12.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.space.spatial_py import Space, basis_axial, basis_rotation
from tests.acceptance.conftest import Join
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.loop.readings import read_out
from tests.support.service.in_process_service import InProcessService

Array = NDArray[Any]
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}
BASES = [
    "".join(sign + axis for sign, axis in zip(signs, axes, strict=True))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]
CENTRES = {"A001": (0.0, -0.120, 0.135), "C001": (0.0, -0.085, 0.100)}
FLOAT32 = 2e-6


# ---------------------------------------------------------------- plain matrices


def matrix_of(basis: str) -> Array:
    """Row i has the sign of the device axis that position i of the string names."""
    rows: list[list[float]] = []
    rest = basis
    while rest:
        sign = -1.0 if rest[0] == "-" else 1.0
        rest = rest.lstrip("-")
        rows.append([sign if axis == rest[0] else 0.0 for axis in "XYZ"])
        rest = rest[1:]
    return np.array(rows)


def turning(q: tuple[float, ...]) -> Array:
    """The rotation of a unit quaternion w x y z, by the sandwich q v q* on each axis."""
    w, v = q[0], np.array(q[1:])
    columns = [axis + 2 * np.cross(v, np.cross(v, axis) + w * axis) for axis in np.eye(3)]
    return np.array(columns).T


def affine(position: tuple[float, ...], q: tuple[float, ...], scale: tuple[float, ...]) -> Array:
    whole = np.eye(4)
    whole[:3, :3] = turning(q) @ np.diag(scale)
    whole[:3, 3] = position
    return whole


def signed_permutation(basis: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    matrix = matrix_of(basis)
    axes = [int(np.argmax(np.abs(row))) for row in matrix]
    return tuple(axes), tuple(int(matrix[row, axis]) for row, axis in enumerate(axes))


coordinate = st.floats(-2, 2, allow_subnormal=False)
vectors = st.tuples(coordinate, coordinate, coordinate)
factor = st.floats(0.1, 10)
scales = st.tuples(factor, factor, factor)


@st.composite
def rotations(draw: st.DrawFn) -> tuple[float, ...]:
    raw = np.array(draw(st.tuples(*[st.floats(-1, 1, allow_subnormal=False)] * 4)))
    size = float(np.linalg.norm(raw))
    return tuple(float(part) for part in raw / size) if size > 0.1 else (1.0, 0.0, 0.0, 0.0)


transforms = st.tuples(vectors, rotations(), scales)


def as_json(transform: tuple[tuple[float, ...], ...]) -> dict[str, dict[str, float]]:
    position, rotation, scale = transform
    return {
        "position": dict(zip("xyz", position, strict=True)),
        "rotation": dict(zip("wxyz", rotation, strict=True)),
        "scale": dict(zip("xyz", scale, strict=True)),
    }


def values(shown: dict[str, float]) -> list[float]:
    return list(shown.values())


# ---------------------------------------------------------------- the loop's own formulas


@given(transforms, transforms, vectors)
def test_point_round_trips_within_1e_12_in_every_basis(
    mount: tuple[Any, ...], workspace: tuple[Any, ...], p: tuple[float, float, float]
) -> None:
    """Relative to the largest length on the way; small scales magnify on the way back."""
    whole = affine(*workspace) @ affine(*mount)
    longest = max(1.0, *map(abs, (*p, *mount[0], *workspace[0]))) * max(1.0, *mount[2]) * max(1.0, *workspace[2])
    for basis in BASES:
        space = Space(basis=signed_permutation(basis), mount=mount, workspace=workspace)

        there = space.position_to_application(p)
        back = np.array(space.position_to_device(there))

        assert np.max(np.abs(there - (whole @ np.append(matrix_of(basis) @ p, 1.0))[:3])) <= 1e-12 * longest
        assert np.max(np.abs(back - p)) <= 1e-12 * longest / (min(mount[2]) * min(workspace[2]))


@pytest.mark.parametrize("basis", BASES)
def test_rotation_turns_in_the_direction_of_its_points(basis: str) -> None:
    """A small turn about w moves a point by w x p; a mirrored basis must not turn it backwards."""
    matrix, axis, p = matrix_of(basis), np.array((0.3, -0.5, 0.8)), np.array((0.2, 0.7, -0.4))
    q = np.array((2e3, *axis))
    q /= np.linalg.norm(q)

    seen = turning(basis_rotation(signed_permutation(basis), q.tolist()))
    spun = np.array(basis_axial(signed_permutation(basis), axis.tolist()))

    assert seen @ (matrix @ p) == pytest.approx(matrix @ (turning(tuple(q)) @ p), abs=1e-14)
    assert np.cross(spun, matrix @ p) == pytest.approx(matrix @ np.cross(axis, p), abs=1e-14)
    assert spun == pytest.approx(np.linalg.det(matrix) * matrix @ axis, abs=1e-15)


# ---------------------------------------------------------------- the session channel


def configured(client: RawWebSocket, basis: str, mount: tuple[Any, ...], workspace: tuple[Any, ...]) -> Any:
    """The arm, and the grip's entry, once all three were sent in one message."""
    reply = client.ask(
        {
            "arm": [
                {
                    "device_id": "A001",
                    "configure": {"mount": as_json(mount)},
                    "commands": {"set_transform": {"transform": as_json(workspace)}},
                }
            ],
            "session": {"configure": {"basis": {"permutation": basis}}},
        }
    )
    assert "errors" not in reply
    return reply


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(basis=st.sampled_from(BASES), mount=transforms, workspace=transforms)
def test_frame_position_equals_the_matrix_product(
    service: InProcessService, client: RawWebSocket, basis: str, mount: tuple[Any, ...], workspace: tuple[Any, ...]
) -> None:
    state = configured(client, basis, mount, workspace)["arm"][0]["state"]
    internal = service.state("A001")
    matrix = affine(*workspace) @ affine(*mount)
    linear = matrix[:3, :3] @ matrix_of(basis)
    position = read_out("cursor_position", internal["position"])
    velocity = read_out("cursor_velocity", internal["velocity"])
    wanted = (matrix @ np.append(matrix_of(basis) @ position, 1.0))[:3]
    size = max(1.0, float(np.max(np.abs(wanted))), *mount[0], *workspace[0]) * max(1.0, *workspace[2])

    assert values(state["cursor_position"]) == pytest.approx(wanted, abs=FLOAT32 * size)
    assert values(state["cursor_velocity"]) == pytest.approx(linear @ velocity, rel=1e-4, abs=1e-4)
    turned = turning(workspace[1]) @ turning(mount[1])
    own = turning(tuple(float(part) for part in internal["orientation"]))
    body = turned @ matrix_of(basis) @ own @ matrix_of(basis).T
    assert turning(tuple(values(state["body_orientation"]))) == pytest.approx(body, abs=4e-5)


@pytest.mark.parametrize("basis", BASES)
def test_force_acts_in_the_client_s_direction_at_every_scale(service: InProcessService, join: Join, basis: str) -> None:
    client, _ = join()
    mount = ((0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5), (2.0, 3.0, 0.5))
    workspace = ((-1.0, 0.0, 0.5), (0.6, 0.0, 0.8, 0.0), (0.1, 5.0, 1.0))
    configured(client, basis, mount, workspace)
    force = np.array((0.3, -0.4, 0.5))
    command = {"set_cursor_force": {"vector": dict(zip("xyz", force.tolist(), strict=True))}}
    for _ in range(20):
        client.ask({"arm": [{"device_id": "A001", "commands": command}]})
        service.step(4)
    state = client.ask({})["arm"][0]["state"]

    turned = turning(workspace[1]) @ turning(mount[1]) @ matrix_of(basis)
    assert values(state["current_cursor_force"]) == pytest.approx(force, abs=1e-6)
    assert list(service.state("A001")["force"]) == pytest.approx(turned.T @ force, abs=1e-6)


# ---------------------------------------------------------------- HTTP


@pytest.mark.parametrize("basis", ["XYZ", "YZX", "X-YZ", "-Z-Y-X", "XZ-Y", "-XYZ"])
def test_http_uses_the_same_space_as_frames(
    service: InProcessService, http: HttpClient, join: Join, basis: str
) -> None:
    client, first = join()
    mine = first["session_id"]
    mount = ((0.5, -0.25, 1.0), (0.6, 0.0, 0.0, 0.8), (2.0, 1.0, 0.5))
    workspace = ((0.125, 2.0, -1.0), (0.5, -0.5, 0.5, 0.5), (1.0, 4.0, 2.0))

    assert http.post(f"/arm/A001/config/basis?session={mine}", basis).data == {"permutation": basis}
    mounted = http.post(f"/arm/A001/config/mount?session={mine}", as_json(mount)).data["transform"]
    moved = http.post(f"/arm/A001/state/transform?session=%23{mine}", {"transform": as_json(workspace)}).data
    listed = http.get(f"/devices?session={mine}").data["arm"][0]
    framed = client.ask(FULL)["arm"][0]

    assert (mounted, moved["transform"]) == (as_json(mount), as_json(workspace))
    assert (list(mounted["rotation"]), list(moved["transform"]["rotation"])) == (list("wxyz"), list("wxyz"))
    assert listed.pop("interruptions").keys() == {"interrupted_s", "force_lost", "gaps", "longest_ms"}
    assert listed == framed
    p = [*(matrix_of(basis) @ service.state("A001")["position"]), 1.0]
    assert values(listed["state"]["cursor_position"]) == pytest.approx(
        (affine(*workspace) @ affine(*mount) @ p)[:3], abs=1e-5
    )
    plain = http.get("/devices").data["arm"][0]["state"]["cursor_position"]
    assert values(plain) == pytest.approx(list(service.state("A001")["position"]), abs=1e-7)


# ---------------------------------------------------------------- presets

BEFORE_353 = {
    ("A001", "arm_front_centered"): (0.0, -0.145, 0.135),
    ("A001", "led_front_centered"): (0.0, -0.145, 0.135),
    ("C001", "compact_centered"): (-0.010, -0.105, 0.080),
    ("C001", "compact_zup"): (0.000, -0.105, 0.080),
}
SHIFTS_MM = {
    "arm_front_centered": (0, 25, 0),
    "led_front_centered": (0, 25, 0),
    "compact_centered": (10, 20, 20),
    "compact_zup": (20, 30, 0),
}


@pytest.mark.parametrize(("device_id", "preset"), BEFORE_353)
def test_preset_origin_is_shifted_by_whole_millimetres(
    http: HttpClient, join: Join, device_id: str, preset: str
) -> None:
    _, first = join()
    path = f"/haptic*/{device_id}/config"

    assert http.post(f"{path}/preset?session={first['session_id']}", preset).data == {"preset": preset}
    position = http.get(f"{path}/mount?session={first['session_id']}").data["transform"]["position"]

    micrometres = [round(-1e6 * part) for part in values(position)]
    before = [round(1e6 * part) for part in BEFORE_353[device_id, preset]]
    assert [now - old for now, old in zip(micrometres, before, strict=True)] == [
        1000 * part for part in SHIFTS_MM[preset]
    ]


@pytest.mark.parametrize("device_id", CENTRES)
def test_centred_preset_follows_the_basis_and_a_custom_mount_does_not(join: Join, device_id: str) -> None:
    client, _ = join()
    group = "arm" if device_id == "A001" else "compact"

    def config(**change: Any) -> Any:
        reply = client.ask({**FULL, group: [{"device_id": device_id, "configure": change}]})
        assert "errors" not in reply
        return reply[group][0]["config"]

    config(preset="arm_front_centered")
    for basis in BASES:
        shown = config(basis=basis)
        assert shown["preset"] == "arm_front_centered"
        assert list(shown["mount"]) == ["position"]
        assert values(shown["mount"]["position"]) == pytest.approx(-matrix_of(basis) @ CENTRES[device_id], abs=1e-7)

    own = {"position": {"x": 0.5, "y": 0.25, "z": 1}}
    config(mount=own)
    assert [config(basis=basis)["mount"] for basis in BASES[:5]] == [own] * 5
    assert config()["preset"] == "custom"
    assert config(preset="led_front")["mount"] == {}
