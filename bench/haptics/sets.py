"""Run drawn contacts and rightful use through the filter, and count what it finds, misses and takes wrongly.

`python -m bench.haptics.sets --contacts 3000 --runs 60` draws training and validation seeds; `--part test --report` draws the test
set, whose figures nobody may tune to. Results are an .npz below build/haptics: one row for each run and mode; `--signals` adds
what a detector over windows is trained on.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bench.haptics.contacts import Contact
from bench.haptics.judging import LOUD_MM_S, Judged, answer, judge, sustains
from bench.haptics.oscillating import NAMES as FAMILIES
from bench.haptics.oscillating import oscillating
from bench.haptics.rightful import NAMES as CLASSES
from bench.haptics.rightful import rightful
from bench.haptics.seeds import Part, TestSeedRefused, Use, seeds
from fastpath.testing.contact_trial import MODES

Outcome = TypeVar("Outcome")
RESULTS: Final = Path("build/haptics")
# A contact faster than this is the e-brake's, and below this force nothing is felt.
FASTEST_MM_S: Final = 2000.0
FELT_N: Final = 0.1
SLOW_HZ: Final = 9.0
BAND_HZ: Final = 260.0
LEFT_ALONE_S: Final = 1.5
ERROR_FOR_S: Final = 1.0
DRAWS_FOR_ONE: Final = 3
CHUNK: Final = 8
Z: Final = 1.96

RESULT: Final = np.dtype(
    [
        ("kind", "U12"),
        ("name", "U32"),
        ("seed", "i8"),
        ("mode", "U12"),
        ("frequency", "f8"),
        ("unfiltered", "f8"),
        ("onset", "f8"),
        ("found", "f8"),
        ("entries", "i8"),
        ("lost", "f8"),
        ("error", "f8"),
        ("error_after", "f8"),
        ("error_seconds", "f8"),
        ("last", "f8"),
        ("last_unfiltered", "f8"),
        ("fed", "f8"),
        ("excess", "f8"),
        ("given", "f8"),
        ("still_fed", "?"),
    ]
)


class Job(NamedTuple):
    """One contact to run."""

    kind: str  # "contact" or "rightful"
    name: str
    seed: int
    use: Use
    modes: tuple[str, ...]
    signals: bool


class Done(NamedTuple):
    """What came of a job: no rows when the contact does not oscillate, or the rightful use does or is not felt."""

    rows: NDArray[np.void]
    # force really applied (N), position as encoders give it (m), velocity as the state has it (m/s), unfiltered, for each ms
    signals: NDArray[np.float32] | None


def draw(job: Job) -> Contact:
    """Return the contact of a job. TestSeedRefused; ValueError."""
    return (oscillating if job.kind == "contact" else rightful)(job.name, job.seed, job.use)


def counts(job: Job, contact: Contact, bare: NDArray[np.void], judged: Judged) -> bool:
    """Return whether a run belongs in its set: a contact that oscillates in band, rightful use that is felt and does not."""
    oscillates = judged.oscillates
    if oscillates and (job.kind == "rightful" or judged.frequency < SLOW_HZ) and not contact.laws["swing"].any():
        oscillates = sustains(contact.left_alone(LEFT_ALONE_S).run())
    if job.kind == "contact":
        return oscillates and judged.frequency <= BAND_HZ and judged.speed <= FASTEST_MM_S
    felt = len(contact.laws) == 0 or float(np.linalg.norm(bare["command"], axis=1).max()) >= FELT_N
    return felt and not oscillates and judged.speed <= FASTEST_MM_S


def run(job: Job) -> Done:
    """Run one job in every mode. TestSeedRefused."""
    nothing = Done(np.zeros(0, dtype=RESULT), None)
    try:
        contact = draw(job)
    except TestSeedRefused:
        raise
    except ValueError:
        return nothing
    bare = contact.run()
    judged = judge(bare)
    if not counts(job, contact, bare, judged):
        return nothing
    rows = np.zeros(len(job.modes), dtype=RESULT)
    onset = np.nan if judged.onset is None else judged.onset
    for k, mode in enumerate(job.modes):
        done = answer(contact.run(mode), bare)
        found = np.nan if done.found is None else done.found
        rows[k] = (
            *(job.kind, job.name, job.seed, mode, judged.frequency, judged.speed, onset, found),
            *(
                done.entries,
                done.lost,
                done.error,
                done.error_after,
                done.error_seconds,
                done.speed,
                done.unfiltered,
                judged.fed,
                judged.excess,
                judged.given,
                done.still_fed,
            ),
        )
    signals = np.stack([bare["force"], bare["position"], bare["speed"]]).astype(np.float32) if job.signals else None
    return Done(rows, signals)


def in_processes(work: Callable[[Job], Outcome], jobs: Sequence[Job], processes: int) -> Iterator[Outcome]:
    """Yield what came of each job, in their order."""
    if processes == 1:
        yield from map(work, jobs)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(work, jobs, chunksize=CHUNK)


def plan(
    kind: str, part: Part, number: int, use: Use, modes: tuple[str, ...], *, signals: bool = False, first: int = 0
) -> list[Job]:
    """Return jobs of seeds of a part, every class of the kind with each seed. TestSeedRefused."""
    names = FAMILIES if kind == "contact" else CLASSES
    drawn = seeds(part, number, use=use, first=first)
    return [Job(kind, name, seed, use, modes, signals) for seed in drawn for name in names]


def wilson(hits: int, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927)."""
    if runs == 0:
        return 0.0, 1.0
    share, square = hits / runs, Z * Z
    middle = share + square / (2 * runs)
    half = Z * np.sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    return max(0.0, float((middle - half) / (1 + square / runs))), min(
        1.0, float((middle + half) / (1 + square / runs))
    )


