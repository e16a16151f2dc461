"""What this service and its devices are called: the interface version, kinds, connections, firmware, in neutral words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

INTERFACE: Final = "3.5.3"


class Kind(StrEnum):
    """Device types."""

    ARM = "arm"
    COMPACT = "compact"
    GRIP = "grip"
    PEN = "pen"

    @property
    def with_article(self) -> str:
        """For a sentence: an arm, a compact."""
        return f"{'an' if self is Kind.ARM else 'a'} {self}"

    @property
    def moves(self) -> bool:
        """Whether it has motors: arm and compact take forces, grip and pen do not."""
        return self in (Kind.ARM, Kind.COMPACT)


class Connection(StrEnum):
    """How a device is connected; grips say wired or wireless also when they are simulated."""

    SERIAL = "serial"
    USB = "usb"
    SIMULATED = "simulated"
    WIRED = "wired"
    WIRELESS = "wireless"


@dataclass(frozen=True, slots=True, order=True)
class Firmware:
    """Firmware version; compares by numbers, so 7.10 is newer than 7.5."""

    major: int
    minor: int

    def __str__(self) -> str:
        """`major.minor`."""
        return f"{self.major}.{self.minor}"
