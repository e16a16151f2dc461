"""The detector of oscillations: what it is trained on, the header that training writes, and what its trees say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.haptics.contacts import SAMPLES
from bench.haptics.detector import HEADER, Gathered, labelled, load, smoothed, threshold_for, tree_rows
from bench.haptics.oscillating import known_wall
from bench.haptics.seeds import Part, TestSeedRefused, Use
from bench.haptics.sets import Job
from bench.haptics.windows import RUN, Windows, save, windows
from fastpath.testing.contact_trial import FEATURE_COUNT, window_features, window_score

ROOT: Final = Path(__file__).parents[3]
ROW: Final = re.compile(r"\{([^{}]*)\}")


def gathered(seed: int, *, contact: bool = True) -> Windows:
    """One run with two windows."""
    run = np.array((contact, "wall", seed, 20.0, 100.0, 15.0, 0, 2), dtype=RUN)
    rows = np.ones((2, FEATURE_COUNT), dtype=np.float32)
    return Windows(run, np.array([10, 20], dtype=np.int16), rows, np.array([1e-3, 1e-3], dtype=np.float32))


def forest() -> list[list[list[float]]]:
    """Of each tree of the header: thresholds, leaves, features, left and right."""
    text = (ROOT / HEADER).read_text(encoding="utf-8").split("HD_FOREST[HD_TREES] = {")[1].split("};\n\n")[0]
    rows = [[float(cell.rstrip("f")) for cell in row.split(",")] for row in ROW.findall(text)]
    return [rows[k : k + 5] for k in range(0, len(rows), 5)]


def score(features: NDArray[np.float64]) -> float:
    """What the header's trees say, computed here."""
    total = 0.0
    for thresholds, leaves, chosen, left, right in forest():
        node = 0
        while node >= 0:
            goes_left = features[int(chosen[node])] <= np.float32(thresholds[node])
            node = int((left if goes_left else right)[node])
        total += leaves[-1 - node]
    return total


def test_training_refuses_runs_of_the_test_set(tmp_path: Path) -> None:
    path = tmp_path / "windows.npz"
    save(path, [gathered(2)])

    with pytest.raises(TestSeedRefused):
        load([path], Part.TRAINING)


def test_training_refuses_runs_of_the_validation_set(tmp_path: Path) -> None:
    path = tmp_path / "windows.npz"
    save(path, [gathered(1), gathered(6)])

    with pytest.raises(ValueError, match="seed 6, which is not of the training set"):
        load([path], Part.TRAINING)


def test_runs_come_back_as_they_were_saved(tmp_path: Path) -> None:
    path = tmp_path / "windows.npz"
    save(path, [gathered(1), gathered(3)])

    data = load([path, path], Part.TRAINING)

    assert data.runs["seed"].tolist() == [1, 3, 1, 3]
    assert data.run.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_windows_of_a_contact_count_from_its_onset_on() -> None:
    one, other = gathered(1), gathered(3, contact=False)
    data = Gathered(
        np.array([one.run, other.run], dtype=RUN),
        np.concatenate([one.at, other.at]),
        np.concatenate([one.features, other.features]),
        np.concatenate([one.excess, other.excess]),
    )

    oscillating, counts, weight = labelled(data)

    assert oscillating.tolist() == [False, True, False, False]
    assert counts.tolist() == [False, True, True, True]
    assert weight[1] > 0


def test_threshold_leaves_its_share_of_rightful_runs_above() -> None:
    runs = np.zeros(1000, dtype=RUN)
    runs["rows"] = 1
    data = Gathered(runs, np.full(1000, 10, np.int16), np.zeros((1000, 1), np.float32), np.zeros(1000, np.float32))
    course = smoothed(data, np.linspace(-6, 6, 1000))

    threshold = threshold_for(data, course, 0.01)

    assert np.mean(course.max(axis=1) > threshold) == pytest.approx(0.01, abs=0.002)


def test_tree_becomes_rows_whose_negative_children_are_leaves() -> None:
    leaf = {"leaf_value": 0.5}
    inner = {"split_feature": 3, "threshold": 1.5, "left_child": {"leaf_value": -1.0}, "right_child": leaf}
    tree = {"split_feature": 0, "threshold": 0.25, "left_child": inner, "right_child": {"leaf_value": 2.0}}

    assert tree_rows(tree) == ([(0, 0.25, 1, -3), (3, 1.5, -1, -2)], [-1.0, 0.5, 2.0])


