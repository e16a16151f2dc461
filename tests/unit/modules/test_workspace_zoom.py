"""Workspace zoom: the device point under the pivot stays there, for every scale and rotation."""

from __future__ import annotations

from math import cos, sin, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.modules.module import ModuleInput, Place
from actors.modules.workspace_zoom import WorkspaceZoom, Zoom
from actors.values.identity import Kind
from actors.values.spatial import PartialTransform, Quaternion, Transform, Vec3
from fastpath.space.spatial_py import transform_point, transform_point_back

lengths = st.floats(-1, 1)
points = st.tuples(lengths, lengths, lengths)
factors = st.floats(0.1, 10)
scales = st.tuples(factors, factors, factors)


@st.composite
def rotations(draw: st.DrawFn) -> Quaternion:
    angle, x, y, z = draw(st.floats(0, 3)), *draw(st.tuples(*[st.floats(0.1, 1)] * 3))
    norm = sqrt(x * x + y * y + z * z)
    s = sin(angle / 2) / norm
    return cos(angle / 2), s * x, s * y, s * z


def parts(transform: Transform) -> tuple[Vec3, Quaternion, Vec3]:
    return transform.position, transform.rotation, transform.scale


@given(points, rotations(), scales, points, scales, st.none() | rotations())
def test_pivot_point_stays_within_a_nanometre(
    position: Vec3, rotation: Quaternion, scale: Vec3, pivot: Vec3, new: Vec3, turned: Quaternion | None
) -> None:
    before = Transform(position, rotation, scale)
    under = transform_point_back(parts(before), pivot)

    after = Zoom(PartialTransform(None, turned, new), pivot).over(before)

    assert transform_point(parts(after), under) == pytest.approx(pivot, abs=1e-9)
    assert (after.rotation, after.scale) == (turned or rotation, new)


def test_pivot_is_converted_back_through_navigation() -> None:
    before, pivot, travelled = Transform((0.2, 0.3, 0.4), scale=(2, 2, 2)), (0.1, 0.0, -0.2), (1.0, -2.0, 0.5)
    behind = (pivot[0] - travelled[0], pivot[1] - travelled[1], pivot[2] - travelled[2])
    under = transform_point_back(parts(before), behind)

    after = Zoom(PartialTransform(scale=(6, 6, 6)), pivot).over(before, travelled)

    assert transform_point(parts(after), under) == pytest.approx(behind, abs=1e-9)


def test_uniform_zoom_follows_the_formula() -> None:
    after = Zoom(PartialTransform(scale=(6, 6, 6)), (0.1, 0, -0.2)).over(Transform((0.2, 0.3, 0.4), scale=(2, 2, 2)))

    assert after.position == pytest.approx((0.1 + 3 * 0.1, 3 * 0.3, -0.2 + 3 * 0.6))


@pytest.mark.parametrize(
    ("kind", "value", "change", "because"),
    [
        (Kind.COMPACT, {"x": 0, "y": 0, "z": 0}, PartialTransform(), "only an arm"),
        (Kind.ARM, {"x": 0, "y": 0, "z": 0}, PartialTransform(position=(0, 0, 0)), "exclude each other"),
        (Kind.ARM, {"x": 0, "y": 0}, PartialTransform(), "all of x, y, z"),
        (Kind.ARM, [0, 0, 0], PartialTransform(), "an object is needed"),
        (Kind.ARM, {"x": float("nan"), "y": 0, "z": 0}, PartialTransform(), "between"),
        (Kind.ARM, {"x": True, "y": 0, "z": 0}, PartialTransform(), "a number is needed"),
        (Kind.ARM, None, PartialTransform(), "an object is needed"),
    ],
)
def test_invalid_pivot_is_refused(kind: Kind, value: object, change: PartialTransform, because: str) -> None:
    def note(path: str, reason: str) -> None:
        raise AssertionError((path, reason))

    with pytest.raises(InvalidInput, match=because):
        WorkspaceZoom().read(ModuleInput(Place.TRANSFORM, "pivot", value, "here", kind, note, change))
