"""Checked values out of JSON: vectors, rotations, transforms, bases, presets. The contract's shapes, shared by WebSocket and HTTP."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any, Final

from actors.kit.errors import InvalidInput
from actors.values.spatial import Basis, PartialTransform, Quaternion, Vec3

LARGEST: Final = 1e6
SMALLEST_SCALE: Final = 1e-6
UNIT_TOLERANCE: Final = 1e-3
XYZ: Final = ("x", "y", "z")
JOINTS: Final = ("a0", "a1", "a2")
WXYZ: Final = ("w", "x", "y", "z")
TRANSFORM_FIELDS: Final = ("position", "rotation", "scale")


def number(value: Any, path: str) -> float:
    """A finite number of at most a million either way; InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"a number is needed, not {kind(value)}", path)
    if not isfinite(value) or not -LARGEST <= value <= LARGEST:
        raise InvalidInput("the number must be between -1000000 and 1000000", path)
    return float(value)


def mapping(value: Any, path: str) -> dict[str, Any]:
    """A JSON object; InvalidInput."""
    if not isinstance(value, dict):
        raise InvalidInput(f"an object is needed, not {kind(value)}", path)
    return value


def text(value: Any, path: str) -> str:
    """A JSON string; InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"a string is needed, not {kind(value)}", path)
    return value


def numbers(value: Any, keys: tuple[str, ...], path: str) -> tuple[float, ...]:
    """The numbers under exactly these keys, in their order; InvalidInput."""
    fields = mapping(value, path)
    for key in keys:
        if key not in fields:
            raise InvalidInput(f"all of {', '.join(keys)} are needed", f"{path}.{key}")
    for key in fields:
        if key not in keys:
            raise InvalidInput(f"unknown: only {', '.join(keys)} stand here", f"{path}.{key[:40]}")
    return tuple(number(fields[key], f"{path}.{key}") for key in keys)


def vec3(value: Any, path: str, keys: tuple[str, ...] = XYZ) -> Vec3:
    """`{x, y, z}` (or the joints' a0, a1, a2); InvalidInput."""
    x, y, z = numbers(value, keys, path)
    return x, y, z


def vec3_or_array(value: Any, path: str, keys: tuple[str, ...] = XYZ) -> Vec3:
    """As `vec3`, or an array of three: the deprecated `values`; InvalidInput."""
    if not isinstance(value, list):
        return vec3(value, path, keys)
    if len(value) != 3:
        raise InvalidInput("an array of three numbers is needed", path)
    x, y, z = (number(entry, f"{path}[{index}]") for index, entry in enumerate(value))
    return x, y, z


def rotation(value: Any, path: str) -> Quaternion:
    """`{w, x, y, z}` within 1e-3 of unit norm, normalised; InvalidInput."""
    w, x, y, z = numbers(value, WXYZ, path)
    norm = sqrt(w * w + x * x + y * y + z * z)
    if abs(norm - 1) > UNIT_TOLERANCE:
        raise InvalidInput("a rotation is a unit quaternion: its norm must be within 0.001 of 1", path)
    return w / norm, x / norm, y / norm, z / norm


def scale(value: Any, path: str) -> Vec3:
    """Three positive factors, or one for all; InvalidInput."""
    if isinstance(value, dict):
        factors = vec3(value, path)
    else:
        factor = number(value, path)
        factors = (factor, factor, factor)
    if any(factor < SMALLEST_SCALE for factor in factors):
        raise InvalidInput("a scale must be at least 0.000001", path)
    return factors


def transform(value: Any, path: str) -> PartialTransform:
    """The sub-fields that were sent, each complete; flat, or wrapped in `transform`. InvalidInput."""
    fields = mapping(value, path)
    if "transform" in fields:
        for key in fields:
            if key != "transform":
                raise InvalidInput("unknown beside transform", f"{path}.{key[:40]}")
        fields, path = mapping(fields["transform"], f"{path}.transform"), f"{path}.transform"
    for key in fields:
        if key not in TRANSFORM_FIELDS:
            raise InvalidInput(f"unknown: only {', '.join(TRANSFORM_FIELDS)} stand here", f"{path}.{key[:40]}")
    return PartialTransform(
        position=vec3(fields["position"], f"{path}.position") if "position" in fields else None,
        rotation=rotation(fields["rotation"], f"{path}.rotation") if "rotation" in fields else None,
        scale=scale(fields["scale"], f"{path}.scale") if "scale" in fields else None,
    )


def basis(value: Any, path: str) -> Basis:
    """`{"permutation": "XZ-Y"}` or the bare string; InvalidInput."""
    word = only(value, "permutation", path)
    try:
        return Basis.parse(text(word, path))
    except ValueError as error:
        raise InvalidInput(str(error), path) from None


def only(value: Any, key: str, path: str) -> Any:
    """`value[key]` of an object that holds nothing else, or the bare value; InvalidInput."""
    if not isinstance(value, dict):
        return value
    if set(value) != {key}:
        raise InvalidInput(f'an object with just "{key}" is needed', path)
    return value[key]


def kind(value: Any) -> str:
    """What a JSON value is, for a message."""
    if value is None:
        return "null"
    return {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}.get(
        type(value), "an object"
    )
