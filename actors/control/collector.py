"""What the loop counts, read off its cell when Prometheus scrapes; nothing here runs in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from fastpath.arena import Runtime

STEPS: Final = ("read", "arbiter", "clamp", "torque", "output", "publish")
FIRST_BOUND_S: Final = 0.25e-6
LATENESS_BUCKETS: Final = 16


class LoopCollector(Collector):
    """Metrics of the loop and of its devices."""

    def __init__(self, runtime: Runtime, inventory: Published[Inventory]) -> None:
        self._runtime = runtime
        self._inventory = inventory

    def describe(self) -> list[Metric]:
        """Nothing: the registry need not collect to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """One reading of the loop's cell."""
        state = self._runtime.loop_state()
        yield _gauge("frequency_hz", "Ticks per second over the last second.", state["frequency"])
        yield _gauge("target_frequency_hz", "Ticks per second that the loop is asked for.", state["target_frequency"])
        yield _counter("ticks", "Ticks that ran.", state["ticks"])
        yield _counter("ticks_missed", "Ticks that came a whole period late and were skipped.", state["missed"])
        yield _counter(
            "gaps", "Interruptions of more than 8 periods, after which output ramps up again.", state["gaps"]
        )
        yield _counter("dead_man_trips", "Times that the timekeeper was silent for 500 ms.", state["dead_man_trips"])
        yield _gauge("realtime", "1 when the loop runs under SCHED_FIFO.", state["fifo"])
        yield _gauge("pinned", "1 when the loop has a processor of its own.", state["pinned"])
        yield _gauge("memory_locked", "1 when the memory that the loop touches is locked.", state["locked"])
        yield _gauge("spin_margin_seconds", "How long the loop spins before each deadline.", state["margin"])
        yield _gauge("lateness_max_seconds", "Latest wake-up since the start.", state["lateness_max"])
        yield self._lateness(state)
        samples = max(int(state["step_samples"]), 1)
        yield _gauge("tick_seconds", "Mean cost of a tick, one in 64 sampled.", float(state["tick_seconds"]) / samples)
        steps = GaugeMetricFamily("hapticd_loop_step_seconds", "Mean cost of a step of all devices.", labels=["step"])
        for name, seconds in zip(STEPS, state["step_seconds"], strict=True):
            steps.add_metric([name], float(seconds) / samples)
        yield steps
        yield from self._devices()

    def _lateness(self, state: object) -> Metric:
        counts = [int(count) for count in state["lateness"]]  # type: ignore[index]
        buckets: list[tuple[str, float]] = []
        total = 0
        for index, count in enumerate(counts[:LATENESS_BUCKETS]):
            total += count
            buckets.append((f"{FIRST_BOUND_S * 2**index:.9g}", total))
        buckets.append(("+Inf", sum(counts)))
        return HistogramMetricFamily(
            "hapticd_loop_lateness_seconds",
            "How late ticks began.",
            buckets=buckets,
            sum_value=float(state["lateness_sum"]),  # type: ignore[index]
        )

    def _devices(self) -> Iterator[Metric]:
        phases = GaugeMetricFamily("hapticd_devices", "Devices, by type and phase.", labels=["type", "phase"])
        clamped = CounterMetricFamily(
            "hapticd_force_clamped_ticks", "Ticks whose force was over the peak.", labels=["device_id"]
        )
        faded = CounterMetricFamily(
            "hapticd_commands_timed_out", "Commands that went stale and faded.", labels=["device_id"]
        )
        saturated = CounterMetricFamily(
            "hapticd_torque_saturated_ticks", "Ticks at a motor's limit.", labels=["device_id"]
        )
        inventory = self._inventory.value
        counts: dict[tuple[str, str], int] = {}
        for record in (*inventory.devices, *inventory.failed):
            counts[record.kind, record.phase] = counts.get((record.kind, record.phase), 0) + 1
        for labels, count in sorted(counts.items()):
            phases.add_metric(list(labels), count)
        for record in inventory.devices:
            if record.kind.moves:
                state = self._runtime.reader(record.lease).snapshot()
                clamped.add_metric([record.device_id], float(state["clamped"]))
                faded.add_metric([record.device_id], float(state["faded"]))
                saturated.add_metric([record.device_id], float(state["saturated"]))
        yield from (phases, clamped, faded, saturated)


def _gauge(name: str, says: str, value: object) -> Metric:
    return GaugeMetricFamily(f"hapticd_loop_{name}", says, value=float(value))  # type: ignore[arg-type]


def _counter(name: str, says: str, value: object) -> Metric:
    return CounterMetricFamily(f"hapticd_loop_{name}", says, value=float(value))  # type: ignore[arg-type]
