"""Firmware: the version of a device's firmware, as a comparable value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Firmware:
    """Firmware version; compares by numbers, so 7.10 is newer than 7.5."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Return `major.minor`."""
        return f"{self.major}.{self.minor}"
