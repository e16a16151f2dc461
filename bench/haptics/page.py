"""Write the figures and pictures of the test set into docs/force-path.md: `python -m bench.haptics.page build/haptics/test.npz`.

The results come from `python -m bench.haptics.sets --part test --report`; what is written lies between marks of the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bench.haptics.contacts import Contact
from bench.haptics.judging import judge
from bench.haptics.oscillating import NAMES as FAMILIES
from bench.haptics.page_tables import with_figures
from bench.haptics.pictures import BARE, DOTS_PER_INCH, GREY, HELD, WIDTH_IN
from bench.haptics.rightful import NAMES as CLASSES
from bench.haptics.seeds import Part, Use, seeds
from bench.haptics.sets import SLOW_HZ, Job, counts, draw, load, wilson

PAGE: Final = Path("docs/force-path.md")
COLUMNS: Final = 6
MOST_DRAWS: Final = 40

Rows = NDArray[np.void]


def by_class(rows: Rows) -> Figure:
    """Plot the share of runs in which the filter acted, by family and by class, with 95 % intervals."""
    figure = Figure(figsize=(WIDTH_IN, 11.0), layout="constrained")
    axes = figure.subplots(2, 1, height_ratios=(len(FAMILIES), len(CLASSES)))
    sets = (("contact", FAMILIES, BARE, "contacts that oscillate"), ("rightful", CLASSES, HELD, "rightful use"))
    for axis, (kind, names, colour, title) in zip(axes, sets, strict=True):
        for place, name in enumerate(names):
            chosen = (rows["kind"] == kind) & (rows["name"] == name)
            runs, hits = int(chosen.sum()), int((rows["entries"][chosen] > 0).sum())
            low, high = wilson(hits, runs)
            axis.plot([100 * low, 100 * high], [place, place], color=colour, lw=2)
            axis.plot(100 * hits / max(runs, 1), place, "o", color=colour, ms=4)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.invert_yaxis()
        axis.grid(alpha=0.3)
        axis.set_title(f"{title}: share in which the filter acts, %")
    axes[0].set_xlim(80, 100.5)
    axes[1].set_xlim(-0.3, 15)
    return figure


def until_found(rows: Rows) -> Figure:
    """Plot how many of all contacts are found within a time."""
    contacts = rows[rows["kind"] == "contact"]
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    axis = figure.subplots()
    for name, colour, chosen in (
        ("9 to 260 Hz", HELD, contacts["frequency"] >= SLOW_HZ),
        ("2 to 9 Hz", BARE, contacts["frequency"] < SLOW_HZ),
    ):
        begun = chosen & np.isfinite(contacts["onset"])
        late = np.sort(np.maximum(contacts["found"] - contacts["onset"], 1)[begun])
        axis.step(late, 100 * np.arange(1, len(late) + 1) / len(late), where="post", color=colour, label=name)
    axis.set_xscale("log")
    axis.set_xlim(10, 2000)
    axis.set_ylim(0, 100)
    axis.set_xlabel("time since the first half-cycle of 15 mW, ms")
    axis.set_ylabel("found, %")
    axis.axvline(200, color=GREY, lw=0.8, ls="--")
    axis.grid(alpha=0.3, which="both")
    axis.legend(loc="lower right", framealpha=1)
    return figure


def first_that_counts(kind: str, name: str) -> Contact | None:
    """Return the contact of the first training seed of a class that belongs in its set."""
    for seed in seeds(Part.TRAINING, MOST_DRAWS):
        job = Job(kind, name, seed, Use.TUNING, (), signals=False)
        with suppress(ValueError):
            contact = draw(job)
            bare = contact.run()
            if counts(job, contact, bare, judge(bare)):
                return contact
    return None


def one_of_each() -> Figure:
    """Plot speed with and without the filter in one run of each family and class."""
    wanted = [("contact", name) for name in FAMILIES] + [("rightful", name) for name in CLASSES]
    drawn = [contact for kind, name in wanted if (contact := first_that_counts(kind, name)) is not None]
    lines = -(-len(drawn) // COLUMNS)
    figure = Figure(figsize=(2 * WIDTH_IN, 1.5 * lines), layout="constrained")
    axes = figure.subplots(lines, COLUMNS, sharex=True).ravel()
    for axis, contact in zip(axes, drawn, strict=False):
        bare, held = contact.run(), contact.run("filter")
        time = np.arange(len(bare)) / 1000
        axis.plot(time, 1000 * np.linalg.norm(bare["v"], axis=1), color=BARE, lw=0.6)
        axis.plot(time, 1000 * np.linalg.norm(held["v"], axis=1), color=HELD, lw=0.6)
        axis.set_title(contact.name, fontsize=8)
        axis.tick_params(labelsize=6)
    for axis in axes[len(drawn) :]:
        axis.set_axis_off()
    figure.supylabel("speed, mm/s: red without the filter, blue with it")
    figure.supxlabel("s")
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Write tables and pictures."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("results", type=Path)
    parser.add_argument("--page", type=Path, default=PAGE)
    asked = parser.parse_args(arguments)
    rows, _ = load(asked.results, Use.REPORT)
    rows = rows[rows["mode"] == "filter"]
    asked.page.write_text(with_figures(asked.page.read_text(encoding="utf-8"), rows), encoding="utf-8")
    mpl.rcParams["font.family"] = "DejaVu Sans"
    pictures = {
        "found-by-class": by_class(rows),
        "time-until-found": until_found(rows),
        "one-run-of-each-class": one_of_each(),
    }
    for name, figure in pictures.items():
        target = asked.page.parent / "img" / f"{name}.png"
        figure.savefig(target, dpi=DOTS_PER_INCH, metadata={"Software": ""})
        print(target)


if __name__ == "__main__":
    main()
