"""Gather what a detector over windows of motion is trained on: features of drawn contacts and rightful use, for each 10 ms.

`python -m bench.haptics.windows --contacts 20000 --runs 500` writes build/haptics/windows-PART.npz; the test set is refused.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.haptics.contacts import SAMPLES, Contact
from bench.haptics.judging import judge
from bench.haptics.oscillating import NAMES as FAMILIES
from bench.haptics.rightful import NAMES as CLASSES
from bench.haptics.seeds import Part, TestSeedRefused, Use, part_of
from bench.haptics.sets import RESULTS, Job, counts, draw, in_processes, plan
from fastpath.testing.contact_trial import FEATURE_COUNT

EVERY_MS: Final = 10
# A window whose velocity without its mean is slower than this is not looked at.
STILL_M_S: Final = 0.004
# Of the windows to train on, one of so many is kept: neighbours are alike.
THINNED: Final = 2
RMS_OF_120_MS: Final = FEATURE_COUNT // 3

RUN: Final = np.dtype(
    [
        ("contact", "?"),
        ("name", "U32"),
        ("seed", "i8"),
        ("frequency", "f8"),
        ("speed", "f8"),
        ("onset", "f8"),
        ("first", "i8"),
        ("rows", "i8"),
    ]
)


class Windows(NamedTuple):
    """Moving windows of one run: the ms at which each ends, its features, and the power (W) that sampling and delay add in it."""

    run: NDArray[np.void]
    at: NDArray[np.int16]
    features: NDArray[np.float32]
    excess: NDArray[np.float32]


def windows(job: Job) -> Windows | None:
    """Run a job without filter; None where it does not count. TestSeedRefused."""
    try:
        contact: Contact = draw(job)
    except TestSeedRefused:
        raise
    except ValueError:
        return None
    features = np.zeros((SAMPLES // EVERY_MS + 1, FEATURE_COUNT), dtype=np.float32)
    bare = contact.run(features=features)
    judged = judge(bare)
    if not counts(job, contact, bare, judged):
        return None
    features = features[: SAMPLES // EVERY_MS - 1]
    at = np.arange(1, len(features) + 1) * EVERY_MS
    total = np.concatenate([[0.0], np.cumsum(bare["excess"])])
    excess = (total[at] - total[np.maximum(at - 120, 0)]) / 120
    moving = features[:, RMS_OF_120_MS] > STILL_M_S
    if part_of(job.seed) is Part.TRAINING:
        moving &= (np.arange(len(features)) + job.seed // 2) % THINNED == 0
    onset = np.nan if judged.onset is None else judged.onset
    run = np.array(
        (job.kind == "contact", job.name, job.seed, judged.frequency, judged.speed, onset, 0, int(moving.sum())),
        dtype=RUN,
    )
    return Windows(run, at[moving].astype(np.int16), features[moving], excess[moving].astype(np.float32))


def gather(
    part: Part, contacts: int, runs: int, processes: int, first: int, classes: Sequence[str] = CLASSES
) -> list[Windows]:
    """Return the windows of about so many contacts, and of so many runs of each of these classes of rightful use. TestSeedRefused."""
    jobs = plan("contact", part, contacts // len(FAMILIES), Use.TUNING, (), first=first)
    jobs += [job for job in plan("rightful", part, runs, Use.TUNING, (), first=first) if job.name in classes]
    return [found for found in in_processes(windows, jobs, processes) if found is not None]


def save(path: Path, found: list[Windows]) -> None:
    """Write runs, and the windows of all of them in one table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    runs = np.array([one.run for one in found], dtype=RUN)
    runs["first"] = np.concatenate([[0], np.cumsum(runs["rows"])[:-1]])
    np.savez(
        path,
        runs=runs,
        at=np.concatenate([one.at for one in found]),
        features=np.concatenate([one.features for one in found]),
        excess=np.concatenate([one.excess for one in found]),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Gather and save."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--part", choices=[Part.TRAINING.value, Part.VALIDATION.value], default=Part.TRAINING.value)
    parser.add_argument("--contacts", type=int, default=3000, help="contacts that are drawn, oscillating or not")
    parser.add_argument("--runs", type=int, default=60, help="draws of each class of rightful use")
    parser.add_argument(
        "--classes", nargs="+", choices=CLASSES, default=CLASSES, help="classes of rightful use, all by default"
    )
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args(arguments)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    begun = perf_counter()
    found = gather(Part(asked.part), asked.contacts, asked.runs, asked.processes, asked.first, asked.classes)
    path = asked.out or RESULTS / f"windows-{asked.part}.npz"
    save(path, found)
    contacts = sum(bool(one.run["contact"]) for one in found)
    print(
        f"{contacts} contacts, {len(found) - contacts} runs of {len(asked.classes)} classes, {perf_counter() - begun:.0f} s, {path}"
    )


if __name__ == "__main__":
    main()
