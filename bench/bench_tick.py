"""Benchmark: cost of one tick at 32 kHz with three simulated devices, as a share of the period; stepped loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from time import perf_counter_ns
from typing import Any, Final

import pytest

from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.rig import LoopRig
from fastpath.scene.values import NO_SCENE, Field, Scene
from tests.support.loop.scenes import ONE_OF_EACH, X, Y, Z, field

FREQUENCY: Final = 32_000.0
PERIOD_US: Final = 1e6 / FREQUENCY
SECTION: Final = (
    "tick · stepped at 32 kHz, each session commands every arm at 1 kHz · quietest round · reference: the period"
)
LIMIT: Final = Limit(0.05, "≤")
# two arms, a grip and eight sessions
MIXED_LIMIT: Final = Limit(0.03, "≤")
OPTIONAL_LIMIT: Final = Limit(0.001, "≤")
# what scenes may take of the period, and one of them with as many fields as there may be
SCENES_LIMIT: Final = Limit(0.05, "≤")
LARGEST_SCENE_LIMIT: Final = Limit(0.064, "≤")
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


ARMS: Final = ("arm", "arm", "arm")
MIXED: Final = ("arm", "arm", "grip")


@pytest.mark.parametrize(
    ("kinds", "sessions", "more", "limit", "options"),
    [
        (MIXED, 1, "", LIMIT, {}),
        (MIXED, 8, "", MIXED_LIMIT, {}),
        (ARMS, 1, "", LIMIT, {}),
        (ARMS, 8, "", LIMIT, {}),
        (ARMS, 8, "a contact on each arm", LIMIT, {"contacts": 1}),
        (
            ARMS,
            8,
            "every optional monitor, a contact, a bubble and two effects on each arm",
            LIMIT,
            {"contacts": 1, "optional": True, "playing": 1, "navigating": 1},
        ),
        (
            ARMS,
            8,
            "the same of each session",
            None,
            {"contacts": 8, "optional": True, "playing": 8, "navigating": 8},
        ),
    ],
)
def test_tick(
    benchmark: Benchmark,
    results: ResultTable,
    kinds: Sequence[str],
    sessions: int,
    more: str,
    limit: Limit | None,
    options: Mapping[str, Any],
) -> None:
    rig = LoopRig(kinds, frequency=FREQUENCY, sessions=sessions, stepping=True, **options)
    microseconds_of_a_tick(rig)
    found: list[float] = []
    benchmark.pedantic(lambda: found.append(microseconds_of_a_tick(rig)), rounds=ROUNDS)
    name = f"{', '.join(kinds)}; {sessions} session{'s' if sessions > 1 else ''}{more and '; ' + more}"
    # Other load on the machine can only add time to a round.
    row = results.add(Row(SECTION, name, min(found), "us", PERIOD_US, limit))
    hold(row)


def test_tick_with_every_optional_monitor(benchmark: Benchmark, results: ResultTable) -> None:
    rigs = [LoopRig(ARMS, frequency=FREQUENCY, sessions=1, stepping=True, optional=on) for on in (False, True)]
    found: list[list[float]] = [[], []]
    for rig in rigs:
        microseconds_of_a_tick(rig)

    def both() -> None:
        for rig, times in zip(rigs, found, strict=True):
            times.append(microseconds_of_a_tick(rig))

    benchmark.pedantic(both, rounds=ROUNDS)
    more = (min(found[1]) - min(found[0])) / len(ARMS)
    results.add(Row(SECTION, f"{', '.join(ARMS)}; every optional monitor on", min(found[1]), "us", PERIOD_US, LIMIT))
    hold(
        results.add(Row(SECTION, "every optional monitor, more for each device", more, "us", PERIOD_US, OPTIONAL_LIMIT))
    )


def ball(number: int) -> Field:
    """One that the hand is in."""
    return field("sphere", centre=(X, Y, Z - 0.25 - 0.001 * number), radius=0.3, stiffness=50.0)


@pytest.mark.parametrize(
    ("kinds", "sessions", "scene", "what", "limit"),
    [
        (ARMS, 8, ONE_OF_EACH, "a scene of 8 fields for each session and arm", SCENES_LIMIT),
        (
            ARMS[:1],
            1,
            {str(number): ball(number) for number in range(32)},
            "a scene of 32 touched balls",
            LARGEST_SCENE_LIMIT,
        ),
        (
            ARMS[:1],
            1,
            {str(number): ball(100 + number) for number in range(32)},
            "a scene of 32 balls, none touched",
            LARGEST_SCENE_LIMIT,
        ),
    ],
)
def test_tick_with_scenes(
    benchmark: Benchmark,
    results: ResultTable,
    kinds: Sequence[str],
    sessions: int,
    scene: Scene,
    what: str,
    limit: Limit,
) -> None:
    rigs = [
        LoopRig(kinds, frequency=FREQUENCY, sessions=sessions, stepping=True, scene=fields)
        for fields in (NO_SCENE, scene)
    ]
    found: list[list[float]] = [[], []]
    for rig in rigs:
        microseconds_of_a_tick(rig)

    def both() -> None:
        for rig, times in zip(rigs, found, strict=True):
            times.append(microseconds_of_a_tick(rig))

    benchmark.pedantic(both, rounds=ROUNDS)
    name = f"{', '.join(kinds)}; {sessions} session{'s' if sessions > 1 else ''}"
    results.add(Row(SECTION, f"{name}; {what}", min(found[1]), "us", PERIOD_US, None))
    hold(results.add(Row(SECTION, f"{what}, more", min(found[1]) - min(found[0]), "us", PERIOD_US, limit)))
