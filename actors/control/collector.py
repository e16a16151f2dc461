"""Prometheus collector of the loop's counters; `collect` reads the loop's cells at scrape time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from actors.control.counters import read_counters
from actors.control.gap_counters import read_gaps
from actors.kit.metric_catalog import METRIC_ROWS, MetricType, counter, gauge, histogram
from fastpath.layout.constants import FIRST_GAP_NS, FIRST_LATENESS_NS, StatusFlag, TickStep

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
# Metric -> field of DEVICE_STATE.
OF_DEVICES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "hapticd_force_clamped_ticks": "clamped",
        "hapticd_commands_timed_out": "faded",
        "hapticd_torque_saturated_ticks": "saturated",
        "hapticd_oscillations": "oscillations",
        "hapticd_stability_ceilings": "ceilings",
        "hapticd_ebrakes": "ebrakes",
        "hapticd_stalls": "stalls",
        "hapticd_thermal_deratings": "deratings",
        "hapticd_grip_drops": "grip_drops",
        "hapticd_foreign_object_stages": "guards",
        "hapticd_oscillation_severity_ratio": "severity",
        "hapticd_oscillation_severity": "severity",
        "hapticd_motor_temperature_celsius": "temperature",
        "hapticd_motor_derating_ratio": "derating",
        "hapticd_motor_derating": "derating",
        "hapticd_external_force_newtons": "external",
    }
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
        for name in ("hertz", "hz"):
            yield gauge(f"hapticd_loop_frequency_{name}", float(loop.frequency))
            yield gauge(f"hapticd_loop_target_frequency_{name}", float(loop.target_frequency))
        yield counter("hapticd_loop_ticks", float(loop.ticks))
        yield counter("hapticd_loop_ticks_missed", float(loop.missed))
        yield counter("hapticd_loop_gaps", float(loop.gaps))
        yield counter("hapticd_loop_dead_man_trips", float(loop.dead_man_trips))
        yield gauge("hapticd_loop_realtime", float(loop.fifo))
        yield gauge("hapticd_loop_pinned", float(loop.pinned))
        yield gauge("hapticd_loop_memory_locked", float(loop.locked))
        yield gauge("hapticd_loop_spin_margin_seconds", float(loop.margin))
        yield gauge("hapticd_loop_lateness_max_seconds", float(loop.lateness_max))
        yield _lateness(loop)
        samples = max(loop.step_samples, 1)
        yield gauge("hapticd_loop_tick_seconds", loop.tick_seconds / samples)
        steps = gauge("hapticd_loop_step_seconds")
        for name, seconds in zip(STEPS, loop.step_seconds, strict=True):
            steps.add_metric([name], seconds / samples)
        yield steps
        yield from self._devices()

    def _devices(self) -> Iterator[Metric]:
        phases, stopped, battery = (
            gauge(f"hapticd_{name}") for name in ("devices", "device_stopped", "device_battery_ratio")
        )
        shown = [(_empty(name), field) for name, field in OF_DEVICES.items()]
        gaps = _GapFamilies()
        inventory = self._inventory.value
        counts: dict[tuple[str, str], int] = {}
        for record in (*inventory.devices, *inventory.failed):
            counts[record.kind, record.phase] = counts.get((record.kind, record.phase), 0) + 1
        for labels, count in sorted(counts.items()):
            phases.add_metric(list(labels), count)
        for record in inventory.devices:
            state = self._runtime.reader(record.lease).snapshot()
            if record.kind.has_motors:
                stopped.add_metric([record.device_id], record.stopped)
                for family, field in shown:
                    family.add_metric([record.device_id], float(state[field]))
                gaps.add(record.device_id, read_gaps(self._runtime, record.lease))
            elif record.shows_battery and int(state["flags"]) & StatusFlag.FLAG_MEASURED:
                battery.add_metric([record.device_id], float(state["battery_level"]))
        yield from (phases, stopped, battery)
        yield from (family for family, _field in shown)
        yield from gaps.families


class _GapFamilies:
    """Metrics of each device's gaps."""

    def __init__(self) -> None:
        self._force = counter("hapticd_force_seconds")
        self._interrupted = counter("hapticd_force_interrupted_seconds")
        self._gaps = histogram("hapticd_force_gap_seconds")
        self._taken = counter("hapticd_force_taken_newtonseconds")
        self._added = counter("hapticd_force_added_newtonseconds")
        self.families = (self._force, self._interrupted, self._gaps, self._taken, self._added)

    def add(self, device_id: str, gaps: GapCounters) -> None:
        """Add a device."""
        self._force.add_metric([device_id], gaps.force_s)
        self._interrupted.add_metric([device_id], gaps.interrupted_s)
        for name, change in gaps.changes.items():
            self._taken.add_metric([device_id, name], change.taken)
            self._added.add_metric([device_id, name], change.added)
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
    lateness = histogram("hapticd_loop_lateness_seconds")
    lateness.add_metric([], buckets, sum_value=loop.lateness_sum)
    return lateness


def _empty(name: str) -> CounterMetricFamily | GaugeMetricFamily:
    return counter(name) if METRIC_ROWS[name].type is MetricType.COUNTER else gauge(name)
