"""Result table of `make bench` and `make soak`: one row per figure, with its reference, limit and verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Literal

COLUMNS: Final = ("", "figure", "reference", "ratio", "limit", "verdict", "")


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of a row's ratio or of its figure."""

    bound: float
    side: Literal["≤", "≥", "<"]
    of: Literal["ratio", "figure"] = "ratio"

    def allows(self, value: float) -> bool:
        """Return whether a value is within the limit; NaN never is."""
        if self.side == "≥":
            return value >= self.bound
        return value < self.bound if self.side == "<" else value <= self.bound


@dataclass(frozen=True, slots=True)
class Row:
    """One figure with a reference in the same unit; without a limit it is only shown."""

    section: str
    name: str
    figure: float
    unit: str
    reference: float | None = None
    limit: Limit | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Return figure / reference."""
        return self.figure / self.reference if self.reference else None

    @property
    def holds(self) -> bool:
        """Return False when a limit is missed or cannot be checked."""
        if self.limit is None:
            return True
        value = self.ratio if self.limit.of == "ratio" else self.figure
        return value is not None and self.limit.allows(value)

    def cells(self) -> tuple[str, ...]:
        """Return the row's texts in the order of COLUMNS."""
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
    """Rows of one run, in the order of measurement."""

    rows: list[Row] = field(default_factory=list[Row])

    def add(self, row: Row) -> Row:
        """Append a row and return it."""
        self.rows.append(row)
        return row

    def lines(self) -> list[str]:
        """Return the lines of the whole table."""
        return table(self.rows)


def missed(rows: Iterable[Row]) -> list[str]:
    """Return one sentence for each row that misses its limit."""
    sentences: list[str] = []
    for row in rows:
        if not row.holds:
            _, figure, reference, ratio, limit, *_ = row.cells()
            sentences.append(
                f"{row.section}: {row.name}: {figure} against {reference or 'nothing'} (ratio {ratio or 'none'}), limit {limit}"
            )
    return sentences


def hold(*rows: Row) -> None:
    """Raise AssertionError with the missed limits, if any."""
    __tracebackhide__ = True
    sentences = missed(rows)
    if sentences:
        raise AssertionError("; ".join(sentences))


def quantity(value: float, unit: str) -> str:
    """Format a number with three significant digits, or all digits before the point; percent with two decimals."""
    text = f"{value:.2f}" if unit == "%" else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def table(rows: Iterable[Row]) -> list[str]:
    """Format rows as lines: sections in the order of their first row, columns as wide as their widest text."""
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
