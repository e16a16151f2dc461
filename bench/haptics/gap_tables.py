"""Measure what random gaps of the loop do to a force, and write the table into docs/force-path.md: `python -m bench.haptics.gap_tables`.

The scenes are those of tests/haptics/test_gaps.py. Each row has as many sequences of gaps as asked, with seeds from 0; what is written
stands between two marks of the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.haptics.page_tables import placed
from tests.haptics.test_gaps import (
    SetPoint,
    angle_set_point,
    braked,
    gaps,
    holding,
    none,
    oscillating_wall,
    position_set_point,
    pressing,
    settled,
    share_that_arrives,
)

PAGE: Final = Path("docs/force-path.md")
GAPS: Final = "figures of gaps"
SEQUENCES: Final = 40
WALL_N_M: Final = 500.0
# What was aimed at: mm/s of a wall and of a set-point; times what it is without gaps, of an oscillating wall and of the way of the e-brake.
CHATTER_MM_S: Final = 1.0
DAMPED_TIMES: Final = 1.5
WAY_TIMES: Final = 1.25

Figures = NDArray[np.float64]
Missing = Iterator[int]


class Gaps(NamedTuple):
    """One row: how often (gaps for each second of ticks that run) and how long (ms)."""

    rate: float
    shortest: float
    longest: float

    @property
    def text(self) -> str:
        """What the row is called."""
        length = f"{self.shortest:g}" if self.shortest == self.longest else f"{self.shortest:g} to {self.longest:g}"
        return f"{self.rate:g} a second, {length} ms"

    def sequence(self, seed: int) -> Missing:
        """Return missed periods before each tick."""
        return gaps(self.rate, 1e-3 * self.shortest, 1e-3 * self.longest, seed)


class Column(NamedTuple):
    """One column: its head, its figure of a sequence, and the cell of many."""

    head: str
    measure: Callable[[Missing], float]
    # figures of all sequences, figure without gaps
    cell: Callable[[Figures, float], str]


ROWS: Final = (
    Gaps(0.1, 2.5, 80),
    Gaps(5, 10, 10),
    Gaps(5, 15, 15),
    Gaps(5, 20, 20),
    Gaps(20, 5, 5),
    Gaps(20, 10, 10),
    Gaps(20, 15, 15),
    Gaps(20, 20, 20),
    Gaps(20, 2.5, 20),
    Gaps(5, 25, 25),
    Gaps(5, 40, 40),
    Gaps(5, 80, 80),
    Gaps(20, 25, 25),
    Gaps(20, 40, 40),
    Gaps(20, 80, 80),
    Gaps(20, 2.5, 80),
)


def least_share(figures: Figures, _free: float) -> str:
    """Return the least share, in percent."""
    return f"{100 * figures.min():.0f} %"


def above(figures: Figures, limit: float, form: str = ".1f") -> str:
    """Return median and worst, and how many are above a limit, if any."""
    many = int(np.sum(figures > limit))
    return f"{np.median(figures):{form}}, {figures.max():{form}}" + (f" ({many})" if many else "")


def chatter(figures: Figures, _free: float) -> str:
    """Return velocities in mm/s."""
    return above(figures, CHATTER_MM_S)


def damped(figures: Figures, free: float) -> str:
    """Return velocities in mm/s; the limit is that without gaps, or that of chatter if it is larger."""
    return above(figures, max(DAMPED_TIMES * free, CHATTER_MM_S))


def way(figures: Figures, free: float) -> str:
    """Return multiples of the way without gaps."""
    return above(figures / free, WAY_TIMES, ".2f")


def wall(stiffness: float) -> Callable[[Missing], float]:
    """Return what measures a wall of a stiffness (N/m)."""

    def measure(missing: Missing) -> float:
        return settled(pressing(stiffness, missing))

    return measure


def held(set_point: SetPoint) -> Callable[[Missing], float]:
    """Return what measures a held set-point."""

    def measure(missing: Missing) -> float:
        return settled(holding(set_point, missing))

    return measure


def brake_way(missing: Missing) -> float:
    """Return the way (m) of an arm that is thrown."""
    return braked(missing).way


def columns() -> tuple[Column, ...]:
    """Return the columns of the table."""
    return (
        Column("constant force", share_that_arrives, least_share),
        Column("held position", held(position_set_point), chatter),
        Column("held angles", held(angle_set_point), chatter),
        Column("wall of 500 N/m", wall(WALL_N_M), chatter),
        Column("wall of 2 times critical", wall(oscillating_wall(2)), damped),
        Column("wall of 4 times critical", wall(oscillating_wall(4)), damped),
        Column("way of the e-brake", brake_way, way),
    )


def text(rows: Sequence[Gaps], of: Sequence[Column], sequences: int) -> Iterator[str]:
    """Yield the lines of the table, each once it is measured."""
    yield "| gaps | " + " | ".join(column.head for column in of) + " |"
    yield "|---" * (1 + len(of)) + "|"
    free = [column.measure(none()) for column in of]
    yield (
        "| none | "
        + " | ".join(
            column.cell(np.array([figure]), figure).split(",")[0] for column, figure in zip(of, free, strict=True)
        )
        + " |"
    )
    for row in rows:
        cells = [
            column.cell(np.array([column.measure(row.sequence(seed)) for seed in range(sequences)]), figure)
            for column, figure in zip(of, free, strict=True)
        ]
        yield f"| {row.text} | " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print each row, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    parser.add_argument("--page", type=Path, default=PAGE)
    asked = parser.parse_args(arguments)
    lines: list[str] = []
    for line in text(ROWS, columns(), asked.sequences):
        print(line, flush=True)
        lines.append(line)
    asked.page.write_text(placed(asked.page.read_text(encoding="utf-8"), GAPS, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
