"""Immutable JSON values, as the ledger returns them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from actors.kit.errors import InvalidInput
from actors.settings.messages import Frozen

DEPTH = 32


def freeze(value: object, depth: int = DEPTH) -> Frozen:
    """Return an immutable copy of a JSON value (not of dataclasses); InvalidInput for what is not JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth and isinstance(value, list | tuple):
        return tuple(freeze(entry, depth - 1) for entry in cast("list[object]", value))
    if depth and isinstance(value, Mapping):
        return _frozen_object(cast("Mapping[object, object]", value), depth - 1)
    raise InvalidInput(f"give JSON at most {DEPTH} levels deep, not {type(value).__name__} {str(value)[:40]}.")


def thaw(value: Frozen) -> object:
    """Return a mutable copy: dicts and lists for `json.dumps`."""
    if isinstance(value, Mapping):
        return {key: thaw(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [thaw(entry) for entry in value]
    return value


def _frozen_object(value: Mapping[object, object], depth: int) -> Mapping[str, Frozen]:
    frozen: dict[str, Frozen] = {}
    for key, entry in value.items():
        if not isinstance(key, str):
            raise InvalidInput(f"give an object whose keys are texts, not {type(key).__name__}.")
        frozen[key] = freeze(entry, depth)
    return MappingProxyType(frozen)
