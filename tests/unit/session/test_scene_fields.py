"""One field of a scene: what it needs, its bounds, and what its parameters must be together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.session.scene_fields import checked_field, smallest_eigenvalue
from fastpath.scene.values import FIELDS, Field, Form
from tests.support.wire.drawn_scenes import drawn_fields

ORIGIN = (0.0, 0.0, 0.0)
UP = (0.0, 0.0, 1.0)
# What each field cannot do without.
LEAST: dict[str, dict[str, Any]] = {
    "constant": {"force": UP},
    "spring": {"centre": ORIGIN, "stiffness": 200.0},
    "attract": {"centre": (0.0, 0.0, 0.0), "range": 0.05, "stiffness": 100.0},
    "damper": {"damping": 2.0},
    "plane": {"point": ORIGIN, "normal": UP, "stiffness": 500.0},
    "sphere": {"centre": ORIGIN, "radius": 0.03, "stiffness": 500.0},
    "box": {"centre": ORIGIN, "size": (0.1, 0.1, 0.1), "stiffness": 500.0},
    "capsule": {"start": ORIGIN, "end": UP, "radius": 0.03, "stiffness": 500.0},
    "cylinder": {"start": ORIGIN, "end": UP, "radius": 0.03, "stiffness": 500.0},
}
CURL = (0.0, -10.0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0)
FEEDING = (1.0, 3.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 1.0)
triples = st.tuples(*[st.floats(-20, 20)] * 3)


def made(name: str, **more: Any) -> Field:
    return checked_field(name, {**LEAST[name], **more})


def refused(name: str, **more: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as error:
        made(name, **more)
    return error.value


def test_every_field_has_a_smallest_form() -> None:
    assert set(LEAST) == set(FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_not_sent_gets_its_default(name: str) -> None:
    field = made(name)

    assert field.field == name
    assert field.values == {
        **{key: row.default for key, row in FIELDS[name].items() if row.default is not None},
        **LEAST[name],
    }


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, sent in LEAST.items() for key in sent])
def test_field_without_a_needed_parameter_is_refused_by_name(name: str, key: str) -> None:
    with pytest.raises(InvalidInput) as error:
        checked_field(name, {one: value for one, value in LEAST[name].items() if one != key})
    if name == "damper":
        assert "damping or matrix" in error.value.reason
    else:
        assert (error.value.path, error.value.reason) == (key, f"{key} is missing: a {name} needs it")


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name, rows in FIELDS.items() for key, row in rows.items() if row.form is Form.NUMBER],
)
@pytest.mark.parametrize("wrong", ["low", "high", math.nan, math.inf, True, "1", None, ORIGIN, 10**400])
def test_every_number_has_bounds_and_says_them(name: str, key: str, wrong: Any) -> None:
    row = FIELDS[name][key]
    value = {"low": row.least - 1e-3, "high": row.most + 1e-3}.get(wrong, wrong) if isinstance(wrong, str) else wrong
    if value is None and row.default is not None:
        return
    error = refused(name, **{key: value})

    assert error.path == key
    assert error.reason.startswith(f"{key} is ")


@pytest.mark.parametrize(
    ("name", "more", "path", "says"),
    [
        ("constant", {"force": (0.0, 0.0, 41.0)}, "force", "each number of force is -40 to 40 N"),
        ("constant", {"force": (0.0, 0.0)}, "force", "force is x, y, z in N"),
        ("constant", {"force": 1.0}, "force", "force is x, y, z in N"),
        ("spring", {"axes": ()}, "axes", "at least one"),
        ("spring", {"axes": ("x", "x")}, "axes", "at most once"),
        ("spring", {"axes": ("w",)}, "axes", "x, y and z"),
        ("spring", {"axes": ([],)}, "axes", "x, y and z"),
        ("spring", {"axes": "xyz"}, "axes", "x, y and z"),
        ("damper", {"matrix": CURL}, "", "either damping or matrix"),
        ("plane", {"normal": ORIGIN}, "normal", "not all 0"),
        ("plane", {"normal": (1e-200, 0.0, 0.0)}, "normal", "not all 0"),
        ("plane", {"friction": (0.4, 0.5)}, "friction", "friction.dynamic is at most friction.static"),
        ("plane", {"friction": (3.0, 0.5)}, "friction", "each number of friction is 0 to 2"),
        ("plane", {"friction": 0.5}, "friction", "static and dynamic"),
        ("box", {"rotation": (0.0, 0.0, 0.0, 0.0)}, "rotation", "not all 0"),
        ("box", {"size": (0.1, 0.0, 0.1)}, "size", "each number of size is 0.0001 to 100 m"),
        ("box", {"inside": 1}, "inside", "inside is true or false"),
        ("capsule", {"end": ORIGIN}, "end", "apart"),
        ("cylinder", {"end": (0.0, 0.0, 5e-5)}, "end", "apart"),
    ],
)
def test_invalid_field_is_refused_with_place_and_reason(name: str, more: dict[str, Any], path: str, says: str) -> None:
    error = refused(name, **more)

    assert error.path == path
    assert says in error.reason


def test_unknown_field_is_refused_with_all_names() -> None:
    with pytest.raises(InvalidInput, match="constant, spring") as error:
        checked_field("wall", {})
    assert error.value.path == "field"


def test_axes_are_kept_in_their_order() -> None:
    assert made("spring", axes=("z", "x")).values["axes"] == ("x", "z")


def test_rotation_is_normalised() -> None:
    assert made("box", rotation=(0.5, 0.0, 0.0, 0.0)).values["rotation"] == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "matrix",
    [
        CURL,
        (0.0,) * 9,
        (20.0, 0, 0, 0, 0, 0, 0, 0, 0),
        (1.0,) * 9,
        (2.0, 5, 0, -5, 2, 0, 0, 0, 2),
        (1.0, 0, 0, 0, 1, 0, 0, 0, -1e-10),
    ],
)
def test_matrix_that_takes_energy_or_none_is_taken(matrix: tuple[float, ...]) -> None:
    assert checked_field("damper", {"matrix": matrix}).values == {"matrix": matrix}


@pytest.mark.parametrize(
    "matrix",
    [FEEDING, (1.0, 0, 0, 0, 1, 0, 0, 0, -0.001), (-1.0, 0, 0, 0, 1, 0, 0, 0, 1), (0.0, 1, 0, 1, 0, 0, 0, 0, 0)],
)
def test_matrix_that_feeds_the_hand_is_refused(matrix: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="it would feed the hand") as error:
        checked_field("damper", {"matrix": matrix})
    assert error.value.path == "matrix"


@given(st.tuples(*[st.floats(-20, 20)] * 9))
def test_smallest_eigenvalue_is_that_of_numpy(matrix: tuple[float, ...]) -> None:
    whole = np.array(matrix).reshape(3, 3)

    assert smallest_eigenvalue(matrix) == pytest.approx(np.linalg.eigvalsh((whole + whole.T) / 2)[0], abs=1e-11)


@given(triples)
def test_outer_product_takes_no_energy_from_one_direction_and_is_taken(vector: tuple[float, float, float]) -> None:
    """Two eigenvalues are 0: the worst case for the rounding of the rule."""
    matrix = tuple(float(value) / 20 for value in np.outer(vector, vector).ravel())

    assert checked_field("damper", {"matrix": matrix}).values["matrix"] == matrix


@given(drawn_fields())
def test_checked_field_stays_as_it_is_when_it_is_checked_again(field: Field) -> None:
    assert checked_field(field.field, field.values) == field
