"""What the control slice says and is told: the loop's rate and the facts that the timekeeper reads off it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from actors.kit.message import Message, Request

FASTPATH: Final = "fastpath"


@dataclass(frozen=True, slots=True)
class LoopStatus:
    """Whether the loop runs, at which rate (Hz), and what the operating system granted it."""

    running: bool
    target_hz: float
    measured_hz: float
    realtime: bool
    pinned: bool


@dataclass(frozen=True, slots=True)
class StartLoop(Request[LoopStatus]):
    """Start the loop if it does not run."""


@dataclass(frozen=True, slots=True)
class StopLoop(Request[LoopStatus]):
    """Stop the loop after zero force on every device."""


@dataclass(frozen=True, slots=True)
class LoopFacts(Message):
    """What the loop counted since it started, told about once a second while something has changed."""

    repeatable: ClassVar[bool] = True

    ticks: int
    missed: int
    gaps: int
    dead_man_trips: int
    target_hz: float
    measured_hz: float
