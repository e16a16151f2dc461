"""Signed distances of every primitive: gradients against central differences, distances against plain geometry."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.navigation.shapes_py import Solid
from fastpath.navigation.values import PRIMITIVES, BubbleShape, Parameter

Array = NDArray[Any]

POINTS: Final = 500
STEP_M: Final = 1e-6
REACH_M: Final = 0.15
A: Final = (-0.02, 0.03, 0.01)
B: Final = (0.05, -0.01, 0.06)
EXAMPLES: Final[dict[str, dict[str, Parameter]]] = {
    "sphere": {"r": 0.05},
    "box": {"b": (0.06, 0.04, 0.09)},
    "rounded_box": {"b": (0.06, 0.04, 0.09), "r": 0.015},
    "ellipsoid": {"a": (0.05, 0.08, 0.04)},
    "capsule": {"a": A, "b": B, "r": 0.03},
    "capsule_vertical": {"h": 0.08, "r": 0.03},
    "capped_cylinder": {"a": A, "b": B, "r": 0.03},
    "capped_cylinder_vertical": {"h": 0.05, "r": 0.04},
    "torus": {"r1": 0.08, "r2": 0.02},
    "capped_cone": {"a": A, "b": B, "r1": 0.05, "r2": 0.02},
    "rounded_cone": {"a": A, "b": B, "r1": 0.05, "r2": 0.02},
    "plane": {"n": (1.0, 2.0, -0.5), "h": 0.02},
}

coordinates = st.floats(-REACH_M, REACH_M, allow_subnormal=False)
points = st.tuples(coordinates, coordinates, coordinates)
lengths = st.floats(0.005, 0.2)
primitives = st.sampled_from(sorted(PRIMITIVES))


def solid(primitive: str, **parameters: Parameter) -> Solid:
    return Solid(BubbleShape(primitive, tuple((parameters or EXAMPLES[primitive]).items())))


def cloud(count: int = POINTS) -> Array:
    return np.random.default_rng(11).uniform(-REACH_M, REACH_M, (count, 3))


def moved(p: Array, axis: int, by: float) -> tuple[float, ...]:
    q = [float(part) for part in p]
    q[axis] += by
    return tuple(q)


def central_difference(shape: Solid, p: Array) -> Array:
    pairs = [(shape.distance(moved(p, i, STEP_M)), shape.distance(moved(p, i, -STEP_M))) for i in range(3)]
    return np.array([(above - below) / (2 * STEP_M) for above, below in pairs])


def is_near_a_crease(shape: Solid, p: Array) -> bool:
    """Whether the gradient turns by more than a curve of 1 mm does within two steps."""
    ends = [np.array(shape.gradient(moved(p, i, by))) for i in range(3) for by in (-STEP_M, STEP_M)]
    return max(float(np.linalg.norm(end - ends[0])) for end in ends) > 4 * STEP_M / 0.001


def test_every_primitive_of_the_interface_has_an_example() -> None:
    assert set(EXAMPLES) == set(PRIMITIVES)
    assert all(set(EXAMPLES[name]) == set(PRIMITIVES[name]) for name in PRIMITIVES)


@pytest.mark.parametrize("primitive", sorted(PRIMITIVES))
def test_the_gradient_is_the_central_difference(primitive: str) -> None:
    shape = solid(primitive)
    clear = [p for p in cloud() if not is_near_a_crease(shape, p)]

    apart = [float(np.max(np.abs(np.array(shape.gradient(p)) - central_difference(shape, p)))) for p in clear]

    assert len(clear) > 0.99 * POINTS
    assert np.percentile(apart, 99) <= 1e-8


@example("sphere", (0.0, 0.0, 3.8044716430803845e-162))
@given(primitives, points)
def test_the_gradient_is_a_unit_vector(primitive: str, p: tuple[float, float, float]) -> None:
    assert math.hypot(*solid(primitive).gradient(p)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("primitive", sorted(PRIMITIVES))
def test_centres_axes_corners_and_faces_have_a_gradient_too(primitive: str) -> None:
    shape = solid(primitive)
    for p in [(0.0, 0.0, 0.0), A, B, (0.06, 0.04, 0.09), (0.0, 0.08, 0.0), (0.04, 0.05, 0.0), (0.05, 0.0, 0.0)]:
        assert math.isfinite(shape.distance(p))
        assert math.hypot(*shape.gradient(p)) == pytest.approx(1, abs=1e-12)


@example("torus", (0.0, 0.125, 2.223356434302802e-160))
@given(primitives, points)
def test_following_the_gradient_from_outside_ends_on_the_surface(primitive: str, p: tuple[float, float, float]) -> None:
    shape = solid(primitive)
    d = shape.distance(p)
    assume(d > 0)

    foot = np.array(p) - d * np.array(shape.gradient(p))

    assert shape.distance(tuple(foot)) == pytest.approx(0, abs=1e-12)


@given(primitives, points, points)
def test_distance_is_1_lipschitz(primitive: str, p: tuple[float, float, float], q: tuple[float, float, float]) -> None:
    shape = solid(primitive)
    assert abs(shape.distance(p) - shape.distance(q)) <= math.dist(p, q) + 1e-12


@given(
    st.tuples(lengths, lengths, lengths),
    st.floats(-1, 1),
    st.floats(0, 2 * math.pi),
    st.floats(-0.9, 3),
)
def test_ellipsoid_distance_is_exact(
    axes: tuple[float, float, float], height: float, around: float, share: float
) -> None:
    """A point off the surface along its normal is as far from it, inside as long as no other part of it is nearer."""
    ring = math.sqrt(1 - height * height)
    unit = np.array((ring * math.cos(around), ring * math.sin(around), height))
    normal = unit / np.array(axes)
    normal /= np.linalg.norm(normal)
    away = share * min(axes) ** 2 / max(axes)
    shape = solid("ellipsoid", a=axes)
    p = tuple(np.array(axes) * unit + away * normal)

    assert shape.distance(p) == pytest.approx(away, abs=1e-12)
    assert shape.gradient(p) == pytest.approx(normal, abs=1e-9)


def test_distance_deep_inside_an_ellipsoid_is_that_to_its_flat_side() -> None:
    shape = solid("ellipsoid", a=(0.05, 0.08, 0.02))
    assert shape.distance((0, 0, 0)) == pytest.approx(-0.02, abs=1e-12)
    assert shape.gradient((0, 0, 0)) == pytest.approx((0, 0, 1), abs=1e-9)
    assert shape.distance((0, 0, -0.005)) == pytest.approx(-0.015, abs=1e-12)


@given(points, lengths, lengths)
def test_rounded_cone_is_the_union_of_the_balls_between_its_ends(
    p: tuple[float, float, float], r1: float, r2: float
) -> None:
    share = np.linspace(0, 1, 4001)[:, None]
    centres = (1 - share) * np.array(A) + share * np.array(B)
    radii = ((1 - share) * r1 + share * r2)[:, 0]
    assume(abs(r1 - r2) < math.dist(A, B))

    nearest = float(np.min(np.linalg.norm(np.array(p) - centres, axis=1) - radii))

    assert solid("rounded_cone", a=A, b=B, r1=r1, r2=r2).distance(p) == pytest.approx(nearest, abs=1e-6)


@given(points, st.floats(0, 0.2), st.floats(0.001, 0.2))
def test_a_capped_cone_is_bounded_by_its_two_discs_and_its_flank(
    p: tuple[float, float, float], r1: float, r2: float
) -> None:
    """Against the nearest of many points on the outline of a half section."""
    axis = (np.array(B) - A) / math.dist(A, B)
    along = float((np.array(p) - A) @ axis)
    out = float(np.linalg.norm(np.array(p) - A - along * axis))
    length = math.dist(A, B)
    outline = [((0, 0), (r1, 0)), ((r1, 0), (r2, length)), ((r2, length), (0, length))]
    nearest = min(to_segment((out, along), *(np.array(end) for end in ends)) for ends in outline)
    inside = 0 <= along <= length and out <= r1 + (r2 - r1) * along / length

    distance = solid("capped_cone", a=A, b=B, r1=r1, r2=r2).distance(p)

    assert distance == pytest.approx(-nearest if inside else nearest, abs=1e-12)


def to_segment(p: tuple[float, float], start: Array, end: Array) -> float:
    way = end - start
    square = float(way @ way)
    share = 0.0 if square == 0 else min(1.0, max(0.0, float((np.array(p) - start) @ way) / square))
    return float(np.linalg.norm(np.array(p) - start - share * way))


@given(points, st.floats(0.1, 10), primitives)
def test_scaled_shape_has_scaled_distances(p: tuple[float, float, float], scale: float, primitive: str) -> None:
    larger: dict[str, Parameter] = {
        name: tuple(scale * part for part in value) if isinstance(value, tuple) else scale * value  # type: ignore[misc]
        for name, value in EXAMPLES[primitive].items()
    }
    here = solid(primitive).distance(p)
    assert solid(primitive, **larger).distance([scale * part for part in p]) == pytest.approx(scale * here, abs=1e-12)


@given(points)
def test_end_points_may_be_swapped(p: tuple[float, float, float]) -> None:
    for primitive in ("capped_cone", "rounded_cone"):
        there = solid(primitive).distance(p)
        assert solid(primitive, a=B, b=A, r1=0.02, r2=0.05).distance(p) == pytest.approx(there, abs=1e-12)


@given(points, points)
def test_shape_between_two_points_moves_with_them(
    p: tuple[float, float, float], by: tuple[float, float, float]
) -> None:
    def plus(v: tuple[float, ...]) -> tuple[float, float, float]:
        return v[0] + by[0], v[1] + by[1], v[2] + by[2]

    for primitive in ("capsule", "capped_cylinder", "capped_cone", "rounded_cone"):
        there = solid(primitive).distance(p)
        shape = solid(primitive, **(EXAMPLES[primitive] | {"a": plus(A), "b": plus(B)}))
        assert shape.distance(plus(p)) == pytest.approx(there, abs=1e-12)


@given(points)
def test_special_cases_equal_the_general_shapes(p: tuple[float, float, float]) -> None:
    same = [
        (solid("ellipsoid", a=(0.05, 0.05, 0.05)), solid("sphere", r=0.05)),
        (solid("rounded_box", b=(0.06, 0.04, 0.09), r=0.0), solid("box")),
        (solid("capsule_vertical"), solid("capsule", a=(0.0, 0.0, 0.0), b=(0.0, 0.08, 0.0), r=0.03)),
        (
            solid("capped_cylinder_vertical"),
            solid("capped_cylinder", a=(0.0, -0.05, 0.0), b=(0.0, 0.05, 0.0), r=0.04),
        ),
        (solid("capsule"), solid("rounded_cone", a=A, b=B, r1=0.03, r2=0.03)),
        (solid("capped_cylinder"), solid("capped_cone", a=A, b=B, r1=0.03, r2=0.03)),
    ]
    for special, general in same:
        assert special.distance(p) == pytest.approx(general.distance(p), abs=1e-12)


@pytest.mark.parametrize(
    ("primitive", "parameters"),
    [
        ("sphere", {"r": -0.01}),
        ("sphere", {"r": math.nan}),
        ("box", {"b": (0.1, 0.0, 0.1)}),
        ("rounded_box", {"b": (0.1, 0.02, 0.1), "r": 0.03}),
        ("ellipsoid", {"a": (0.1, 0.1, math.inf)}),
        ("capsule", {"a": A, "b": A, "r": 0.01}),
        ("capped_cone", {"a": A, "b": B, "r1": 0.0, "r2": 0.0}),
        ("plane", {"n": (0.0, 0.0, 0.0), "h": 0.0}),
        ("cube", {"b": (1.0, 1.0, 1.0)}),
    ],
)
def test_invalid_shape_is_refused(primitive: str, parameters: dict[str, Parameter]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        solid(primitive, **parameters)
