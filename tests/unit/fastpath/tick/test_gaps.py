"""Gaps between the ticks of a device: what counts as one, its histogram, and the force that it interrupts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import FIRST_GAP_NS, GAP_BUCKETS, KEPT_GAPS
from fastpath.testing.gap_trial import gaps_of
from tests.support.loop.devices import SteppedArm, still_arm_params
from tests.support.service.polling import eventually

MS = 1_000_000
START = 10_000 * MS


def after(*lengths_ms: float, force: float = 1.0, frequency: float = 4000, started_ns: int = 0) -> Any:
    """The counts after ticks that are so far apart, all with one force."""
    times = np.cumsum([START, *(round(length * MS) for length in lengths_ms)])
    ticks: Iterable[tuple[int, float]] = [(int(time), force) for time in times]
    return gaps_of(ticks, frequency=frequency, started_ns=started_ns)


@pytest.mark.parametrize(
    ("frequency", "length_ms", "gap"),
    [
        (4000, 0.25, False),
        (4000, 2.0, False),
        (4000, 2.1, True),
        (32000, 1.9, False),
        (32000, 2.1, True),
        (1000, 2.1, False),
        (1000, 2.6, True),
        (400, 5.1, False),
        (400, 7.5, True),
        (100, 20.1, False),
        (100, 30.0, True),
    ],
)
def test_gap_is_longer_than_two_milliseconds_and_two_periods(frequency: float, length_ms: float, gap: bool) -> None:
    assert bool(after(length_ms, 200, frequency=frequency)["gaps"] == 2) is gap


def test_histogram_has_every_gap_once_with_sum_and_longest() -> None:
    lengths = [2.1, 2.4, 2.5, 9.9, 10, 19, 50, 639, 640, 60_000]

    counted = after(*lengths)

    assert counted["buckets"].tolist() == [2, 1, 1, 2, 0, 1, 0, 0, 1, 2]
    assert len(counted["buckets"]) == GAP_BUCKETS
    assert FIRST_GAP_NS == 2_500_000
    assert int(counted["gaps"]) == len(lengths)
    assert float(counted["gap_seconds"]) == pytest.approx(sum(lengths) / 1e3)
    assert float(counted["longest"]) == pytest.approx(60)
    assert counted["lengths"][: len(lengths)].tolist() == pytest.approx([length / 1e3 for length in lengths])


def test_newest_lengths_replace_the_oldest() -> None:
    lengths = [*range(3, 3 + KEPT_GAPS), 500, 501]

    kept = after(*lengths)["lengths"]

    assert kept[:2].tolist() == pytest.approx([0.5, 0.501])
    assert kept[2] == pytest.approx(0.005)


@pytest.mark.parametrize(("length_ms", "interrupted_s"), [(3, 0), (19.9, 0), (20, 0), (50, 0.030), (1_000, 0.980)])
def test_force_is_interrupted_from_twenty_milliseconds_on(length_ms: float, interrupted_s: float) -> None:
    counted = after(length_ms)

    assert float(counted["interrupted_seconds"]) == pytest.approx(interrupted_s)
    assert float(counted["force_seconds"]) == pytest.approx(length_ms / 1e3)


def test_gap_without_output_interrupts_nothing() -> None:
    counted = after(500, force=0)

    assert int(counted["gaps"]) == 1
    assert (float(counted["interrupted_seconds"]), float(counted["force_seconds"])) == (0, 0)


def test_first_tick_of_a_device_and_of_a_loop_is_no_gap() -> None:
    assert int(after()["gaps"]) == 0
    # started anew between the first tick and the second
    assert int(after(5_000, started_ns=START + MS)["gaps"]) == 0
    assert int(after(5_000, 50, started_ns=START + MS)["gaps"]) == 1


def test_ticks_without_a_gap_are_published_within_a_tenth_of_a_second() -> None:
    assert float(after(*[0.25] * 399)["force_seconds"]) == 0
    assert float(after(*[0.25] * 400)["force_seconds"]) == pytest.approx(0.1)


def test_stepped_loop_counts_time_with_force_and_no_gap() -> None:
    rig = SteppedArm()
    rig.runtime.step(rig.ticks(0.1))
    rig.force(1.0, 0.0, 0.0)
    rig.runtime.step(rig.ticks(0.04))
    rig.runtime.step(rig.ticks(0.4))

    counted = rig.runtime.reader(rig.device).gaps()

    # whole until the time-out of 50 ms, then a fade of 20 ms
    assert 0.045 < float(counted["force_seconds"]) < 0.08
    assert (int(counted["gaps"]), float(counted["interrupted_seconds"])) == (0, 0)


@pytest.mark.parametrize(("length_ms", "interrupted_s"), [(5, 0.0), (20, 0.0), (25, 0.005), (80, 0.060), (400, 0.380)])
@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0, 32_000.0])
def test_missed_periods_of_a_stepped_loop_are_counted(frequency: float, length_ms: float, interrupted_s: float) -> None:
    rig = SteppedArm(still_arm_params(), frequency=frequency, timeout=10.0)
    rig.force(0.0, 0.0, 2.0)
    rig.step(rig.ticks(0.1))

    rig.step(missed=rig.ticks(length_ms / 1e3) - 1)

    counted = rig.reader.gaps()
    assert int(counted["gaps"]) == 1
    assert float(counted["longest"]) == pytest.approx(length_ms / 1e3)
    assert float(counted["interrupted_seconds"]) == pytest.approx(interrupted_s, abs=1e-9)


def test_missed_periods_without_force_interrupt_nothing() -> None:
    rig = SteppedArm(still_arm_params())
    rig.step(rig.ticks(0.1))

    rig.step(missed=rig.ticks(0.1))

    counted = rig.reader.gaps()
    assert (int(counted["gaps"]), float(counted["interrupted_seconds"])) == (1, 0)


def test_counts_are_zero_for_the_next_device_of_a_slot() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.runtime.step(rig.ticks(0.4))
    assert float(rig.runtime.reader(rig.device).gaps()["force_seconds"]) > 0

    rig.runtime.release_device(rig.device)
    rig.runtime.step()
    lease = rig.runtime.lease_device("another")

    assert lease.slot == rig.device.slot
    assert float(rig.runtime.reader(lease).gaps()["force_seconds"]) == 0


def test_left_out_ticks_of_a_running_loop_are_gaps() -> None:
    runtime = Runtime(realtime=False)
    device = runtime.lease_device("arm")
    # at 100 Hz every tenth tick: 100 ms apart
    runtime.publish_loop(frequency=100, command_timeout=0.05, duty=0.1)
    runtime.start()
    reader = runtime.reader(device)
    try:
        eventually(lambda: int(reader.gaps()["gaps"]) >= 2, "two gaps are counted", pause_s=0.01)
    finally:
        runtime.stop()

    counted = reader.gaps()
    assert float(counted["longest"]) > 0.05
    assert float(counted["interrupted_seconds"]) == 0
