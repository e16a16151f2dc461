"""The catalogue of metrics keeps Prometheus' conventions, and docs/metrics.md is current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import Metric

from actors.kit.metric_catalog import (
    LABELS,
    METRIC_ROWS,
    OLD_NAMES,
    SUBJECTS,
    MetricRow,
    MetricType,
    counter,
    gauge,
    histogram,
)
from actors.kit.metric_reference import page

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
ROWS = [row for rows in SUBJECTS.values() for row in rows]


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/metrics.md is old: make docs writes it again"


def test_the_module_prints_the_page() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "actors.kit.metric_reference"], check=True, capture_output=True, cwd=PAGE.parents[1]
    )

    assert printed.stdout.decode() == page()


def test_no_name_has_two_rows() -> None:
    assert len(METRIC_ROWS) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_has_prefix_sentence_unit_and_known_labels(row: MetricRow) -> None:
    assert re.fullmatch(r"(hapticd|process)_[a-z][a-z_]*[a-z]", row.name)
    assert not row.name.endswith("_total")
    assert row.help.endswith(".")
    assert row.unit
    assert set(row.labels) <= set(LABELS)
    for word, unit in (("_seconds", "s"), ("_bytes", "bytes"), ("_hertz", "Hz"), ("_ratio", "0 to 1")):
        assert not row.name.endswith(word) or row.unit.startswith(unit)
        # And what has the unit has its word; old names are there for that.
        assert row.unit != unit or word in row.name or row.name in OLD_NAMES


def test_every_label_is_used() -> None:
    used = {label for row in ROWS for labels in row.samples.values() for label in labels}

    assert used == set(LABELS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_family_has_the_type_and_help_of_its_row(row: MetricRow) -> None:
    match row.type:
        case MetricType.COUNTER:
            family: Metric = counter(row.name)
        case MetricType.GAUGE:
            family = gauge(row.name)
        case MetricType.HISTOGRAM:
            family = histogram(row.name)

    assert (family.name, family.type, family.documentation) == (row.name, row.type, row.help)


def test_family_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        gauge("hapticd_nothing")
