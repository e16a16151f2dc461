"""The result table of benchmarks: limits, missing references, and the message for a missed limit."""

from __future__ import annotations

import pytest

from bench.support.result_table import Limit, ResultTable, Row, hold, missed, table


@pytest.mark.parametrize(
    ("limit", "figure", "holds"),
    [
        (Limit(0.75, "≥"), 75.0, True),
        (Limit(0.75, "≥"), 74.9, False),
        (Limit(0.65, "≤"), 65.0, True),
        (Limit(0.65, "≤"), 65.1, False),
        (Limit(200, "≤", of="figure"), 200.0, True),
        (Limit(200, "≤", of="figure"), 200.1, False),
        (Limit(100, "<", of="figure"), 99.9, True),
        (Limit(100, "<", of="figure"), 100.0, False),
        (Limit(0.75, "≥"), float("nan"), False),
        (Limit(200, "≤", of="figure"), float("nan"), False),
        (None, float("nan"), True),
    ],
)
def test_limit_is_checked_in_its_direction(limit: Limit | None, figure: float, holds: bool) -> None:
    assert Row("section", "name", figure, "ns", 100.0, limit).holds is holds


def test_a_ratio_is_missed_without_a_reference() -> None:
    assert not Row("section", "name", 1.0, "ns", None, Limit(2, "≤")).holds


def test_missed_limit_is_printed_with_figure_reference_and_limit() -> None:
    good = Row("round trip", "1 client", 900.0, "/s", 1000.0, Limit(0.75, "≥"))
    bad = Row("round trip", "8 clients", 9391.0, "/s", 15078.0, Limit(0.75, "≥"))
    sentences = missed([good, bad])
    assert sentences == ["round trip: 8 clients: 9,391 /s against 15,078 /s (ratio 0.623), limit ≥ 0.75"]


def test_a_missed_row_fails_the_run_with_its_sentence() -> None:
    good = Row("section", "good", 1.0, "ns", limit=Limit(2, "≤", of="figure"))
    bad = Row("section", "bad", 3.0, "ns", limit=Limit(2, "≤", of="figure"))
    hold(good)
    with pytest.raises(AssertionError, match=r"^section: bad: 3 ns against nothing"):
        hold(good, bad)


def test_the_table_keeps_sections_together_and_columns_in_line() -> None:
    results = ResultTable()
    results.add(Row("one", "first", 1234.5, "ns", 100.0, Limit(200, "≤", of="figure")))
    results.add(Row("two", "a longer name", 99.954, "%", note="steal 0.00 %"))
    results.add(Row("one", "second", 0.0412, "us", 31.25, Limit(0.05, "≤")))
    lines = [line.rstrip() for line in results.lines()]
    assert lines == table(results.rows)
    assert [line for line in lines if line and not line.startswith(" ")] == ["one", "two"]
    first, second, longer = (next(line for line in lines if name in line) for name in ("first", "second", "longer"))
    assert first.split() == ["first", "1,234", "ns", "100", "ns", "12.3", "≤", "200", "ns", "MISSED"]
    assert second.split() == ["second", "0.0412", "us", "31.2", "us", "0.00132", "≤", "0.05", "holds"]
    assert longer.split() == ["a", "longer", "name", "99.95", "%", "shown", "steal", "0.00", "%"]
    assert first.index("MISSED") == second.index("holds") == longer.index("shown")
