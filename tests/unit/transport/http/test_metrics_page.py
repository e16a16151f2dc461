"""A page of metrics is byte for byte what prometheus_client writes, whatever comes, goes or changes between two scrapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.core import CounterMetricFamily, Exemplar, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.samples import Sample

from transport.http.metrics_page import Listed, MetricsPage
from transport.http.resources.metrics import FORMATS

values = st.one_of(st.floats(), st.integers(-(2**60), 2**60), st.booleans(), st.sampled_from([0.0, -0.0, 1e6, 1e21]))
labels = st.text(max_size=3)


def counter(found: dict[tuple[str, str], float]) -> Metric:
    family = CounterMetricFamily("hapticd_things", "Things \\ with\nlines.", labels=["b", "a"])
    for names, value in found.items():
        family.add_metric(names, value)
    return family


def gauge(value: float) -> Metric:
    return GaugeMetricFamily("hapticd_level_celsius", "Level.", value=value, unit="celsius")


def histogram(found: dict[str, list[float]]) -> Metric:
    family = HistogramMetricFamily("hapticd_wait_seconds", "Wait.", labels=["of"])
    for name, counts in found.items():
        family.add_metric([name], list(zip(["0.1", "1.0", "+Inf"], counts, strict=True)), sum_value=sum(counts))
    return family


def odd(kind: str, sample: Sample) -> Metric:
    """A metric of one sample, of which not every one is a line with a value at its end."""
    family = Metric("hapticd_odd", "Odd.", kind)
    family.samples = [sample]
    return family


def samples(name: str, time: float | None = None, exemplar: Exemplar | None = None) -> st.SearchStrategy[Sample]:
    def sample(value: float) -> Sample:
        return Sample(name, {"a": "b"}, value, time, exemplar)

    return values.map(sample)


odd_ones = st.one_of(
    st.builds(odd, st.just("gauge"), samples("hapticd_odd", 12.5)),
    st.builds(odd, st.just("counter"), samples("hapticd_odd_total", None, Exemplar({"trace": "x"}, 2.0, None))),
    st.builds(odd, st.just("counter"), samples("hapticd_odd_created")),
    st.builds(odd, st.just("gauge"), samples("hapticd_odd")),
)
scrapes = st.lists(
    st.tuples(
        st.dictionaries(st.tuples(labels, labels), values, max_size=4).map(counter),
        values.map(gauge),
        st.dictionaries(labels, st.lists(values, min_size=3, max_size=3), max_size=2).map(histogram),
        odd_ones,
    ).flatmap(lambda found: st.permutations(found).flatmap(lambda order: st.integers(0, 4).map(lambda n: order[:n]))),
    max_size=4,
)


@pytest.mark.parametrize("content_type", FORMATS)
@given(scrapes)
def test_page_is_that_of_the_library(content_type: str, scrapes: list[list[Metric]]) -> None:
    encode = FORMATS[content_type]
    page = MetricsPage(encode)
    for metrics in scrapes:
        assert page.text(Listed(metrics)) == encode(Listed(metrics))
        assert page.text(Listed(metrics)) == encode(Listed(metrics))


@pytest.mark.parametrize("content_type", FORMATS)
def test_page_of_a_registry_is_that_of_the_library(content_type: str) -> None:
    encode, registry = FORMATS[content_type], CollectorRegistry()
    seen = Counter("seen", "Seen.", ["what"], registry=registry)
    level = Gauge("level", "Level.", registry=registry)
    waits = Histogram("waits_seconds", "Waits.", registry=registry)
    page = MetricsPage(encode)
    for number in range(4):
        seen.labels(f"kind {number % 3}").inc(number)
        level.set(number / 3)
        waits.observe(number)
        assert page.text(registry) == encode(registry)


def test_lines_are_written_by_the_library_once() -> None:
    calls: list[int] = []
    encode = FORMATS["text/plain; version=0.0.4; charset=utf-8"]

    def counted(shown: Listed) -> bytes:
        calls.append(1)
        return encode(shown)

    page = MetricsPage(counted)  # type: ignore[arg-type]
    pages = [page.text(Listed([gauge(value), counter({("x", "y"): value})])) for value in (1.0, 2.0, 3.0)]

    assert len(set(pages)) == 3
    # The end of the page, and each metric.
    assert len(calls) == 3


def test_labels_that_went_are_forgotten_when_others_come() -> None:
    page = MetricsPage(FORMATS["text/plain; version=0.0.4; charset=utf-8"])
    for number in range(50):
        page.text(Listed([counter({(f"device {number}", ""): 1.0})]))

    (family,) = page._families.values()
    assert len(family._lines) == 1
