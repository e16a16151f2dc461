"""Train the detector of oscillations, choose its threshold, and write both as a C header.

`python -m bench.haptics.detector build/haptics/windows-training-*.npz --validation build/haptics/windows-validation.npz` reads what
`bench.haptics.windows` gathered. Gradient-boosted trees (Friedman 2001, by LightGBM: extra `train`) give each window the
logarithm of the odds that it is part of an oscillation. Training, validation and test seeds are apart; the test set is refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.haptics.seeds import Part, Use, check, part_of
from bench.haptics.windows import EVERY_MS, STILL_M_S
from fastpath.testing.contact_trial import FEATURE_COUNT, SAMPLE_RATE

HEADER: Final = Path("fastpath/tick/oscillation_trees.h")
# Rightful use that is nearest to an oscillation, with the factor of its weight: force that is played moves the device as a spring
# does, and what the rendered force feeds for a while looks like what it feeds for good.
HARD: Final[Mapping[str, float]] = {
    "impulses": 8.0,
    "noise": 5.0,
    "strong vibration": 8.0,
    "bursts of vibration": 6.0,
    "taps with transients": 4.0,
    "tapping": 4.0,
    "guidance along a plane": 5.0,
    "platform": 3.0,
    "press with tremor": 3.0,
    "ball on a paddle": 3.0,
    "tilted stroke on a wall": 3.0,
    "guidance": 2.0,
    "motion in contact": 2.0,
    "position set-point followed": 2.0,
    "pulses": 6.0,
    "steps": 4.0,
    "handing over": 4.0,
    "tapping with two hands": 4.0,
    "strong tremor in contact": 4.0,
    "scan along a corner": 4.0,
    "grip that changes in contact": 3.0,
    "wall that swings": 5.0,
    "guidance to a moving target": 6.0,
}
RIGHTFUL_WEIGHT: Final = 2.0
# An oscillation should be found early: the windows of its first ms count more.
EARLY_MS: Final = 200
EARLY_WEIGHT: Final = 2.5
# Windows of rightful use below these log-odds of a quick model are thinned, and count more each.
EASY: Final = -4.0
EASY_KEPT: Final = 6
QUICK_SHARE: Final = 0.15
QUICK_TREES: Final = 40
# W that sampling and delay add within a window, for it to count as oscillating.
FED_W: Final = 2e-4
CLIP: Final = 6.0
SMOOTHING: Final = 0.3
SECONDS: Final = 3

Array = NDArray[np.float64]


class Gathered(NamedTuple):
    """Runs, and of each window its ms, features and excess (W)."""

    runs: NDArray[np.void]
    at: NDArray[np.int16]
    features: NDArray[np.float32]
    excess: NDArray[np.float32]

    @property
    def run(self) -> NDArray[np.int64]:
        """The run of each window."""
        return np.repeat(np.arange(len(self.runs)), self.runs["rows"])


def load(paths: Sequence[Path], part: Part) -> Gathered:
    """Return what several files hold, which must all be of one part. TestSeedRefused; ValueError."""
    found = []
    for path in paths:
        with np.load(path) as file:
            for seed in set(file["runs"]["seed"].tolist()):
                check(seed, Use.TUNING)
                if part_of(seed) is not part:
                    raise ValueError(f"{path} holds seed {seed}, which is not of the {part.value} set: gather that set")
            found.append(Gathered(file["runs"], file["at"], file["features"], file["excess"]))
    return Gathered(*(np.concatenate(column) for column in zip(*found, strict=True)))


def labelled(data: Gathered) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Return of each window whether it is oscillating, whether it counts, and its weight: each class and family weighs the same.

    Of a contact only those after the first half-cycle of 15 mW count to which sampling and delay add power.
    """
    run = data.run
    contact, onset = data.runs["contact"][run], data.runs["onset"][run]
    oscillating = contact & (data.at >= onset) & (data.excess > FED_W)
    counts = oscillating | ~contact
    weight = np.where(oscillating & (data.at <= onset + EARLY_MS), EARLY_WEIGHT, 1.0)
    of_run = np.bincount(run[counts], weights=weight[counts], minlength=len(data.runs))
    each = np.where(of_run > 0, 1 / np.maximum(of_run, 1), 0.0)
    for kind in (True, False):
        of_kind = data.runs["contact"] == kind
        names = np.unique(data.runs["name"][of_kind])
        for name in names:
            chosen = of_kind & (data.runs["name"] == name)
            each[chosen] /= max(int(np.count_nonzero(of_run[chosen])), 1) * len(names)
            if not kind:
                each[chosen] *= RIGHTFUL_WEIGHT * HARD.get(str(name), 1.0)
    return oscillating, counts, 1e4 * each[run] * weight


