"""Text of the metrics in one format: prometheus_client writes names, labels and help once, a scrape writes the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

if TYPE_CHECKING:
    from prometheus_client import Metric
    from prometheus_client.samples import Sample

Encode: TypeAlias = Callable[[Collector], bytes]


class MetricsPage:
    """Page of one format, used on one thread. Its text is that of `encode`, byte for byte."""

    def __init__(self, encode: Encode) -> None:
        """`encode`: the encoder of the format, prometheus_client's."""
        self._encode = encode
        self._end = encode(Listed(()))
        self._families: dict[tuple[str, ...], Family] = {}

    def text(self, registry: Collector) -> bytes:
        """Return the present values of all metrics of `registry`."""
        families: dict[tuple[str, ...], Family] = {}
        texts: list[str] = []
        for metric in registry.collect():
            key = (metric.name, metric.type, metric.unit, metric.documentation)
            family = self._families.get(key)
            text = None if family is None else family.text(metric.samples)
            if family is None or text is None:
                text = self._encode(Listed((metric,))).removesuffix(self._end).decode()
                family = Family(text, metric.samples)
            families[key] = family
            texts.append(text)
        self._families = families
        return "".join(texts).encode() + self._end


class Family:
    """Text of one metric without the values, taken from its whole text."""

    def __init__(self, text: str, samples: Sequence[Sample]) -> None:
        """`text`: what the encoder wrote of `samples`."""
        lines = text.split("\n")[:-1]
        first = len(lines) - len(samples)
        comments = [line.startswith("#") for line in lines]
        in_order = all(comments[:first]) and not any(comments[first:]) and all(map(_is_plain, samples))
        self._head = "".join(f"{line}\n" for line in lines[:first])
        # Text before the value, by name and labels; empty where one sample is not one line in its place.
        self._lines = {
            _key(sample): line.rpartition(" ")[0]
            for sample, line in zip(samples if in_order else (), lines[first:], strict=False)
        }

    def text(self, samples: Sequence[Sample]) -> str | None:
        """Return the text with the values of `samples`; None when one of them is new, or has more than a value."""
        parts = [self._head]
        for sample in samples:
            line = self._lines.get(_key(sample))
            if line is None or not _is_plain(sample):
                return None
            parts.append(f"{line} {floatToGoString(sample.value)}\n")  # type: ignore[no-untyped-call]
        return "".join(parts)


class Listed(Collector):
    """A collector of given metrics."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from self._metrics


def _key(sample: Sample) -> tuple[object, ...]:
    return sample.name, *sample.labels.items()


def _is_plain(sample: Sample) -> bool:
    """Whether the sample is a value alone: no time, exemplar or native histogram."""
    return sample.timestamp is None and sample.exemplar is None and sample.native_histogram is None
