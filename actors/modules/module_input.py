"""A module's word as a client sent it, with checks that refuse in the sentences of the rest of the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from actors.kit.errors import InvalidInput
from actors.values.spatial import PartialTransform, Vec3

if TYPE_CHECKING:
    from actors.modules.module import Place
    from actors.values.identity import Kind

LARGEST: Final = 1e6
MOST_NAMED: Final = 8
NO_CHANGE: Final = PartialTransform()


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """`value` is any JSON value, `kind` that of the device (None for session.configure), `change` what else a set_transform holds.

    `note(path, reason)` names what is ignored.
    """

    place: Place
    word: str
    value: object
    path: str
    kind: Kind | None
    note: Callable[[str, str], None]
    change: PartialTransform = NO_CHANGE

    def fields(self, *known: str) -> Mapping[str, object]:
        """The value as an object; keys that are not `known` are named and ignored. InvalidInput."""
        return self._object(self.value, self.path, known)

    def number(self, key: str, least: float, most: float) -> float:
        """The number under a key; InvalidInput when it is missing or not in the range."""
        return self._number(self._needed(key), f"{self.path}.{key}", least, most)

    def point(self) -> Vec3:
        """The value as `{x, y, z}`; InvalidInput."""
        fields = self._object(self.value, self.path, ("x", "y", "z"))
        if not {"x", "y", "z"} <= fields.keys():
            raise InvalidInput("all of x, y, z are needed", self.path)
        x, y, z = (self._number(fields[key], f"{self.path}.{key}", -LARGEST, LARGEST) for key in "xyz")
        return x, y, z

    def _needed(self, key: str) -> object:
        if not isinstance(self.value, dict):
            raise InvalidInput("an object is needed", self.path)
        fields = cast("dict[str, object]", self.value)
        if key not in fields:
            raise InvalidInput(f"{key} is missing", f"{self.path}.{key}")
        return fields[key]

    def _object(self, value: object, path: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise InvalidInput("an object is needed", path)
        fields = cast("dict[str, Any]", value)
        for key in [key for key in fields if key not in known][:MOST_NAMED]:
            self.note(f"{path}.{key[:40]}", f"unknown: only {', '.join(known)} may stand here")
        return fields

    def _number(self, value: object, path: str, least: float, most: float) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInput("a number is needed", path)
        if not least <= value <= most:
            raise InvalidInput(f"the number must be between {least:.7g} and {most:.7g}", path)
        return float(value)
