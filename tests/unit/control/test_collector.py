"""The loop's Prometheus metrics: names, types, a consistent histogram, device labels."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from actors.control.collector import FIRST_BOUND_S, SHOWN_BUCKETS, STEPS, LoopCollector
from actors.device.messages import Inventory, Phase
from actors.device.params import device_params
from actors.kit.metrics import Metrics
from actors.kit.published import Published
from actors.values.simulation import Fault, Simulation
from fastpath.arena.runtime import Lease, Runtime
from fastpath.layout.dtypes import DEVICE_GAPS, LOOP_STATE
from tests.support.actors.doubles import simulated_records

SAFETY_METRICS: Final = {
    "oscillations_total": "oscillations",
    "stability_ceilings_total": "ceilings",
    "ebrakes_total": "ebrakes",
    "stalls_total": "stalls",
    "thermal_deratings_total": "deratings",
    "grip_drops_total": "grip_drops",
    "foreign_object_stages_total": "guards",
    "oscillation_severity_ratio": "severity",
    "motor_temperature_celsius": "temperature",
    "motor_derating_ratio": "derating",
    "external_force_newtons": "external",
}


class Told:
    """A loop that counted what the test says."""

    def __init__(self, **counted: object) -> None:
        self.state = np.zeros((), dtype=LOOP_STATE)
        for name, value in counted.items():
            self.state[name] = value

    def loop_state(self) -> Any:
        return self.state


def page(runtime: object, inventory: Inventory | None = None) -> str:
    registry = CollectorRegistry()
    registry.register(LoopCollector(cast("Runtime", runtime), Published(inventory or Inventory())))
    return generate_latest(registry).decode()


def samples(runtime: object, inventory: Inventory | None = None) -> list[Sample]:
    return [sample for family in text_string_to_metric_families(page(runtime, inventory)) for sample in family.samples]


def value(found: list[Sample], name: str, **labels: str) -> float:
    (one,) = [sample.value for sample in found if sample.name == name and sample.labels == labels]
    return float(one)


def test_every_metric_has_its_prefix_a_help_and_a_type() -> None:
    families = list(text_string_to_metric_families(page(Told())))

    assert len(families) > 15
    for family in families:
        assert family.name.startswith("hapticd_")
        assert family.documentation
        assert family.type in {"gauge", "counter", "histogram"}
        for sample in family.samples:
            assert sample.name.endswith("_total") == (family.type == "counter")


def test_counters_and_gauges_are_what_the_loop_counted() -> None:
    found = samples(
        Told(
            ticks=1_000,
            missed=7,
            gaps=2,
            dead_man_trips=1,
            frequency=3999.5,
            target_frequency=4000,
            fifo=1,
            pinned=1,
            locked=1,
            margin=25e-6,
            lateness_max=0.002,
        )
    )

    assert value(found, "hapticd_loop_ticks_total") == 1_000
    assert value(found, "hapticd_loop_ticks_missed_total") == 7
    assert value(found, "hapticd_loop_gaps_total") == 2
    assert value(found, "hapticd_loop_dead_man_trips_total") == 1
    assert value(found, "hapticd_loop_frequency_hertz") == 3999.5
    assert value(found, "hapticd_loop_target_frequency_hertz") == 4000
    assert value(found, "hapticd_loop_realtime") == 1
    assert value(found, "hapticd_loop_pinned") == 1
    assert value(found, "hapticd_loop_memory_locked") == 1
    assert value(found, "hapticd_loop_spin_margin_seconds") == 25e-6
    assert value(found, "hapticd_loop_lateness_max_seconds") == 0.002


def test_costs_are_means_over_the_sampled_ticks() -> None:
    found = samples(Told(step_samples=4, tick_seconds=8e-6, step_seconds=[number * 4e-6 for number in range(1, 9)]))

    assert value(found, "hapticd_loop_tick_seconds") == 2e-6
    means = [value(found, "hapticd_loop_step_seconds", step=step) for step in STEPS]
    assert means == pytest.approx([number * 1e-6 for number in range(1, 9)])


def test_unsampled_loop_has_zero_costs() -> None:
    assert value(samples(Told()), "hapticd_loop_tick_seconds") == 0


# ---------------------------------------------------------------- lateness


@given(st.lists(st.integers(0, 10**9), min_size=24, max_size=24), st.floats(0, 1e6))
def test_histogram_buckets_are_cumulative_and_consistent(counts: list[int], total: float) -> None:
    found = samples(Told(lateness=counts, lateness_sum=total))

    buckets = [
        (float(sample.labels["le"]), float(sample.value))
        for sample in found
        if sample.name == "hapticd_loop_lateness_seconds_bucket"
    ]
    assert [bound for bound, _ in buckets] == sorted(bound for bound, _ in buckets)
    assert [count for _, count in buckets] == sorted(count for _, count in buckets)
    assert len(buckets) == SHOWN_BUCKETS + 1
    bound, count = buckets[-1]
    assert bound == float("inf")
    assert count == value(found, "hapticd_loop_lateness_seconds_count") == sum(counts)
    assert value(found, "hapticd_loop_lateness_seconds_sum") == pytest.approx(total)
    assert [bound for bound, _ in buckets[:-1]] == pytest.approx([FIRST_BOUND_S * 2.0**i for i in range(16)])
    assert [count for _, count in buckets[:-1]] == [sum(counts[: i + 1]) for i in range(16)]


def test_bounds_reach_from_a_quarter_microsecond_to_milliseconds() -> None:
    found = samples(Told(lateness=[1] * 24))

    bounds = [sample.labels["le"] for sample in found if sample.name == "hapticd_loop_lateness_seconds_bucket"]
    assert bounds[:3] == ["2.5e-07", "5e-07", "1e-06"]
    assert float(bounds[-2]) == pytest.approx(0.008192)


# ---------------------------------------------------------------- devices


def test_devices_are_counted_by_type_and_phase() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    arm, other, grip, failed = simulated_records(runtime, "arm", "arm", "grip", "pen")
    inventory = Inventory((arm, replace(other, phase=Phase.SETTLING), grip), (replace(failed, phase=Phase.FAILED),))

    found = samples(runtime, inventory)

    assert {
        (sample.labels["type"], sample.labels["phase"]): sample.value
        for sample in found
        if sample.name == "hapticd_devices"
    } == {("arm", "ready"): 1, ("arm", "settling"): 1, ("grip", "ready"): 1, ("pen", "failed"): 1}


def test_devices_with_motors_count_clamped_saturated_and_faded_ticks() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    arm, grip = simulated_records(runtime, "arm", "grip")
    for record in (arm, grip):
        runtime.publish_device(record.lease, device_params(record, 0))
    runtime.step(250)
    writer = runtime.writer(runtime.lease_session("1"), arm.lease)
    writer.force(100, 0, 0)
    writer.publish()
    runtime.step(1_000)

    found = samples(runtime, Inventory((arm, grip)))

    label = {"device_id": arm.device_id}
    state = runtime.reader(arm.lease).snapshot()
    assert value(found, "hapticd_force_clamped_ticks_total", **label) == state["clamped"] > 0
    assert value(found, "hapticd_commands_timed_out_total", **label) == state["faded"] == 1
    assert value(found, "hapticd_torque_saturated_ticks_total", **label) == state["saturated"]
    for name, field in SAFETY_METRICS.items():
        assert value(found, f"hapticd_{name}", **label) == state[field], name
    assert state["temperature"] > 20
    assert state["derating"] == 1
    assert value(found, "hapticd_device_stopped", **label) == 0
    of_grip = [sample.name for sample in found if sample.labels.get("device_id") == grip.device_id]
    assert of_grip == ["hapticd_device_battery_ratio"]


def test_wireless_grip_shows_its_battery_and_a_stopped_arm_that_it_is_stopped() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    arm, grip = simulated_records(runtime, "arm", "grip")
    runtime.publish_device(grip.lease, device_params(grip, 0))
    runtime.step(10)

    found = samples(runtime, Inventory((replace(arm, stopped=True), grip)))

    charge = value(found, "hapticd_device_battery_ratio", device_id=grip.device_id)
    assert charge == pytest.approx(float(runtime.reader(grip.lease).snapshot()["battery_level"]))
    assert 0 < charge <= 1
    assert value(found, "hapticd_device_stopped", device_id=arm.device_id) == 1


def test_device_without_a_measurement_shows_no_battery() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    (grip,) = simulated_records(runtime, "grip")

    assert not [sample for sample in samples(runtime, Inventory((grip,))) if "battery" in sample.name]


def test_gaps_of_each_device_with_motors_are_a_histogram_beside_its_lost_force() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    arm, grip = simulated_records(runtime, "arm", "grip")
    gaps = np.zeros((), dtype=DEVICE_GAPS)
    gaps["force_seconds"], gaps["interrupted_seconds"] = 40.0, 1.5
    gaps["gaps"], gaps["gap_seconds"] = 6, 2.25
    gaps["changes"]["taken"], gaps["changes"]["added"] = [0, 0.5, 0], [0, 0, 0.25]
    gaps["buckets"] = [1, 0, 2, 1, 0, 0, 0, 0, 0, 2]

    class Gapped:
        """The loop above, with these gaps of every device."""

        loop_state = runtime.loop_state

        @staticmethod
        def reader(lease: Lease) -> Any:
            return SimpleNamespace(snapshot=runtime.reader(lease).snapshot, gaps=lambda: gaps)

    found = samples(Gapped(), Inventory((arm, grip)))

    label = {"device_id": arm.device_id}
    assert value(found, "hapticd_force_seconds_total", **label) == 40
    assert value(found, "hapticd_force_interrupted_seconds_total", **label) == 1.5
    for name, by, expected in (
        ("taken", "filter", 0),
        ("taken", "damper", 0.5),
        ("added", "damper", 0),
        ("added", "monitors", 0.25),
    ):
        assert value(found, f"hapticd_force_{name}_newtonseconds_total", by=by, **label) == expected
    buckets = [
        (sample.labels["le"], sample.value)
        for sample in found
        if sample.name == "hapticd_force_gap_seconds_bucket" and sample.labels["device_id"] == arm.device_id
    ]
    assert buckets == [
        ("0.0025", 1),
        ("0.005", 1),
        ("0.01", 3),
        ("0.02", 4),
        ("0.04", 4),
        ("0.08", 4),
        ("0.16", 4),
        ("0.32", 4),
        ("0.64", 4),
        ("+Inf", 6),
    ]
    assert value(found, "hapticd_force_gap_seconds_count", **label) == 6
    assert value(found, "hapticd_force_gap_seconds_sum", **label) == 2.25
    assert not [sample for sample in found if sample.labels.get("device_id") == grip.device_id]


def test_monitor_trips_are_counted() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    (arm,) = simulated_records(runtime, "arm")
    runtime.publish_device(arm.lease, device_params(arm, 0))
    runtime.step(100)
    thrown = replace(arm, simulation=Simulation(fault=Fault.THROW, push_revision=1))
    runtime.publish_device(arm.lease, device_params(thrown, 0))
    runtime.step(100)

    found = samples(runtime, Inventory((arm,)))

    assert value(found, "hapticd_ebrakes_total", device_id=arm.device_id) == 1
    assert value(found, "hapticd_stalls_total", device_id=arm.device_id) == 0


def test_a_stepped_loop_counts_its_ticks() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    runtime.step(123)

    assert value(samples(runtime), "hapticd_loop_ticks_total") == 123


def test_collector_registers_beside_the_service_metrics() -> None:
    metrics = Metrics()

    metrics.registry.register(LoopCollector(Runtime(stepping=True, realtime=False), Published(Inventory())))

    text = generate_latest(metrics.registry).decode()
    names = [family.name for family in text_string_to_metric_families(text)]
    assert len(set(names)) == len(names)
    assert {"hapticd_loop_ticks", "hapticd_sessions_open"} <= set(names)
