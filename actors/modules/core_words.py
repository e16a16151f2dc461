"""JSON keys of the core schema; no module may add one of them at the same place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.modules.module import Place
from actors.values.commands import COMMAND_NAMES

CORE_WORDS: Final[Mapping[Place, frozenset[str]]] = MappingProxyType(
    {
        Place.COMMAND: COMMAND_NAMES,
        Place.CONFIGURE: frozenset(
            {
                "basis", "mount", "preset", "damping", "force_gate", "filters", "navigation", "type", "connection", "port",
                "device_info", "extended_device_id", "extended_firmware_version", "handedness", "streaming_mode",
                "gravity_compensation", "torque_scaling", "home_return", "paired_with", "major_version", "minor_version",
                "hardware_version", "name",
            }
        ),
        Place.SESSION: frozenset({"profile", "basis", "required_sdk_version"}),
        Place.TRANSFORM: frozenset({"transform", "position", "rotation", "scale"}),
        Place.STATE: frozenset(
            {
                "cursor_position", "cursor_velocity", "angular_position", "angular_velocity", "body_orientation",
                "current_cursor_force", "current_cursor_position", "current_angular_torques", "current_angular_position",
                "control_domain", "control_mode", "mode", "transform", "transform_velocity", "orientation", "hall", "button",
                "buttons", "battery_level", "battery_voltage", "navigation",
            }
        ),
    }
)  # fmt: skip
