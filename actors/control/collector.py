"""Prometheus collector of the loop's counters; `collect` reads the loop's cells at scrape time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from actors.control.counters import read_counters
from actors.control.gap_counters import read_gaps
from fastpath.layout.constants import FIRST_GAP_NS, FIRST_LATENESS_NS, TickStep

if TYPE_CHECKING:
    from actors.control.messages import GapCounters, LoopCounters
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from fastpath.arena.runtime import Runtime

STEPS: Final = tuple(name.removeprefix("STEP_").lower() for name in TickStep.__members__)
FIRST_BOUND_S: Final = FIRST_LATENESS_NS * 1e-9
FIRST_GAP_S: Final = FIRST_GAP_NS * 1e-9
# of the loop's buckets; what was later is in the last one
SHOWN_BUCKETS: Final = 16
# Metric type, metric name, field of DEVICE_STATE, help text.
OF_DEVICES: Final[tuple[tuple[type[CounterMetricFamily | GaugeMetricFamily], str, str, str], ...]] = (
    (CounterMetricFamily, "hapticd_force_clamped_ticks", "clamped", "Ticks whose force was over the peak."),
    (CounterMetricFamily, "hapticd_commands_timed_out", "faded", "Commands that went stale and faded."),
    (CounterMetricFamily, "hapticd_torque_saturated_ticks", "saturated", "Ticks at a motor's limit."),
    (CounterMetricFamily, "hapticd_oscillations", "oscillations", "Times that an axis was found to oscillate."),
    (CounterMetricFamily, "hapticd_stability_ceilings", "ceilings", "Times that relapses lowered the gain's ceiling."),
    (CounterMetricFamily, "hapticd_ebrakes", "ebrakes", "Times that the e-brake was triggered."),
    (CounterMetricFamily, "hapticd_stalls", "stalls", "Times that a device pushed hard without motion for 2 s."),
    (CounterMetricFamily, "hapticd_thermal_deratings", "deratings", "Times that hot motors began to be limited."),
    (CounterMetricFamily, "hapticd_grip_drops", "grip_drops", "Times that a paired grip was let go for too long."),
    (CounterMetricFamily, "hapticd_foreign_object_stages", "guards", "Changes of the stage of a foreign object."),
    (
        GaugeMetricFamily,
        "hapticd_oscillation_severity",
        "severity",
        "Share of the force that the filter takes, 0 to 1.",
    ),
    (GaugeMetricFamily, "hapticd_motor_temperature_celsius", "temperature", "Hottest winding, by the motors' model."),
    (GaugeMetricFamily, "hapticd_motor_derating", "derating", "Share of the torque limit that heat leaves, 1: all."),
    (GaugeMetricFamily, "hapticd_external_force_newtons", "external", "Push that neither motors nor weight explain."),
)


class LoopCollector(Collector):
    """Metrics of the loop and of its devices."""

    def __init__(self, runtime: Runtime, inventory: Published[Inventory]) -> None:
        self._runtime = runtime
        self._inventory = inventory

    def describe(self) -> list[Metric]:
        """Return nothing, so that the registry does not collect to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of one snapshot of the loop's cell."""
        loop = read_counters(self._runtime)
        yield _gauge("frequency_hz", "Ticks per second over the last second.", loop.frequency)
        yield _gauge("target_frequency_hz", "Ticks per second that the loop is asked for.", loop.target_frequency)
        yield _counter("ticks", "Ticks that ran.", loop.ticks)
        yield _counter("ticks_missed", "Ticks that came a whole period late and were skipped.", loop.missed)
        yield _counter("gaps", "Interruptions of more than 20 ms, after which output grows again from zero.", loop.gaps)
        yield _counter("dead_man_trips", "Times that the timekeeper was silent for 500 ms.", loop.dead_man_trips)
        yield _gauge("realtime", "1 when the loop runs under SCHED_FIFO.", loop.fifo)
        yield _gauge("pinned", "1 when the loop has a processor of its own.", loop.pinned)
        yield _gauge("memory_locked", "1 when the memory that the loop touches is locked.", loop.locked)
        yield _gauge("spin_margin_seconds", "How long the loop spins before each deadline.", loop.margin)
        yield _gauge("lateness_max_seconds", "Latest wake-up since the start.", loop.lateness_max)
        yield _lateness(loop)
        samples = max(loop.step_samples, 1)
        yield _gauge("tick_seconds", "Mean cost of a tick, one in 64 sampled.", loop.tick_seconds / samples)
        steps = GaugeMetricFamily("hapticd_loop_step_seconds", "Mean cost of a step of all devices.", labels=["step"])
        for name, seconds in zip(STEPS, loop.step_seconds, strict=True):
            steps.add_metric([name], seconds / samples)
        yield steps
        yield from self._devices()

    def _devices(self) -> Iterator[Metric]:
        phases = GaugeMetricFamily("hapticd_devices", "Devices, by type and phase.", labels=["type", "phase"])
        shown = [(make(name, help_text, labels=["device_id"]), field) for make, name, field, help_text in OF_DEVICES]
        gaps = _GapFamilies()
        inventory = self._inventory.value
        counts: dict[tuple[str, str], int] = {}
        for record in (*inventory.devices, *inventory.failed):
            counts[record.kind, record.phase] = counts.get((record.kind, record.phase), 0) + 1
        for labels, count in sorted(counts.items()):
            phases.add_metric(list(labels), count)
        for record in inventory.devices:
            if record.kind.has_motors:
                state = self._runtime.reader(record.lease).snapshot()
                for family, field in shown:
                    family.add_metric([record.device_id], float(state[field]))
                gaps.add(record.device_id, read_gaps(self._runtime, record.lease))
        yield phases
        yield from (family for family, _field in shown)
        yield from gaps.families


