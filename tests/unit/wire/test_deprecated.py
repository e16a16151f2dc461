"""Deprecated forms of the wire: their meaning today, and the rate of their notices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.session.messages import SetBasis, SetPreset
from actors.values.spatial import Basis
from fastpath.space.spatial_py import basis_apply
from tests.unit.wire.parser_samples import EMPTY, arm, commanded, read
from transport.wire import deprecated
from transport.wire.deprecation_notices import EVERY_NS, DeprecationNotices

STRINGS = [
    "".join(sign + axis for sign, axis in zip(signs, axes, strict=True))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]
ORIGINS = [("device_base", "arm_front"), ("workspace_center", "arm_front_centered")]
DEVICE = "arm[0].commands.set_coordinate_origin"
SESSION = "session.set_coordinate_origin"


def matrix(text: str) -> list[list[int]]:
    """The map of a basis string as rows: x' is the axis that the first letter names."""
    basis = Basis.parse(text)
    return [
        [sign if column == axis else 0 for column in range(3)]
        for axis, sign in zip(basis.axes, basis.signs, strict=True)
    ]


# ---------------------------------------------------------------- basis


def test_old_basis_map_is_the_inverse_of_the_new_one() -> None:
    assert str(deprecated.legacy_basis("X-ZY", "p")) == "XZ-Y"
    assert str(deprecated.legacy_basis("YZX", "p")) == "ZXY"
    assert str(deprecated.legacy_basis("XYZ", "p")) == "XYZ"


@pytest.mark.parametrize("text", STRINGS)
def test_every_form_of_an_old_map_is_its_transpose(text: str) -> None:
    rows = matrix(text)

    found = [
        deprecated.legacy_basis(value, "p")
        for value in (
            text,
            {"permutation": text},
            rows,
            {"matrix": rows},
            [[float(part) for part in row] for row in rows],
        )
    ]

    assert len(set(map(str, found))) == 1
    applied = [basis_apply((found[0].axes, found[0].signs), unit) for unit in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    assert np.array_equal(np.array(applied), np.array(rows))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, "p"),
        (1, "p"),
        ({}, "p"),
        ("XX-Y", "p"),
        ("", "p"),
        ({"permutation": "xyz"}, "p.permutation"),
        ({"permutation": 1}, "p.permutation"),
        ({"matrix": "XXY"}, "p.matrix"),
        ({"matrix": None}, "p.matrix"),
        ({"permutation": "XYZ", "matrix": []}, "p"),
        ({"basis": "XYZ"}, "p"),
        ([], "p"),
        ([[1, 0, 0], [0, 1, 0]], "p"),
        ([[1, 0, 0], [0, 1, 0], [0, 1]], "p"),
        ([[1, 0, 0], [0, 1, 0], [0, 1, 0]], "p"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 0]], "p"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 2]], "p"),
        ([[1, 0, 0], [0, 1, 1], [0, 0, 1]], "p"),
        ([[1, 0, 0], [0, 1, 0.5], [0, 0, 1]], "p"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, True]], "p"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, "1"]], "p"),
        ([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]], "p"),
        ([[1, 0, 0], [0, 1, 0], {"z": 1}], "p"),
    ],
)
def test_invalid_old_map_is_refused(value: Any, path: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        deprecated.legacy_basis(value, path="p")

    assert raised.value.path == path


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1, 2, 0.5]), min_size=3, max_size=3), min_size=3, max_size=3))
def test_matrix_is_accepted_exactly_if_a_signed_permutation(rows: list[list[float]]) -> None:
    square = np.array(rows)
    signed = bool(np.array_equal(np.sort(np.abs(square), axis=0), np.diag([0, 0, 1]).sum(axis=1)[:, None] * np.ones(3)))
    signed = signed and bool(np.all(np.abs(square).sum(axis=1) == 1))
    try:
        basis = deprecated.legacy_basis(rows, "p")
    except InvalidInput:
        assert not signed
    else:
        assert signed
        assert matrix(str(basis)) == square.T.tolist()


@pytest.mark.parametrize("value", ["X-ZY", {"permutation": "X-ZY"}, [[1, 0, 0], [0, 0, -1], [0, 1, 0]]])
def test_old_session_basis_is_parsed_and_noted(value: object) -> None:
    found = read({"session": {"set_basis": value}})

    assert found.changes == [SetBasis(None, Basis.parse("XZ-Y"), "session.set_basis")]
    assert found.deprecated == [("set_basis", "configure.basis")]
    assert (found.faults, found.mapped, found.full) == ([], set(), None)


