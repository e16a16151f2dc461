"""Rules for the report of late ticks: how many of a window were missed and the likely cause, at most once a minute. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from actors.control.gap_cause import ADVICE
from actors.control.interruptions import REPORT_PERIOD_NS, Reading, cause_between
from actors.control.messages import GapCause
from actors.kit.clock import NS_PER_S

# Long enough for a start to be over, short enough to be told while somebody looks at the terminal.
FIRST_WINDOW_NS: Final = 10 * NS_PER_S
# Share of missed ticks from which they are told: that of the alert HapticdTicksMissed.
TOLD_SHARE: Final = 0.01


@dataclass(frozen=True, slots=True)
class LateTicks:
    """Ticks that were missed in one window because an earlier one was late by a whole period or more."""

    window_s: float  # s
    missed: int
    share: float  # of all ticks that were due, 0 to 1
    cause: GapCause


@dataclass(slots=True)
class LateTicksWatch:
    """Compares readings. Windows last a minute each, the first one ten seconds."""

    _began: Reading | None = None
    _length_ns: int = FIRST_WINDOW_NS

    def step(self, now: Reading) -> LateTicks | None:
        """Return what was missed in the window that ends now; None while it goes on, or when it was less than 1 %."""
        began = self._began
        if began is None or began.loop.started_ns != now.loop.started_ns:
            self._began = now
            return None
        if now.at_ns - began.at_ns < self._length_ns:
            return None
        self._began, self._length_ns = now, REPORT_PERIOD_NS
        return late_ticks(began, now)


def late_ticks(began: Reading, now: Reading) -> LateTicks | None:
    """Return the ticks missed between two readings; None for less than 1 % of those that were due."""
    missed, done = now.loop.missed - began.loop.missed, now.loop.ticks - began.loop.ticks
    if missed <= 0 or missed < TOLD_SHARE * (missed + done):
        return None
    return LateTicks((now.at_ns - began.at_ns) / NS_PER_S, missed, missed / (missed + done), cause_between(began, now))


def sentence(late: LateTicks) -> str:
    """Return how many ticks were missed and the likely cause, with what to do."""
    return (
        f"{late.missed} ticks of the control loop ({late.share:.1%}) were missed in {late.window_s:.0f} s; "
        f"likely cause: {ADVICE[late.cause]}"
    )
