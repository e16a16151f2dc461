"""Prometheus collector of the ports; `collect` reads the port table and the links' facts at scrape time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from actors.port.messages import PortState, PortTable

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.open_links import OpenLinks

# Metric, field of LinkCounters, help text.
COUNTED: Final = (
    ("hapticd_port_frames_received", "frames_in", "Whole packets that arrived since the link was opened."),
    ("hapticd_port_frames_bad", "frames_bad", "Packets that were not whole, and bytes that were none."),
    ("hapticd_port_frames_sent", "frames_out", "Packets that were sent since the link was opened."),
    ("hapticd_port_bytes_received", "bytes_in", "Bytes that arrived since the link was opened."),
    ("hapticd_port_bytes_sent", "bytes_out", "Bytes that were sent since the link was opened."),
    ("hapticd_port_orders_late", "late", "Orders of the loop that were too old, so that zero force was sent."),
    ("hapticd_port_errors", "errors", "Reads and writes that failed since the link was opened."),
)


class PortCollector(Collector):
    """`hapticd_port_*{port}`: state and loops of every known port, counters of every open link."""

    def __init__(self, table: Published[PortTable], links: OpenLinks) -> None:
        self._table = table
        self._links = links

    def describe(self) -> list[Metric]:
        """Return nothing, so that the registry does not collect to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, one sample per port."""
        blocked = GaugeMetricFamily("hapticd_port_blocked", "1 while the port is kept closed.", labels=["port"])
        unusable = GaugeMetricFamily("hapticd_port_unusable", "1 while the port cannot be used.", labels=["port"])
        loops = GaugeMetricFamily("hapticd_port_loops", "Drops and reconnections that count now.", labels=["port"])
        for status in self._table.value.ports:
            blocked.add_metric([status.port], status.state is PortState.BLOCKED)
            unusable.add_metric([status.port], status.state is PortState.UNUSABLE)
            loops.add_metric([status.port], status.loops)
        yield from (blocked, unusable, loops)
        links = self._links.all()
        is_open = GaugeMetricFamily("hapticd_port_open", "1 while a link to real devices is open.", labels=["port"])
        for one in links:
            is_open.add_metric([one.candidate.port], 1)
        yield is_open
        for name, field, help_text in COUNTED:
            counter = CounterMetricFamily(name, help_text, labels=["port"])
            for one in links:
                counter.add_metric([one.candidate.port], getattr(one.facts.counters, field))
            yield counter
