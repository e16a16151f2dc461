"""Prometheus metrics that actors and transport count; the loop's counters have their own collector."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector


def kind_of(name: str) -> str:
    """Return the metric label of an actor: its name before the first `/`, such as `device` for `device/049D`."""
    return name.partition("/")[0]


class SingleThreadCounter(Collector):
    """A counter for one thread's hot path: no lock, read when Prometheus scrapes."""

    def __init__(self, name: str, help_text: str) -> None:
        self._name = name
        self._help_text = help_text
        self.count = 0

    def inc(self, amount: int = 1) -> None:
        """Add to the count; always on the same thread."""
        self.count += amount

    def collect(self) -> Iterator[Metric]:
        """Yield the count."""
        yield CounterMetricFamily(self._name, self._help_text, value=self.count)


class Metrics:
    """The service's metrics in a registry of their own, so that two systems can run in one process."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """`registry` None: a new one."""
        self.registry = CollectorRegistry() if registry is None else registry

        self.actor_restarts = self._counter("actor_restarts", "Actors started again after a crash.", "actor")
        self.actors_given_up = self._counter(
            "actors_given_up", "Actors that crashed too often to be started again.", "actor"
        )
        self.messages_dropped = self._counter(
            "messages_dropped", "Messages lost in a mailbox, full or of an ended actor.", "actor", "reason"
        )
        self.messages_unknown = self._counter(
            "messages_unknown", "Messages that the actor has no handler for.", "actor"
        )
        self.tells_to_nobody = self._counter("tells_to_nobody", "Messages to a name without a living actor.", "actor")
        self.busy_answers = self._counter("busy_answers", "Asks that were answered with Busy.", "actor")

        self.events = self._counter("events", "Events sent, by kind.", "kind")
        self.events_held_back = self._counter(
            "events_held_back", "Events that throttling merged or dropped, by kind.", "kind"
        )
        self.events_dropped = self._counter("events_dropped", "Events that a subscriber lost because it did not read.")
        self.event_subscribers = self._gauge("event_subscribers", "Subscribers of the event hub.")
        self.event_subscribers_lost = self._counter(
            "event_subscribers_lost", "Subscribers dropped because they failed."
        )

        self.sessions_open = self._gauge("sessions_open", "Sessions with an open connection.")
        self.frames_sent = self._fast_counter("frames_sent", "Frames sent to all sessions.")
        self.commands_received = self._fast_counter("commands_received", "Messages received from all sessions.")
        self.input_faults = self._counter("input_faults", "Faulty parts in messages from sessions.")

    def _fast_counter(self, name: str, help_text: str) -> SingleThreadCounter:
        counter = SingleThreadCounter(f"hapticd_{name}", help_text)
        self.registry.register(counter)
        return counter

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"hapticd_{name}", help_text, labels, registry=self.registry)

    def _gauge(self, name: str, help_text: str) -> Gauge:
        return Gauge(f"hapticd_{name}", help_text, registry=self.registry)
