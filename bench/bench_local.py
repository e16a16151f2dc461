"""Benchmark: shared memory of clients on this machine: from a command to the state that has it, and what such clients cost a tick."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from bench.bench_tick import FREQUENCY, LIMIT, PERIOD_US, ROUNDS, microseconds_of_a_tick
from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.rig import LoopRig
from tests.support.local.connection import compiled
from tests.support.service.process import RunningService

SECTION: Final = "shared memory · one arm, loop at 32 kHz, a client in C that spins · reference: the period"
TICK_SECTION: Final = (
    "tick with local clients · three arms, 8 sessions, each commands every arm at 1 kHz · reference: the period"
)
SOURCE: Final = Path(__file__).parent / "support" / "local_round_trip.c"
SAMPLES: Final = 10_000
RUNS: Final = 5
# A tick and 5 us.
ROUND_TRIP: Final = Limit(1 + 5 / PERIOD_US, "≤")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The measuring client, compiled."""
    return compiled(SOURCE, tmp_path_factory.mktemp("local") / "local_round_trip")


@pytest.mark.parametrize("mode", ["lockstep", "anytime"])
def test_command_to_state(benchmark: Benchmark, results: ResultTable, program: Path, mode: str) -> None:
    found: list[dict[str, float]] = []
    with RunningService(simulate="arm", settings={"control/frequency": int(FREQUENCY)}) as service:

        def run() -> None:
            words = [str(program), str(service.state_dir), str(SAMPLES), mode]
            found.append(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout))

        run()
        benchmark.pedantic(run, rounds=RUNS)
    p50, p99, ticks = (median(each[name] for each in found) for name in ("p50", "p99", "ticks"))
    when = "right behind a state" if mode == "lockstep" else "at any time"
    row = results.add(
        Row(
            SECTION,
            f"a command {when}, until the state that has it, p50",
            p50,
            "us",
            PERIOD_US,
            ROUND_TRIP,
            f"{ticks:.0f} tick",
        )
    )
    results.add(Row(SECTION, f"a command {when}, p99", p99, "us", PERIOD_US))
    hold(row)


@pytest.mark.parametrize("local", [0, 1, 8])
def test_tick(benchmark: Benchmark, results: ResultTable, local: int) -> None:
    rig = LoopRig(("arm", "arm", "arm"), frequency=FREQUENCY, sessions=8 - local, stepping=True, local=local)
    microseconds_of_a_tick(rig)
    found: list[float] = []
    benchmark.pedantic(lambda: found.append(microseconds_of_a_tick(rig)), rounds=ROUNDS)
    row = results.add(Row(TICK_SECTION, f"{local} of 8 sessions are local", min(found), "us", PERIOD_US, LIMIT))
    hold(row)
