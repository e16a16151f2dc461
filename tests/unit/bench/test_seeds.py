"""A third of the seeds is the test set, and nothing that tunes can draw or open it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from bench.haptics.oscillating import oscillating
from bench.haptics.rightful import rightful
from bench.haptics.seeds import Part, TestSeedRefused, Use, part_of, seeds
from bench.haptics.sets import RESULT, Done, Job, load, options, plan, save

ROOT: Final = Path(__file__).parents[3]
# Scripts that report figures of the test set, and the modules that hold the split: none of them chooses a constant.
REPORTS: Final = {"page.py", "seeds.py", "sets.py"}


def test_every_third_seed_is_of_the_test_set_and_a_sixth_is_for_validation() -> None:
    parts = [part_of(seed) for seed in range(600)]

    assert [parts.count(part) for part in (Part.TEST, Part.VALIDATION, Part.TRAINING)] == [200, 100, 300]


def test_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        part_of(-1)


def test_seeds_of_a_part_continue_from_the_first_one() -> None:
    assert seeds(Part.TRAINING, 4) == [1, 3, 4, 7]
    assert seeds(Part.VALIDATION, 3, first=1) == [6, 12, 18]
    assert seeds(Part.TEST, 3, use=Use.REPORT) == [2, 5, 8]


@pytest.mark.parametrize("seed", [2, 5, 302])
def test_tuning_cannot_draw_a_test_seed(seed: int) -> None:
    with pytest.raises(TestSeedRefused):
        oscillating("wall", seed)
    with pytest.raises(TestSeedRefused):
        rightful("press", seed)


def test_tuning_cannot_list_or_plan_the_test_set() -> None:
    with pytest.raises(TestSeedRefused):
        seeds(Part.TEST, 1)
    with pytest.raises(TestSeedRefused):
        plan("contact", Part.TEST, 1, Use.TUNING, ("filter",))


def test_report_can_draw_a_test_seed() -> None:
    assert oscillating("wall", 2, Use.REPORT).seed == 2


def test_results_of_the_test_set_open_for_a_report_only(tmp_path: Path) -> None:
    path = tmp_path / "runs.npz"
    job = Job("contact", "wall", 2, Use.REPORT, ("filter",), signals=True)
    kept = [(job, Done(np.zeros(1, dtype=RESULT), np.ones((3, 5, 3), dtype=np.float32)))]
    save(path, kept, Part.TEST)

    with pytest.raises(TestSeedRefused):
        load(path)
    rows, signals = load(path, Use.REPORT)
    assert len(rows) == 1
    assert signals is not None
    assert signals.shape == (1, 3, 5, 3)


def test_results_of_training_open(tmp_path: Path) -> None:
    path = tmp_path / "runs.npz"
    save(path, [], Part.TRAINING)

    rows, signals = load(path)

    assert len(rows) == 0
    assert signals is None


def test_command_line_tunes_unless_it_asks_for_a_report() -> None:
    assert not options([]).report
    assert options(["--part", "test", "--report"]).report


def test_only_reports_name_the_use_that_opens_the_test_set() -> None:
    named = {path.name for path in (ROOT / "bench").rglob("*.py") if "Use.REPORT" in path.read_text("utf-8")}

    assert named == REPORTS
