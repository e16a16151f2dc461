"""What a self-test measured, as plain values: pushes, travel, buttons, link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

AXES: Final = ("x", "y", "z")

Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Push:
    """One push along an axis, and how device and joints moved under it; the drift before it is taken off."""

    axis: int  # 0 to 2
    force: float  # N, with its sign
    moved: Numbers  # m, x y z
    turned: Numbers = ()  # degrees, one for each joint


@dataclass(frozen=True, slots=True)
class Step:
    """A short piece of a motion: where the device and its joints went, for the relation of the two."""

    moved: Numbers  # m
    turned: Numbers  # degrees


@dataclass(frozen=True, slots=True)
class Travel:
    """The range that was seen while somebody moved the handle."""

    seconds: float
    low: Numbers = ()  # m
    high: Numbers = ()
    turned: Numbers = ()  # degrees that each joint went through
    jumps: int = 0  # steps that no hand can make


@dataclass(frozen=True, slots=True)
class Buttons:
    """Which buttons there are, and what was seen of them."""

    asked: bool  # somebody was asked to press each
    names: tuple[str, ...] = ()
    pressed: frozenset[str] = frozenset()  # at least once
    released: frozenset[str] = frozenset()  # at least once


@dataclass(frozen=True, slots=True)
class Link:
    """Counters of the device's port over the test; `received` None: a simulated device, or none are told."""

    seconds: float = 0.0
    received: float | None = None
    sent: float = 0.0
    bad: float = 0.0
    late: float = 0.0
    errors: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that one self-test found out."""

    device_id: str
    kind: str
    moves: bool
    pushes: tuple[Push, ...] = ()
    steps: tuple[Step, ...] = ()
    ran_away: bool = False  # a push was broken off as the device moved much too far
    lost: str = ""  # why the pushes ended early, "" when they did not
    travel: Travel | None = None
    buttons: Buttons | None = None
    link: Link = field(default_factory=Link)
    reports: str = ""  # what the device itself reports as wrong
    status: Mapping[str, bool] = field(default_factory=dict[str, bool])
    battery: float | None = None  # 0 to 1
