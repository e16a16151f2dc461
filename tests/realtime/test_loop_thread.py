"""The loop on its own thread: start, stop, and concurrent reads and writes. Polled, never timed."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from fastpath.arena.access import Writer
from fastpath.arena.runtime import Lease, Runtime, now_ns
from tests.support.loop.devices import arm_params, grip_params, still_arm_params
from tests.support.service.polling import eventually

FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS}
PAUSE_S = 0.002
TRIES = 5000


LoopThreads = Callable[[], list[Path]]


def named_hd_loop() -> set[Path]:
    """Entries of /proc for the threads of this process that are named hd-loop."""
    found: set[Path] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            if (task / "comm").read_text(encoding="ascii").strip() == "hd-loop":
                found.add(task)
        except OSError:
            continue
    return found


@pytest.fixture
def loop_threads() -> LoopThreads:
    """Those of them that this test started."""
    gc.collect()
    before = named_hd_loop()
    return lambda: sorted(named_hd_loop() - before)


def signal_mask(task: Path) -> set[int]:
    """Numbers of the signals that a thread blocks."""
    for line in (task / "status").read_text(encoding="ascii").splitlines():
        if line.startswith("SigBlk:"):
            bits = int(line.split()[1], 16)
            return {number for number in range(1, 65) if bits >> (number - 1) & 1}
    raise AssertionError(f"{task} shows no signal mask")


def ticks(runtime: Runtime) -> int:
    return int(runtime.loop_state()["ticks"])


def wait_ticks(runtime: Runtime, count: int = 20) -> None:
    """Until the loop has made so many more ticks."""
    since = ticks(runtime)
    eventually(lambda: ticks(runtime) >= since + count, f"{count} ticks", tries=TRIES, pause_s=PAUSE_S)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    made = Runtime(realtime=False)
    made.publish_loop(frequency=4000, command_timeout=0.5)
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


def test_a_started_loop_ticks_and_a_stopped_one_does_not(runtime: Runtime, loop_threads: LoopThreads) -> None:
    before = (runtime.running, ticks(runtime))
    runtime.start()
    assert (before, runtime.running) == ((False, 0), True)
    wait_ticks(runtime)
    assert runtime.loop_state()["running"] == 1
    runtime.stop()

    assert not runtime.running
    stopped_at = ticks(runtime)
    assert runtime.loop_state()["running"] == 0
    assert not loop_threads()
    assert ticks(runtime) == stopped_at


def test_every_counter_of_the_loop_moves(runtime: Runtime) -> None:
    runtime.start()
    wait_ticks(runtime, 300)
    runtime.stop()
    state = runtime.loop_state()

    assert int(np.sum(state["lateness"])) == state["ticks"]
    assert state["lateness_max"] > 0
    assert state["lateness_sum"] <= state["lateness_max"] * state["ticks"]
    assert state["step_samples"] == (int(state["ticks"]) + 63) // 64
    assert state["tick_seconds"] > 0
    assert state["target_frequency"] == 4000
    assert 0 < state["started_ns"] < state["tick_ns"] < now_ns()


def test_achieved_rate_is_shown_after_a_second_and_at_most_the_target(runtime: Runtime) -> None:
    runtime.publish_loop(frequency=500, command_timeout=0.05)
    runtime.start()

    shown = eventually(lambda: float(runtime.loop_state()["frequency"]) or None, "a rate", tries=TRIES, pause_s=PAUSE_S)

    assert 0 < shown < 500 * 1.05


def test_ticks_plus_misses_equal_the_passed_deadlines(runtime: Runtime) -> None:
    runtime.start()
    wait_ticks(runtime, 1000)
    runtime.stop()
    state = runtime.loop_state()

    deadlines = (int(state["tick_ns"]) - int(state["started_ns"])) / 250_000

    assert int(state["ticks"]) + int(state["missed"]) == pytest.approx(deadlines, abs=2)


def test_starting_twice_starts_one_thread(runtime: Runtime, loop_threads: LoopThreads) -> None:
    runtime.start()
    runtime.start()
    wait_ticks(runtime)

    assert len(loop_threads()) == 1


def test_stopping_twice_or_unstarted_does_nothing(runtime: Runtime) -> None:
    runtime.stop()
    runtime.start()
    runtime.stop()
    runtime.stop()

    assert not runtime.running


def test_stopping_from_several_threads_at_once_stops_once(runtime: Runtime, loop_threads: LoopThreads) -> None:
    for _ in range(10):
        runtime.start()
        wait_ticks(runtime, 2)
        gate = threading.Barrier(4)

        def stop(gate: threading.Barrier = gate) -> None:
            gate.wait()
            runtime.stop()

        threads = [threading.Thread(target=stop) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not runtime.running
        assert not loop_threads()


def test_stopped_loop_starts_again_and_keeps_its_counters(runtime: Runtime) -> None:
    runtime.start()
    wait_ticks(runtime)
    runtime.stop()
    before = ticks(runtime)

    runtime.start()
    wait_ticks(runtime)

    assert ticks(runtime) > before


def test_thread_is_named_and_blocks_all_signals_but_its_faults(runtime: Runtime, loop_threads: LoopThreads) -> None:
    runtime.start()
    (task,) = eventually(lambda: loop_threads() or None, "the thread's name", tries=TRIES, pause_s=PAUSE_S)

    blocked = signal_mask(task)

    assert {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE, signal.SIGALRM} <= blocked
    assert blocked.isdisjoint(FAULTS)


def test_starting_keeps_the_caller_s_signal_mask(runtime: Runtime) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])

    runtime.start()

    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_start_without_realtime_requests_nothing_of_the_system(runtime: Runtime, loop_threads: LoopThreads) -> None:
    runtime.start(priority=80, cpu=0)
    (task,) = eventually(lambda: loop_threads() or None, "the thread's name", tries=TRIES, pause_s=PAUSE_S)
    wait_ticks(runtime)
    state = runtime.loop_state()

    assert (int(state["fifo"]), int(state["pinned"]), int(state["locked"])) == (0, 0, 0)
    assert os.sched_getscheduler(int(task.name)) == os.SCHED_OTHER
    assert os.sched_getaffinity(int(task.name)) == os.sched_getaffinity(0)


def test_state_shows_the_granted_scheduling(loop_threads: LoopThreads) -> None:
    runtime = Runtime(realtime=True)
    runtime.publish_loop(frequency=500, command_timeout=0.05, spin=False)
    cpu = max(os.sched_getaffinity(0))
    runtime.start(priority=10, cpu=cpu)
    (task,) = eventually(lambda: loop_threads() or None, "the thread's name", tries=TRIES, pause_s=PAUSE_S)
    wait_ticks(runtime)
    state = runtime.loop_state()

    granted = os.sched_getscheduler(int(task.name)) == os.SCHED_FIFO

    assert bool(state["fifo"]) == granted
    assert bool(state["pinned"]) == (granted and os.sched_getaffinity(int(task.name)) == {cpu})
    runtime.stop()


def test_a_rate_can_change_while_the_loop_runs(runtime: Runtime) -> None:
    runtime.start()
    wait_ticks(runtime)

    for frequency in (1000.0, 8000.0, 500.0):
        runtime.publish_loop(frequency=frequency, command_timeout=0.05)
        wait_ticks(runtime)
        assert runtime.loop_state()["target_frequency"] == frequency


def test_a_force_reaches_the_device_and_stopping_ends_in_zero(runtime: Runtime, arm: Lease, writer: Writer) -> None:
    reader = runtime.reader(arm)
    runtime.start()

    def applied() -> bool:
        writer.force(1.0, -2.0, 3.0)
        writer.publish()
        runtime.beat()
        return tuple(reader.snapshot()["force"]) == (1.0, -2.0, 3.0)

    eventually(applied, "the whole force", tries=TRIES, pause_s=PAUSE_S)
    runtime.stop()
    state = reader.snapshot()

    assert not np.any(state["force"])
    assert not np.any(state["torque"])
    assert not np.any(state["live"])
    assert state["mode"] == 0


def test_stopping_while_clients_publish_ends_in_zero(runtime: Runtime, arm: Lease) -> None:
    writers = [runtime.writer(runtime.lease_session(str(number)), arm) for number in range(4)]
    reader = runtime.reader(arm)
    done = threading.Event()

    def stream(writer: Writer) -> None:
        while not done.is_set():
            writer.force(1.0, 0.0, 0.0)
            writer.publish()

    threads = [threading.Thread(target=stream, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            runtime.start()
            wait_ticks(runtime, 5)
            runtime.stop()
            assert not np.any(reader.snapshot()["force"])
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_force_before_a_stop_is_zero_after_it(runtime: Runtime, arm: Lease, writer: Writer) -> None:
    runtime.publish_loop(frequency=4000, command_timeout=0.02)
    reader = runtime.reader(arm)
    runtime.start()
    writer.force(1.0, 0.0, 0.0)
    writer.publish()
    wait_ticks(runtime, 400)
    runtime.stop()

    runtime.start()
    wait_ticks(runtime, 5)

    assert not np.any(reader.snapshot()["force"])


def test_slots_that_are_released_while_the_loop_runs_become_free(runtime: Runtime) -> None:
    sessions = [runtime.lease_session(str(number)) for number in range(10)]
    devices = [runtime.lease_device(str(number)) for number in range(10)]
    for device in devices:
        runtime.publish_device(device, arm_params())
    runtime.start()
    wait_ticks(runtime)

    for session, device in zip(sessions, devices, strict=True):
        runtime.release_session(session)
        runtime.release_device(device)

    eventually(lambda: runtime.slots() == (0, 0), "free slots", tries=TRIES, pause_s=PAUSE_S)
    assert runtime.reader(devices[3]).snapshot()["tick"] == 0


def test_slots_that_are_released_just_before_a_stop_become_free(runtime: Runtime) -> None:
    for _ in range(10):
        session, device = runtime.lease_session("1"), runtime.lease_device("arm")
        runtime.publish_device(device, arm_params())
        runtime.start()
        runtime.release_session(session)
        runtime.release_device(device)
        runtime.stop()
        assert runtime.slots() == (0, 0)


def test_slot_names_change_under_a_running_loop(runtime: Runtime) -> None:
    runtime.publish_loop(frequency=8000, command_timeout=0.05)
    runtime.start()
    for turn in range(200):
        device = runtime.lease_device(f"arm {turn}")
        session = runtime.lease_session(str(turn))
        assert runtime.publish_device(device, arm_params() if turn % 2 else grip_params())
        writer = runtime.writer(session, device)
        writer.force(1.0, 0.0, 0.0)
        assert writer.publish()
        writer.revoke()
        runtime.release_session(session)
        runtime.release_device(device)
        eventually(lambda: runtime.slots() == (0, 0), "free slots", tries=TRIES, pause_s=PAUSE_S)


def test_dropping_a_running_runtime_stops_its_thread(loop_threads: LoopThreads) -> None:
    runtime = Runtime(realtime=False)
    runtime.start()
    eventually(lambda: loop_threads() or None, "the thread", tries=TRIES, pause_s=PAUSE_S)

    del runtime
    gc.collect()

    assert not loop_threads()


def test_dropped_runtimes_free_their_memory() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096

    def start_and_drop() -> None:
        Runtime(realtime=False).start()
        gc.collect()

    start_and_drop()
    before = resident()
    for _ in range(30):
        start_and_drop()

    assert resident() - before < 20e6


def test_two_loops_in_one_process_are_independent(runtime: Runtime, loop_threads: LoopThreads) -> None:
    other = Runtime(realtime=False)
    other.publish_loop(frequency=1000, command_timeout=0.05)
    runtime.start()
    other.start()
    wait_ticks(runtime)
    wait_ticks(other)

    runtime.stop()
    wait_ticks(other)

    assert len(loop_threads()) == 1
    other.stop()


def test_loop_without_timekeeper_trips_once_and_recovers(runtime: Runtime) -> None:
    runtime.start()
    eventually(lambda: int(runtime.loop_state()["dead_man_trips"]) == 1, "a trip", tries=TRIES, pause_s=PAUSE_S)

    since = ticks(runtime)
    eventually(lambda: ticks(runtime) > since + 2000, "it goes on", tries=TRIES, pause_s=PAUSE_S)
    assert runtime.loop_state()["dead_man_trips"] == 1
    quiet = [since, 1]

    def beaten() -> bool:
        """For a tenth of a second; who beats may have to wait for the machine, which trips it again."""
        runtime.beat()
        trips = int(runtime.loop_state()["dead_man_trips"])
        if trips != quiet[1]:
            quiet[:] = ticks(runtime), trips
        return ticks(runtime) > quiet[0] + 400

    quiet[0] = ticks(runtime)
    eventually(beaten, "beats hold it", tries=TRIES, pause_s=PAUSE_S)
    tripped = quiet[1]
    eventually(
        lambda: int(runtime.loop_state()["dead_man_trips"]) == tripped + 1, "armed", tries=TRIES, pause_s=PAUSE_S
    )
