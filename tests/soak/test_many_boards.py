"""Soak: eight and sixteen emulated boards at 1 kHz for a minute; each link and the loop keep their rates."""

from __future__ import annotations

from typing import Final

import pytest

from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.emulators.boards import Boards
from tests.support.boards.driven_boards import DrivenBoards
from tests.support.service.polling import eventually

SECTION: Final = "boards at once · 1 kHz each on pseudo-terminals for 60 s, loop at 4 kHz · reference: the full rate"
LIMIT: Final = Limit(0.95, "≥")
SECONDS: Final = 60
RATE_HZ: Final = 1000
LOOP_HZ: Final = 4000
READY: Final = 3

pytestmark = [pytest.mark.soak, pytest.mark.realtime]


@pytest.mark.parametrize(("count", "limit"), [(8, LIMIT), (16, None)], ids=["eight", "sixteen, only shown"])
def test_each_of_many_boards_keeps_its_rate(results: ResultTable, count: int, limit: Limit | None) -> None:
    with (
        Boards(*(f"arm:A{number}" for number in range(count))) as boards,
        DrivenBoards(*(boards.path(number) for number in range(count)), frequency=LOOP_HZ) as driven,
    ):
        eventually(lambda: boards.see(count - 1).phase == READY, "the last is ready", pause_s=0.01)
        began_ns = driven.runtime.now_ns()
        first = [boards.see(number) for number in range(count)]
        taken = [link.facts().counters.frames_in for link in driven.links]
        ticks = int(driven.runtime.loop_state()["ticks"])
        eventually(lambda: driven.runtime.now_ns() - began_ns > SECONDS * 1e9, "the time is over", tries=1000)
        elapsed_s = (driven.runtime.now_ns() - began_ns) * 1e-9
        commands = [boards.see(number).commands - first[number].commands for number in range(count)]
        states = [link.facts().counters.frames_in - before for link, before in zip(driven.links, taken, strict=True)]
        loop_hz = (int(driven.runtime.loop_state()["ticks"]) - ticks) / elapsed_s
        trips = sum(boards.see(number).trips for number in range(count))

    hold(
        results.add(
            Row(SECTION, f"{count}: commands of the slowest", round(min(commands) / elapsed_s), "Hz", RATE_HZ, limit)
        ),
        results.add(
            Row(SECTION, f"{count}: states of the slowest", round(min(states) / elapsed_s), "Hz", RATE_HZ, limit)
        ),
        results.add(Row(SECTION, f"{count}: loop", loop_hz, "Hz", LOOP_HZ, limit, f"{trips} trips of watchdogs")),
    )
    assert limit is None or trips == 0
