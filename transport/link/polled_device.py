"""Interface of a device that a `PolledLink` exchanges with from Python, its samples, and the error Unplugged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from actors.values.spatial import Quaternion, Vec3
from fastpath.layout.constants import PortBit

if TYPE_CHECKING:
    from actors.values.hardware import FoundDevice

NOT_KNOWN: Final[Quaternion] = (0.0, 0.0, 0.0, 0.0)


class Unplugged(Exception):
    """The device no longer answers; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One state of the device, on its way to the loop."""

    joint: Vec3 = (0.0, 0.0, 0.0)  # degrees
    orientation: Quaternion = NOT_KNOWN  # unit quaternion w, x, y, z; NOT_KNOWN: the device has none
    buttons: int = 0  # bit 0 is the first button
    homed: bool = True  # the numbers are absolute

    @property
    def bits(self) -> int:
        """Return its `PortBit`s."""
        always = PortBit.PORT_POWER | PortBit.PORT_AWAKE
        return always | PortBit.PORT_CALIBRATED | PortBit.PORT_HOMED if self.homed else always


class PolledDevice(Protocol):
    """One open device; its methods are called on one thread at a time. Counters count since it was opened."""

    @property
    def found(self) -> FoundDevice:
        """The device as it reports itself."""
        ...

    @property
    def frames_in(self) -> int:
        """Whole frames received."""
        ...

    @property
    def frames_bad(self) -> int:
        """Broken frames received."""
        ...

    @property
    def frames_out(self) -> int:
        """Commands sent."""
        ...

    @property
    def bytes_in(self) -> int:
        """Bytes received."""
        ...

    @property
    def bytes_out(self) -> int:
        """Bytes sent."""
        ...

    @property
    def fault(self) -> str:
        """Sentence about the device's fault, "" without one."""
        ...

    @property
    def homed(self) -> bool:
        """Whether its position is absolute; until then the device settles."""
        ...

    @property
    def beats(self) -> bool:
        """Whether it is a handle that is attached as long as its link is open."""
        ...

    def exchange(self, torque: Vec3) -> Sample | None:
        """Send joint torques (N.mm) and return the device's answer, None without a new one. At most 50 ms; Unplugged."""
        ...

    def close(self) -> None:
        """Send zero force and release the device; never raises."""
        ...
