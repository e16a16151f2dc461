"""Numbers on their way in and out: three finite components of a command, read-only arrays of a state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hapticd_client.errors import InvalidCommand

Vector: TypeAlias = NDArray[np.float64]

XYZ: Final = ("x", "y", "z")
JOINTS: Final = ("a0", "a1", "a2")
WXYZ: Final = ("w", "x", "y", "z")
NAN: Final = float("nan")
NOT_VECTORS: Final = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)


def is_number(value: object) -> bool:
    """Return whether a value is a number, of Python or numpy."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def three(value: Iterable[float], what: str, unit: str) -> tuple[float, float, float]:
    """Return three finite numbers; InvalidCommand names `what` and its unit."""
    try:
        parts: tuple[Any, ...] = () if isinstance(value, NOT_VECTORS) else tuple(value)
        x, y, z = (math.nan if isinstance(part, str | bytes) else float(part) for part in parts)
    except (TypeError, ValueError):
        raise InvalidCommand(f"{what} is three numbers ({unit}), and this is {_shown(value)}") from None
    if not math.isfinite(x + y + z):
        raise InvalidCommand(f"{what} is three finite numbers ({unit}), and this is {_shown(value)}")
    return x, y, z


def limited(vector: tuple[float, float, float], most: float) -> tuple[float, float, float]:
    """Return the vector, shortened to the length `most` where it is longer."""
    x, y, z = vector
    length = math.sqrt(x * x + y * y + z * z)
    if length <= most:
        return vector
    scale = most / length
    return x * scale, y * scale, z * scale


def array(entry: Mapping[str, Any] | None, labels: tuple[str, ...]) -> Vector:
    """Return a read-only array of an object's numbers; NaN where one is missing or null."""
    found: list[Any] = [NAN] * len(labels) if entry is None else [entry.get(label) for label in labels]
    made = np.array([NAN if part is None else part for part in found], dtype=np.float64)
    made.flags.writeable = False
    return made


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
