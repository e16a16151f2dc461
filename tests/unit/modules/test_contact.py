"""Module `contact`: what `set_contact` takes, and what it refuses, with the place and what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from actors.kit.errors import InvalidInput
from actors.modules.contact import Contact, Plane, Sphere
from actors.modules.module import ModuleInput, Place
from actors.values.identity import Kind

POINT = {"x": 1, "y": 2, "z": 3}
NORMAL = {"x": 0, "y": 0, "z": 7}
PLANE = {"shape": "plane", "point": POINT, "normal": NORMAL, "stiffness": 500, "damping": 2}
SPHERE = {"shape": "sphere", "centre": POINT, "radius": 0.05, "stiffness": 500, "damping": 2}
GONE = object()
HUGE, NAN = 1e300, float("nan")
NUMBER, BETWEEN, MISSING, OBJECT, SHAPE = "a number is needed", "between", "is missing", "an object", "plane or sphere"


def read(value: object, kind: Kind = Kind.ARM) -> tuple[object, list[tuple[str, str]]]:
    """What is read, and what is noted beside it."""
    noted: list[tuple[str, str]] = []

    def note(path: str, reason: str) -> None:
        noted.append((path, reason))

    sent = ModuleInput(Place.COMMAND, "set_contact", value, "here", kind, note)
    return Contact().read(sent), noted


def changed(body: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """The body with another value at a path, or without it."""
    key, _, rest = path.partition(".")
    copy = dict(body)
    if rest:
        copy[key] = changed(body[key], rest, value)
    elif value is GONE:
        copy.pop(key, None)
    else:
        copy[key] = value
    return copy


def test_plane_and_sphere_are_read() -> None:
    assert read(PLANE) == (Plane((1, 2, 3), (0, 0, 7), 500, 2), [])
    assert read(SPHERE, Kind.COMPACT) == (Sphere((1, 2, 3), 0.05, 500, 2), [])


@pytest.mark.parametrize("kind", [Kind.GRIP, Kind.PEN])
def test_device_without_cursor_or_motors_takes_none(kind: Kind) -> None:
    with pytest.raises(
        InvalidInput, match="this device takes no set_contact: send it to an arm or a compact"
    ) as caught:
        read(PLANE, kind)
    assert caught.value.path == "here"


@pytest.mark.parametrize("value", [None, [], "plane", 1, True])
def test_body_must_be_an_object(value: object) -> None:
    with pytest.raises(InvalidInput, match="an object is needed") as caught:
        read(value)
    assert caught.value.path == "here"


def each(body: dict[str, Any], keys: str, values: Sequence[object], because: str) -> list[tuple[object, ...]]:
    """A row for each key and value."""
    return [(body, key, value, because) for key in keys.split() for value in values]


@pytest.mark.parametrize(
    ("body", "path", "value", "because"),
    [
        *((PLANE, key, GONE, SHAPE if key == "shape" else MISSING) for key in PLANE),
        *((SPHERE, key, GONE, SHAPE if key == "shape" else MISSING) for key in SPHERE),
        *each(PLANE, "shape", ["cube", "Plane", "", None, 1, ["plane"], {}], SHAPE),
        *each(PLANE, "point normal", [None, [0, 0, 1], "up", 1], OBJECT),
        *each(PLANE, "point.x normal.x", ["1", None, True, []], NUMBER),
        *each(PLANE, "point.y normal.y", [NAN, HUGE, -HUGE], BETWEEN),
        *each(SPHERE, "radius", [0, -1, NAN, HUGE, float("inf")], BETWEEN),
        *each(SPHERE, "radius", ["1", None, True, {}], NUMBER),
        *each(PLANE, "stiffness", [-1, 2001, NAN, HUGE], BETWEEN),
        *each(PLANE, "damping", [-1, 21, NAN, HUGE], BETWEEN),
        *each(SPHERE, "stiffness damping", ["1", None, True, [1]], NUMBER),
    ],
)
def test_wrong_member_is_refused_by_its_path(body: dict[str, Any], path: str, value: object, because: str) -> None:
    with pytest.raises(InvalidInput, match=because) as caught:
        read(changed(body, path, value))

    assert caught.value.path == f"here.{path}"


@pytest.mark.parametrize("key", ["x", "y", "z"])
def test_incomplete_vector_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="all of x, y, z are needed") as caught:
        read(changed(PLANE, f"normal.{key}", GONE))
    assert caught.value.path == "here.normal"


def test_zero_normal_is_refused() -> None:
    with pytest.raises(InvalidInput, match="it is zero: send the direction from the wall to the free side") as caught:
        read(changed(PLANE, "normal", {"x": 0, "y": 0.0, "z": -0.0}))
    assert caught.value.path == "here.normal"


@pytest.mark.parametrize(
    ("body", "path"),
    [(PLANE, "radius"), (SPHERE, "normal"), (PLANE, "stifness"), (PLANE, "point.w"), (SPHERE, "k" * 99)],
)
def test_unknown_member_is_named_and_the_rest_counts(body: dict[str, Any], path: str) -> None:
    shape, noted = read(changed(body, path, 1))

    assert shape == read(body)[0]
    assert [one for one, _ in noted] == [f"here.{path[:40]}"]
