"""Variants of the session protocol (frame version, vocabulary, opcode), and how each changes a wire case."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, TypeAlias, cast

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Firmware, Kind
from actors.values.kinds.registry import specs
from tests.support.clients.raw_websocket import BINARY, TEXT

Object: TypeAlias = Mapping[str, Any]
"""A JSON object."""

DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A002", Firmware(7, 3)),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "B001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRED, "B002"),
    SimulatedSpec(Kind.PEN, Connection.SIMULATED, "D001"),
)
"""The devices of the wire cases; the arm A002 has a firmware that is too old for damping and home return."""

_NO_DEVICE: Final[tuple[str, ...]] = ()
GROUPS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "neutral": dict.fromkeys((spec.name for spec in specs()), _NO_DEVICE)
    | {"arm": ("A001", "A002"), "compact": ("C001",), "grip": ("B001", "B002"), "pen": ("D001",)},
    "inverse": dict.fromkeys((spec.inverse.group for spec in specs()), _NO_DEVICE)
    | {
        "inverse3": ("A001", "A002", "C001"),
        "verse_grip": ("B002",),
        "wireless_verse_grip": ("B001",),
        "custom_verse_grip": ("D001",),
    },
}
"""Groups of a frame by vocabulary, each with its devices; a kind without a device here has an empty group."""

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "neutral": {},
    "inverse": {"arm": "inverse3", "compact": "minverse", "grip": "verse_grip", "pen": "custom_verse_grip"},
}


@dataclass(frozen=True, slots=True)
class WireVariant:
    """One variant: frame version, vocabulary, opcode."""

    version: str
    vocabulary: str
    opcode: int

    def __str__(self) -> str:
        return f"{self.version}-{self.vocabulary}-{'text' if self.opcode == TEXT else 'binary'}"

    def word(self, name: str) -> str:
        """A word of a message in this vocabulary."""
        return WORDS[self.vocabulary].get(name, name)

    def path(self, path: str) -> str:
        """A path of an error in this vocabulary."""
        return re.sub(r"^\w+", lambda found: self.word(found[0]), path, count=1)

    def wanted(self, content: object) -> Any:
        """What a case wants in this way: of `{"$neutral", "$inverse"}` and of `{"$3.0", "$3.1"}` the one that counts."""
        fields = object_of(content)
        if fields is None:
            return content
        for name in (f"${self.vocabulary}", f"${self.version}"):
            if name in fields:
                return self.wanted(fields[name])
        return {name: self.wanted(part) for name, part in fields.items()}

    def message(self, content: object) -> object:
        """A message in this vocabulary: groups and device types."""
        message = object_of(content)
        if message is None:
            return content
        said = {self.word(name): part for name, part in message.items()}
        session = object_of(said.get("session"))
        full = object_of((session or {}).get("force_render_full_state"))
        types = (full or {}).get("device_types")
        if isinstance(types, list):
            words = [self.word(one) if isinstance(one, str) else one for one in cast("Sequence[object]", types)]
            said["session"] = {**(session or {}), "force_render_full_state": {**(full or {}), "device_types": words}}
        return said


ALL_VARIANTS: Final = tuple(
    WireVariant(*parts) for parts in product(("3.0", "3.1"), ("neutral", "inverse"), (TEXT, BINARY))
)
FEW_VARIANTS: Final = (
    WireVariant("3.0", "neutral", TEXT),
    WireVariant("3.0", "inverse", BINARY),
    WireVariant("3.1", "neutral", BINARY),
    WireVariant("3.1", "inverse", TEXT),
)
"""Every two of version, vocabulary and opcode meet in one of these."""
ONE_VARIANT: Final = (WireVariant("3.1", "neutral", TEXT),)
VARIANTS_BY_NAME: Final[Mapping[str, tuple[WireVariant, ...]]] = {
    "all": ALL_VARIANTS,
    "few": FEW_VARIANTS,
    "one": ONE_VARIANT,
}
"""By what a case says of its `ways`; `one` is for what no way of speaking has to do with."""


def object_of(value: object) -> Object | None:
    """A JSON object as it is, None for all else."""
    return cast("Object", value) if isinstance(value, dict) else None
