"""Read from /metrics how many ticks a running service's loop ran and missed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from tests.support.service.process import RunningService


def metric(service: RunningService, name: str) -> float:
    """One value of the metrics page."""
    (found,) = re.findall(rf"^hapticd_{name} (\S+)$", service.metrics(), re.MULTILINE)
    return float(found)


@dataclass(frozen=True, slots=True)
class Ticks:
    """Counters of ticks and missed ticks of the loop."""

    ran: float
    missed: float

    @classmethod
    def now(cls, service: RunningService) -> Ticks:
        """Read the counters from the metrics page."""
        return cls(metric(service, "loop_ticks_total"), metric(service, "loop_ticks_missed_total"))

    def share_missed_until(self, later: Ticks) -> float:
        """Share of the ticks since then that were missed."""
        ran, missed = later.ran - self.ran, later.missed - self.missed
        return missed / (ran + missed)


def window(service: RunningService, ticks: int) -> float:
    """Return the share of missed ticks over the next `ticks` ticks."""
    before = Ticks.now(service)
    eventually(lambda: Ticks.now(service).ran >= before.ran + ticks, "the loop ticks on", pause_s=0.05, tries=1200)
    return before.share_missed_until(Ticks.now(service))
