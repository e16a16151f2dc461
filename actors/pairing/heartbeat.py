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
    """How long heartbeats must come without a gap to attach, and be missing to detach; nanoseconds."""

    attach_ns: int = 200_000_000
    detach_ns: int = 100_000_000


@dataclass(frozen=True, slots=True)
class HeartbeatMonitor:
    """`newest_ns` is the last heartbeat, `since_ns` the first of those that came without a gap up to it."""

    attached: bool = False
    since_ns: int | None = None
    newest_ns: int | None = None


def of_simulated(record: DeviceRecord, now_ns: int) -> int | None:
    """When the newest heartbeat of a simulated handle came: now, while it sends them."""
    return now_ns if record.identity.simulated and record.beats else None


def step(heart: HeartbeatMonitor, newest_ns: int | None, now_ns: int, debounce: Debounce) -> HeartbeatMonitor:
    """The heart at `now_ns`; `newest_ns` is when its newest heartbeat came, None while there was none. A late look never detaches."""
    heart = _heard(heart, newest_ns)
    if heart.newest_ns is None:
        # Attached before anybody listened: from now on the heartbeats have to come.
        return replace(heart, newest_ns=now_ns) if heart.attached else heart
    if heart.attached:
        return replace(heart, attached=now_ns - heart.newest_ns < debounce.detach_ns)
    steady = heart.since_ns is not None and heart.newest_ns - heart.since_ns >= debounce.attach_ns
    return replace(heart, attached=steady and now_ns - heart.newest_ns < debounce.detach_ns)


def _heard(heart: HeartbeatMonitor, newest_ns: int | None) -> HeartbeatMonitor:
    if newest_ns is None or (heart.newest_ns is not None and newest_ns <= heart.newest_ns):
        return heart
    steady = heart.since_ns is not None and heart.newest_ns is not None and newest_ns - heart.newest_ns <= GAP_NS
    return replace(heart, since_ns=heart.since_ns if steady else newest_ns, newest_ns=newest_ns)
