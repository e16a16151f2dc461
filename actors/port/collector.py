"""The metric of the ports, read off their table when Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from actors.port.messages import PortState, PortTable

if TYPE_CHECKING:
    from actors.kit.published import Published


class PortCollector(Collector):
    """`hapticd_port_blocked{port}`: 0 or 1 for every port that was seen."""

    def __init__(self, table: Published[PortTable]) -> None:
        self._table = table

    def describe(self) -> list[Metric]:
        """Nothing: the registry need not collect to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """One row for each port."""
        blocked = GaugeMetricFamily("hapticd_port_blocked", "1 while the port is kept closed.", labels=["port"])
        for status in self._table.value.ports:
            blocked.add_metric([status.port], status.state is PortState.BLOCKED)
        yield blocked
