"""Tables of the test set in docs/force-path.md: their lines, and where they stand on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.haptics.judging import LOUD_MM_S
from bench.haptics.oscillating import NAMES as FAMILIES
from bench.haptics.rightful import NAMES as CLASSES
from bench.haptics.sets import SLOW_HZ, wilson

BEGIN: Final = "<!-- figures of the test set: begin -->"
END: Final = "<!-- figures of the test set: end -->"
MANY: Final = 0.01

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
    yield "| rightful use | runs | taken for an oscillation | force lost in those |"
    yield "|---|---|---|---|"
    few: list[str] = []
    for name in ("all", *CLASSES):
        chosen = np.ones(len(others), bool) if name == "all" else others["name"] == name
        hits, runs = int((taken & chosen).sum()), int(chosen.sum())
        if name != "all" and hits <= MANY * runs:
            few.append(name)
            continue
        yield f"| {name} | {runs:,} | {share(hits, runs)} | {100 * others['lost'][taken & chosen].mean():.0f} % |"
    yield ""
    most = max((int(np.sum(others["name"] == name)) for name in few), default=1)
    yield (
        f"At most {MANY:.0%} each (95 % intervals end below {100 * wilson(int(MANY * most), most)[1]:.1f} %): {', '.join(few)}."
    )


def placed(page: str, lines: Sequence[str]) -> str:
    """Return a page with these lines between its marks. ValueError without marks."""
    if BEGIN not in page or END not in page:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}")
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.split(END, 1)[1]}"
