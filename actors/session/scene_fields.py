"""Rules of one field of a scene: its parameters, their bounds, and what they must be together. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import dist, hypot
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from actors.kit.errors import InvalidInput
from fastpath.scene.values import FIELDS, Field, Form, Parameter, Value

AXES: Final = ("x", "y", "z")
# Numbers of a form that is a tuple of them.
COUNTS: Final[Mapping[Form, int]] = MappingProxyType(
    {
        Form.POINT: 3,
        Form.DIRECTION: 3,
        Form.FORCE: 3,
        Form.SIZE: 3,
        Form.ROTATION: 4,
        Form.FRICTION: 2,
        Form.MATRIX: 9,
    }
)
SHORTEST: Final = 1e-6  # of a direction, and of a quaternion
NORMALISED: Final = 1e-9  # deviation from 1 of a quaternion's norm that is left alone
APART: Final = 1e-4  # m, between the ends of a capsule or cylinder
FEEDS: Final = -1e-9  # N·s/m, smallest eigenvalue of the symmetric part of a damper's matrix


def checked_field(name: str, sent: Mapping[str, Any]) -> Field:
    """Return the field of that name with defaults for what was not sent; InvalidInput, its path is the parameter's name."""
    parameters = FIELDS.get(name)
    if parameters is None:
        raise InvalidInput(f"field is one of {', '.join(FIELDS)}", "field")
    values: dict[str, Value] = {}
    for key, parameter in parameters.items():
        value = sent.get(key, parameter.default)
        if value is not None:
            values[key] = _checked(key, parameter, value)
        elif not parameter.optional:
            raise InvalidInput(f"{key} is missing: a {name} needs it", key)
    if name in _WHOLE:
        _WHOLE[name](values)
    return Field(name, MappingProxyType(values))


def smallest_eigenvalue(matrix: tuple[float, ...]) -> float:
    """Return the smallest eigenvalue of the symmetric part of nine numbers by rows."""
    whole = np.reshape(matrix, (3, 3))
    return float(np.linalg.eigvalsh((whole + whole.T) / 2)[0])


def _checked(key: str, parameter: Parameter, value: Any) -> Value:
    match parameter.form:
        case Form.FLAG:
            return _flag(key, value)
        case Form.AXES:
            return _axes(key, value)
        case Form.NUMBER:
            return _within(key, parameter, value)
        case Form.DIAGONAL if not isinstance(value, tuple):
            return _within(key, parameter, value)
        case form:
            numbers = _numbers(key, parameter, value, COUNTS.get(form, 3))
    if form is Form.ROTATION:
        return _rotation(key, numbers)
    if form is Form.DIRECTION and hypot(*numbers) < SHORTEST:
        raise InvalidInput(f"{key} is a direction: its x, y and z are not all 0", key)
    if form is Form.FRICTION and numbers[1] > numbers[0]:
        raise InvalidInput(f"{key}.dynamic is at most {key}.static", key)
    if form is Form.MATRIX and (smallest := smallest_eigenvalue(numbers)) < FEEDS:
        raise InvalidInput(
            f"it would feed the hand: its symmetric part has the eigenvalue {smallest:.3g}, the least is 0", key
        )
    return numbers


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{key} is true or false", key)
    return value


def _axes(key: str, value: Any) -> tuple[str, ...]:
    """Return the axes in their usual order."""
    named = isinstance(value, tuple) and bool(value) and all(part in AXES for part in value)
    if not named or len(set(value)) < len(value):
        raise InvalidInput(f"{key} is a list of x, y and z: at least one, each at most once", key)
    return tuple(axis for axis in AXES if axis in value)


def _numbers(key: str, parameter: Parameter, value: Any, count: int) -> tuple[float, ...]:
    if not isinstance(value, tuple) or len(value) != count:
        raise InvalidInput(f"{key} is {parameter.form.value}", key)
    return tuple(_within(key, parameter, part) for part in value)


def _within(key: str, parameter: Parameter, value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not parameter.least <= value <= parameter.most:
        what = key if parameter.form is Form.NUMBER else f"each number of {key}"
        unit = f" {parameter.unit}" if parameter.unit else ""
        raise InvalidInput(f"{what} is {parameter.least:g} to {parameter.most:g}{unit}", key)
    return float(value)


def _rotation(key: str, quaternion: tuple[float, ...]) -> tuple[float, ...]:
    """Return the unit quaternion; one that is near enough to it stays as it is, so that what was read is what is sent."""
    norm = hypot(*quaternion)
    if norm < SHORTEST:
        raise InvalidInput(f"{key} is a quaternion: its w, x, y and z are not all 0", key)
    return quaternion if abs(norm - 1) <= NORMALISED else tuple(part / norm for part in quaternion)


def _damper(values: Mapping[str, Any]) -> None:
    if len(values) != 1:
        raise InvalidInput("a damper has either damping or matrix: send one of them")


def _ends(values: Mapping[str, Any]) -> None:
    if dist(values["start"], values["end"]) < APART:
        raise InvalidInput(f"start and end are at least {APART:g} m apart: a sphere needs no axis", "end")


# What the parameters of a field must be together.
_WHOLE: Final[Mapping[str, Callable[[Mapping[str, Any]], None]]] = MappingProxyType(
    {"damper": _damper, "capsule": _ends, "cylinder": _ends}
)
