"""A loop that withholds ticks on purpose: the share that it runs, and the counters of the withheld ticks. Polled, never timed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fastpath.arena.access import Writer
from fastpath.arena.runtime import Lease, Runtime
from tests.support.loop.devices import still_arm_params
from tests.support.service.polling import eventually

RATE = 4000
PAUSE_S = 0.002
TRIES = 5000
# Deadlines that pass by themselves on a busy machine only add to those that were missed.
MANY = 2000


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    made = Runtime(realtime=False)
    made.publish_loop(frequency=RATE, command_timeout=0.5)
    yield made
    made.stop()


@pytest.fixture
def arm(runtime: Runtime) -> Lease:
    lease = runtime.lease_device("arm")
    runtime.publish_device(lease, still_arm_params())
    return lease


@pytest.fixture
def writer(runtime: Runtime, arm: Lease) -> Writer:
    return runtime.writer(runtime.lease_session("1"), arm)


def counted(runtime: Runtime) -> tuple[int, int]:
    """Ticks and missed ticks."""
    state = runtime.loop_state()
    return int(state["ticks"]), int(state["missed"])


def starve(runtime: Runtime, duty: float) -> None:
    runtime.publish_loop(frequency=RATE, command_timeout=0.5, duty=duty)


def wait_deadlines(runtime: Runtime, count: int) -> tuple[int, int]:
    """Ticks and missed ticks among at least so many deadlines from now."""
    ticks, missed = counted(runtime)

    def passed() -> tuple[int, int] | None:
        more, gone = counted(runtime)
        return (more - ticks, gone - missed) if more - ticks + gone - missed >= count else None

    return eventually(passed, f"{count} deadlines", tries=TRIES, pause_s=PAUSE_S)


def test_duty_of_one_half_runs_at_most_every_other_tick(runtime: Runtime) -> None:
    starve(runtime, 0.5)
    runtime.start()

    ticks, missed = wait_deadlines(runtime, MANY)

    assert 0 < ticks <= missed + 1
    assert runtime.loop_state()["running"] == 1


def test_duty_of_zero_runs_no_tick_and_the_thread_lives(runtime: Runtime) -> None:
    starve(runtime, 0.0)
    runtime.start()

    ticks, missed = wait_deadlines(runtime, MANY)

    assert ticks == 0
    assert missed >= MANY
    assert runtime.loop_state()["running"] == 1


def test_starved_loop_resumes_with_ramped_forces(runtime: Runtime, arm: Lease, writer: Writer) -> None:
    starve(runtime, 0.0)
    runtime.start()
    wait_deadlines(runtime, 100)
    gaps = int(runtime.loop_state()["gaps"])
    assert counted(runtime)[0] == 0

    starve(runtime, 1.0)

    assert eventually(lambda: counted(runtime)[0] >= 20, "it ticks", tries=TRIES, pause_s=PAUSE_S)
    assert int(runtime.loop_state()["gaps"]) > gaps
    reader = runtime.reader(arm)

    def applied() -> bool:
        writer.force(1.0, 0.0, 0.0)
        writer.publish()
        return float(reader.snapshot()["force"][0]) == 1.0

    eventually(applied, "the force is whole", tries=TRIES, pause_s=PAUSE_S)


def test_starved_loop_stops_at_zero_force(runtime: Runtime, arm: Lease, writer: Writer) -> None:
    runtime.start()
    reader = runtime.reader(arm)

    def applied() -> bool:
        writer.force(1.0, 0.0, 0.0)
        writer.publish()
        return float(reader.snapshot()["force"][0]) == 1.0

    eventually(applied, "the force is whole", tries=TRIES, pause_s=PAUSE_S)
    starve(runtime, 0.0)
    wait_deadlines(runtime, 100)

    runtime.stop()

    assert reader.snapshot()["force"].tolist() == [0, 0, 0]
    assert not runtime.running


@pytest.mark.parametrize("duty", [-0.001, 1.001, float("nan"), float("inf")])
def test_duty_outside_0_to_1_is_refused(runtime: Runtime, duty: float) -> None:
    with pytest.raises(ValueError, match="share of ticks"):
        starve(runtime, duty)
