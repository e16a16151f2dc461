"""Rules of the loop rate warning: the measured rate between two readings of the counters, compared with the configured one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.control.messages import LoopFacts, RateStage
from actors.event.messages import Emit
from actors.kit.clock import NS_PER_S

# Worst first: stage, share of the target below which it begins, share from which it ends.
THRESHOLDS: Final = ((RateStage.CRITICAL, 0.50, 0.55), (RateStage.LOW, 0.90, 0.95))
KINDS: Final[Mapping[RateStage, str]] = MappingProxyType(
    {RateStage.LOW: "control-rate-low", RateStage.CRITICAL: "control-rate-critical"}
)


def measured_hz(before: LoopFacts, after: LoopFacts) -> float | None:
    """Return ticks per second between two readings; None if the loop stopped or its target changed between them."""
    then, now = before.counters, after.counters
    through = then.running and now.running and then.started_ns == now.started_ns
    if not through or then.target_frequency != now.target_frequency or after.at_ns <= before.at_ns:
        return None
    return (now.ticks - then.ticks) * NS_PER_S / (after.at_ns - before.at_ns)


def rate_stage(before: RateStage, share: float) -> RateStage:
    """Return the stage for `share` = measured / target, with hysteresis on the way up."""
    for stage, down, up in THRESHOLDS:
        if share < (up if before >= stage else down):
            return stage
    return RateStage.ENOUGH


def rate_event(before: RateStage, after: RateStage, target_hz: float, hz: float, hint: str) -> Emit | None:
    """Return the event for a worse stage, else None; `hint` says what to do."""
    if after <= before:
        return None
    data = {"target_hz": target_hz, "measured_hz": hz}
    return Emit(KINDS[after], data, f"the control loop runs at {hz:.0f} Hz of {target_hz:.0f} Hz: {hint}")
