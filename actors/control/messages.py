"""Messages of the control slice, and the loop's rate and counters as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import ClassVar, Final, NamedTuple

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


class ForceChange(NamedTuple):
    """What filter, damper or monitors did to a device's commanded force, N·s since its slot was leased."""

    taken: float = 0.0
    added: float = 0.0


@dataclass(frozen=True, slots=True)
class GapCounters:
    """Gaps of one device since its slot was leased."""

    force_s: float = 0.0  # s, time with an output other than zero
    interrupted_s: float = 0.0  # s of it in which the motors did not get the output
    gaps: int = 0
    gap_s: float = 0.0  # s, sum of the gaps' lengths
    longest_s: float = 0.0  # s
    buckets: tuple[int, ...] = ()  # gaps by length: entry b below 2^b * 2.5 ms, the last one all others
    lengths_s: tuple[float, ...] = ()  # s, of gap number n at n modulo their number
    changes: Mapping[str, ForceChange] = field(default_factory=dict[str, ForceChange])  # by what changed the force

    @property
    def force_lost(self) -> float:
        """Return the share of the time with force in which the motors did not get it, 0 to 1."""
        return lost_share(self.interrupted_s, self.force_s)


def lost_share(interrupted_s: float, force_s: float) -> float:
    """Return the share of the time with force that was interrupted, 0 to 1."""
    return min(1.0, interrupted_s / force_s) if force_s > 0 else 0.0


class GapCause(StrEnum):
    """Likely cause of the loop's gaps."""

    TICKS_LEFT_OUT = "ticks_left_out"
    STOLEN_TIME = "stolen_time"
    NO_PERMISSION = "no_realtime_permission"
    BUSY_CORE = "busy_core"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Interruption:
    """Force that one device lost by gaps of the loop, over one window of time."""

    device_id: str
    device_family: str
    window_s: float  # s
    gaps: int
    longest_s: float  # s, longest gap of the window
    interrupted_s: float  # s without the commanded force
    force_lost: float  # share of the time with force, 0 to 1
    cause: GapCause


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
    interruptions: tuple[Interruption, ...] = ()  # of the last report; empty again after a minute without one
    reported_ns: int | None = None  # ns, service clock, of the last report of interruptions


@dataclass(frozen=True, slots=True)
class StepsTaken:
    """Where a loop stands that is stepped: ticks and s since the service started."""

    ticks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SetTickShare(Request[float]):
    """Let only this share of the ticks run, 0 to 1, as on an overloaded machine. The reply is the share in force.

    Below 1: Conflict unless there are devices and all are simulated.
    """

    share: float


@dataclass(frozen=True, slots=True)
class StepLoop(Request[StepsTaken]):
    """Let the loop of a service whose time stands still tick so many times, at once. Conflict for a loop that runs by itself."""

    ticks: int


@dataclass(frozen=True, slots=True)
class LoopFacts(Message):
    """Told to the FastpathActor by the timekeeper once a second: the loop's counters at one time (ns, service clock)."""

    repeatable: ClassVar[bool] = True

    at_ns: int
    counters: LoopCounters
