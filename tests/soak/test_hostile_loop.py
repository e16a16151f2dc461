"""Soak: bad clients cost the loop no ticks; alternating windows with and without them, compared by a permutation test."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import product
from statistics import fmean, median
from typing import Final

import pytest

from bench.support.machine import cores
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.clients.bad_client_kinds import BadMessages, BadStreams, ClientThread, GoodClient
from tests.support.clients.bad_clients import COMMAND_TIMEOUT_S, SIMULATE, bad_clients, choose_devices
from tests.support.service.process import RunningService
from tests.support.service.ticks import window

SECTION: Final = "ticks missed by the loop · a good client alone, and among bad clients of every kind, in turn"
PAIRS: Final = 12
TICKS: Final = 20_000
CHANCE: Final = Limit(0.01, "≥", of="figure")

pytestmark = [
    pytest.mark.soak,
    pytest.mark.realtime,
    pytest.mark.skipif(cores().loop is None, reason="needs SCHED_FIFO and two processors"),
]


def by_chance(differences: list[float]) -> float:
    """How likely a mean so high or higher is when each sign is a coin's: exact paired randomisation test (Fisher 1935)."""
    seen = fmean(differences)
    signs = product((1, -1), repeat=len(differences))
    means = [fmean(sign * abs(one) for sign, one in zip(some, differences, strict=True)) for some in signs]
    return sum(mean >= seen - 1e-15 for mean in means) / len(means)


@pytest.mark.parametrize(("differences", "chance"), [([1.0] * 4, 1 / 16), ([-1.0] * 4, 1.0), ([0.0] * 4, 1.0)])
def test_permutation_test_detects_a_difference(differences: list[float], chance: float) -> None:
    assert by_chance(differences) == chance


def test_bad_clients_cost_the_loop_no_ticks(results: ResultTable) -> None:
    alone: list[float] = []
    among: list[float] = []
    with RunningService(simulate=SIMULATE, settings={"sessions/command_timeout": COMMAND_TIMEOUT_S}) as service:
        targets = choose_devices(service)
        good, nonsense, streams = GoodClient(targets), BadMessages(targets), BadStreams(targets)
        with ClientThread("good", good.run):
            assert good.opened.wait(60)
            for _ in range(PAIRS):
                alone.append(100 * window(service, TICKS))
                with ExitStack() as running:
                    for name, work in bad_clients(targets, nonsense, streams).items():
                        running.enter_context(ClientThread(name, work))
                    among.append(100 * window(service, TICKS))
    chance = by_chance([more - less for more, less in zip(among, alone, strict=True)])
    note = f"{PAIRS} windows of {TICKS:,} ticks each; means {fmean(among):.3f} % against {fmean(alone):.3f} %"
    results.add(Row(SECTION, "missed, median", median(among), "%", median(alone), note=note))
    hold(results.add(Row(SECTION, "chance of this without any effect", chance, "", limit=CHANCE)))
