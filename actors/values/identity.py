"""Kind, the enumeration of device kinds, with what a device says of itself."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.kinds.registry import specs

if TYPE_CHECKING:
    from actors.values.kinds.base import KindSpec

__all__ = ["Connection", "Firmware", "Kind"]

SPECS: Final = MappingProxyType({spec.name: spec for spec in specs()})


class Kind(StrEnum):
    """Kinds of devices: one member per KindSpec of the registry, its value is the spec's name."""

    # Kinds that code or tests name; the other kinds of the registry follow.
    ARM = "arm"
    COMPACT = "compact"
    GRIP = "grip"
    PEN = "pen"
    locals().update({name.upper(): name for name in SPECS if name not in ("arm", "compact", "grip", "pen")})

    @property
    def spec(self) -> KindSpec:
        """Properties and words of this kind."""
        return SPECS[self.value]

    @property
    def with_article(self) -> str:
        """Name for a sentence: an arm, a compact."""
        return f"{self.spec.article} {self}"

    @property
    def has_motors(self) -> bool:
        """Whether it accepts forces or torques."""
        return self.spec.has_motors

    @property
    def has_cursor(self) -> bool:
        """Whether it has a cursor in space."""
        return self.spec.has_cursor

    @property
    def is_handle(self) -> bool:
        """Whether it is the handle of a pair, with buttons, heartbeats and sleep."""
        return self.spec.is_handle
