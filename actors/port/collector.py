"""Prometheus collector of the ports; `collect` reads the port table and the links' facts at scrape time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from prometheus_client import Metric
from prometheus_client.registry import Collector

from actors.kit.metric_catalog import counter, gauge
from actors.port.messages import PortState, PortTable

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.open_links import OpenLinks

# Metric -> field of LinkCounters.
COUNTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "hapticd_port_frames_received": "frames_in",
        "hapticd_port_frames_bad": "frames_bad",
        "hapticd_port_frames_sent": "frames_out",
        "hapticd_port_bytes_received": "bytes_in",
        "hapticd_port_bytes_sent": "bytes_out",
        "hapticd_port_orders_late": "late",
        "hapticd_port_errors": "errors",
    }
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
        blocked = gauge("hapticd_port_blocked")
        unusable = gauge("hapticd_port_unusable")
        loops = gauge("hapticd_port_loops")
        for status in self._table.value.ports:
            blocked.add_metric([status.port], status.state is PortState.BLOCKED)
            unusable.add_metric([status.port], status.state is PortState.UNUSABLE)
            loops.add_metric([status.port], status.loops)
        yield from (blocked, unusable, loops)
        links = self._links.all()
        is_open = gauge("hapticd_port_open")
        for one in links:
            is_open.add_metric([one.candidate.port], 1)
        yield is_open
        for name, field in COUNTED.items():
            counted = counter(name)
            for one in links:
                counted.add_metric([one.candidate.port], getattr(one.facts.counters, field))
            yield counted
