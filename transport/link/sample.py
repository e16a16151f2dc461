"""What a device that is driven from Python said last, on its way to the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from actors.values.spatial import Quaternion, Vec3
from fastpath.layout.constants import PortBit

NOT_KNOWN: Final[Quaternion] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """Joint angles in degrees; a unit quaternion, NOT_KNOWN where the device has none; `homed`: its numbers are true."""

    joint: Vec3 = (0.0, 0.0, 0.0)
    orientation: Quaternion = NOT_KNOWN
    buttons: int = 0
    homed: bool = True

    @property
    def bits(self) -> int:
        """Return its `PortBit`s."""
        always = PortBit.PORT_POWER | PortBit.PORT_AWAKE
        return always | PortBit.PORT_CALIBRATED | PortBit.PORT_HOMED if self.homed else always
