"""Benchmark: cost of one tick at 32 kHz with three simulated devices, as a share of the period; stepped loop."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import perf_counter_ns
from typing import Final

import pytest

from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.rig import LoopRig

FREQUENCY: Final = 32_000.0
PERIOD_US: Final = 1e6 / FREQUENCY
SECTION: Final = (
    "tick · stepped at 32 kHz, each session commands every arm at 1 kHz · quietest round · reference: the period"
)
LIMIT: Final = Limit(0.05, "≤")
OPTIONAL_LIMIT: Final = Limit(0.001, "≤")
TICKS_BETWEEN_COMMANDS: Final = 32
BLOCKS: Final = 2000
ROUNDS: Final = 9


def microseconds_of_a_tick(rig: LoopRig) -> float:
    """Return the median time of a tick, over blocks of one new command of every session and the ticks until the next."""
    spent: list[int] = []
    for _ in range(BLOCKS):
        rig.command()
        begun = perf_counter_ns()
        rig.runtime.step(TICKS_BETWEEN_COMMANDS)
        spent.append(perf_counter_ns() - begun)
    return median(spent) * 1e-3 / TICKS_BETWEEN_COMMANDS


@pytest.mark.parametrize(
    ("kinds", "sessions", "contacts"),
    [
        (("arm", "arm", "grip"), 1, False),
        (("arm", "arm", "grip"), 8, False),
        (("arm", "arm", "arm"), 1, False),
        (("arm", "arm", "arm"), 8, False),
        (("arm", "arm", "arm"), 8, True),
    ],
)
def test_tick(
    benchmark: Benchmark, results: ResultTable, kinds: Sequence[str], sessions: int, *, contacts: bool
) -> None:
    rig = LoopRig(kinds, frequency=FREQUENCY, sessions=sessions, stepping=True, contacts=contacts)
    microseconds_of_a_tick(rig)
    found: list[float] = []
    benchmark.pedantic(lambda: found.append(microseconds_of_a_tick(rig)), rounds=ROUNDS)
    name = f"{', '.join(kinds)}; {sessions} session{'s' if sessions > 1 else ''}{'; a contact on each arm' if contacts else ''}"
    # Other load on the machine can only add time to a round.
    row = results.add(Row(SECTION, name, min(found), "us", PERIOD_US, LIMIT))
    hold(row)


def test_tick_with_every_optional_monitor(benchmark: Benchmark, results: ResultTable) -> None:
    kinds = ("arm", "arm", "arm")
    rigs = [LoopRig(kinds, frequency=FREQUENCY, sessions=1, stepping=True, optional=on) for on in (False, True)]
    found: list[list[float]] = [[], []]
    for rig in rigs:
        microseconds_of_a_tick(rig)

    def both() -> None:
        for rig, times in zip(rigs, found, strict=True):
            times.append(microseconds_of_a_tick(rig))

    benchmark.pedantic(both, rounds=ROUNDS)
    more = (min(found[1]) - min(found[0])) / len(kinds)
    results.add(Row(SECTION, f"{', '.join(kinds)}; every optional monitor on", min(found[1]), "us", PERIOD_US, LIMIT))
    hold(
        results.add(Row(SECTION, "every optional monitor, more for each device", more, "us", PERIOD_US, OPTIONAL_LIMIT))
    )
