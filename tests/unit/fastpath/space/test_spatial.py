"""Coordinate spaces agree with plain matrices: every basis, mount and workspace, in both directions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.space import spatial_py
from fastpath.space.spatial_py import Basis, Space, Transform

Array = NDArray[Any]

BASES: list[Basis] = [
    (axes, signs) for axes in itertools.permutations(range(3)) for signs in itertools.product((1, -1), repeat=3)
]
IDENTITY: Transform = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def numbers(limit: float) -> st.SearchStrategy[float]:
    return st.floats(-limit, limit, allow_subnormal=False)


def vectors(limit: float = 1.0) -> st.SearchStrategy[tuple[float, float, float]]:
    return st.tuples(numbers(limit), numbers(limit), numbers(limit))


@st.composite
def rotations(draw: st.DrawFn) -> tuple[float, ...]:
    raw = np.array(draw(st.tuples(numbers(1), numbers(1), numbers(1), numbers(1))))
    length = float(np.linalg.norm(raw))
    if length < 0.1:
        return (1.0, 0.0, 0.0, 0.0)
    return tuple(float(part) for part in raw / length)


def transforms() -> st.SearchStrategy[Transform]:
    scale = st.floats(0.05, 20.0)
    return st.tuples(vectors(2.0), rotations(), st.tuples(scale, scale, scale))


def basis_matrix(basis: Basis) -> Array:
    axes, signs = basis
    matrix = np.zeros((3, 3))
    for row, (axis, sign) in enumerate(zip(axes, signs, strict=True)):
        matrix[row, axis] = sign
    return matrix


def rotation_matrix(q: Sequence[float]) -> Array:
    """From the textbook's entries, not from the formula under test."""
    w, x, y, z = q
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def affine(transform: Transform) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_matrix(transform[1]) @ np.diag(transform[2])
    matrix[:3, 3] = transform[0]
    return matrix


def linear_part(basis: Basis, mount: Transform, workspace: Transform, *, scaled: bool) -> Array:
    matrix = basis_matrix(basis)
    for transform in (mount, workspace):
        matrix = rotation_matrix(transform[1]) @ (np.diag(transform[2]) if scaled else np.eye(3)) @ matrix
    return matrix


def close(actual: Sequence[float], wanted: Array, relative_to: float = 1.0) -> bool:
    return bool(np.max(np.abs(np.asarray(actual) - wanted)) <= 1e-12 * max(relative_to, 1e-30))


def size(*values: Sequence[float]) -> float:
    return max(max((abs(part) for part in value), default=0.0) for value in values)


def test_there_are_48_bases_and_half_are_mirrored() -> None:
    assert len(BASES) == 48
    assert sum(np.linalg.det(basis_matrix(basis)) < 0 for basis in BASES) == 24


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_basis_equals_its_matrix_and_its_inverse_undoes_it(basis: Basis) -> None:
    v = (0.1, -0.2, 0.3)

    assert spatial_py.basis_apply(basis, v) == tuple(basis_matrix(basis) @ v)
    assert spatial_py.basis_undo(basis, spatial_py.basis_apply(basis, v)) == v


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_rotation_equals_its_matrix_in_every_basis(basis: Basis) -> None:
    matrix = basis_matrix(basis)
    q = np.array((0.8, 0.1, -0.5, 0.2)) / math.sqrt(0.94)

    turned = rotation_matrix(spatial_py.basis_rotation(basis, q.tolist()))

    assert turned == pytest.approx(matrix @ rotation_matrix(q.tolist()) @ matrix.T, abs=1e-15)


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_an_axial_vector_stays_the_cross_product_of_its_vectors(basis: Basis) -> None:
    matrix = basis_matrix(basis)
    arm, push = np.array((0.1, 0.2, -0.4)), np.array((1.0, -2.0, 0.5))

    moment = spatial_py.basis_axial(basis, np.cross(arm, push).tolist())

    assert moment == pytest.approx(np.cross(matrix @ arm, matrix @ push), abs=1e-15)


@given(transforms(), vectors())
def test_point_round_trips_through_a_transform(transform: Transform, p: tuple[float, float, float]) -> None:
    there = spatial_py.transform_point(transform, p)

    assert close(there, (affine(transform) @ (*p, 1.0))[:3], 40.0)
    assert close(
        spatial_py.transform_point_back(transform, there), np.array(p), size(transform[0], p) / min(transform[2])
    )


@given(st.sampled_from(BASES), transforms(), transforms(), vectors())
def test_position_equals_the_matrix_product_and_round_trips(
    basis: Basis, mount: Transform, workspace: Transform, p: tuple[float, float, float]
) -> None:
    space = Space(basis=basis, mount=mount, workspace=workspace)
    full = affine(workspace) @ affine(mount)
    wanted = (full @ (*(basis_matrix(basis) @ p), 1.0))[:3]
    largest = size(p, mount[0], workspace[0]) * max(1.0, *mount[2]) * max(1.0, *workspace[2])

    there = space.position_to_application(p)
    back = space.position_to_device(there)

    assert close(there, wanted, largest)
    assert close(back, np.array(p), largest / (min(mount[2]) * min(workspace[2])))