def test_every_tree_of_the_header_is_whole() -> None:
    trees = forest()

    assert len(trees) >= 40
    for thresholds, leaves, chosen, left, right in trees:
        children = sorted(int(child) for child in left + right)
        assert children == [*range(-len(leaves), 0), *range(1, len(thresholds))]
        assert all(0 <= feature < FEATURE_COUNT for feature in chosen)
        assert np.isfinite(thresholds + leaves).all()


def test_trees_in_c_say_what_the_header_holds() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        features = random.normal(size=FEATURE_COUNT) * 10 ** random.uniform(-3, 2, FEATURE_COUNT)
        assert window_score(features) == pytest.approx(score(features), abs=1e-4)


def test_score_needs_all_features() -> None:
    with pytest.raises(ValueError, match="give 69 features"):
        window_score(np.zeros(3))


def motion(
    seconds: float = 0.6, rate: int = 4000
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Force, velocity and position of a swing of 30 Hz that the force feeds, with a slow way across it."""
    time = np.arange(round(seconds * rate)) / rate
    turn = 2 * np.pi * 30
    along, across = np.array([0.6, 0.8, 0.0]), np.array([0.0, 0.0, 1.0])
    x = 1e-3 * np.outer(np.sin(turn * time), along) + 0.02 * np.outer(time, across)
    v = 1e-3 * turn * np.outer(np.cos(turn * time), along) + 0.02 * across
    f = 2 * np.outer(np.sin(turn * time + np.pi - 0.4), along) + 0.5 * across
    return f, v, x


def test_features_do_not_depend_on_the_frame() -> None:
    turned = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    f, v, x = motion()

    here = window_features(f, v, x, dt=1 / 4000, mass=0.2)
    there = window_features(f @ turned.T, v @ turned.T, x @ turned.T, dt=1 / 4000, mass=0.2)

    assert there == pytest.approx(here, rel=1e-5, abs=1e-7)


def test_features_of_a_swing_at_two_rates_are_nearly_the_same() -> None:
    slow, fast = (window_features(*motion(rate=rate), dt=1 / rate, mass=0.2)[-1] for rate in (4000, 16000))

    assert fast == pytest.approx(slow, rel=0.1, abs=0.05)


def test_features_say_speed_force_and_phase() -> None:
    features = window_features(*motion(), dt=1 / 4000, mass=0.2)[-1]
    speed, force, phase = features[23], features[24], features[23 + 4]

    assert speed == pytest.approx(1e-3 * 2 * np.pi * 30 / np.sqrt(2), rel=0.02)
    assert force == pytest.approx(2 / np.sqrt(2) / np.hypot(1, 0.3), rel=0.03)
    # force and velocity pass the same low-pass in the loop; here the velocity is exact, so that the force lags by atan(30 / 100)
    assert phase == pytest.approx(np.sin(0.4 + np.arctan(0.3)), abs=0.05)


def test_still_device_has_finite_features() -> None:
    still = np.zeros((400, 3))

    assert np.isfinite(window_features(still, still, still, dt=1e-3, mass=0.2)).all()


@pytest.mark.parametrize(("ratio", "oscillates"), [(0.3, False), (3.0, True)])
def test_trees_tell_a_wall_that_oscillates_from_one_that_does_not(ratio: float, oscillates: bool) -> None:
    features = np.zeros((SAMPLES // 10 + 1, FEATURE_COUNT), dtype=np.float32)
    known_wall(ratio).run(features=features)

    scores = [window_score(row) for row in features[60:290]]

    assert bool(np.median(scores) > 2) is oscillates


def test_windows_of_a_run_are_those_in_motion() -> None:
    found = next(
        one for seed in (1, 3, 7, 9) if (one := windows(Job("contact", "wall", seed, Use.TUNING, (), signals=False)))
    )

    assert len(found.at) == len(found.features) == len(found.excess) == found.run["rows"]
    assert np.all(found.features[:, 23] > 0.004)


def test_windows_of_the_test_set_are_refused() -> None:
    with pytest.raises(TestSeedRefused):
        windows(Job("contact", "wall", 2, Use.TUNING, (), signals=False))
