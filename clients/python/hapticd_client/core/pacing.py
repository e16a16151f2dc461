"""Pacing of a loop: when the next turn is due, which turns were missed, and what that came to. No clock of its own."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from hapticd_client.core.vectors import is_number
from hapticd_client.errors import InvalidCommand, LateTurn, LoopTooSlow

OnLate: TypeAlias = Literal["skip", "raise"]

LEAST_RATE: Final = 1e-3  # turns/s
LATE_SHARE: Final = 0.5  # of a period, from which on a turn counts as late
KEPT: Final = 65536  # newest round trips that quantiles are taken of
TURNS_PER_TIMEOUT: Final = 3


class Turn(NamedTuple):
    """One turn of a loop."""

    number: int  # 0 for the first
    time: float  # s since the loop began, when the turn began
    dt: float  # s since the turn before began; one period for the first
    late: float  # s after it was due
    skipped: int  # turns that were due before this one and were left out
    withheld: bool  # forces are held back until `resume`


@dataclass(frozen=True, slots=True)
class LoopStatistics:
    """What a loop came to; the round trips are the newest 65,536."""

    wanted_rate: float  # turns/s
    rate: float  # turns/s, measured over the whole loop
    turns: int
    late: int  # turns that began more than half a period after they were due
    missed: int  # turns that were left out, and bodies that took longer than the budget
    round_trip_p50: float  # s
    round_trip_p99: float  # s
    longest_gap: float  # s between the beginnings of two turns

    @property
    def on_time(self) -> float:
        """Share of the turns due that began in time, 0 to 1."""
        due = self.turns + self.missed
        return max(0.0, 1 - (self.late + self.missed) / due) if due else 1.0

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.rate:.1f} of {self.wanted_rate:g} turns/s, {100 * self.on_time:.2f} % on time "
            f"({self.late} late, {self.missed} missed of {self.turns + self.missed}), round trip "
            f"p50 {1e6 * self.round_trip_p50:.0f} us, p99 {1e6 * self.round_trip_p99:.0f} us, "
            f"longest gap {1e3 * self.longest_gap:.2f} ms"
        )


class Pacer:
    """Turns at a fixed rate. A turn that is late is not made up for: the next one due in the future follows."""

    def __init__(
        self,
        rate: float,
        budget: float | None = None,
        on_late: OnLate = "skip",
        stop_after_misses: int | None = None,
        timeout: float = math.inf,
    ) -> None:
        """`rate`: turns/s; `budget`: s for the body of a turn, None: one period; `timeout`: s after which set-points are stale."""
        if not (is_number(rate) and LEAST_RATE <= rate < math.inf):
            raise InvalidCommand(f"a rate is {LEAST_RATE:g} turns/s or more, and this is {rate!r}")
        if budget is not None and not (is_number(budget) and budget > 0):
            raise InvalidCommand(f"a budget is above 0 s, and this is {budget!r}")
        if on_late not in {"skip", "raise"}:
            raise InvalidCommand(f'on_late is "skip" or "raise", and this is {on_late!r}')
        if stop_after_misses is not None and not (is_number(stop_after_misses) and stop_after_misses >= 1):
            raise InvalidCommand(f"stop_after_misses is 1 or more, and this is {stop_after_misses!r}")
        self.rate = rate
        self.period = 1 / rate
        self.timeout = timeout
        self.most_force: float | None = None  # N
        self._budget = self.period if budget is None else budget
        self._on_late = on_late
        self._most_misses = stop_after_misses
        self._slot = 0  # number of the period in which the next turn is due
        self._begun = self._last = self._began = math.nan
        self._turns = self._counted = self._late = self._missed = self._misses = self._overrun = 0
        self._gap = 0.0
        self._trips = array("d")

    @property
    def too_slow_for(self) -> float | None:
        """The time-out under which this rate has fewer than three turns; None: it has them."""
        return self.timeout if self.rate * self.timeout < TURNS_PER_TIMEOUT else None

    def wait(self, now: float) -> float:
        """Return the seconds until the next turn is due; 0 when it is."""
        if math.isnan(self._begun):
            self._begun = now
            return 0.0
        return max(0.0, self._begun + self._slot * self.period - now)

    def begin(self, now: float, *, withheld: bool = False) -> Turn:
        """Begin a turn. LateTurn when it is late, and LoopTooSlow when too many were missed in a row, as was asked for."""
        if math.isnan(self._begun):
            self._begun = now
        due = self._begun + self._slot * self.period
        late = max(0.0, now - due)
        skipped = int(late / self.period)
        self._slot += skipped + 1
        dt = self.period if math.isnan(self._last) else now - self._last
        self._gap = max(self._gap, 0.0 if math.isnan(self._last) else dt)
        self._last = self._began = now
        self._missed += skipped
        if late - skipped * self.period > LATE_SHARE * self.period and not skipped:
            self._late += 1
        self._count(skipped or self._overrun)
        self._overrun = 0
        turn = Turn(self._turns, now - self._begun, dt, late, skipped, withheld)
        self._turns += 1
        self._counted += 1
        if self._on_late == "raise" and late > LATE_SHARE * self.period and turn.number > 0:
            raise LateTurn(
                f"turn {turn.number} began {1e3 * late:.2f} ms late: forces are zero; lower the rate of {self.rate:g}"
            )
        return turn

    def answered(self, began: float, now: float) -> None:
        """Count a round trip, and start the time of the body."""
        if len(self._trips) < KEPT:
            self._trips.append(now - began)
        else:
            self._trips[self._turns % KEPT] = now - began
        self._began = now

    def end(self, now: float) -> bool:
        """End the body of a turn; return whether its set-points are still worth sending. A longer body than the budget is a miss."""
        took = now - self._began
        if took > self._budget:
            self._overrun = 1
            if took <= self.period:
                self._missed += 1
        return took <= self.timeout

    def forget(self) -> None:
        """Begin the count of periods anew: the service was gone meanwhile, and nothing was due."""
        self._slot = self._counted = 0
        self._begun = self._last = math.nan
        self._misses = self._overrun = 0

    def statistics(self) -> LoopStatistics:
        """Return what the loop came to so far."""
        trips = sorted(self._trips)
        span = self._last - self._begun
        return LoopStatistics(
            self.rate,
            (self._counted - 1) / span if self._counted > 1 and span > 0 else 0.0,
            self._turns,
            self._late,
            self._missed,
            trips[len(trips) // 2] if trips else 0.0,
            trips[min(len(trips) - 1, int(0.99 * len(trips)))] if trips else 0.0,
            self._gap,
        )

    def _count(self, missed: int) -> None:
        """Count misses in a row; LoopTooSlow."""
        self._misses = self._misses + 1 if missed else 0
        if self._most_misses is not None and self._misses >= self._most_misses:
            raise LoopTooSlow(
                f"{self._misses} turns in a row were missed at {self.rate:g} turns/s: forces are zero; "
                "make the body of the loop shorter, or lower the rate"
            )
