"""The simulated arm's kinematics over its reach: inverse, forward, torque map, joint velocities, encoders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.testing.formulas import Mechanism
from tests.support.loop.devices import ARM_HIGH, ARM_LINKS, ARM_LOW, ARM_MECHANISM, ARM_SHOULDER

Array = NDArray[Any]
Vector = tuple[float, float, float]

COUNTS = 2.0**18


def reach() -> st.SearchStrategy[Vector]:
    x, y, z = (st.floats(low, high) for low, high in zip(ARM_LOW, ARM_HIGH, strict=True))
    return st.tuples(x, y, z)


def vectors(limit: float) -> st.SearchStrategy[Vector]:
    part = st.floats(-limit, limit)
    return st.tuples(part, part, part)


def numeric_jacobian(mechanism: Mechanism, angles: Sequence[float], step: float = 1e-5) -> Array:
    """dP/dangles by central differences: error 1e-11."""
    columns: list[Array] = []
    for joint in range(3):
        ahead, behind = list(angles), list(angles)
        ahead[joint] += step
        behind[joint] -= step
        columns.append((np.array(mechanism.forward(ahead)) - np.array(mechanism.forward(behind))) / (2 * step))
    return np.column_stack(columns)


@given(reach())
def test_forward_of_inverse_is_the_same_point(p: Vector) -> None:
    there = ARM_MECHANISM.forward(ARM_MECHANISM.inverse(p))

    assert math.dist(there, p) <= 1e-12


@pytest.mark.parametrize("x", np.linspace(ARM_LOW[0], ARM_HIGH[0], 9))
def test_forward_of_inverse_is_the_same_point_on_a_grid_with_every_corner(x: float) -> None:
    for y in np.linspace(ARM_LOW[1], ARM_HIGH[1], 9):
        for z in np.linspace(ARM_LOW[2], ARM_HIGH[2], 9):
            p = (float(x), float(y), float(z))
            assert math.dist(ARM_MECHANISM.forward(ARM_MECHANISM.inverse(p)), p) <= 1e-12


@given(reach())
def test_elbow_is_up_and_never_stretched_within_reach(p: Vector) -> None:
    yaw, shoulder, elbow = ARM_MECHANISM.inverse(p)

    assert -math.pi / 2 < yaw < math.pi / 2
    assert -math.pi + 0.1 < elbow < -0.1
    assert -math.pi / 2 < shoulder < math.pi


def test_zero_angles_stretch_the_arm_towards_the_user() -> None:
    x, y, z = ARM_MECHANISM.forward((0.0, 0.0, 0.0))

    assert (x, y, z) == pytest.approx((ARM_SHOULDER[0], ARM_SHOULDER[1] - sum(ARM_LINKS), ARM_SHOULDER[2]))


@pytest.mark.parametrize(
    ("angles", "wanted"),
    [
        ((math.pi / 2, 0.0, 0.0), (0.52, 0.08, 0.135)),
        ((0.0, math.pi / 2, 0.0), (0.0, 0.08, 0.655)),
        ((0.0, math.pi / 2, -math.pi / 2), (0.0, -0.18, 0.395)),
    ],
)
def test_positive_yaw_goes_to_plus_x_and_positive_pitch_goes_up(angles: Vector, wanted: Vector) -> None:
    assert ARM_MECHANISM.forward(angles) == pytest.approx(wanted, abs=1e-15)


def test_point_out_of_reach_gives_the_direction_to_it() -> None:
    far = (0.6, -0.9, 0.5)

    cursor = np.array(ARM_MECHANISM.forward(ARM_MECHANISM.inverse(far))) - ARM_SHOULDER
    wanted = np.array(far) - ARM_SHOULDER

    assert cursor / np.linalg.norm(cursor) == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-12)
    assert np.linalg.norm(cursor) == pytest.approx(sum(ARM_LINKS))


@given(reach(), vectors(10.0))
def test_torque_is_the_transposed_jacobian_times_force(p: Vector, f: Vector) -> None:
    angles = ARM_MECHANISM.inverse(p)

    torque = ARM_MECHANISM.torque(angles, f)

    assert torque == pytest.approx(numeric_jacobian(ARM_MECHANISM, angles).T @ f, abs=1e-8)


@given(reach(), vectors(10.0))
def test_force_of_torque_is_the_same_force(p: Vector, f: Vector) -> None:
    angles = ARM_MECHANISM.inverse(p)

    assert ARM_MECHANISM.force(angles, ARM_MECHANISM.torque(angles, f)) == pytest.approx(f, abs=1e-10)


@given(reach(), vectors(1.0))
def test_joint_velocity_is_the_inverse_jacobian_times_velocity(p: Vector, v: Vector) -> None:
    angles = ARM_MECHANISM.inverse(p)

    rates = ARM_MECHANISM.joint_velocity(angles, v)

    assert numeric_jacobian(ARM_MECHANISM, angles) @ rates == pytest.approx(v, abs=1e-8)


@given(reach(), vectors(10.0), vectors(1.0))
def test_power_is_the_same_at_the_joints_and_at_the_cursor(p: Vector, f: Vector, v: Vector) -> None:
    angles = ARM_MECHANISM.inverse(p)

    power = np.dot(ARM_MECHANISM.torque(angles, f), ARM_MECHANISM.joint_velocity(angles, v))

    assert power == pytest.approx(np.dot(f, v), abs=1e-10)


@pytest.mark.parametrize(
    "angles",
    [(0.3, 0.4, 0.0), (0.3, 0.4, -math.pi), (0.0, math.pi / 2 + 0.5, -1.0)],
    ids=["stretched", "folded", "axis"],
)
def test_singular_pose_gives_zero_instead_of_infinity(angles: Vector) -> None:
    assert ARM_MECHANISM.force(angles, (1.0, 1.0, 1.0)) == (0.0, 0.0, 0.0)
    assert ARM_MECHANISM.joint_velocity(angles, (1.0, 1.0, 1.0)) == (0.0, 0.0, 0.0)


@given(vectors(math.pi))
def test_an_encoder_rounds_down_to_a_whole_count(angles: Vector) -> None:
    step = 2 * math.pi / COUNTS
    mechanism = Mechanism(shoulder=ARM_SHOULDER, links=ARM_LINKS, counts_per_turn=COUNTS)

    read = mechanism.quantise(angles)

    for angle, seen in zip(angles, read, strict=True):
        assert seen / step == pytest.approx(round(seen / step), abs=1e-9)
        assert -1e-12 <= angle - seen < step + 1e-12


@pytest.mark.parametrize(("count", "wanted"), [(0.0, 0), (0.999, 0), (1.001, 1), (-0.001, -1), (-1.001, -2)])
def test_an_encoder_floors_also_below_zero(count: float, wanted: int) -> None:
    step = 2 * math.pi / COUNTS
    mechanism = Mechanism(shoulder=ARM_SHOULDER, links=ARM_LINKS, counts_per_turn=COUNTS)

    assert mechanism.quantise((count * step, 0.0, 0.0))[0] == pytest.approx(wanted * step, abs=1e-15)


def test_an_ideal_encoder_changes_nothing() -> None:
    assert ARM_MECHANISM.quantise((0.1, -0.2, 0.3)) == (0.1, -0.2, 0.3)


@given(reach())
def test_one_count_is_micrometres_at_the_cursor(p: Vector) -> None:
    mechanism = Mechanism(shoulder=ARM_SHOULDER, links=ARM_LINKS, counts_per_turn=COUNTS)

    seen = mechanism.forward(mechanism.quantise(mechanism.inverse(p)))

    assert math.dist(seen, p) < 25e-6


@pytest.mark.parametrize("links", [(0.0, 0.26), (0.26, -0.1)])
def test_a_link_without_length_is_refused(links: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="both links need a length above 0 m"):
        Mechanism(shoulder=ARM_SHOULDER, links=links)
