"""docs/performance.md shows the newest run of bench/results, and runs are kept as they were."""

from __future__ import annotations

from pathlib import Path

from bench.performance_page import BEGIN, CURVES, END, PAGE, PICTURES, placed, text
from bench.support import results_file
from bench.support.result_table import Limit, Row
from bench.support.results_file import KEPT_RUNS, Run, append, read, slug

ROOT = Path(__file__).parents[3]
MACHINE = "AMD EPYC 9554, 2 CPUs, Linux 6.1, Python 3.11.7, SCHED_FIFO"
ONE = "streaming, servers and clients on one processor · a system"
ROWS = (
    Row(ONE, "8 clients, round trips, against epoll echo in C", 50_000, "/s", 60_000, Limit(0.6, "≥")),
    Row(ONE, "8 clients, round trips, against bare Tornado echo", 50_000, "/s", 15_000, Limit(2.2, "≥"), "note"),
    Row("tick · stepped", "arm", 1.5, "us", 31.25, Limit(0.05, "≤")),
    Row("streaming by number of clients · x", "4 clients, round trips", 40_000, "/s", 50_000),
)


def run(at: str) -> Run:
    return Run(at, "abc1234", MACHINE, "steal 0.00 %", ROWS)


def test_page_shows_the_newest_run() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    newest = results_file.newest()

    assert newest is not None
    assert placed(page, text(newest)) == page
    assert all((ROOT / PICTURES / picture).exists() for _, _, picture in CURVES)


def test_runs_come_back_as_they_were(tmp_path: Path) -> None:
    append(run("2026-01-01T00:00:00+00:00"), tmp_path)
    path = append(run("2026-01-02T00:00:00+00:00"), tmp_path)

    assert path.name == "amd-epyc-9554-2-cpus.json"
    kept = read(path)
    assert [each.at[:10] for each in kept] == ["2026-01-01", "2026-01-02"]
    assert tuple(kept[1].rows) == ROWS
    assert results_file.newest(tmp_path) == kept[1]


def test_file_keeps_the_newest_runs(tmp_path: Path) -> None:
    paths = [append(run(f"{at:02}"), tmp_path) for at in range(KEPT_RUNS + 3)]

    assert [each.at for each in read(paths[-1])] == [f"{at:02}" for at in range(3, KEPT_RUNS + 3)]


def test_folder_without_runs_has_no_newest(tmp_path: Path) -> None:
    assert results_file.newest(tmp_path) is None


def test_machine_of_another_kind_has_another_file() -> None:
    assert slug("AMD EPYC, 2 CPUs, Linux") != slug("AMD EPYC, 4 CPUs, Linux")


def test_table_has_a_line_for_each_figure_and_a_column_for_each_server() -> None:
    lines = list(text(run("2026-01-01T00:00:00+00:00")))

    assert "| 8 clients | hapticd | epoll echo in C | bare Tornado echo | limits |" in lines
    (trips,) = [line for line in lines if line.startswith("| round trips")]
    assert "50,000 /s | 60,000 /s (0.83) | 15,000 /s (3.33) |" in trips
    assert "≥ 0.6 of epoll echo in C: holds; ≥ 2.2 of bare Tornado echo: holds" in trips
    assert "| tick: arm | 1.5 us | 31.2 us | 0.048 | ≤ 0.05 | holds |" in lines


def test_page_keeps_what_is_around_the_marks() -> None:
    assert placed(f"a\n{BEGIN}\nold\n{END}\nb", iter(["new"])) == f"a\n{BEGIN}\nnew\n{END}\nb"
