"""Configuration of a device as the wire takes it, checked as far as that needs no service. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from hapticd_client.core.vectors import WXYZ, XYZ, three
from hapticd_client.errors import InvalidCommand

TRANSFORM_KEYS: Final = ("position", "rotation", "scale", "pivot")
MOST_DAMPING: Final = 20.0
UNIT_SLACK: Final = 1e-3


def checked(key: str, value: Any) -> Any:
    """Return the body of `configure[key]`, or of a workspace; InvalidCommand says what is wrong with it."""
    if key in {"mount", "workspace"}:
        return _transform(key, value)
    if key == "damping":
        if isinstance(value, Mapping):
            return {name: _plain(part) for name, part in value.items()}
        return {"scalar": _number("damping", value, MOST_DAMPING, "N·s/m")}
    if key == "force_gate":
        if isinstance(value, Mapping):
            return dict(value)
        return {"gain": _number("a force gate", value, 1.0, "gain")}
    if key in {"preset", "basis"} and not isinstance(value, str | Mapping):
        raise InvalidCommand(f"a {key} is a text, and this is {value!r}")
    return dict(value) if isinstance(value, Mapping) else _plain(value)


def _transform(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidCommand(f"a {key} is an object with any of position, rotation, scale, and this is {value!r}")
    made: dict[str, Any] = {}
    for name, part in value.items():
        if name not in TRANSFORM_KEYS:
            raise InvalidCommand(f"a {key} has no {name}: it has {', '.join(TRANSFORM_KEYS[:3])}")
        if isinstance(part, Mapping):
            made[name] = dict(part)
        elif name == "rotation":
            made[name] = _rotation(part)
        elif name == "scale" and isinstance(part, int | float):
            made[name] = _scale((part, part, part))
        elif name == "scale":
            made[name] = _scale(part)
        else:
            made[name] = dict(zip(XYZ, three(part, f"{name} of a {key}", "m"), strict=True))
    return made


def _scale(parts: Any) -> dict[str, float]:
    vector = three(parts, "a scale", "above 0")
    if min(vector) <= 0:
        raise InvalidCommand(f"a scale is above 0, and this is {vector}")
    return dict(zip(XYZ, vector, strict=True))


def _rotation(parts: Any) -> dict[str, float]:
    try:
        w, x, y, z = map(float, parts)
    except (TypeError, ValueError):
        raise InvalidCommand("a rotation is a unit quaternion w, x, y, z") from None
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if not abs(norm - 1) <= UNIT_SLACK:
        raise InvalidCommand(f"a rotation is a unit quaternion w, x, y, z, and the norm of this one is {norm:g}")
    return dict(zip(WXYZ, (w, x, y, z), strict=True))


def _number(what: str, value: Any, most: float, unit: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidCommand(f"{what} is a number ({unit}), and this is {value!r}") from None
    if not 0 <= number <= most:
        raise InvalidCommand(f"{what} is 0 to {most:g} ({unit}), and this is {number:g}")
    return number


def _plain(value: Any) -> Any:
    """Return numpy values as Python's."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
