"""What this service and its devices are called: the interface version, kinds, connections, firmware, in neutral words."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.kinds.registry import specs

if TYPE_CHECKING:
    from actors.values.kinds.base import KindSpec

__all__ = ["INTERFACE", "Connection", "Firmware", "Kind"]

INTERFACE: Final = "3.5.3"
SPECS: Final = MappingProxyType({spec.name: spec for spec in specs()})


class Kind(StrEnum):
    """Kinds of devices: one member for each KindSpec of the registry, whose name is its value."""

    # Names that code or tests use; the registry's further kinds follow them.
    ARM = "arm"
    COMPACT = "compact"
    GRIP = "grip"
    PEN = "pen"
    locals().update({name.upper(): name for name in SPECS if name not in ("arm", "compact", "grip", "pen")})

    @property
    def spec(self) -> KindSpec:
        """What a device of this kind has and is called."""
        return SPECS[self.value]

    @property
    def with_article(self) -> str:
        """For a sentence: an arm, a compact."""
        return f"{self.spec.article} {self}"

    @property
    def has_motors(self) -> bool:
        """Whether it takes forces or torques."""
        return self.spec.has_motors

    @property
    def has_cursor(self) -> bool:
        """Whether it has a point in space that an application sees."""
        return self.spec.has_cursor

    @property
    def is_handle(self) -> bool:
        """Whether it is held in the hand: the handle of a pair, with buttons, a heartbeat and sleep."""
        return self.spec.is_handle
