"""Bases as signed permutations, partial transforms, and centres of reach boxes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from actors.values.spatial import NO_ROTATION, ONES, ORIGIN, Basis, PartialTransform, Reach, Transform, Vec3

BASES = [
    Basis((axes[0], axes[1], axes[2]), (signs[0], signs[1], signs[2]))
    for axes in itertools.permutations(range(3))
    for signs in itertools.product((1, -1), repeat=3)
]
ANY_BASIS = st.sampled_from(BASES)

vectors = st.tuples(*[st.floats(-10, 10)] * 3)
partials = st.builds(
    PartialTransform,
    st.none() | vectors,
    st.none() | st.just((0.0, 1.0, 0.0, 0.0)),
    st.none() | st.tuples(*[st.floats(0.1, 10)] * 3),
)


def matrix(basis: Basis) -> NDArray[np.int64]:
    rows = np.zeros((3, 3), dtype=np.int64)
    for row, (axis, sign) in enumerate(zip(basis.axes, basis.signs, strict=True)):
        rows[row, axis] = sign
    return rows


def test_there_are_48_bases_and_each_has_one_text() -> None:
    assert len({str(basis) for basis in BASES}) == 48


@pytest.mark.parametrize("basis", BASES)
def test_basis_round_trips_through_its_text(basis: Basis) -> None:
    assert Basis.parse(str(basis)) == basis


@pytest.mark.parametrize("basis", BASES)
def test_the_inverse_is_the_transpose(basis: Basis) -> None:
    assert (matrix(basis.inverse) == matrix(basis).T).all()
    assert (matrix(basis) @ matrix(basis.inverse) == np.eye(3)).all()
    assert basis.inverse.inverse == basis


@pytest.mark.parametrize(
    ("text", "v"),
    [("XYZ", (1, 2, 3)), ("YZX", (2, 3, 1)), ("X-YZ", (1, -2, 3)), ("XZ-Y", (1, 3, -2)), ("-Z-Y-X", (-3, -2, -1))],
)
def test_letter_position_names_the_device_axis(text: str, v: Vec3) -> None:
    assert tuple(matrix(Basis.parse(text)) @ np.array((1, 2, 3))) == v


def test_the_legacy_form_of_a_basis_is_the_inverse_of_the_new_one() -> None:
    assert str(Basis.parse("X-ZY").inverse) == "XZ-Y"


def test_plus_signs_are_accepted_and_not_shown() -> None:
    assert str(Basis.parse("+X+Z-Y")) == "XZ-Y"
    assert Basis.parse("XYZ") == Basis()


@pytest.mark.parametrize(
    "text",
    ["", "XY", "XYZX", "XXY", "YYZ", "xyz", "ABC", "X Y Z", " XYZ", "XYZ\n", "-+XYZ", "XYZ-", "X-", "１", "ＸＹＺ"],  # noqa: RUF001
)
def test_basis_without_each_axis_once_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="permutation names"):
        Basis.parse(text)


@given(st.text("XYZ+-xyz ", max_size=8))
def test_parsing_takes_exactly_what_names_each_axis_once(text: str) -> None:
    letters = text.replace("+", "").replace("-", "")
    try:
        basis = Basis.parse(text)
    except ValueError:
        signs_fit = all(pair not in {"+-", "-+", "++", "--"} for pair in map("".join, itertools.pairwise(text)))
        assert not (sorted(letters) == ["X", "Y", "Z"] and signs_fit and text[-1:] in "XYZ")
    else:
        assert "".join("XYZ"[axis] for axis in basis.axes) == letters


@given(ANY_BASIS, ANY_BASIS)
def test_different_bases_have_different_texts(first: Basis, second: Basis) -> None:
    assert (str(first) == str(second)) == (first == second)


# ---------------------------------------------------------------- transforms


def test_the_default_transform_is_the_identity() -> None:
    assert Transform() == Transform(ORIGIN, NO_ROTATION, ONES)


@given(partials, partials)
def test_later_part_replaces_and_a_missing_one_is_kept(first: PartialTransform, second: PartialTransform) -> None:
    both = second.over(first.over(Transform()))

    for name in ("position", "rotation", "scale"):
        sent = [part for part in (getattr(first, name), getattr(second, name)) if part is not None]
        assert getattr(both, name) == (sent[-1] if sent else getattr(Transform(), name))


@given(partials)
def test_sending_the_same_again_changes_nothing(partial: PartialTransform) -> None:
    once = partial.over(Transform())

    assert partial.over(once) == once


def test_empty_update_changes_nothing() -> None:
    base = Transform((1, 2, 3), (0, 1, 0, 0), (2, 2, 2))

    assert PartialTransform().over(base) == base


# ---------------------------------------------------------------- reach


def test_centre_excludes_the_zones() -> None:
    reach = Reach(low=(-1, 0, 0), high=(1, 1, 2), zone_low=(0.5, 0, 0), zone_high=(0, 0.2, 1))

    assert reach.centre == (0.25, 0.4, 0.5)
    assert reach.centre_with_zones == (0, 0.5, 1)


def test_equal_zones_do_not_move_the_centre() -> None:
    reach = Reach(
        low=(-0.1, -0.3, 0.1), high=(0.2, -0.1, 0.4), zone_low=(0.01, 0.01, 0.01), zone_high=(0.01, 0.01, 0.01)
    )

    assert reach.centre == reach.centre_with_zones == (0.05, -0.2, 0.25)
