"""Debounce a handle's heartbeats into attached or detached; PairingManager steps one HeartbeatMonitor per grip and pen. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord

PERIOD_S: Final = 0.020
# One heartbeat may be late or lost; two in a row are a gap.
GAP_NS: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class Debounce:
    """Debounce times of the attachment."""

    attach_ns: int = 200_000_000  # ns, heartbeats without a gap for so long attach
    detach_ns: int = 100_000_000  # ns, no heartbeat for so long detaches


@dataclass(frozen=True, slots=True)
class HeartbeatMonitor:
    """Debounced attachment of one handle."""

    attached: bool = False
    since_ns: int | None = None  # ns, first heartbeat since the last gap
    newest_ns: int | None = None  # ns, newest heartbeat


def of_simulated(record: DeviceRecord, now_ns: int) -> int | None:
    """Return the time (ns) of a simulated handle's newest heartbeat: now, while it sends them; else None."""
    return now_ns if record.identity.simulated and record.beats else None


def step(monitor: HeartbeatMonitor, newest_ns: int | None, now_ns: int, debounce: Debounce) -> HeartbeatMonitor:
    """Return the monitor at `now_ns`; `newest_ns` is the newest heartbeat, None before the first. A late call never detaches."""
    monitor = _with_heartbeat(monitor, newest_ns)
    if monitor.newest_ns is None:
        # Attached before the first step: heartbeats must come from now on.
        return replace(monitor, newest_ns=now_ns) if monitor.attached else monitor
    if monitor.attached:
        return replace(monitor, attached=now_ns - monitor.newest_ns < debounce.detach_ns)
    steady = monitor.since_ns is not None and monitor.newest_ns - monitor.since_ns >= debounce.attach_ns
    return replace(monitor, attached=steady and now_ns - monitor.newest_ns < debounce.detach_ns)


def _with_heartbeat(monitor: HeartbeatMonitor, newest_ns: int | None) -> HeartbeatMonitor:
    if newest_ns is None or (monitor.newest_ns is not None and newest_ns <= monitor.newest_ns):
        return monitor
    steady = monitor.since_ns is not None and monitor.newest_ns is not None and newest_ns - monitor.newest_ns <= GAP_NS
    return replace(monitor, since_ns=monitor.since_ns if steady else newest_ns, newest_ns=newest_ns)
