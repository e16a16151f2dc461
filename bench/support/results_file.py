"""Results of whole runs of the benchmarks, kept in bench/results: one file for each kind of machine, one line for each run."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from bench.support.result_table import Limit, Row

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "bench" / "results"
KEPT_RUNS: Final = 20


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when, of which commit, on what machine, how disturbed it was, and its rows."""

    at: str
    commit: str
    machine: str
    meanwhile: str
    rows: Sequence[Row]

    @classmethod
    def now(cls, machine: str, meanwhile: str, rows: Sequence[Row]) -> Self:
        """Return the run that ends now."""
        return cls(datetime.now(UTC).isoformat(timespec="seconds"), _commit(), machine, meanwhile, tuple(rows))

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        """Return a run from its JSON."""
        rows = tuple(_row(row) for row in kept["rows"])
        return cls(kept["at"], kept["commit"], kept["machine"], kept["meanwhile"], rows)


def append(run: Run, folder: Path = FOLDER) -> Path:
    """Add a run to the file of its machine, which keeps the newest twenty; return the file."""
    path = folder / f"{slug(run.machine)}.json"
    runs = [*(read(path) if path.exists() else []), run][-KEPT_RUNS:]
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(asdict(each), ensure_ascii=False) for each in runs)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return path


def read(path: Path) -> list[Run]:
    """Return the runs of a file, oldest first."""
    return [Run.read(kept) for kept in json.loads(path.read_text(encoding="utf-8"))]


def newest(folder: Path = FOLDER) -> Run | None:
    """Return the newest run of all machines, None when there is none."""
    runs = [run for path in folder.glob("*.json") for run in read(path)]
    return max(runs, key=lambda run: run.at, default=None)


def slug(machine: str) -> str:
    """Return a file name for a machine: its processor and their number."""
    processor, _, rest = machine.partition(", ")
    return re.sub(r"[^a-z0-9]+", "-", f"{processor} {rest.split(',', 1)[0]}".lower()).strip("-")


def _row(kept: Mapping[str, Any]) -> Row:
    limit = None if kept["limit"] is None else Limit(**kept["limit"])
    return Row(kept["section"], kept["name"], kept["figure"], kept["unit"], kept["reference"], limit, kept["note"])


def _commit() -> str:
    words = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
