"""Parse and check values of JSON: vectors, rotations, transforms, bases, presets. WebSocket and HTTP share them.

A key that nobody knows is told to `name_unknown` with its path and a reason, and otherwise ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt
from typing import Any, Final, TypeAlias

from actors.kit.errors import InvalidInput
from actors.values.commands import LARGEST, XYZ
from actors.values.spatial import Basis, PartialTransform, Quaternion, Vec3

NameUnknown: TypeAlias = Callable[[str, str], None]

# The smallest float32 as it is written on the wire, which the description of the interface says: what is less is 0 for whoever reads it.
SMALLEST_SCALE: Final = 1e-45
UNIT_TOLERANCE: Final = 1e-3
# 0.999 is 1e-3 from 1 only in decimals.
ROUNDING: Final = 1e-12
WXYZ: Final = ("w", "x", "y", "z")
MOST_NAMED: Final = 8
TRANSFORM_FIELDS: Final = ("position", "rotation", "scale")


def number(value: Any, path: str, largest: float = LARGEST) -> float:
    """Return a finite number of at most this magnitude; InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"a number is needed, not {kind(value)}", path)
    if not -largest <= value <= largest:
        raise InvalidInput(f"the number must be between -{largest:.12g} and {largest:.12g}", path)
    return float(value)


def mapping(value: Any, path: str) -> dict[str, Any]:
    """Return a JSON object; InvalidInput."""
    if not isinstance(value, dict):
        raise InvalidInput(f"an object is needed, not {kind(value)}", path)
    return value


def text(value: Any, path: str) -> str:
    """Return a JSON string; InvalidInput."""
    if not isinstance(value, str):
        raise InvalidInput(f"a string is needed, not {kind(value)}", path)
    return value


def known(fields: dict[str, Any], keys: Iterable[str], path: str, name_unknown: NameUnknown) -> None:
    """Name unknown keys: the first eight, as many as a frame shows."""
    unknown = [key for key in fields if key not in keys]
    for key in unknown[:MOST_NAMED]:
        name_unknown(f"{path}.{key[:40]}", f"unknown: only {', '.join(keys)} may stand here")


def some_known(fields: dict[str, Any], keys: Iterable[str], path: str, name_unknown: NameUnknown) -> None:
    """Name unknown keys; InvalidInput when there are keys and none is known."""
    unknown = [key for key in fields if key not in keys]
    if unknown and len(unknown) == len(fields):
        first = unknown[0]
        known(dict.fromkeys(unknown[1:]), keys, path, name_unknown)
        raise InvalidInput(f"unknown, and nothing else was sent: use {', '.join(keys)}", f"{path}.{first[:40]}")
    known(fields, keys, path, name_unknown)


def needed(fields: dict[str, Any], keys: Iterable[str], path: str, name_unknown: NameUnknown) -> None:
    """Name unknown keys; InvalidInput when no key is known, or there is none."""
    some_known(fields, keys, path, name_unknown)
    if not fields:
        *others, last = keys
        both = "both" if len(others) == 1 else "several"
        raise InvalidInput(f"{', '.join((*others, last))} or {both} are needed", path)


def numbers(
    value: Any, keys: tuple[str, ...], path: str, name_unknown: NameUnknown, largest: float = LARGEST
) -> tuple[float, ...]:
    """Return the numbers under these keys, in their order; InvalidInput."""
    fields = mapping(value, path)
    known(fields, keys, path, name_unknown)
    for key in keys:
        if key not in fields:
            raise InvalidInput(f"all of {', '.join(keys)} are needed", f"{path}.{key}")
    return tuple(number(fields[key], f"{path}.{key}", largest) for key in keys)


def vec3(
    value: Any, path: str, name_unknown: NameUnknown, keys: tuple[str, ...] = XYZ, largest: float = LARGEST
) -> Vec3:
    """Return `{x, y, z}` (or the joints' a0, a1, a2); InvalidInput."""
    x, y, z = numbers(value, keys, path, name_unknown, largest)
    return x, y, z


