"""The table of gaps: its cells come from the figures of many sequences, its lines stand between two marks of the page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.haptics import gap_tables
from bench.haptics.gap_tables import GAPS, Column, Gaps, chatter, damped, least_share, text, way
from bench.haptics.page_tables import marks
from tests.unit.test_force_path_page import PAGE


def missed(missing: Iterator[int]) -> float:
    """Share of the ticks that come after a gap."""
    return float(np.mean([periods > 0 for periods in islice(missing, 2000)]))


def mean(figures: NDArray[np.float64], free: float) -> str:
    return f"{figures.mean():.4f}, {free:g}"


def test_cells_show_median_worst_and_how_many_are_above_the_aim() -> None:
    figures = np.array([0.2, 0.2, 0.3, 2.0])

    assert chatter(figures, 0.2) == "0.2, 2.0 (1)"
    assert damped(figures, 0.0) == damped(figures, 0.19) == "0.2, 2.0 (1)"
    assert damped(figures, 2.0) == "0.2, 2.0"
    assert way(np.array([0.15, 0.15, 0.21]), 0.15) == "1.00, 1.40 (1)"
    assert least_share(np.array([1.0, 0.914]), 1.0) == "91 %"


def test_rows_differ_in_gaps_and_repeat_with_the_same_seeds() -> None:
    rows = [Gaps(5, 10, 10), Gaps(20, 2.5, 80)]
    column = Column("share", missed, mean)

    lines = list(text(rows, [column], 10))

    assert lines[:3] == ["| gaps | share |", "|---|---|", "| none | 0.0000 |"]
    assert [line.split("|")[1].strip() for line in lines[3:]] == ["5 a second, 10 ms", "20 a second, 2.5 to 80 ms"]
    assert 0 < float(lines[3].split("|")[2].split(",")[0]) < float(lines[4].split("|")[2].split(",")[0])
    assert list(text(rows, [column], 10)) == lines


def test_table_replaces_what_stood_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n{}\nold\n{}\nafter\n".format(*marks(GAPS)), encoding="utf-8")
    monkeypatch.setattr(gap_tables, "ROWS", (Gaps(20, 5, 5),))
    monkeypatch.setattr(gap_tables, "columns", lambda: (Column("share", missed, least_share),))

    gap_tables.main(["--sequences", "2", "--page", str(page)])

    written = page.read_text(encoding="utf-8")
    assert "old" not in written
    assert "| 20 a second, 5 ms | " in written
    assert written.startswith("before\n")
    assert written.endswith("\nafter\n")


def test_page_has_the_marks_and_every_row() -> None:
    begin, end = marks(GAPS)
    table = PAGE.read_text(encoding="utf-8").split(begin)[1].split(end)[0]

    assert all(f"| {row.text} | " in table for row in gap_tables.ROWS)