@given(st.sampled_from(BASES), transforms(), transforms(), vectors(5.0))
def test_velocity_is_scaled_and_not_shifted(
    basis: Basis, mount: Transform, workspace: Transform, v: tuple[float, float, float]
) -> None:
    space = Space(basis=basis, mount=mount, workspace=workspace)
    matrix = linear_part(basis, mount, workspace, scaled=True)
    grown = size(v) * max(mount[2]) * max(workspace[2])

    there = space.velocity_to_application(v)

    assert close(there, matrix @ v, grown)
    assert close(space.velocity_to_device(there), np.array(v), grown / (min(mount[2]) * min(workspace[2])))


@given(st.sampled_from(BASES), transforms(), transforms(), vectors(20.0))
def test_force_is_turned_and_not_scaled(
    basis: Basis, mount: Transform, workspace: Transform, f: tuple[float, float, float]
) -> None:
    space = Space(basis=basis, mount=mount, workspace=workspace)
    matrix = linear_part(basis, mount, workspace, scaled=False)

    there = space.force_to_application(f)

    assert close(there, matrix @ f, size(f))
    assert np.linalg.norm(there) == pytest.approx(np.linalg.norm(f), rel=1e-12)
    assert close(space.force_to_device(there), np.array(f), size(f))
    assert close(space.force_to_device(f), matrix.T @ f, size(f))


@given(st.sampled_from(BASES), transforms(), transforms(), rotations())
def test_an_orientation_is_seen_through_basis_mount_and_workspace(
    basis: Basis, mount: Transform, workspace: Transform, q: tuple[float, ...]
) -> None:
    space = Space(basis=basis, mount=mount, workspace=workspace)
    matrix = basis_matrix(basis)
    wanted = rotation_matrix(workspace[1]) @ rotation_matrix(mount[1]) @ matrix @ rotation_matrix(q) @ matrix.T

    there = space.rotation_to_application(q)

    assert rotation_matrix(there) == pytest.approx(wanted, abs=1e-12)
    assert space.rotation_to_device(there) == pytest.approx(q, abs=1e-12)


@given(st.sampled_from(BASES), transforms(), transforms(), vectors(), vectors())
def test_power_is_the_same_on_both_sides_when_nothing_is_scaled(
    basis: Basis,
    mount: Transform,
    workspace: Transform,
    f: tuple[float, float, float],
    v: tuple[float, float, float],
) -> None:
    unscaled = [(m[0], m[1], (1.0, 1.0, 1.0)) for m in (mount, workspace)]
    space = Space(basis=basis, mount=unscaled[0], workspace=unscaled[1])

    power = np.dot(space.force_to_device(f), v)

    assert power == pytest.approx(np.dot(f, space.velocity_to_application(v)), abs=1e-12)


def test_identity_space_changes_nothing() -> None:
    p = (0.1, -0.2, 0.3)

    assert Space().position_to_application(p) == p
    assert Space(mount=IDENTITY, workspace=IDENTITY).position_to_device(p) == p


@pytest.mark.parametrize(
    "basis",
    [
        ((0, 0, 1), (1, 1, 1)),
        ((0, 1, 3), (1, 1, 1)),
        ((0, 1), (1, 1)),
        ((0, 1, 2), (1, 1)),
        ((0, 1, 2), (1, 1, 1, 1)),
        ((0, 1, 2), (1, 1, 0)),
        ((0, 1, 2), (1, 1, 2)),
    ],
)
def test_invalid_basis_is_refused(basis: Basis) -> None:
    with pytest.raises(ValueError, match="a basis needs each axis once and signs of 1 or -1"):
        Space(basis=basis)


@pytest.mark.parametrize(
    "transform",
    [
        ((0, 0, math.nan), (1, 0, 0, 0), (1, 1, 1)),
        ((0, 0, 0), (1, 0, 0, 0), (1, 0, 1)),
        ((0, 0, 0), (1, 0, 0, 0), (1, -1, 1)),
        ((0, 0, 0), (1, 0, 0, 0), (1, math.inf, 1)),
        ((0, 0, 0), (0, 0, 0, 0), (1, 1, 1)),
        ((0, 0, 0), (1.001, 0, 0, 0), (1, 1, 1)),
        ((0, 0, 0), (math.nan, 0, 0, 0), (1, 1, 1)),
        ((0, 0), (1, 0, 0, 0), (1, 1, 1)),
        ((0, 0, 0, 0), (1, 0, 0, 0), (1, 1, 1)),
        ((0, 0, 0), (1, 0, 0), (1, 1, 1)),
        ((0, 0, 0), (1, 0, 0, 0), (1, 1)),
    ],
)
def test_a_transform_without_an_inverse_is_refused(transform: Transform) -> None:
    with pytest.raises(ValueError):
        Space(workspace=transform)


@pytest.mark.parametrize("p", [(0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (0.0, math.nan, 0.0), (math.inf, 0.0, 0.0)])
def test_non_finite_vector_is_refused(p: tuple[float, ...]) -> None:
    with pytest.raises(ValueError):
        Space().position_to_application(p)
