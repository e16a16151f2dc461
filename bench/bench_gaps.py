"""Benchmark: isolation of clients: frame gaps while an actor is slow, and force after a client falls silent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from bench.support.force_messages import GROUP, force_messages
from bench.support.holding import How, held_service
from bench.support.plugin import Benchmark
from bench.support.processes import ClientProcess
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import in_turn
from tests.support.service.process import RunningService

GAPS: Final = "worst gap between frames of a good client · reference: the same without a slow actor"
SILENT: Final = (
    "a client falls silent · its last send to zero applied force in another's frame · reference: time-out + ramp"
)
SILENT_LIMIT: Final = Limit(100, "<", of="figure")
SECONDS: Final = 2.0
ROUNDS: Final = 4
SILENCES: Final = 20
COMMANDING_S: Final = 0.2
HELD_AND_FADED_MS: Final = 70.0


def test_slow_actor(benchmark: Benchmark, results: ResultTable, tmp_path: Path) -> None:
    with held_service(tmp_path) as held, ClientProcess() as client:
        messages = force_messages(client.open("good", f"{held.service.ws}/", 1))

        def alone() -> float:
            return client.drive("good", messages, SECONDS).worst_gap_ms

        def beside(how: How) -> float:
            with held.held(how):
                return alone()

        found: list[list[float]] = []
        measures: list[Callable[[], float]] = [alone, partial(beside, "wait"), partial(beside, "spin")]
        benchmark.pedantic(lambda: found.extend(in_turn(measures, ROUNDS)))
    undisturbed, waiting, spinning = map(median, found)
    results.add(Row(GAPS, "an actor is held in its handler, waiting", waiting, "ms", undisturbed))
    results.add(Row(GAPS, "an actor is held in its handler, busy in Python", spinning, "ms", undisturbed))


def test_silent_client(benchmark: Benchmark, results: ResultTable) -> None:
    found: list[float] = []
    with RunningService() as service, ClientProcess() as client:
        messages = force_messages(client.open("pair", f"{service.ws}/", 2))

        def silence() -> None:
            found.append(client.fall_silent("pair", GROUP, messages[0], COMMANDING_S))

        benchmark.pedantic(silence, rounds=SILENCES)
    results.add(Row(SILENT, "median", median(found), "ms", HELD_AND_FADED_MS))
    row = results.add(Row(SILENT, f"longest of {SILENCES}", max(found), "ms", HELD_AND_FADED_MS, SILENT_LIMIT))
    assert min(found) >= HELD_AND_FADED_MS - 1, "the force was gone before its time-out: it was not this client's"
    hold(row)