def boosted(data: Gathered, chosen: NDArray[np.bool_], factor: Array, trees: int, leaves: int, rate: float) -> Any:
    """Return the trees of LightGBM for the chosen windows, whose weights are multiplied by a factor each."""
    lightgbm: Any = import_module("lightgbm")
    oscillating, counts, weight = labelled(data)
    used = counts & chosen
    table = lightgbm.Dataset(
        data.features[used], oscillating[used], weight=(weight * factor)[used], params={"max_bin": 127}
    )
    options = {
        "objective": "binary",
        "num_leaves": leaves,
        "learning_rate": rate,
        "min_data_in_leaf": 200,
        "max_bin": 127,
        "lambda_l2": 1.0,
        "feature_fraction": 0.7,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "seed": 1,
        "deterministic": True,
        "verbosity": -1,
    }
    return lightgbm.train(options, table, num_boost_round=trees)


def train(data: Gathered, trees: int, leaves: int, rate: float) -> Any:
    """Return the trained trees of LightGBM."""
    random = np.random.default_rng(1)
    run, ones = data.run, np.ones(len(data.at))
    quick = boosted(data, (random.random(len(data.runs)) < QUICK_SHARE)[run], ones, QUICK_TREES, leaves, 0.25)
    score = quick.predict(data.features, raw_score=True)
    easy = ~data.runs["contact"][run] & (score < EASY)
    kept = ~easy | (random.random(len(easy)) * EASY_KEPT < 1)
    return boosted(data, kept, np.where(easy, float(EASY_KEPT), 1.0), trees, leaves, rate)