def vec3_or_array(
    value: Any, path: str, name_unknown: NameUnknown, keys: tuple[str, ...] = XYZ, largest: float = LARGEST
) -> Vec3:
    """Return the vector of `{x, y, z}` or of an array of three numbers, the deprecated `values`; InvalidInput."""
    if not isinstance(value, list):
        return vec3(value, path, name_unknown, keys, largest)
    if len(value) != 3:
        raise InvalidInput("an array of three numbers is needed", path)
    x, y, z = (number(entry, f"{path}[{index}]", largest) for index, entry in enumerate(value))
    return x, y, z


def rotation(value: Any, path: str, name_unknown: NameUnknown) -> Quaternion:
    """Return `{w, x, y, z}` normalised; InvalidInput unless its norm is within 1e-3 of 1."""
    w, x, y, z = numbers(value, WXYZ, path, name_unknown)
    norm = sqrt(w * w + x * x + y * y + z * z)
    if abs(norm - 1) > UNIT_TOLERANCE + ROUNDING:
        raise InvalidInput("a rotation is a unit quaternion: its norm must be within 0.001 of 1", path)
    return w / norm, x / norm, y / norm, z / norm


def scale(value: Any, path: str, name_unknown: NameUnknown) -> Vec3:
    """Return three positive factors; one number means all three. InvalidInput."""
    if isinstance(value, dict):
        x, y, z = vec3(value, path, name_unknown)
        return _factor(x, f"{path}.x"), _factor(y, f"{path}.y"), _factor(z, f"{path}.z")
    factor = _factor(number(value, path), path)
    return factor, factor, factor


def transform(value: Any, path: str, name_unknown: NameUnknown) -> PartialTransform:
    """Return the parts of a transform that were sent, flat or wrapped in `transform`. `{}` sends none of them.

    InvalidInput, also when only unknown keys were sent.
    """
    fields = mapping(value, path)
    if "transform" in fields:
        known(fields, ("transform",), path, name_unknown)
        path = f"{path}.transform"
        fields = mapping(fields["transform"], path)
    some_known(fields, TRANSFORM_FIELDS, path, name_unknown)
    sent = fields.keys()
    return PartialTransform(
        position=vec3(fields["position"], f"{path}.position", name_unknown) if "position" in sent else None,
        rotation=rotation(fields["rotation"], f"{path}.rotation", name_unknown) if "rotation" in sent else None,
        scale=scale(fields["scale"], f"{path}.scale", name_unknown) if "scale" in sent else None,
    )


def basis(value: Any, path: str, name_unknown: NameUnknown) -> Basis:
    """Return the basis of `{"permutation": "XZ-Y"}` or of the bare string; InvalidInput."""
    permutation, path = only(value, "permutation", path, name_unknown)
    try:
        return Basis.parse(text(permutation, path))
    except ValueError as error:
        raise InvalidInput(str(error), path) from None


def word(value: Any, key: str, path: str, name_unknown: NameUnknown) -> str:
    """Return a string, bare or as the one field `key` of an object; InvalidInput."""
    found, path = only(value, key, path, name_unknown)
    return text(found, path)


def only(value: Any, key: str, path: str, name_unknown: NameUnknown) -> tuple[Any, str]:
    """Return the field `key` of an object, or the bare value, with its path; InvalidInput."""
    if not isinstance(value, dict):
        return value, path
    some_known(value, (key,), path, name_unknown)
    path = f"{path}.{key}"
    if key not in value:
        raise InvalidInput(f"{key} is missing", path)
    return value[key], path


def no_json(said: object) -> str:
    """Return the JSON parser's message; two are replaced: that of an empty text, and a lack of memory where brackets are not closed."""
    text = str(said)
    if "zero-length" in text or "is empty" in text:
        return "it is empty"
    return text.replace("failed to allocate memory", "brackets are opened and not closed")


def kind(value: Any) -> str:
    """Return the type of a JSON value for an error sentence."""
    if value is None:
        return "null"
    return {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}.get(
        type(value), "an object"
    )


def _factor(value: float, path: str) -> float:
    if value < SMALLEST_SCALE:
        raise InvalidInput("a scale must be greater than 0", path)
    return value
