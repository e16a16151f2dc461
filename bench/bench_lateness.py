"""Benchmark: lateness and rate of the loop, against a bare C loop that only sleeps, same priority and processor."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from bench.support.machine import LOOP_PRIORITY, ProcessorTime, cores
from bench.support.plugin import Benchmark
from bench.support.result_table import ResultTable, Row
from bench.support.rig import LoopRig
from bench.support.turns import bucket_quantile, in_turn, medians

SECTION: Final = "loop alone, two arms and a grip · reference: a bare clock_nanosleep loop in C"
SOURCE: Final = Path(__file__).with_name("bare_loop.c")
SECONDS: Final = 1.2
ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Run:
    """Result of one run of one loop: lateness in us, and the percentage of its ticks that ran."""

    p50: float
    p99: float
    longest: float
    share: float
    fifo: bool

    @classmethod
    def read(cls, counters: Any) -> Run:
        """Convert the counters of either loop."""
        ticks, late = int(counters["ticks"]), int(counters["missed"])
        buckets = [int(count) for count in counters["lateness"]]
        return cls(
            bucket_quantile(buckets, 0.5),
            bucket_quantile(buckets, 0.99),
            float(counters["lateness_max"]) * 1e6,
            100 * ticks / max(1, ticks + late),
            bool(counters["fifo"]),
        )


LATENESS: Final[Mapping[str, Callable[[Run], float]]] = {
    "p50": lambda run: run.p50,
    "p99": lambda run: run.p99,
    "worst of a run": lambda run: run.longest,
}


@pytest.fixture(scope="module")
def bare_loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the reference loop; return the program's path."""
    program = tmp_path_factory.mktemp("bare") / "bare_loop"
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler for the reference loop: install gcc")
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", program, SOURCE, "-lpthread"], check=True)
    return program


def ours(frequency: float, cpu: int) -> Run:
    rig = LoopRig(["arm", "arm", "grip"], frequency=frequency)
    rig.runtime.start(priority=LOOP_PRIORITY, cpu=cpu)
    time.sleep(SECONDS)
    rig.runtime.stop()
    return Run.read(rig.runtime.loop_state())


def reference(program: Path, frequency: float, cpu: int) -> Run:
    words = [str(program), str(frequency), str(SECONDS), str(LOOP_PRIORITY), str(cpu)]
    return Run.read(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout))


@pytest.mark.parametrize("kilohertz", [1, 4, 8, 16, 32])
def test_lateness(benchmark: Benchmark, results: ResultTable, bare_loop: Path, kilohertz: int) -> None:
    chosen, frequency = cores().loop, kilohertz * 1000.0
    cpu = -1 if chosen is None else chosen
    before = ProcessorTime.now()
    runs: list[Sequence[Run]] = []

    def measure() -> None:
        runs.extend(in_turn([lambda: ours(frequency, cpu), lambda: reference(bare_loop, frequency, cpu)], ROUNDS))

    benchmark.pedantic(measure)
    permitted = "" if runs[0][0].fifo else ", without SCHED_FIFO"
    note = f"steal {ProcessorTime.now().steal_since(before):.2f} %{permitted}"
    for name, pick in LATENESS.items():
        late, bare_late = medians(runs, pick)
        results.add(Row(SECTION, f"{kilohertz} kHz, lateness {name}", late, "us", bare_late))
    share, bare_share = medians(runs, lambda run: run.share)
    results.add(Row(SECTION, f"{kilohertz} kHz, ticks that were run", share, "%", bare_share, note=note))