def smoothed(data: Gathered, scores: Array) -> Array:
    """Return the score as the filter smooths it, runs x windows of 10 ms; that of a still device is the lowest one."""
    course = np.full((len(data.runs), SECONDS * SAMPLE_RATE // EVERY_MS + 1), -CLIP)
    course[data.run, data.at // EVERY_MS] = np.clip(scores, -CLIP, CLIP)
    level = np.full(len(course), -CLIP)
    for column in course.T:
        level = level + SMOOTHING * (column - level)
        column[:] = level
    return course


def threshold_for(data: Gathered, course: Array, share: float) -> float:
    """Return the score above which this share of all runs of rightful use is taken for an oscillation."""
    return float(np.quantile(course[~data.runs["contact"]].max(axis=1), 1 - share))


def report(data: Gathered, course: Array, threshold: float) -> Iterator[str]:
    """Return what is missed and taken wrongly, by class."""
    hit = course > threshold
    found: NDArray[np.bool_] = np.asarray(hit.any(axis=1))
    contact, fast, loud = data.runs["contact"], data.runs["frequency"] >= 9, data.runs["speed"] > 50
    groups = {
        "9 to 260 Hz, above 50 mm/s": contact & fast & loud,
        "2 to 9 Hz, above 50 mm/s": contact & ~fast & loud,
        "all": contact,
    }
    for name, chosen in groups.items():
        yield f"missed {name:32}{1 - found[chosen].mean():8.2%} of {chosen.sum()}"
    late = (EVERY_MS * hit.argmax(axis=1) - data.runs["onset"])[contact & found]
    late = np.maximum(late[np.isfinite(late)], 0)
    yield "ms until found, percentiles 50, 90, 95:" + "".join(
        f"{value:6.0f}" for value in np.percentile(late, (50, 90, 95))
    )
    yield f"taken wrongly {found[~contact].mean():8.2%} of {np.sum(~contact)}"
    for name in np.unique(data.runs["name"][~contact]):
        chosen = ~contact & (data.runs["name"] == name)
        if found[chosen].any():
            yield f"  {name:32}{found[chosen].mean():8.2%} of {chosen.sum()}"


def tree_rows(tree: dict[str, Any]) -> tuple[list[tuple[int, float, int, int]], list[float]]:
    """Return the nodes of a tree (feature, threshold, left, right) and its leaves; -1 - k stands for leaf k."""
    nodes: list[tuple[int, float, int, int]] = []
    leaves: list[float] = []

    def add(node: dict[str, Any]) -> int:
        if "split_feature" not in node:
            leaves.append(float(node["leaf_value"]))
            return -len(leaves)
        place = len(nodes)
        nodes.append((0, 0.0, 0, 0))
        left, right = add(node["left_child"]), add(node["right_child"])
        nodes[place] = (int(node["split_feature"]), float(node["threshold"]), left, right)
        return place

    add(tree)
    return nodes, leaves


def header(model: Any, threshold: float, record: Sequence[str]) -> str:
    """Return the text of the C header."""
    trees = [tree_rows(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]
    most = max(len(leaves) for _, leaves in trees)
    lines = [
        "/* Trees of the detector of oscillations, written by `python -m bench.haptics.detector`: do not edit.",
        " *",
    ]
    lines += [f" * {line}".rstrip() for line in record]
    lines += [
        " */",
        "#ifndef HD_OSCILLATION_TREES_H",
        "#define HD_OSCILLATION_TREES_H",
        "#include <stdint.h>",
        "",
        f"#define HD_TREES {len(trees)}",
        f"#define HD_TREE_LEAVES {most}",
        f"#define HD_TREE_FEATURES {FEATURE_COUNT}",
        f"#define HD_SCORE_FOUND {threshold:.3f}",
        f"#define HD_STILL_M_S {STILL_M_S}",
        f"#define HD_SCORE_CLIP {CLIP:.1f}",
        f"#define HD_SCORE_SMOOTHING {SMOOTHING}",
        "",
        "/* A node goes left where its feature is at most its threshold; a child -1 - k is leaf k. */",
        "struct hd_tree {",
        "    float threshold[HD_TREE_LEAVES - 1];",
        "    float leaf[HD_TREE_LEAVES];",
        "    uint8_t feature[HD_TREE_LEAVES - 1];",
        "    int8_t left[HD_TREE_LEAVES - 1];",
        "    int8_t right[HD_TREE_LEAVES - 1];",
        "};",
        "",
        "static const struct hd_tree HD_FOREST[HD_TREES] = {",
    ]
    for nodes, leaves in trees:
        feature, limit, left, right = (list(column) for column in zip(*nodes, strict=True))
        lines += [
            "    {{"
            + ", ".join(
                f"{value:.7g}f" if "." in f"{value:.7g}" or "e" in f"{value:.7g}" else f"{value:.7g}.f"
                for value in limit
            )
            + "},",
            "     {" + ", ".join(f"{value:.6f}f" for value in leaves) + "},",
            "     {" + ", ".join(map(str, feature)) + "},",
            "     {" + ", ".join(map(str, left)) + "},",
            "     {" + ", ".join(map(str, right)) + "}},",
        ]
    lines += [
        "};",
        "",
        "/* Return the logarithm of the odds that a window with these features is part of an oscillation. */",
        "static inline double hd_oscillation_score(const double *features)",
        "{",
        "    double sum = 0;",
        "    for (int k = 0; k < HD_TREES; ++k) {",
        "        const struct hd_tree *tree = &HD_FOREST[k];",
        "        int node = 0;",
        "        while (node >= 0)",
        "            node = features[tree->feature[node]] <= tree->threshold[node] ? tree->left[node] : tree->right[node];",
        "        sum += tree->leaf[-1 - node];",
        "    }",
        "    return sum;",
        "}",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, choose, report and write."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("training", type=Path, nargs="+")
    parser.add_argument("--validation", type=Path, nargs="+", required=True)
    parser.add_argument("--trees", type=int, default=150)
    parser.add_argument("--leaves", type=int, default=24)
    parser.add_argument("--rate", type=float, default=0.12)
    parser.add_argument("--share", type=float, default=0.006, help="of rightful runs in validation that may be taken")
    parser.add_argument(
        "--threshold",
        type=float,
        default=None,
        help="chosen with the whole filter on validation contacts, instead of by --share",
    )
    parser.add_argument("--out", type=Path, default=HEADER)
    asked = parser.parse_args(arguments)
    training = load(asked.training, Part.TRAINING)
    model = train(training, asked.trees, asked.leaves, asked.rate)
    validation = load(asked.validation, Part.VALIDATION)
    course = smoothed(validation, model.predict(validation.features, raw_score=True))
    threshold = threshold_for(validation, course, asked.share)
    contacts = int(training.runs["contact"].sum())
    record = [
        f"Trained on {contacts} contacts that oscillate and {len(training.runs) - contacts} runs of rightful use, {len(training.at)} windows;",
        f"seeds {training.runs['seed'].min()} to {training.runs['seed'].max()} of the training set; {asked.trees} trees of {asked.leaves} leaves, rate {asked.rate}.",
        f"Threshold: {asked.share:.1%} of the runs of rightful use of the validation set are above it. There, open loop:",
        *report(validation, course, threshold),
    ]
    if asked.threshold is not None:
        record.append(
            f"Used is {asked.threshold}, chosen with the whole filter on validation contacts; above are the figures of {threshold:.3f}."
        )
        threshold = asked.threshold
    print("\n".join(record))
    asked.out.write_text(header(model, threshold, record), encoding="utf-8")


if __name__ == "__main__":
    main()
