"""Frame fields of the knob: angle, speed and torque, each with its one joint."""

from __future__ import annotations

from typing import Final

from actors.values.kinds.base import FrameField

AXIS: Final = ("a0",)
STATE: Final = (
    FrameField("angular_position", "joint", AXIS, 1000.0),
    FrameField("angular_velocity", "joint_velocity", AXIS, 10.0),
    FrameField("current_angular_torques", "torque", AXIS, 10.0),
)
