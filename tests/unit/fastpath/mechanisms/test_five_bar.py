"""The planar five-bar mechanism: known poses, torque map and limits over its whole reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.testing.formulas import Mechanism
from tests.support.loop.devices import SteppedArm, fill, force_of, still_arm_params

Array = NDArray[Any]
Vector = tuple[float, float, float]

FIVE_BAR = 1
TORQUE_LIMIT = 123.0
# proximal and distal link, base: m
SIZES = {"v1": (0.05, 0.07, 0.02), "metal": (0.07, 0.09, 0.0), "plastic": (0.07, 0.09, 0.038)}
MECHANISMS = {
    name: Mechanism(kind="five_bar", shoulder=(0, 0, 0), links=(near, far), base=base)
    for name, (near, far, base) in SIZES.items()
}
every_mechanism = pytest.mark.parametrize("name", list(SIZES))


def degrees(*angles: float) -> Vector:
    first, second = (math.radians(angle) for angle in angles)
    return (first, second, 0.0)


def numeric_jacobian(mechanism: Mechanism, angles: Sequence[float], step: float = 1e-4) -> Array:
    """dP/dangles by fourth-order central differences."""
    columns: list[Array] = []
    for joint in range(3):
        seen = []
        for ahead in (-2, -1, 1, 2):
            moved = list(angles)
            moved[joint] += ahead * step
            seen.append(np.array(mechanism.forward(moved)))
        columns.append((seen[0] - 8 * seen[1] + 8 * seen[2] - seen[3]) / (12 * step))
    return np.column_stack(columns)


def shape(name: str, angles: Sequence[float]) -> tuple[float, float, float]:
    """Sine between the distal links, and between each proximal link and its distal one, of the textbook's own plane."""
    near, _far, base = SIZES[name]
    elbows = [
        np.array([motor, 0.0]) + near * np.array([math.cos(t), math.sin(t)])
        for motor, t in zip((0, base), angles[:2], strict=True)
    ]
    tip = -np.array(MECHANISMS[name].forward(angles)[:2])
    distal = [tip - elbow for elbow in elbows]
    proximal = [elbows[0], elbows[1] - np.array([base, 0.0])]

    def sine(u: Array, v: Array) -> float:
        return float((u[0] * v[1] - u[1] * v[0]) / np.linalg.norm(u) / np.linalg.norm(v))

    return sine(*distal), sine(proximal[0], distal[0]), sine(proximal[1], distal[1])


def reachable(name: str) -> st.SearchStrategy[Vector]:
    """Joint angles whose elbows are not too far apart and not on each other."""
    turn = st.floats(-math.pi, math.pi)

    def closes(angles: Vector) -> bool:
        return abs(shape(name, angles)[0]) > 0.1

    return st.tuples(turn, turn, st.just(0.0)).filter(closes)


def plane(limit: float) -> st.SearchStrategy[Vector]:
    part = st.floats(-limit, limit)
    return st.tuples(part, part, st.just(0.0))


@pytest.mark.parametrize(
    ("name", "angles", "tip"),
    [
        ("plastic", degrees(128, 52), (0.019, 0.1203071)),
        ("v1", degrees(140, 40), (0.010, 0.0828039)),
    ],
)
def test_the_cursor_is_where_the_two_distal_links_meet(name: str, angles: Vector, tip: tuple[float, float]) -> None:
    x, y, z = MECHANISMS[name].forward(angles)
    near, far, base = SIZES[name]

    assert (-x, -y, z) == pytest.approx((*tip, 0), abs=1e-6)
    for motor, angle in zip((0, base), angles[:2], strict=True):
        elbow = (motor + near * math.cos(angle), near * math.sin(angle))
        assert math.dist((-x, -y), elbow) == pytest.approx(far, abs=1e-12)


def test_the_jacobian_at_the_home_of_a_plastic_board() -> None:
    rows = MECHANISMS["plastic"].jacobian(degrees(128, 52))

    # The plane's own Jacobian is this, turned half round.
    assert -np.array(rows)[:2, :2] == pytest.approx(np.array([[-0.0502, -0.0502], [-0.0478, 0.0478]]), abs=5e-5)
    assert [row[2] for row in rows] == [0, 0, 0]
    assert rows[2] == (0, 0, 0)


