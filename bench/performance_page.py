"""Write the figures of the newest run in bench/results into docs/performance.md and docs/img: `python -m bench.performance_page`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.support import results_file
from bench.support.result_table import Row, quantity
from bench.support.results_file import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE: Final = Path("docs/performance.md")
PICTURES: Final = Path("docs/img")
BEGIN: Final = "<!-- figures of the newest run: begin -->"
END: Final = "<!-- figures of the newest run: end -->"
AGAINST: Final = re.compile(r"8 clients, (?P<what>.+), against (?P<whom>.+)")
STEP: Final = re.compile(r"(?P<number>\d+) (?:client|device)s?, (?P<what>.+)")
TABLES: Final = (
    ("streaming, servers and clients on one processor", "Servers and clients on one processor, the loop on another"),
    (
        "streaming, servers on one processor, clients on another",
        "Servers on one processor, clients beside the loop on another",
    ),
    (
        "streaming, servers on one processor, clients anywhere",
        "Servers on one processor, clients wherever the system puts them",
    ),
)
CURVES: Final = (
    ("streaming by number of clients", "clients", "streaming-by-clients.png"),
    ("streaming by number of devices", "devices", "streaming-by-devices.png"),
)
OURS: Final = "#1f5a99"
THEIRS: Final = "#c44e52"


def text(run: Run) -> Iterator[str]:
    """Yield the lines of the page that show a run."""
    yield f"Measured {run.at[:10]} at commit `{run.commit}` on {run.machine}; while measuring: {run.meanwhile}."
    for begin, title in TABLES:
        rows = [row for row in run.rows if row.section.startswith(begin) and AGAINST.fullmatch(row.name)]
        if rows:
            yield from ("", f"### {title}", "")
            yield from side_by_side(rows)
    for begin, what, picture in CURVES:
        if any(row.section.startswith(begin) for row in run.rows):
            yield from (
                "",
                f"### By number of {what}",
                "",
                f"![Round trips, processor time and p99 by number of {what}](img/{picture})",
            )
    rest = [row for row in run.rows if row.limit is not None and not AGAINST.fullmatch(row.name)]
    if rest:
        yield from (
            "",
            "### Everything else that has a limit",
            "",
            "| what | figure | reference | ratio | limit | |",
            "|---|---|---|---|---|---|",
        )
        for row in rest:
            name, figure, reference, ratio, limit, verdict, _ = row.cells()
            section = row.section.split(" · ", 1)[0]
            yield f"| {section}: {name} | {figure} | {reference} | {ratio} | {limit} | {verdict} |"


def side_by_side(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table: one line for each figure, the service beside each reference with the ratio."""
    found = [(match["what"], match["whom"], row) for row in rows if (match := AGAINST.fullmatch(row.name))]
    whom = list(dict.fromkeys(each for _, each, _ in found))
    yield f"| 8 clients | hapticd | {' | '.join(whom)} | limits |"
    yield "|---" * (len(whom) + 3) + "|"
    for what in dict.fromkeys(each for each, _, _ in found):
        of = {name: row for each, name, row in found if each == what}
        ours = next(iter(of.values()))
        cells = [
            ""
            if name not in of or of[name].reference is None
            else f"{quantity(of[name].reference or 0, ours.unit)} ({of[name].ratio:.2f})"
            for name in whom
        ]
        limits = [f"{row.cells()[4]} of {name}: {row.cells()[5]}" for name, row in of.items() if row.limit is not None]
        yield f"| {what} | {quantity(ours.figure, ours.unit)} | {' | '.join(cells)} | {'; '.join(limits)} |"


def curve(run: Run, begin: str, what: str) -> Figure:
    """Plot what grows with the number of clients or devices."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 7.0), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    for axis, (name, unit) in zip(
        axes, (("round trips", "/s"), ("server CPU per round trip", "us"), ("latency p99", "us")), strict=True
    ):
        rows = [
            (int(match["number"]), row)
            for row in run.rows
            if row.section.startswith(begin) and (match := STEP.fullmatch(row.name)) and match["what"] == name
        ]
        numbers = [number for number, _ in rows]
        axis.plot(numbers, [row.figure for _, row in rows], "o-", color=OURS, label="hapticd")
        axis.plot(numbers, [row.reference for _, row in rows], "o--", color=THEIRS, label="epoll echo in C")
        axis.set_xscale("log", base=2)
        axis.set_xticks(numbers, [str(number) for number in numbers])
        axis.set_ylim(bottom=0)
        axis.set_ylabel(f"{name}, {unit}")
        axis.grid(alpha=0.3)
    axes[0].legend()
    axes[-1].set_xlabel(f"number of {what}")
    return figure


def placed(page: str, lines: Iterator[str]) -> str:
    """Return the page with these lines between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}"


def main() -> None:
    """Write the page and its pictures."""
    run = results_file.newest()
    if run is None:
        raise SystemExit("bench/results has no run: make bench first")
    import matplotlib as mpl

    mpl.use("agg")
    for begin, what, picture in CURVES:
        if any(row.section.startswith(begin) for row in run.rows):
            curve(run, begin, what).savefig(PICTURES / picture, dpi=110, metadata={"Software": None})
    PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), text(run)), encoding="utf-8")


if __name__ == "__main__":
    main()
