"""Tables of the test set in docs/force-path.md: their lines, and where they stand on the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.haptics.judging import LOUD_MM_S
from bench.haptics.oscillating import NAMES as FAMILIES
from bench.haptics.rightful import NAMES as CLASSES
from bench.haptics.sets import ERROR_FOR_S, SLOW_HZ, wilson

# What stands between two marks of the page.
TEST_SET: Final = "figures of the test set"
LEFT_LOUD: Final = "contacts that stay loud"
TAKEN: Final = "classes taken"
MANY: Final = 0.01
# A run lasts 3 s.
LAST_SECOND_MS: Final = 2000

Rows = NDArray[np.void]


def share(hits: int, runs: int) -> str:
    """Return a share with its 95 % interval, in percent."""
    low, high = wilson(hits, runs)
    return f"{100 * hits / max(runs, 1):.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def groups(rows: Rows) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield bands and families of oscillating contacts."""
    slow, loud = rows["frequency"] < SLOW_HZ, rows["unfiltered"] > 50
    yield "all, 2 to 260 Hz", np.ones(len(rows), bool)
    yield "9 to 260 Hz", ~slow
    yield "9 to 260 Hz, above 50 mm/s", ~slow & loud
    yield "2 to 9 Hz", slow
    yield "2 to 9 Hz, above 50 mm/s", slow & loud
    for name in FAMILIES:
        yield name, rows["name"] == name


def text(rows: Rows) -> Iterator[str]:
    """Yield the lines of the page: tables and sentences."""
    contacts, others = rows[rows["kind"] == "contact"], rows[rows["kind"] == "rightful"]
    yield "| contacts | runs | missed (95 % interval) | louder than half at the end | and still fed then |"
    yield "|---|---|---|---|---|"
    missed, louder = contacts["entries"] == 0, contacts["last"] > 0.5 * contacts["last_unfiltered"]
    for name, chosen in groups(contacts):
        runs = int(chosen.sum())
        if runs == 0:
            continue
        loud, fed = (100 * hits[chosen].mean() for hits in (louder, louder & contacts["still_fed"]))
        yield f"| {name} | {runs:,} | {share(int(missed[chosen].sum()), runs)} | {loud:.1f} % | {fed:.1f} % |"
    late = np.maximum(contacts["found"] - contacts["onset"], 0)
    audible = contacts["last_unfiltered"] > LOUD_MM_S
    quieter = 20 * np.log10(contacts["last_unfiltered"][audible] / np.maximum(contacts["last"][audible], 1e-6))
    yield ""
    yield "| ms from the first half-cycle of 15 mW until found | median | 90 % within | 95 % within |"
    yield "|---|---|---|---|"
    for name, chosen in groups(contacts):
        known = late[chosen & np.isfinite(late)]
        if name not in FAMILIES and known.size:
            marks = np.percentile(known, (50, 90, 95))
            yield f"| {name} | " + " | ".join(f"{mark:.0f}" for mark in marks) + " |"
    yield ""
    yield f"In the last second the motion is quieter by {np.median(quieter):.1f} dB in the median; {100 * np.mean(quieter < 6):.1f} % by less than 6 dB."
    yield ""
    taken = others["entries"] > 0
    yield "| rightful use | runs | taken for an oscillation | force error in those, median | below 10 % in 1 s | force error of all runs, p99 |"
    yield "|---|---|---|---|---|---|"
    few: list[str] = []
    for name in ("all", *CLASSES):
        chosen = np.ones(len(others), bool) if name == "all" else others["name"] == name
        hits, runs = int((taken & chosen).sum()), int(chosen.sum())
        if name != "all" and hits <= MANY * runs:
            few.append(name)
            continue
        error, back = others["error_after"][taken & chosen], others["error_seconds"][taken & chosen] <= ERROR_FOR_S
        shown = (100 * np.median(error), 100 * back.mean(), 100 * np.percentile(others["error"][chosen], 99))
        yield f"| {name} | {runs:,} | {share(hits, runs)} | " + " | ".join(f"{value:.0f} %" for value in shown) + " |"
    yield ""
    most = max((int(np.sum(others["name"] == name)) for name in few), default=1)
    yield (
        f"At most {MANY:.0%} each (95 % intervals end below {100 * wilson(int(MANY * most), most)[1]:.1f} %): {', '.join(few)}."
    )


def left_loud(rows: Rows) -> Iterator[str]:
    """Yield the table of contacts that are louder than half at the end: by family, and why."""
    contacts = rows[rows["kind"] == "contact"]
    late = np.maximum(contacts["found"] - contacts["onset"], 0)
    loud, missed = contacts["last"] > 0.5 * contacts["last_unfiltered"], contacts["entries"] == 0
    at_last = ~missed & (contacts["found"] >= LAST_SECOND_MS)
    before, fed = ~missed & ~at_last, contacts["still_fed"]
    yield "| contacts | 95 % found within, ms | missed | found in the last second | found before, still fed | found before, not fed |"
    yield "|---|---|---|---|---|---|"
    for name in (*FAMILIES, "all"):
        chosen = np.ones(len(contacts), bool) if name == "all" else contacts["name"] == name
        known = late[chosen & np.isfinite(late)]
        if known.size == 0:
            continue
        counts = (int((chosen & loud & why).sum()) for why in (missed, at_last, before & fed, before & ~fed))
        yield f"| {name} | {np.percentile(known, 95):,.0f} | " + " | ".join(map(str, counts)) + " |"


def taken_often(rows: Rows) -> Iterator[str]:
    """Yield the table of the classes of rightful use of which more than MANY were taken, and of all others together."""
    others = rows[rows["kind"] == "rightful"]
    taken, rest, classes = others["entries"] > 0, np.zeros(len(others), bool), 0
    yield "| class | taken |"
    yield "|---|---|"
    for name in CLASSES:
        chosen = others["name"] == name
        hits, runs = int((taken & chosen).sum()), int(chosen.sum())
        if hits > MANY * runs:
            yield f"| {name} | {hits} of {runs:,} |"
        else:
            rest |= chosen
            classes += 1
    yield f"| {classes} others | {int((taken & rest).sum())} of {int(rest.sum()):,} |"


def marks(name: str) -> tuple[str, str]:
    """Return the lines of the page between which what has this name stands."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def placed(page: str, name: str, lines: Iterable[str]) -> str:
    """Return a page with these lines between the marks of a name. ValueError without marks."""
    begin, end = marks(name)
    if begin not in page or end not in page:
        raise ValueError(f"the page needs the lines {begin} and {end}")
    before, rest = page.split(begin, 1)
    return f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{rest.split(end, 1)[1]}"


def with_figures(page: str, rows: Rows) -> str:
    """Return a page with all that results of the test set say. ValueError without marks."""
    for name, table in ((TEST_SET, text), (LEFT_LOUD, left_loud), (TAKEN, taken_often)):
        page = placed(page, name, table(rows))
    return page
