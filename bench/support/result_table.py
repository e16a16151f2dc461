"""Result table of `make bench` and `make soak`: one row per figure, with its reference, limit and verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Literal

COLUMNS: Final = ("", "figure", "reference", "ratio", "limit", "verdict", "")


@dataclass(frozen=True, slots=True)
class Limit:
    """What a ratio, or the figure itself, must not pass."""

    bound: float
    side: Literal["≤", "≥", "<"]
    of: Literal["ratio", "figure"] = "ratio"

    def allows(self, value: float) -> bool:
        """Whether a value is on the right side; no number never is."""
        if self.side == "≥":
            return value >= self.bound
        return value < self.bound if self.side == "<" else value <= self.bound


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; the reference has its unit, without a limit it is only shown."""

    section: str
    name: str
    figure: float
    unit: str
    reference: float | None = None
    limit: Limit | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Figure over reference."""
        return self.figure / self.reference if self.reference else None

    @property
    def holds(self) -> bool:
        """False when a limit is missed, also for want of what it limits."""
        if self.limit is None:
            return True
        value = self.ratio if self.limit.of == "ratio" else self.figure
        return value is not None and self.limit.allows(value)

    def cells(self) -> tuple[str, ...]:
        """The row's texts, in the order of COLUMNS."""
        limit = self.limit
        bound = "" if limit is None else f"{limit.side} {limit.bound:g}{'' if limit.of == 'ratio' else ' ' + self.unit}"
        return (
            self.name,
            quantity(self.figure, self.unit),
            "" if self.reference is None else quantity(self.reference, self.unit),
            "" if self.ratio is None else f"{self.ratio:.3g}",
            bound,
            "shown" if limit is None else "holds" if self.holds else "MISSED",
            self.note,
        )


@dataclass(slots=True)
class ResultTable:
    """Rows of one run, in the order in which they were measured."""

    rows: list[Row] = field(default_factory=list[Row])

    def add(self, row: Row) -> Row:
        """Put a row on the table; the same row, to be asserted on."""
        self.rows.append(row)
        return row

    def lines(self) -> list[str]:
        """The whole table as text."""
        return table(self.rows)


def missed(rows: Iterable[Row]) -> list[str]:
    """One sentence for each row that misses its limit."""
    sentences: list[str] = []
    for row in rows:
        if not row.holds:
            _, figure, reference, ratio, limit, *_ = row.cells()
            sentences.append(
                f"{row.section}: {row.name}: {figure} against {reference or 'nothing'} (ratio {ratio or 'none'}), limit {limit}"
            )
    return sentences


def hold(*rows: Row) -> None:
    """AssertionError that says what is missed."""
    __tracebackhide__ = True
    sentences = missed(rows)
    if sentences:
        raise AssertionError("; ".join(sentences))


def quantity(value: float, unit: str) -> str:
    """Three digits and more where they stand before the point; percent with two behind it."""
    text = f"{value:.2f}" if unit == "%" else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def table(rows: Iterable[Row]) -> list[str]:
    """Sections in the order of their first row; columns as wide as their widest text."""
    order: dict[str, int] = {}
    for row in rows:
        order.setdefault(row.section, len(order))
    sections = [
        (title, [row.cells() for row in found])
        for title, found in groupby(sorted(rows, key=lambda row: order[row.section]), key=lambda row: row.section)
    ]
    every = [COLUMNS, *(cells for _, found in sections for cells in found)]
    widths = [max(len(cells[column]) for cells in every) for column in range(len(COLUMNS))]
    lines = [_line(COLUMNS, widths)]
    for title, found in sections:
        lines += ["", title, *(_line(cells, widths) for cells in found)]
    return lines


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    name, *numbers, verdict, note = cells
    middle = "  ".join(cell.rjust(width) for cell, width in zip(numbers, widths[1:-2], strict=True))
    return f"  {name.ljust(widths[0])}  {middle}  {verdict.ljust(widths[-2])}  {note}".rstrip()
