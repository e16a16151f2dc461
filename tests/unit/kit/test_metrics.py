"""Metrics of a system: names, registration, separate counts of two systems."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from actors.kit.metric_catalog import OLD_NAMES, SUBJECTS
from actors.kit.metrics import Metrics, SingleThreadCounter, kind_of


def test_names_carry_the_prefix_and_total_stands_on_counters_only() -> None:
    metrics = Metrics()
    for family in metrics.registry.collect():
        assert family.name.startswith(("hapticd_", "process_"))
        names = {sample.name for sample in family.samples if not sample.name.endswith("_created")}
        assert all(name.endswith("_total") == (family.type == "counter") for name in names)
        assert family.documentation.endswith(".")


def test_every_metric_is_an_attribute_and_on_the_page() -> None:
    metrics = Metrics()
    attributes = [value for value in vars(metrics).values() if isinstance(value, Counter | Gauge | SingleThreadCounter)]
    page = generate_latest(metrics.registry).decode()
    of_the_process = {row.name for row in SUBJECTS["Process"]}
    counted = {family.name for family in metrics.registry.collect()} - of_the_process - OLD_NAMES.keys()
    assert len(attributes) == len(counted) == 21
    assert page.count("# TYPE hapticd_") >= 21


def test_two_systems_count_separately() -> None:
    one, two = Metrics(), Metrics(CollectorRegistry())
    one.frames_sent.inc()
    assert one.registry.get_sample_value("hapticd_frames_sent_total") == 1
    assert two.registry.get_sample_value("hapticd_frames_sent_total") == 0


@pytest.mark.parametrize(
    ("name", "kind"), [("device/049D", "device"), ("session/7", "session"), ("event-hub", "event-hub"), ("", "")]
)
def test_labelled_metric_counts_by_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind
