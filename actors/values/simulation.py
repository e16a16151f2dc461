"""Simulation of one device as a value: the hand that holds it, what a handle reports, and the simulated fault."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from actors.values.spatial import Quaternion, Vec3

BUTTONS: Final = ("a", "b", "c")
ANY_BUTTON: Final = "any"  # of a setting: each of BUTTONS


class HandPath(StrEnum):
    """Motion of the simulated hand: a circle about its position, rest there, or hold the device where it is."""

    CIRCLE = "circle"
    REST = "rest"
    HOLD = "hold"


class Fault(StrEnum):
    """Simulated fault."""

    NONE = "none"
    CONNECTION_LOOP = "connection_loop"
    STALL = "stall"
    FOREIGN_OBJECT = "foreign_object"
    OSCILLATING_HALL = "oscillating_hall"
    CALIBRATION_BLOCKED = "calibration_blocked"
    UNPLUG = "unplug"
    THROW = "throw"
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class Simulation:
    """State of one device's simulation. Each revision counts requests that act once."""

    path: HandPath = HandPath.CIRCLE
    position: Vec3 | None = None  # m, device frame; None: centre of the reach
    stiffness: float = 150.0  # N/m, of the arm behind the hand
    buttons: int = 0  # bits in the order of BUTTONS
    orientation: Quaternion | None = None  # None: as the hand holds it
    attached: bool = True  # heartbeats are sent
    battery_level: float | None = None  # 0 to 1; None: the start value
    fault: Fault = Fault.NONE
    hand_revision: int = 1  # of taking hold
    battery_revision: int = 0  # of setting the charge
    push_revision: int = 0  # of a push


@dataclass(frozen=True, slots=True)
class SimulationChange:
    """Requested change of a simulation; None keeps a value."""

    path: HandPath | None = None
    position: Vec3 | None = None
    centred: bool | None = None  # position back to the centre of the reach
    stiffness: float | None = None
    buttons: tuple[tuple[str, bool], ...] | None = None  # by name
    orientation: Quaternion | None = None
    free: bool | None = None  # orientation back to the hand's
    attached: bool | None = None
    battery_level: float | None = None
    awake: bool | None = None
    fault: Fault | None = None

    def sent(self) -> dict[str, Any]:
        """Return the values that are not None, by name."""
        every = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in every if value is not None}

    @property
    def wakes(self) -> bool:
        """Whether the change moves or touches the device, which wakes it."""
        return bool(self.sent().keys() & {"path", "position", "centred", "stiffness", "buttons", "orientation"})