class _GapFamilies:
    """Metrics of each device's gaps."""

    def __init__(self) -> None:
        self._force = CounterMetricFamily(
            "hapticd_force_seconds", "Time in which a device's output was not zero.", labels=["device_id"]
        )
        self._interrupted = CounterMetricFamily(
            "hapticd_force_interrupted_seconds",
            "Time with force in which a gap of the loop left the motors without it.",
            labels=["device_id"],
        )
        self._gaps = HistogramMetricFamily(
            "hapticd_force_gap_seconds", "Gaps between two ticks of a device, above 2 ms.", labels=["device_id"]
        )
        self.families = (self._force, self._interrupted, self._gaps)

    def add(self, device_id: str, gaps: GapCounters) -> None:
        """Add a device."""
        self._force.add_metric([device_id], gaps.force_s)
        self._interrupted.add_metric([device_id], gaps.interrupted_s)
        bounds = [f"{FIRST_GAP_S * 2**index:.9g}" for index in range(len(gaps.buckets) - 1)]
        totals = [float(total) for total in accumulate(gaps.buckets)]
        self._gaps.add_metric([device_id], list(zip([*bounds, "+Inf"], totals, strict=True)), sum_value=gaps.gap_s)


def _lateness(loop: LoopCounters) -> Metric:
    buckets: list[tuple[str, float]] = []
    total = 0
    for index, count in enumerate(loop.lateness[:SHOWN_BUCKETS]):
        total += count
        buckets.append((f"{FIRST_BOUND_S * 2**index:.9g}", total))
    buckets.append(("+Inf", sum(loop.lateness)))
    return HistogramMetricFamily(
        "hapticd_loop_lateness_seconds", "How late ticks began.", buckets=buckets, sum_value=loop.lateness_sum
    )


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"hapticd_loop_{name}", help_text, value=float(value))


def _counter(name: str, help_text: str, value: float) -> Metric:
    return CounterMetricFamily(f"hapticd_loop_{name}", help_text, value=float(value))
