"""The Falcon's delta mechanism over its reach: inverse and forward kinematics, Jacobian, torques, outside poses."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.codecs import falcon_py
from fastpath.codecs.falcon_py import Delta
from fastpath.testing.formulas import Mechanism

Array = NDArray[Any]
Vector = tuple[float, float, float]

BASE = (0.01, 0.04, 0.1)
MECHANISM = Delta(BASE)
IN_THE_LOOP = Mechanism(shoulder=BASE, links=(1, 1), kind="delta")
MOST_ANGLE = math.radians(87)


def at(x: float, y: float, z: float) -> Vector:
    """A point of the mechanism's own frame (z towards the user, y up), in the device frame."""
    return BASE[0] + x, BASE[1] - z, BASE[2] + y


def cursor(draw: random.Random) -> Vector:
    """A point that the mechanism reaches with no leg near the end of its way."""
    while True:
        point = at(draw.uniform(-0.06, 0.06), draw.uniform(-0.06, 0.06), draw.uniform(0.07, 0.178))
        angles = MECHANISM.inverse(point)
        if angles is not None and all(abs(angle) < MOST_ANGLE for angle in angles):
            return point


def poses(count: int, seed: int = 1) -> list[Vector]:
    draw = random.Random(seed)
    return [cursor(draw) for _ in range(count)]


def vectors(limit: float) -> st.SearchStrategy[Vector]:
    part = st.floats(-limit, limit)
    return st.tuples(part, part, part)


def cursors() -> st.SearchStrategy[Vector]:
    return st.integers(0, 2**32).map(lambda seed: cursor(random.Random(seed)))


def inverse(point: Vector) -> Vector:
    angles = MECHANISM.inverse(point)
    assert angles is not None
    return angles


def rows(point: Vector) -> Array:
    jacobian = MECHANISM.cranks(point)
    assert jacobian is not None
    return np.array(jacobian)


def numeric_rows(point: Vector, step: float = 1e-5) -> Array:
    """d(angle)/d(cursor) by five-point central differences."""

    def shifted(axis: int, by: float) -> Array:
        moved = list(point)
        moved[axis] += by
        return np.array(inverse((moved[0], moved[1], moved[2])))

    return np.column_stack(
        [
            (8 * (shifted(i, step) - shifted(i, -step)) - (shifted(i, 2 * step) - shifted(i, -2 * step))) / (12 * step)
            for i in range(3)
        ]
    )


@pytest.mark.parametrize(
    ("z", "count"), [(0.08, -1284), (0.10, -741), (0.12, -304), (0.14, 115), (0.16, 580), (0.17, 872)]
)
def test_encoders_show_the_known_count_on_the_axis(z: float, count: int) -> None:
    counts = [falcon_py.count(math.degrees(angle)) for angle in inverse(at(0, 0, z))]

    assert counts == pytest.approx([count] * 3, abs=0.6)


def test_forward_of_inverse_is_within_a_nanometre() -> None:
    for point in poses(5000):
        found = MECHANISM.forward(inverse(point))

        assert found is not None
        assert math.dist(found, point) <= 1e-9


@pytest.mark.parametrize(
    "angles", [(9.0, 9.0, 9.0), (math.nan, 0.0, 0.0), (0.0, math.inf, 0.0), (-3.0, 1.5, 1.5), (1e300, 0.0, 0.0)]
)
def test_impossible_angles_give_no_pose(angles: Vector) -> None:
    assert MECHANISM.forward(angles) is None


@given(angles=vectors(4.0))
def test_inverse_of_forward_gives_the_same_angles(angles: Vector) -> None:
    found = MECHANISM.forward(angles)

    if found is not None:
        again = MECHANISM.inverse(found)
        if again is not None:
            off = [math.remainder(a - b, 2 * math.pi) for a, b in zip(again, angles, strict=True)]
            assert max(map(abs, off)) < 1e-4


@pytest.mark.parametrize("point", [at(0, 0, 0.05), at(0, 0, 0.19), at(0.2, 0, 0.12), at(0, 5, 0), (math.nan, 0.0, 0.0)])
def test_pose_out_of_reach_gives_no_angles_jacobian_or_force(point: Vector) -> None:
    assert MECHANISM.inverse(point) is None
    assert MECHANISM.cranks(point) is None
    assert MECHANISM.force(point, (1.0, 2.0, 3.0)) == (0.0, 0.0, 0.0)


def test_the_jacobian_is_the_derivative_of_the_inverse() -> None:
    for point in poses(500, seed=3):
        exact = rows(point)

        assert np.abs(exact - numeric_rows(point)).max() <= 1e-8 * max(1.0, float(np.abs(exact).max()))


@given(point=cursors(), force=vectors(10), velocity=vectors(1))
def test_joint_power_equals_cursor_power(point: Vector, force: Vector, velocity: Vector) -> None:
    angles = inverse(point)
    torque = np.array(IN_THE_LOOP.torque(angles, force))
    rate = np.array(IN_THE_LOOP.joint_velocity(angles, velocity))

    assert rate == pytest.approx(rows(point) @ np.array(velocity), abs=1e-9)
    assert torque @ rate == pytest.approx(np.array(force) @ np.array(velocity), abs=1e-9)


@given(point=cursors(), force=vectors(10))
def test_force_of_torques_of_a_force_is_the_force(point: Vector, force: Vector) -> None:
    torque = IN_THE_LOOP.torque(inverse(point), force)

    assert MECHANISM.force(point, torque) == pytest.approx(force, abs=1e-9)
    assert IN_THE_LOOP.force(inverse(point), torque) == pytest.approx(force, abs=1e-9)


def test_loop_and_python_formulas_agree() -> None:
    point = at(0.02, -0.03, 0.15)

    assert IN_THE_LOOP.inverse(point) == inverse(point)
    assert IN_THE_LOOP.forward(inverse(point)) == MECHANISM.forward(inverse(point))


def test_impossible_angles_in_the_loop_give_a_centred_cursor_without_force() -> None:
    impossible = (-3.0, 1.5, 1.5)

    assert IN_THE_LOOP.forward(impossible) == pytest.approx(at(0, 0, 0.12))
    assert IN_THE_LOOP.torque(impossible, (1.0, 2.0, 3.0)) == (0.0, 0.0, 0.0)
    assert IN_THE_LOOP.force(impossible, (1.0, 2.0, 3.0)) == (0.0, 0.0, 0.0)


def test_torques_are_bounded_within_the_reach() -> None:
    draw = random.Random(4)
    for _ in range(2000):
        point = at(draw.uniform(-0.1, 0.1), draw.uniform(-0.1, 0.1), draw.uniform(0.05, 0.19))
        angles = MECHANISM.inverse(point)
        if angles is not None:
            assert max(map(abs, IN_THE_LOOP.torque(angles, (1.0, 1.0, 1.0)))) < 20
            assert max(map(abs, IN_THE_LOOP.joint_velocity(angles, (1.0, 1.0, 1.0)))) < 5000


def test_push_towards_the_user_turns_all_three_cranks_equally() -> None:
    torque = IN_THE_LOOP.torque(inverse(at(0, 0, 0.125)), (0.0, -1.0, 0.0))

    assert torque[0] > 0.01
    assert torque == pytest.approx([torque[0]] * 3, abs=1e-12)
