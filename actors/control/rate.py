"""Rules of the loop rate warning: the measured rate between two readings of the counters, compared with the configured one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.control.messages import LoopFacts, RateStage
from actors.event.messages import Emit
from actors.kit.clock import NS_PER_S

# Worst first: down below the first share of the target, up again from the second.
THRESHOLDS: Final = ((RateStage.CRITICAL, 0.50, 0.55), (RateStage.LOW, 0.90, 0.95))
KINDS: Final[Mapping[RateStage, str]] = MappingProxyType(
    {RateStage.LOW: "control-rate-low", RateStage.CRITICAL: "control-rate-critical"}
)


def measured_hz(before: LoopFacts, after: LoopFacts) -> float | None:
    """Ticks per second between two readings; None when it did not run through at one rate, so that nothing can be said."""
    then, now = before.counters, after.counters
    through = then.running and now.running and then.started_ns == now.started_ns
    if not through or then.target_frequency != now.target_frequency or after.at_ns <= before.at_ns:
        return None
    return (now.ticks - then.ticks) * NS_PER_S / (after.at_ns - before.at_ns)


def rate_stage(before: RateStage, share: float) -> RateStage:
    """Down below a threshold, up again only the hysteresis above it; `share` is measured over target."""
    for stage, down, up in THRESHOLDS:
        if share < (up if before >= stage else down):
            return stage
    return RateStage.ENOUGH


def rate_event(before: RateStage, after: RateStage, target_hz: float, hz: float, hint: str) -> Emit | None:
    """The event of a change of stage: only a worse one is told; `hint` says what to do about it."""
    if after <= before:
        return None
    data = {"target_hz": target_hz, "measured_hz": hz}
    return Emit(KINDS[after], data, f"the control loop runs at {hz:.0f} Hz of {target_hz:.0f} Hz: {hint}")
