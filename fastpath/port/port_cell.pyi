# The two cells of one device at a port, for a link with a Python thread; serial ports have theirs in C.

from typing import TypeAlias, final

from fastpath.arena.runtime import Lease, Runtime

_Three: TypeAlias = tuple[float, float, float]

# Write samples and read orders of one device while its lease holds; one thread at a time. ValueError for no slot of a device.
@final
class PortCell:
    def __new__(cls, runtime: Runtime, lease: Lease) -> PortCell: ...
    # A packet that arrived now. Degrees, m in the device frame, unit quaternion (all zero: not known). Which of joint and position
    # the loop takes is up to the kind of the mechanism. False: not taken, the lease is over or a number is not finite.
    def put(
        self,
        *,
        joint: _Three = ...,
        position: _Three = ...,
        orientation: tuple[float, float, float, float] = ...,
        buttons: int = 0,
        hall: float = 0,
        battery_level: float = 0,
        battery_voltage: float = 0,
        temperature: float = 0,
        bits: int = 0,
        faults: int = 0,
    ) -> bool: ...
    # When the loop ordered it (ns of the runtime's clock), force (N, device frame) and joint torques (N.mm); None: nothing was
    # ordered in this lease. How old an order may be is the link's to decide; an older one is zero.
    def order(self) -> tuple[int, _Three, _Three] | None: ...
