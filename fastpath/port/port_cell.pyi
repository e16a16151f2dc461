# PortCell: the sample and order cells of one device, for a link with a Python thread; serial port threads use them in C.

from typing import TypeAlias, final

from fastpath.arena.runtime import Lease, Runtime

_Three: TypeAlias = tuple[float, float, float]

# Writes samples and reads orders of one device while its lease holds; one thread at a time. ValueError for a lease without a device slot.
@final
class PortCell:
    def __new__(cls, runtime: Runtime, lease: Lease) -> PortCell: ...
    # Publish a packet that arrived now: degrees, m in the device frame, unit quaternion (all zero: unknown). The kind of the mechanism
    # decides whether the loop uses joint or position. False: not published, the lease has ended or a number is not finite.
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
    # The newest order: its time (ns of the runtime's clock), force (N, device frame), joint torques (N.mm); None before the first
    # order of this lease. The link decides how old an order may be; an older one must be treated as zero. Zero when the last call was more
    # than 20 ms and a period of the caller (ns) ago, until the loop has begun from zero.
    def order(self, period_ns: int = 0) -> tuple[int, _Three, _Three] | None: ...
