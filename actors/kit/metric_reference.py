"""Generator of docs/metrics.md from the catalogue; `python -m actors.kit.metric_reference` prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from actors.kit.metric_catalog import LABELS, METRIC_ROWS, SUBJECTS, MetricRow, MetricType

HEAD: Final = """\
# Metrics

This page is generated from the catalogue in `actors/kit/metric_catalog.py`; `make docs` writes it again.

`GET /metrics` answers in Prometheus' text format, with these {count} metrics and no others. Counters begin at 0 when the service
starts; those of a device begin at 0 when it connects, those of a port when its link is opened. A metric with labels has one
sample for each value that was seen: without a device there is no sample of a device.

[../ops/README.md](../ops/README.md) says how to scrape, [../ops/runbook.md](../ops/runbook.md) what to do when an alert fires, and
`ops/grafana/hapticd.json` is a dashboard of them.
"""


def page() -> str:
    """Return the page; ends with a newline."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD.format(count=len(METRIC_ROWS)).rstrip()
    for subject, rows in SUBJECTS.items():
        yield f"\n## {subject}\n"
        yield "| Metric | Type | Labels | Unit | Meaning |"
        yield "|---|---|---|---|---|"
        for row in rows:
            labels = ", ".join(f"`{label}`" for label in row.labels)
            yield f"| `{row.shown}` | {row.type} | {labels} | {row.unit} | {row.help}{_parts(row)} |"
    yield "\n## Labels\n"
    yield "| Label | Value |"
    yield "|---|---|"
    for label, meaning in LABELS.items():
        yield f"| `{label}` | {meaning} |"


def _parts(row: MetricRow) -> str:
    if row.type is not MetricType.HISTOGRAM:
        return ""
    return " Samples: " + ", ".join(f"`{name}`" for name in row.samples) + "."


if __name__ == "__main__":
    sys.stdout.write(page())