def test_board_has_motor_one_on_the_far_right() -> None:
    shoulder = (0.019, 0.03, 0.01)
    mechanism = Mechanism(kind="five_bar", shoulder=shoulder, links=(0.07, 0.09), base=0.038)

    ahead = mechanism.forward(degrees(128, 52))
    to_the_left = mechanism.forward(degrees(100, 30))

    assert ahead == pytest.approx((0.0, 0.03 - 0.1203071, 0.01), abs=1e-6)
    assert to_the_left[0] < ahead[0]


@every_mechanism
@given(data=st.data())
def test_torque_is_the_transposed_jacobian_times_force(name: str, data: st.DataObject) -> None:
    angles, force = data.draw(reachable(name)), data.draw(plane(10.0))
    mechanism = MECHANISMS[name]
    numeric = numeric_jacobian(mechanism, angles)

    assert np.array(mechanism.jacobian(angles)) == pytest.approx(numeric, abs=1e-8)
    assert mechanism.torque(angles, force) == pytest.approx(numeric.T @ force, abs=1e-7)


@every_mechanism
@given(data=st.data())
def test_forces_and_velocities_round_trip_through_the_joints(name: str, data: st.DataObject) -> None:
    angles, force, velocity = data.draw(reachable(name)), data.draw(plane(10.0)), data.draw(plane(1.0))
    assume(min(abs(sine) for sine in shape(name, angles)) > 0.05)
    mechanism = MECHANISMS[name]

    torque, rates = mechanism.torque(angles, force), mechanism.joint_velocity(angles, velocity)

    assert mechanism.force(angles, torque) == pytest.approx(force, abs=1e-9)
    assert np.array(mechanism.jacobian(angles)) @ rates == pytest.approx(velocity, abs=1e-9)
    assert np.dot(torque, rates) == pytest.approx(np.dot(force, velocity), abs=1e-9)


@every_mechanism
@given(x=st.floats(-0.04, 0.04), share=st.floats(0.45, 0.95))
def test_forward_of_inverse_is_the_same_point(name: str, x: float, share: float) -> None:
    near, far, base = SIZES[name]
    p = (-base / 2 - x, -share * (near + far) * 0.9, 0.0)
    assume(max(math.hypot(p[0], p[1]), math.hypot(p[0] + base, p[1])) < near + far - 1e-4)

    angles = MECHANISMS[name].inverse(p)

    assert MECHANISMS[name].forward(angles) == pytest.approx(p, abs=1e-12)
    assert angles[0] > angles[1]


@every_mechanism
@given(data=st.data())
def test_every_pose_gives_bounded_numbers(name: str, data: st.DataObject) -> None:
    turn = st.floats(-10, 10)
    first = data.draw(turn)
    angles = (first, data.draw(st.one_of(turn, st.just(first), st.floats(first - 1e-7, first + 1e-7))), data.draw(turn))
    mechanism = MECHANISMS[name]
    near, far, base = SIZES[name]

    tip = mechanism.forward(angles)
    torque = mechanism.torque(angles, (5.0, 5.0, 5.0))
    others = mechanism.force(angles, (0.1, 0.1, 0.1)), mechanism.joint_velocity(angles, (1.0, 1.0, 1.0))

    assert math.hypot(*tip) <= near + far + base + 1e-12
    assert max(abs(part) for part in torque) <= 50 * near * math.hypot(5, 5) * 1.01
    assert torque[2] == 0
    for vector in others:
        assert all(abs(part) <= 1e5 for part in vector)


@pytest.mark.parametrize(
    ("name", "angles"),
    [
        ("metal", degrees(90, 90)),
        ("plastic", (math.acos(0.019 / 0.07), math.pi - math.acos(0.019 / 0.07), 0.0)),
    ],
    ids=["elbows on each other", "links crossed"],
)
def test_coinciding_elbows_give_a_straight_cursor_without_force(name: str, angles: Vector) -> None:
    mechanism = MECHANISMS[name]

    x, y, _ = mechanism.forward(angles)

    assert x == pytest.approx(-SIZES[name][2] / 2, abs=1e-9)
    assert y < -0.07
    assert mechanism.torque(angles, (5.0, 5.0, 0.0)) == (0, 0, 0)
    assert mechanism.force(angles, (0.1, 0.1, 0.0)) == (0, 0, 0)
    assert mechanism.joint_velocity(angles, (1.0, 1.0, 0.0)) == (0, 0, 0)


