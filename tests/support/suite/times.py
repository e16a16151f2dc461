"""Where the suite's time goes: a table by folder, from the reports of its runs; `make test-times` writes it into docs/testing.md."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

PAGE: Final = Path(__file__).parents[3] / "docs" / "testing.md"
BEGIN, END = "<!-- times: written by make test-times -->", "<!-- end of times -->"


@dataclass(slots=True)
class Spent:
    """Tests of a folder, and the seconds that they took one after the other."""

    tests: int = 0
    seconds: float = 0.0


def spent(reports: Iterable[Path]) -> dict[str, Spent]:
    """Return what each folder below `tests` took by JUnit reports, the longest first; a report that is not whole is left out."""
    found: defaultdict[str, Spent] = defaultdict(Spent)
    for report in reports:
        try:
            cases = ET.parse(report).iter("testcase")  # noqa: S314 - pytest wrote it
        except (ET.ParseError, OSError):
            continue
        for case in cases:
            parts = case.get("classname", "").split(".")
            folder = "/".join(parts[:2]) if len(parts) > 2 else "tests"
            found[folder].tests += 1
            found[folder].seconds += float(case.get("time", 0))
    return dict(sorted(found.items(), key=lambda row: -row[1].seconds))


def table(found: Mapping[str, Spent], seconds: float) -> str:
    """Return the table in Markdown; `seconds`: what the whole run took."""
    rows = [f"| `{folder}` | {one.tests:,} | {one.seconds:.0f} |" for folder, one in found.items()]
    tests, added = sum(one.tests for one in found.values()), sum(one.seconds for one in found.values())
    head = ["| Folder | Tests | s, one after the other |", "|---|---:|---:|"]
    whole = f"| all, side by side on {os.cpu_count()} processors: {seconds / 60:.1f} min | {tests:,} | {added:.0f} |"
    return "\n".join([*head, *rows, whole])


def write(text: str, page: Path = PAGE) -> None:
    """Put the table into the page, between its marks; ValueError without them."""
    before = page.read_text(encoding="utf-8")
    first, last = before.index(BEGIN) + len(BEGIN), before.index(END)
    page.write_text(f"{before[:first]}\n{text}\n{before[last:]}", encoding="utf-8")
