"""Parse vectors, rotations, transforms and bases from JSON: accepted and refused forms, and the path of a fault."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.values.commands import JOINTS
from actors.values.spatial import Basis, PartialTransform
from transport.wire import shapes

NO_NUMBER: list[Any] = [True, False, None, "1", "", [], [1], {}, {"x": 1}, "NaN"]
OUT_OF_RANGE: list[Any] = [math.nan, math.inf, -math.inf, 1e6 + 1, -1e6 - 1, 1e308, 10**6 + 1, 10**400, -(10**400)]
UNIT = {"w": 1, "x": 0, "y": 0, "z": 0}


class Named(list[tuple[str, str]]):
    """What a shape named and ignored."""

    def __call__(self, path: str, reason: str) -> None:
        self.append((path, reason))

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self]


@pytest.fixture
def named() -> Named:
    return Named()


def fault(call: Callable[[], object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        call()
    return raised.value


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("value", [0, -0.0, 1, -1, 0.5, 1e6, -1e6, 10**6, -(10**6), 1e-300, 5e-324])
def test_number_is_a_float_of_the_same_value(value: float) -> None:
    found = shapes.number(value, "p")

    assert found == value
    assert type(found) is float


@pytest.mark.parametrize("value", NO_NUMBER)
def test_non_number_is_named(value: object) -> None:
    error = fault(lambda: shapes.number(value, "a.b"))

    assert error.path == "a.b"
    assert error.reason == f"a number is needed, not {shapes.kind(value)}"


@pytest.mark.parametrize("value", OUT_OF_RANGE)
def test_number_out_of_range_or_missing_is_refused(value: float) -> None:
    error = fault(lambda: shapes.number(value, "p"))

    assert error.reason == "the number must be between -1000000 and 1000000"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_every_json_type_has_a_name(value: object, word: str) -> None:
    assert shapes.kind(value) == word


# ---------------------------------------------------------------- vectors


def test_a_vector_is_three_numbers_in_the_order_of_its_keys(named: Named) -> None:
    assert shapes.vec3({"z": 3, "x": 1, "y": 2.5}, "v", named) == (1.0, 2.5, 3.0)
    assert shapes.vec3({"a2": 3, "a0": 1, "a1": 2}, "v", named, JOINTS) == (1.0, 2.0, 3.0)
    assert named == []


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "x", [], [1, 2, 3]])
def test_a_vector_is_an_object(value: object, named: Named) -> None:
    error = fault(lambda: shapes.vec3(value, "v", named))

    assert (error.path, error.reason) == ("v", f"an object is needed, not {shapes.kind(value)}")


@pytest.mark.parametrize("missing", ["x", "y", "z"])
def test_a_component_that_is_missing_is_named(missing: str, named: Named) -> None:
    value = {key: 1 for key in "xyz" if key != missing}

    error = fault(lambda: shapes.vec3(value, "v", named))

    assert (error.path, error.reason) == (f"v.{missing}", "all of x, y, z are needed")


@pytest.mark.parametrize("bad", ["x", "y", "z"])
@pytest.mark.parametrize("value", [*NO_NUMBER, *OUT_OF_RANGE])
def test_a_component_that_is_bad_is_named(bad: str, value: object, named: Named) -> None:
    assert fault(lambda: shapes.vec3({"x": 1, "y": 2, "z": 3, bad: value}, "v", named)).path == f"v.{bad}"


def test_an_unknown_key_of_a_vector_is_named_and_ignored(named: Named) -> None:
    assert shapes.vec3({"x": 1, "y": 2, "z": 3, "w": "nonsense", "X": None}, "v", named) == (1.0, 2.0, 3.0)
    assert named == [("v.w", "unknown: only x, y, z may stand here"), ("v.X", "unknown: only x, y, z may stand here")]


def test_first_eight_of_many_unknown_keys_are_named(named: Named) -> None:
    many = {f"k{index}": 0 for index in range(5_000)}

    assert shapes.vec3({"x": 1, **many, "y": 2, "z": 3}, "v", named) == (1.0, 2.0, 3.0)
    assert named.paths == [f"v.k{index}" for index in range(8)]


def test_joints_of_one_vector_are_unknown_to_another(named: Named) -> None:
    error = fault(lambda: shapes.vec3({"a0": 1, "a1": 2, "a2": 3}, "v", named))

    assert error.path == "v.x"
    assert named.paths == ["v.a0", "v.a1", "v.a2"]


def test_a_long_key_is_cut_in_the_path(named: Named) -> None:
    shapes.vec3({"x": 1, "y": 2, "z": 3, "k" * 1000: 0}, "v", named)

    assert named.paths == ["v." + "k" * 40]


def test_values_are_an_array_or_an_object(named: Named) -> None:
    assert shapes.vec3_or_array([1, 2.5, -3], "v", named) == (1.0, 2.5, -3.0)
    assert shapes.vec3_or_array({"x": 1, "y": 2, "z": 3}, "v", named) == (1.0, 2.0, 3.0)
    assert shapes.vec3_or_array({"a0": 1, "a1": 2, "a2": 3}, "v", named, JOINTS) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("value", [[], [1], [1, 2], [1, 2, 3, 4], [[1, 2, 3]], list(range(1000))])
def test_array_of_values_has_three(value: object, named: Named) -> None:
    error = fault(lambda: shapes.vec3_or_array(value, "v", named))

    assert error.path in {"v", "v[0]"}


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("value", [*NO_NUMBER, *OUT_OF_RANGE])
def test_bad_array_entry_is_named(index: int, value: object, named: Named) -> None:
    entries: list[Any] = [1, 2, 3]
    entries[index] = value

    assert fault(lambda: shapes.vec3_or_array(entries, "v", named)).path == f"v[{index}]"


# ---------------------------------------------------------------- rotations


@pytest.mark.parametrize("norm", [1, 0.999, 1.001, 0.9995, 1.0005])
def test_nearly_unit_rotation_is_normalised(norm: float, named: Named) -> None:
    half = math.sqrt(0.5) * norm

    rotation = shapes.rotation({"w": half, "x": 0, "y": -half, "z": 0}, "r", named)

    assert math.sqrt(sum(part * part for part in rotation)) == pytest.approx(1, abs=1e-12)
    assert rotation == pytest.approx((math.sqrt(0.5), 0, -math.sqrt(0.5), 0), abs=1e-12)


@pytest.mark.parametrize("w", [0, 0.9, 0.9989, 1.0011, 1.1, 2, 1e6, -1.0011, 1e-300])
def test_rotation_of_another_norm_is_refused(w: float, named: Named) -> None:
    error = fault(lambda: shapes.rotation({"w": w, "x": 0, "y": 0, "z": 0}, "r", named))

    assert (error.path, error.reason) == (
        "r",
        "a rotation is a unit quaternion: its norm must be within 0.001 of 1",
    )


@pytest.mark.parametrize("w", [0.999, 1.001, -0.999, -1.001])
def test_the_tolerance_of_a_norm_includes_its_ends(w: float, named: Named) -> None:
    assert shapes.rotation({"w": w, "x": 0, "y": 0, "z": 0}, "r", named) == (math.copysign(1, w), 0, 0, 0)


@pytest.mark.parametrize("missing", ["w", "x", "y", "z"])
def test_rotation_needs_four_components(missing: str, named: Named) -> None:
    value = {key: part for key, part in UNIT.items() if key != missing}

    assert fault(lambda: shapes.rotation(value, "r", named)).path == f"r.{missing}"


@pytest.mark.parametrize("value", [None, [1, 0, 0, 0], "1 0 0 0", {}, {"w": True, "x": 0, "y": 0, "z": 0}])
def test_a_rotation_is_an_object_of_numbers(value: object, named: Named) -> None:
    fault(lambda: shapes.rotation(value, "r", named))


@given(st.tuples(*[st.floats(-1, 1)] * 4))
def test_accepted_rotation_is_accepted_by_the_loop(parts: tuple[float, ...]) -> None:
    norm = math.sqrt(sum(part * part for part in parts))
    if norm < 1e-3:
        return
    value = dict(zip("wxyz", (part / norm for part in parts), strict=True))

    rotation = shapes.rotation(value, "r", Named())

    assert abs(sum(part * part for part in rotation) - 1) < 1e-9


# ---------------------------------------------------------------- scales


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        (1, (1, 1, 1)),
        (2.5, (2.5, 2.5, 2.5)),
        (1e-6, (1e-6, 1e-6, 1e-6)),
        (1e-9, (1e-9, 1e-9, 1e-9)),
        (1e-38, (1e-38, 1e-38, 1e-38)),
        (1e-45, (1e-45, 1e-45, 1e-45)),
        (1e6, (1e6, 1e6, 1e6)),
        ({"x": 1, "y": 2, "z": 3}, (1, 2, 3)),
    ],
)
def test_scale_is_three_factors_or_one(value: object, scale: tuple[float, float, float], named: Named) -> None:
    assert shapes.scale(value, "s", named) == scale


@pytest.mark.parametrize("bad", [0, -0.0, -1, -1e-9, 1e-46, 5e-324, -1e6])
def test_non_positive_scale_is_refused(bad: float, named: Named) -> None:
    assert fault(lambda: shapes.scale(bad, "s", named)).reason == "a scale must be greater than 0"
    for key in "xyz":
        error = fault(lambda key=key: shapes.scale({"x": 1, "y": 1, "z": 1, key: bad}, "s", named))  # type: ignore[misc]
        assert (error.path, error.reason) == (f"s.{key}", "a scale must be greater than 0")


@pytest.mark.parametrize("bad", [*NO_NUMBER[:6], *OUT_OF_RANGE])
def test_non_numeric_scale_is_refused(bad: object, named: Named) -> None:
    fault(lambda: shapes.scale(bad, "s", named))
    fault(lambda: shapes.scale({"x": 1, "y": bad, "z": 1}, "s", named))


# ---------------------------------------------------------------- transforms

POSITION = {"x": 1, "y": 2, "z": 3}
SCALE = {"x": 2, "y": 2, "z": 2}


@pytest.mark.parametrize(
    "sent", [part for count in range(4) for part in itertools.combinations(("position", "rotation", "scale"), count)]
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_transform_is_parsed_flat_or_wrapped(sent: tuple[str, ...], wrapped: bool, named: Named) -> None:
    whole = {"position": POSITION, "rotation": UNIT, "scale": SCALE}
    value: dict[str, Any] = {key: whole[key] for key in sent}

    found = shapes.transform({"transform": value} if wrapped else value, "t", named)

    assert found == PartialTransform(
        position=(1, 2, 3) if "position" in sent else None,
        rotation=(1, 0, 0, 0) if "rotation" in sent else None,
        scale=(2, 2, 2) if "scale" in sent else None,
    )
    assert named == []


def test_unknown_keys_of_a_transform_are_named_and_ignored(named: Named) -> None:
    assert shapes.transform({"position": POSITION, "Position": 1}, "t", named) == PartialTransform((1, 2, 3))
    assert shapes.transform({"transform": {"position": POSITION, "shear": 1}}, "t", named).position == (1, 2, 3)
    assert named == [
        ("t.Position", "unknown: only position, rotation, scale may stand here"),
        ("t.transform.shear", "unknown: only position, rotation, scale may stand here"),
    ]


def test_fields_beside_a_wrapped_transform_are_named_and_ignored(named: Named) -> None:
    found = shapes.transform({"position": POSITION, "transform": {"scale": 2}}, "t", named)

    assert found == PartialTransform(scale=(2, 2, 2))
    assert named == [("t.position", "unknown: only transform may stand here")]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, "t"),
        ([], "t"),
        ("identity", "t"),
        (1, "t"),
        ({"transform": None}, "t.transform"),
        ({"transform": []}, "t.transform"),
        ({"position": None}, "t.position"),
        ({"position": {"x": 1}}, "t.position.y"),
        ({"transform": {"position": {"x": 1, "y": 2}}}, "t.transform.position.z"),
        ({"rotation": {"w": 1}}, "t.rotation.x"),
        ({"rotation": {"w": 0, "x": 0, "y": 0, "z": 0}}, "t.rotation"),
        ({"scale": None}, "t.scale"),
        ({"scale": 0}, "t.scale"),
        ({"scale": {"x": 1, "y": 1}}, "t.scale.z"),
        ({"position": {"x": 1, "y": math.nan, "z": 0}}, "t.position.y"),
    ],
)
def test_sent_transform_part_must_be_complete(value: object, path: str, named: Named) -> None:
    assert fault(lambda: shapes.transform(value, "t", named)).path == path


# ---------------------------------------------------------------- bases and words

BASES = [
    "".join(sign + axis for sign, axis in zip(signs, axes, strict=True))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]


@pytest.mark.parametrize("text", BASES)
def test_basis_is_accepted_bare_and_named(text: str, named: Named) -> None:
    assert shapes.basis(text, "b", named) == shapes.basis({"permutation": text}, "b", named) == Basis.parse(text)
    assert str(Basis.parse(text)) == text
    assert named == []


@pytest.mark.parametrize(
    "text",
    ["", "X", "XY", "XXY", "XYZX", "xyz", "XYW", " XYZ", "XYZ ", "X Y Z", "--XYZ", "X--YZ", "XYZ-", "1", "XYZ\n"],
)
def test_a_string_that_is_no_basis_is_refused(text: str, named: Named) -> None:
    assert fault(lambda: shapes.basis(text, "b", named)).path == "b"
    assert fault(lambda: shapes.basis({"permutation": text}, "b", named)).path == "b.permutation"


@pytest.mark.parametrize("value", [None, 1, True, [], ["X", "Y", "Z"]])
def test_non_string_basis_is_refused(value: object, named: Named) -> None:
    assert fault(lambda: shapes.basis(value, "b", named)).path == "b"
    assert fault(lambda: shapes.basis({"permutation": value}, "b", named)).path == "b.permutation"


def test_basis_object_without_its_field_names_the_sent_keys(named: Named) -> None:
    error = fault(lambda: shapes.basis({"matrix": [], "more": 1}, "b", named))

    assert (error.path, error.reason) == ("b.matrix", "unknown, and nothing else was sent: use permutation")
    assert named == [("b.more", "unknown: only permutation may stand here")]
    error = fault(lambda: shapes.basis({}, "b", named))
    assert (error.path, error.reason) == ("b.permutation", "permutation is missing")


def test_transform_of_unknown_keys_alone_is_refused_and_an_empty_one_is_not(named: Named) -> None:
    assert fault(lambda: shapes.transform({"positon": 1}, "t", named)).path == "t.positon"
    assert fault(lambda: shapes.transform({"transform": {"positon": 1}}, "t", named)).path == "t.transform.positon"
    assert shapes.transform({}, "t", named) == shapes.transform({"transform": {}}, "t", named) == PartialTransform()
    assert named == []


def test_named_field_may_be_omitted(named: Named) -> None:
    assert shapes.word("a", "name", "p", named) == "a"
    assert shapes.word({"name": "a"}, "name", "p", named) == "a"
    assert named == []


def test_fields_beside_the_named_one_are_named_and_ignored(named: Named) -> None:
    assert shapes.word({"name": "a", "more": 1}, "name", "p", named) == "a"
    assert named == [("p.more", "unknown: only name may stand here")]


@pytest.mark.parametrize("value", [None, 1, True, []])
def test_non_string_name_is_refused(value: object, named: Named) -> None:
    assert fault(lambda: shapes.word(value, "name", "p", named)).path == "p"
    assert fault(lambda: shapes.word({"name": value}, "name", "p", named)).path == "p.name"
    assert fault(lambda: shapes.text(value, "q")).reason == f"a string is needed, not {shapes.kind(value)}"


# ---------------------------------------------------------------- whatever comes

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["x", "y", "z", "w", "a0", "position", "rotation", "scale", "transform", "permutation", "?"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


READERS: list[Callable[[Any], object]] = [
    lambda value: shapes.number(value, "p"),
    lambda value: shapes.vec3(value, "p", Named()),
    lambda value: shapes.vec3_or_array(value, "p", Named()),
    lambda value: shapes.rotation(value, "p", Named()),
    lambda value: shapes.scale(value, "p", Named()),
    lambda value: shapes.transform(value, "p", Named()),
    lambda value: shapes.basis(value, "p", Named()),
    lambda value: shapes.word(value, "name", "p", Named()),
]


@pytest.mark.parametrize("reader", READERS)
@given(value=json_values)
def test_result_is_a_value_or_a_fault(reader: Callable[[Any], object], value: object) -> None:
    refused: InvalidInput | None = None
    try:
        reader(value)
    except InvalidInput as error:
        refused = error

    assert refused is None or (refused.path.startswith("p") and refused.reason)