def test_unreachable_elbow_distance_puts_the_cursor_between_them() -> None:
    wide = Mechanism(kind="five_bar", shoulder=(0, 0, 0), links=(0.05, 0.06), base=0.1)
    apart = degrees(180, 0)

    assert wide.forward(apart) == pytest.approx((-0.05, 0, 0), abs=1e-12)
    assert wide.torque(apart, (5.0, 5.0, 0.0)) == (0, 0, 0)


def test_stretched_side_has_torque_but_no_joint_velocity() -> None:
    mechanism = MECHANISMS["plastic"]
    stretched = mechanism.inverse((-0.03, -math.sqrt(0.16**2 - 0.03**2), 0.0))

    assert mechanism.torque(stretched, (0.0, 1.0, 0.0))[0] == pytest.approx(0, abs=1e-6)
    assert mechanism.joint_velocity(stretched, (1.0, 1.0, 0.0)) == (0, 0, 0)


@pytest.mark.parametrize(("kind", "base"), [("spider", 0.0), ("five_bar", math.nan)])
def test_unknown_mechanism_is_refused(kind: Any, base: float) -> None:
    with pytest.raises(ValueError, match="a mechanism is one of serial, five_bar"):
        Mechanism(kind=kind, shoulder=(0, 0, 0), links=(0.07, 0.09), base=base)


# ---------------------------------------------------------------- on the loop


def board(name: str, centre: Vector, **changes: object) -> SteppedArm:
    """A board on a stepping loop that nothing moves, with its cursor at `centre` (m)."""
    near, far, base = SIZES[name]
    params = still_arm_params(peak_force=5.0, torque_limit=TORQUE_LIMIT)
    fill(
        params["mechanism"],
        {"kind": FIVE_BAR, "shoulder": (0, 0, 0), "link": (near, far), "base": base, "counts_per_turn": 4880},
    )
    fill(params["hand"], {"centre": centre})
    fill(params, changes)
    return SteppedArm(params)


POSES = {"v1": (-0.010, -0.083, 0.0), "metal": (0.01, -0.11, 0.0), "plastic": (-0.019, -0.12, 0.0)}


@every_mechanism
@pytest.mark.parametrize("direction", range(0, 360, 15))
def test_saturated_motors_keep_the_direction_of_the_force(name: str, direction: int) -> None:
    rig = board(name, POSES[name])
    angle = math.radians(direction)
    wanted = np.array([math.cos(angle), math.sin(angle), 0.0])

    rig.force(*(5 * wanted))
    state = rig.step()
    given_out = np.array(force_of(state))
    joints = [math.radians(angle) for angle in state["joint"]]
    at_the_cursor = MECHANISMS[name].force(joints, [float(part) / 1000 for part in state["torque"]])

    assert max(abs(state["torque"])) == pytest.approx(TORQUE_LIMIT)
    assert int(state["saturated"]) >= 1
    for force in (given_out, np.array(at_the_cursor)):
        along = float(np.dot(force, wanted) / np.linalg.norm(force))
        assert along > math.cos(math.radians(1))
        assert 0.5 < np.linalg.norm(force) < 5


def test_undriven_axis_gets_no_force() -> None:
    rig = board("plastic", POSES["plastic"])

    rig.force(0.5, 0.0, 4.99)
    state = rig.step()

    assert force_of(state) == pytest.approx((0.5, 0.0, 0.0))
    assert state["torque"][2] == 0
    assert tuple(state["position"][2:]) == (0,)


def test_third_joint_torque_moves_nothing() -> None:
    rig = board("plastic", POSES["plastic"])

    rig.writer.begin()
    rig.writer.torque(20.0, 0.0, 100.0)
    assert rig.writer.publish()
    state = rig.step()

    assert tuple(state["torque"]) == pytest.approx((20.0, 0.0, 0.0))


def test_singular_pose_gives_zero_torque_and_finite_numbers() -> None:
    rig = board("metal", (0.0, -0.16, 0.0))

    rig.force(3.0, -3.0, 0.0)
    state = rig.step(40)

    for field in ("position", "velocity", "joint", "joint_velocity", "force", "torque"):
        assert np.isfinite(state[field]).all()
    assert tuple(state["torque"]) == (0, 0, 0)
    assert tuple(state["force"]) == (0, 0, 0), "what no motor gives is not shown"
