"""Messages of the control slice, and the loop's rate and counters as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Final

from actors.kit.message import Message, Request

FASTPATH: Final = "fastpath"


@dataclass(frozen=True, slots=True)
class LoopCounters:
    """Counters of the loop since it was created, and its state now."""

    ticks: int
    missed: int  # late ticks that were skipped
    started_ns: int  # ns, loop clock
    tick_ns: int  # ns, loop clock, of the newest tick
    frequency: float  # Hz, over the last second
    target_frequency: float  # Hz
    margin: float  # s, spin before each deadline
    running: bool
    fifo: bool
    pinned: bool
    locked: bool
    dead_man_trips: int
    gaps: int
    lateness_sum: float  # s
    lateness_max: float  # s
    lateness: tuple[int, ...]  # ticks by lateness: entry b below 2^b / 4 microseconds, the last one all others
    step_samples: int  # sampled ticks
    step_seconds: tuple[float, ...]  # s, sum over the sampled ticks, per step
    tick_seconds: float  # s, sum over the sampled ticks


class RateStage(IntEnum):
    """Warning stage of the loop's rate."""

    ENOUGH = 0
    LOW = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True)
class LoopWatch:
    """State of the FastpathActor that outlives its restarts."""

    share: float = 1.0  # share of ticks that run, 0 to 1; below 1 in a simulation only
    stage: RateStage = RateStage.ENOUGH  # of the last rate warning


@dataclass(frozen=True, slots=True)
class SetTickShare(Request[float]):
    """Let only this share of the ticks run, 0 to 1, as on an overloaded machine. The reply is the share in force.

    Below 1: Conflict unless there are devices and all are simulated.
    """

    share: float


@dataclass(frozen=True, slots=True)
class LoopFacts(Message):
    """Told to the FastpathActor by the timekeeper once a second: the loop's counters at one time (ns, service clock)."""

    repeatable: ClassVar[bool] = True

    at_ns: int
    counters: LoopCounters
