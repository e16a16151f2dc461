"""Messages of the control slice, and the loop's rate and counters as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Final

from actors.kit.message import Message, Request

FASTPATH: Final = "fastpath"


@dataclass(frozen=True, slots=True)
class LoopCounters:
    """What the loop has counted since it was made, and its rate now; times in seconds, `started_ns` in those of its clock.

    `lateness` counts ticks by how late they began: entry b those under 2^b / 4 microseconds, the last entry all others.
    `step_seconds` and `tick_seconds` are sums over `step_samples` ticks.
    """

    ticks: int
    missed: int
    started_ns: int
    tick_ns: int
    frequency: float
    target_frequency: float
    margin: float
    running: bool
    fifo: bool
    pinned: bool
    locked: bool
    dead_man_trips: int
    gaps: int
    lateness_sum: float
    lateness_max: float
    lateness: tuple[int, ...]
    step_samples: int
    step_seconds: tuple[float, ...]
    tick_seconds: float


class RateStage(IntEnum):
    """How far the loop is below its rate."""

    ENOUGH = 0
    LOW = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True)
class LoopWatch:
    """What outlives FastpathActor: the share of ticks that run (1 but in a simulation), and the last stage of the rate."""

    share: float = 1.0
    stage: RateStage = RateStage.ENOUGH


@dataclass(frozen=True, slots=True)
class SetTickShare(Request[float]):
    """Let only this share (0…1) of the ticks run, as a starved machine would; the reply is the share in force.

    Conflict unless all devices are simulated and there is one; a share of 1 is never refused.
    """

    share: float


@dataclass(frozen=True, slots=True)
class LoopFacts(Message):
    """What the loop has counted at one moment of the clock, told once a second."""

    repeatable: ClassVar[bool] = True

    at_ns: int
    counters: LoopCounters
