"""Expected rounding of a device's numbers in a frame, and the length of their texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# field of a frame's state -> decimals in the device's own space, and the longest text that it has there
READINGS: Final = {
    "cursor_position": (9, "-0.123456789"),
    "cursor_velocity": (4, "-9.1234"),
    "angular_position": (3, "-134.123"),
    "angular_velocity": (1, "-1234.1"),
    "body_orientation": (5, "-0.12345"),
    "orientation": (5, "-0.12345"),
    "current_cursor_force": (4, "-10.1234"),
    "current_cursor_position": (9, "-0.123456789"),
    "current_angular_torques": (1, "-6000.1"),
    "current_angular_position": (4, "-134.1234"),
    "hall": (4, "0.1234"),
    "battery_level": (3, "0.123"),
    "battery_voltage": (2, "3.12"),
}


def read_out(field: str, values: Iterable[float]) -> list[float]:
    """What a frame shows of `values` in device space."""
    decimals, _ = READINGS[field]
    per_unit = 10.0**decimals
    return [round(float(value) * per_unit) / per_unit + 0.0 for value in values]
