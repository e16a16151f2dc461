"""Translate deprecated forms of the wire into today's; nothing further inside knows of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from actors.kit.errors import InvalidInput
from actors.values.spatial import Axes, Basis
from transport.wire import shapes

SESSION_BASIS: Final = "set_basis"

ORIGINS: Final[Mapping[str, str]] = MappingProxyType(
    {"device_base": "arm_front", "workspace_center": "arm_front_centered"}
)


def coordinate_origin(value: Any, path: str) -> str:
    """Return the preset of an old coordinate origin: a bare word, or an object with one string. InvalidInput."""
    word = value
    if isinstance(value, dict) and len(value) == 1:
        (word,) = value.values()
    preset = ORIGINS.get(word) if isinstance(word, str) else None
    if preset is None:
        raise InvalidInput(f"use one of {', '.join(ORIGINS)}, or better configure.preset", path)
    return preset


def legacy_basis(value: Any, path: str) -> Basis:
    """Return the basis of an old map L, its inverse: `{"permutation"}`, `{"matrix"}` or either bare. InvalidInput."""
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if key in {"permutation", "matrix"}:
            value, path = inner, f"{path}.{key}"
    if isinstance(value, str):
        try:
            return Basis.parse(value).inverse
        except ValueError as error:
            raise InvalidInput(str(error), path) from None
    return _of_matrix(value, path).inverse


def _of_matrix(value: Any, path: str) -> Basis:
    if not (
        isinstance(value, list) and len(value) == 3 and all(isinstance(row, list) and len(row) == 3 for row in value)
    ):
        raise InvalidInput("a permutation string or a 3 x 3 matrix is needed", path)
    rows = [[shapes.number(entry, path) for entry in row] for row in value]
    axes, signs = [], []
    for row in rows:
        ones = [column for column, entry in enumerate(row) if entry in (1.0, -1.0)]
        if len(ones) != 1 or sum(abs(entry) for entry in row) != 1:
            raise InvalidInput("the matrix must be a signed permutation: one 1 or -1 in each row and column", path)
        axes.append(ones[0])
        signs.append(int(row[ones[0]]))
    if sorted(axes) != [0, 1, 2]:
        raise InvalidInput("the matrix must be a signed permutation: one 1 or -1 in each row and column", path)
    return Basis(_triple(axes), _triple(signs))


def _triple(values: list[int]) -> Axes:
    x, y, z = values
    return x, y, z
