"""Simulation of one device as a value: the hand that holds it, what a handle reports, and the simulated fault."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from actors.values.spatial import Quaternion, Vec3

BUTTONS: Final = ("a", "b", "c")


class HandPath(StrEnum):
    """What the hand intends: a circle about its position, to rest there, or to hold the device where it took hold."""

    CIRCLE = "circle"
    REST = "rest"
    HOLD = "hold"


class Fault(StrEnum):
    """What goes wrong."""

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
    """`position` (m, device frame) None: the centre of the reach; `orientation` None: as the hand holds it; `battery_level` None: as at first.

    Each revision counts what acts once: taking hold anew, a charge that was set, a push.
    """

    path: HandPath = HandPath.CIRCLE
    position: Vec3 | None = None
    stiffness: float = 150.0
    buttons: int = 0
    orientation: Quaternion | None = None
    attached: bool = True
    battery_level: float | None = None
    fault: Fault = Fault.NONE
    hand_revision: int = 1
    battery_revision: int = 0
    push_revision: int = 0


@dataclass(frozen=True, slots=True)
class SimulationChange:
    """What somebody wants of it; None keeps a value. `buttons` by name; `free`: orientation and `centred`: position are the hand's again."""

    path: HandPath | None = None
    position: Vec3 | None = None
    centred: bool | None = None
    stiffness: float | None = None
    buttons: tuple[tuple[str, bool], ...] | None = None
    orientation: Quaternion | None = None
    free: bool | None = None
    attached: bool | None = None
    battery_level: float | None = None
    awake: bool | None = None
    fault: Fault | None = None

    def sent(self) -> dict[str, Any]:
        """The values that are not kept, by name."""
        every = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in every if value is not None}

    @property
    def wakes(self) -> bool:
        """Whether somebody handles the device, which wakes it."""
        return bool(self.sent().keys() & {"path", "position", "centred", "stiffness", "buttons", "orientation"})