def test_a_faulty_old_basis_is_named_and_noted_and_the_rest_counts() -> None:
    found = read({"session": {"set_basis": {"matrix": [[1]]}, "configure": {"basis": "YZX"}}})

    assert [path for path, _ in found.faults] == ["session.set_basis.matrix"]
    assert [change.path for change in found.changes] == ["session.configure.basis"]
    assert found.deprecated == [("set_basis", "configure.basis")]


# ---------------------------------------------------------------- coordinate origin


@pytest.mark.parametrize(("word", "preset"), ORIGINS)
@pytest.mark.parametrize("wrap", [None, "origin", "coordinate_origin"])
def test_old_device_origin_is_a_preset(word: str, preset: str, wrap: str | None) -> None:
    found = read(commanded(set_coordinate_origin=word if wrap is None else {wrap: word}))

    assert found.changes == [SetPreset("049D", preset, DEVICE)]
    assert found.deprecated == [("set_coordinate_origin", "configure.preset")]
    assert (found.faults, found.mapped, found.commands) == ([], {"049D"}, [])


@pytest.mark.parametrize(("word", "preset"), ORIGINS)
def test_old_session_origin_is_a_preset_of_every_device_with_motors(word: str, preset: str) -> None:
    found = read({"session": {"set_coordinate_origin": word}})

    assert found.changes == [SetPreset(device_id, preset, SESSION) for device_id in ("049D", "04EA", "05E7")]
    assert found.deprecated == [("set_coordinate_origin", "configure.preset")]
    assert (found.faults, found.mapped) == ([], set())


@pytest.mark.parametrize(
    "value", [None, 1, "", "base", "arm_front", [], {}, {"a": "x"}, {"a": 1}, {"a": "device_base", "b": 1}]
)
def test_unknown_origin_is_refused_with_its_replacement(value: object) -> None:
    device, session = read(commanded(set_coordinate_origin=value)), read({"session": {"set_coordinate_origin": value}})

    assert [path for path, _ in device.faults] == [DEVICE]
    assert [path for path, _ in session.faults] == [SESSION]
    for found in (device, session):
        assert found.changes == []
        assert "configure.preset" in found.faults[0][1]


def test_old_origin_excludes_a_mount_on_its_device_only() -> None:
    found = read({**arm(configure={"mount": EMPTY}), "session": {"set_coordinate_origin": "device_base"}})

    assert sorted(path for path, _ in found.faults) == ["arm[0].configure.mount", SESSION]
    assert [change.device_id for change in found.changes if isinstance(change, SetPreset)] == ["04EA", "05E7"]


def test_every_old_form_names_its_replacement() -> None:
    found = read(
        {
            **commanded(
                set_cursor_force={"values": [1, 2, 3]},
                set_angular_torque={"values": [1, 2, 3]},
                probe_cursor_position=EMPTY,
            ),
            "session": {"set_basis": "XYZ", "set_coordinate_origin": "device_base"},
        }
    )

    assert found.faults == []
    assert found.deprecated == [
        ("set_cursor_force", "vector"),
        ("set_angular_torque", "set_angular_torques"),
        ("set_angular_torques", "torques"),
        ("probe_cursor_position", "probe_position"),
        ("set_basis", "configure.basis"),
        ("set_coordinate_origin", "configure.preset"),
    ]


# ---------------------------------------------------------------- how often


def test_form_is_reported_once_per_30_s_with_the_suppressed_count() -> None:
    notices = DeprecationNotices()

    assert EVERY_NS == 30_000_000_000
    assert notices.due("a", 5) == 0
    assert [notices.due("a", 5 + age) for age in (0, 1, EVERY_NS - 1)] == [None, None, None]
    assert notices.due("a", 5 + EVERY_NS) == 3
    assert notices.due("a", 5 + EVERY_NS + 1) is None
    assert notices.due("a", 5 + 3 * EVERY_NS) == 1


def test_each_form_is_counted_independently() -> None:
    notices = DeprecationNotices()

    assert [notices.due(form, 0) for form in ("a", "b", "a", "b", "b")] == [0, 0, None, None, None]
    assert (notices.due("a", EVERY_NS), notices.due("b", EVERY_NS), notices.due("c", EVERY_NS)) == (1, 2, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20_000_000_000)), max_size=60))
def test_every_use_is_reported_or_counted_within_the_limit(uses: list[tuple[str, int]]) -> None:
    notices, now = DeprecationNotices(), 0
    told: dict[str, list[int]] = {}
    waiting: dict[str, int] = {}
    for form, wait in uses:
        now += wait
        held = notices.due(form, now)
        if held is None:
            waiting[form] = waiting.get(form, 0) + 1
            assert now - told[form][-1] < EVERY_NS
        else:
            assert held == waiting.pop(form, 0)
            assert form not in told or now - told[form][-1] >= EVERY_NS
            told.setdefault(form, []).append(now)
