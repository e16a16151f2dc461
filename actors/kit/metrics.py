"""Prometheus metrics that actors and transport count; the loop and the ports have their own collectors. All are rows of METRIC_ROWS."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Metric, ProcessCollector, disable_created_metrics
from prometheus_client.registry import Collector

from actors.kit.metric_catalog import METRIC_ROWS, counter


def kind_of(name: str) -> str:
    """Return the metric label of an actor: its name before the first `/`, such as `device` for `device/049D`."""
    return name.partition("/")[0]


class OldProcessNames(Collector):
    """The metrics of the process under their old names, with the catalogue's help."""

    def __init__(self) -> None:
        self._process = ProcessCollector(namespace="hapticd", registry=None)

    def collect(self) -> Iterator[Metric]:
        """Yield each metric of the process."""
        for family in self._process.collect():
            family.documentation = METRIC_ROWS[family.name].help
            yield family


class SingleThreadCounter(Collector):
    """A counter for one thread's hot path: no lock, read when Prometheus scrapes."""

    def __init__(self, name: str) -> None:
        """`name` is one of METRIC_ROWS; `elsewhere` returns what is counted outside, without a lock."""
        self._name = name
        self.count = 0
        self.elsewhere: Callable[[], int] = _nothing

    def inc(self, amount: int = 1) -> None:
        """Add to the count; always on the same thread."""
        self.count += amount

    def collect(self) -> Iterator[Metric]:
        """Yield the count."""
        yield counter(self._name, self.count + self.elsewhere())


def _nothing() -> int:
    return 0


class Metrics:
    """The service's metrics in a registry of their own, so that two systems can run in one process."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """`registry` None: a new one."""
        self.registry = CollectorRegistry() if registry is None else registry

        # A `_created` series beside each counter is in no catalogue, and nothing reads it.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        ProcessCollector(registry=self.registry)
        self.registry.register(OldProcessNames())
        self.build_info = self._gauge("build_info")

        self.ready = self._gauge("ready")
        self.state_write_failed = self._gauge("state_write_failed")

        self.actor_restarts = self._counter("actor_restarts")
        self.actors_given_up = self._counter("actors_given_up")
        self.messages_dropped = self._counter("messages_dropped")
        self.messages_unknown = self._counter("messages_unknown")
        self.tells_to_nobody = self._counter("tells_to_nobody")
        self.busy_answers = self._counter("busy_answers")

        self.device_silences = self._counter("device_silences")

        self.events = self._counter("events")
        self.events_held_back = self._counter("events_held_back")
        self.events_dropped = self._counter("events_dropped")
        self.event_subscribers = self._gauge("event_subscribers")
        self.event_subscribers_lost = self._counter("event_subscribers_lost")

        self.sessions_open = self._gauge("sessions_open")
        self.frames_sent = self._fast_counter("frames_sent")
        self.commands_received = self._fast_counter("commands_received")
        self.input_faults = self._counter("input_faults")
        self.failsafe_restarts = self._fast_counter("failsafe_restarts")
        self.log_lines_dropped = self._fast_counter("log_lines_dropped")

    def _fast_counter(self, name: str) -> SingleThreadCounter:
        fast = SingleThreadCounter(f"hapticd_{name}")
        self.registry.register(fast)
        return fast

    def _counter(self, name: str) -> Counter:
        row = METRIC_ROWS[f"hapticd_{name}"]
        return Counter(row.name, row.help, row.labels, registry=self.registry)

    def _gauge(self, name: str) -> Gauge:
        row = METRIC_ROWS[f"hapticd_{name}"]
        return Gauge(row.name, row.help, row.labels, registry=self.registry)
