"""Split of the seeds of contacts: every third one is the test set, which no tuning may draw.

A script that tunes, trains or chooses anything draws with `Use.TUNING`, the default everywhere; only a script that reports draws
with `Use.REPORT`. `tests/unit/bench/test_seeds.py` names the files that may.
"""

from __future__ import annotations

from enum import Enum
from itertools import count, islice
from typing import Final

THIRD: Final = 3
VALIDATION: Final = 6


class Part(Enum):
    """What a seed is for."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


class Use(Enum):
    """What contacts are drawn for."""

    TUNING = "tuning"
    REPORT = "report"


class TestSeedRefused(ValueError):
    """Raised when tuning asks for a seed of the test set."""

    __test__ = False


def part_of(seed: int) -> Part:
    """Return the part of a seed: 2 of 6 are for the test, 1 for validation, 3 for training. ValueError below 0."""
    if seed < 0:
        raise ValueError(f"seed {seed} is negative: seeds begin at 0")
    if seed % THIRD == THIRD - 1:
        return Part.TEST
    return Part.VALIDATION if seed % VALIDATION == 0 else Part.TRAINING


def check(seed: int, use: Use) -> None:
    """Raise TestSeedRefused when this use may not draw this seed."""
    if use is not Use.REPORT and part_of(seed) is Part.TEST:
        raise TestSeedRefused(f"seed {seed} belongs to the test set: draw it for a report only, and tune on the others")


def seeds(part: Part, number: int, *, use: Use = Use.TUNING, first: int = 0) -> list[int]:
    """Return the first `number` seeds of a part from `first` on. TestSeedRefused."""
    if part is Part.TEST and use is not Use.REPORT:
        raise TestSeedRefused("the test set is for reports only: tune on training seeds and choose on validation seeds")
    return list(islice((seed for seed in count(first) if part_of(seed) is part), number))