def share_text(hits: int, runs: int) -> str:
    """Return hits, runs, share and interval in columns."""
    low, high = wilson(hits, runs)
    return f"{hits:6}{runs:7}{hits / max(runs, 1):8.1%}  {low:6.1%} to {high:6.1%}"


def percentiles(values: NDArray[np.float64], marks: Sequence[int], form: str = "8.0f") -> str:
    """Return percentiles in columns."""
    return "".join(f"{value:{form}}" for value in np.percentile(values, marks)) if values.size else "  none"


def portion(hits: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> float:
    """Return the share of hits among the chosen; 0 among none."""
    return float(hits[chosen].mean()) if chosen.any() else 0.0


def contact_table(rows: NDArray[np.void]) -> Iterator[str]:
    """Oscillating contacts of one mode: missed by family and band, time until found, attenuation."""
    missed = rows["entries"] == 0
    # References damp without a decision: nothing of theirs is found or missed.
    detects = rows["mode"][0] == "filter"
    louder = rows["last"] > 0.5 * rows["last_unfiltered"]
    fed = louder & rows["still_fed"]
    yield f"{'contacts':28}{'missed':>6}{'runs':>7}{'share':>8}  {'interval':16}{'louder than half at the end':>28}{'and still fed':>15}"
    fast, slow = rows["frequency"] >= SLOW_HZ, rows["frequency"] < SLOW_HZ
    loud = rows["unfiltered"] > 50
    groups = [
        ("all", np.ones(len(rows), bool)),
        ("9 to 260 Hz", fast),
        ("9 to 260 Hz, above 50 mm/s", fast & loud),
        ("2 to 9 Hz", slow),
        ("2 to 9 Hz, above 50 mm/s", slow & loud),
    ]
    groups += [(name, rows["name"] == name) for name in FAMILIES]
    for name, chosen in groups:
        runs = int(chosen.sum())
        text = share_text(int(missed[chosen].sum()), runs) if detects else f"{'-':>6}{runs:7}{'':26}"
        yield f"{name:28}{text}{portion(louder, chosen):20.1%}{portion(fed, chosen):20.1%}"
    yield ""
    late = np.maximum(rows["found"] - rows["onset"], 0)
    decibel = 20 * np.log10(np.maximum(rows["last_unfiltered"], 1e-6) / np.maximum(rows["last"], 1e-6))
    audible = rows["last_unfiltered"] > LOUD_MM_S
    yield f"{'percentile':34}{50:8}{90:8}{95:8}{99:8}"
    yield f"{'ms from 15 mW until found':34}" + percentiles(late[np.isfinite(late)], (50, 90, 95, 99))
    yield f"{'percentile':34}{50:8}{10:8}{5:8}{1:8}"
    yield f"{'dB quieter in the last second':34}" + percentiles(decibel[audible], (50, 10, 5, 1), "8.1f")
    yield f"{'less than 6 dB quieter':34}{np.mean(decibel[audible] < 6) if audible.any() else 0:8.1%}"


def rightful_table(rows: NDArray[np.void]) -> Iterator[str]:
    """Rightful use of one mode: taken for oscillation by class, and force error.

    In all runs the 99th percentile over the whole run; in those taken from the entry on: median, largest tenth, and how many have it
    below a tenth within 1 s.
    """
    yield (
        f"{'rightful use':28}{'taken':>6}{'runs':>7}{'share':>8}  {'interval':16}{'error, p99':>12}"
        f"{'taken: median':>15}{'p90':>8}{'< 10 % in 1 s':>15}"
    )
    for name in ("all", *CLASSES):
        chosen = np.ones(len(rows), bool) if name == "all" else rows["name"] == name
        taken = chosen & (rows["entries"] > 0)
        text = share_text(int(taken.sum()), int(chosen.sum()))
        worst = np.percentile(rows["error"][chosen], 99) if chosen.any() else 0.0
        after = f"{'-':>15}{'-':>8}{'-':>15}"
        if taken.any():
            half, tenth = np.percentile(rows["error_after"][taken], (50, 90))
            after = f"{half:15.0%}{tenth:8.0%}{np.mean(rows['error_seconds'][taken] <= ERROR_FOR_S):15.0%}"
        yield f"{name:28}{text}{worst:12.1%}{after}"


def tables(rows: NDArray[np.void], modes: Iterable[str]) -> Iterator[str]:
    """Return every table of every mode."""
    for mode in modes:
        yield f"\n{mode}\n"
        for kind, table in (("contact", contact_table), ("rightful", rightful_table)):
            chosen = rows[(rows["mode"] == mode) & (rows["kind"] == kind)]
            if len(chosen):
                yield from table(chosen)
                yield ""


def gather(jobs: list[Job], wanted: int, processes: int) -> list[tuple[Job, Done]]:
    """Run jobs in slices until `wanted` of them count; return those, each with its job."""
    kept: list[tuple[Job, Done]] = []
    piece = max(200, wanted // 4)
    for begin in range(0, len(jobs), piece):
        part = jobs[begin : begin + piece]
        kept += [
            (job, done) for job, done in zip(part, in_processes(run, part, processes), strict=True) if len(done.rows)
        ]
        if len(kept) >= wanted:
            break
    return kept[:wanted]


def gather_classes(jobs: list[Job], runs: int, processes: int) -> list[tuple[Job, Done]]:
    """Run jobs until every class has so many runs that count."""
    left = dict.fromkeys(CLASSES, runs)
    kept: list[tuple[Job, Done]] = []
    while jobs and any(left.values()):
        part: list[Job] = []
        rest: list[Job] = []
        taken = dict.fromkeys(CLASSES, 0)
        for job in jobs:
            chosen = taken[job.name] < left[job.name]
            taken[job.name] += chosen
            (part if chosen else rest).append(job)
        for job, done in zip(part, in_processes(run, part, processes), strict=True):
            if len(done.rows):
                kept.append((job, done))
                left[job.name] -= 1
        jobs = [job for job in rest if left[job.name] > 0]
    return kept


def save(path: Path, kept: list[tuple[Job, Done]], part: Part) -> None:
    """Write rows, and signals when there are any, with the part of the seeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    held: dict[str, NDArray[np.generic]] = {
        "rows": np.concatenate([done.rows for _, done in kept]) if kept else np.zeros(0, dtype=RESULT),
        "part": np.array(part.value),
    }
    signals = [done.signals for _, done in kept if done.signals is not None]
    if signals:
        held["signals"] = np.stack(signals)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **held)


def load(path: Path, use: Use = Use.TUNING) -> tuple[NDArray[np.void], NDArray[np.float32] | None]:
    """Return rows and signals (runs x force, position, velocity x ms x axis) of a file. TestSeedRefused for the test set."""
    with np.load(path) as file:
        if str(file["part"]) == Part.TEST.value and use is not Use.REPORT:
            raise TestSeedRefused(
                f"{path} holds runs of the test set: open it for a report only, and tune on the others"
            )
        return file["rows"], file.get("signals")


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--part", choices=[part.value for part in Part], default=Part.TRAINING.value)
    parser.add_argument(
        "--report", action="store_true", help="needed for the test set: the figures are reported, not tuned to"
    )
    parser.add_argument("--contacts", type=int, default=3000, help="contacts that oscillate")
    parser.add_argument("--runs", type=int, default=60, help="runs of each class of rightful use")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--modes", nargs="+", choices=[mode for mode in MODES if mode != "free"], default=["filter"])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--signals", action="store_true", help="keep signals to train on: 108 kB a run before compression"
    )
    parser.add_argument("--out", type=Path, default=None, help="file of results, build/haptics/PART.npz by default")
    return parser.parse_args(arguments)


def main() -> None:
    """Run, save, and print every table."""
    asked = options()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    part, use = Part(asked.part), Use.REPORT if asked.report else Use.TUNING
    modes, begun = tuple(asked.modes), perf_counter()
    draws = DRAWS_FOR_ONE * asked.contacts // len(FAMILIES) + 1
    jobs = plan("contact", part, draws, use, modes, signals=asked.signals, first=asked.first)
    kept = gather(jobs, asked.contacts, asked.processes)
    more = plan("rightful", part, DRAWS_FOR_ONE * asked.runs, use, modes, signals=asked.signals, first=asked.first)
    kept += gather_classes(more, asked.runs, asked.processes)
    path = asked.out or RESULTS / f"{part.value}.npz"
    save(path, kept, part)
    rows = np.concatenate([done.rows for _, done in kept])
    print(f"{part.value} seeds from {asked.first}: {len(kept)} runs that count, {perf_counter() - begun:.0f} s, {path}")
    for text in tables(rows, modes):
        print(text)


if __name__ == "__main__":
    main()
