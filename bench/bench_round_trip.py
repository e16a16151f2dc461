"""Benchmark: WebSocket round trips of the service, against a bare Tornado echo server with the same frame size.

Both servers run all the time and are driven alternately, so that the control loop takes its share of the machine in either's
turn; both run on the CPUs that the service uses for everything except the loop. The client is not pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from bench.support.force_messages import force_messages
from bench.support.machine import cpu_seconds
from bench.support.plugin import Benchmark
from bench.support.processes import ClientProcess, Drive, echo_server
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import in_turn, medians
from tests.support.service.process import RunningService


@dataclass(frozen=True, slots=True)
class Turn:
    """One drive, and the server's processor time per round trip, without its control loop."""

    drive: Drive
    cpu_us: float


SECTION: Final = "WebSocket round trip of the service · arm and grip, loop at 4 kHz · reference: bare Tornado echo"
LIMIT: Final = Limit(0.75, "≥")
TURNS: Final = Limit(2.0, "≤")
CLIENTS: Final = 60
WAITS: Final[Mapping[str, tuple[str, Callable[[Turn], float]]]] = {
    "latency p50": ("us", lambda turn: turn.drive.p50_us),
    "latency p99": ("us", lambda turn: turn.drive.p99_us),
    "worst gap between frames of a turn": ("ms", lambda turn: turn.drive.worst_gap_ms),
}
ROUNDS: Final = 30
SECONDS: Final = 0.3


def turn(client: ClientProcess, name: str, messages: Sequence[str], pid: int) -> Turn:
    before = cpu_seconds(pid)
    drive = client.drive(name, messages, SECONDS)
    return Turn(drive, (cpu_seconds(pid) - before) / drive.trips * 1e6)


@pytest.mark.parametrize("clients", [1, 8])
def test_round_trip(benchmark: Benchmark, results: ResultTable, tmp_path: Path, clients: int) -> None:
    found: list[list[Turn]] = []
    with RunningService() as service, ClientProcess() as client:
        messages = force_messages(client.open("service", f"{service.ws}/", clients))
        client.drive("service", messages, SECONDS)
        with echo_server(client.ask("service", messages[0]), tmp_path) as (echo, url):
            client.open("echo", url, clients)
            client.drive("echo", messages, SECONDS)
            measures = [
                lambda: turn(client, "service", messages, service.process.pid),
                lambda: turn(client, "echo", messages, echo),
            ]
            benchmark.pedantic(lambda: found.extend(in_turn(measures, ROUNDS)))
    who = f"{clients} client{'s' if clients > 1 else ''}"
    sizes = medians(found, lambda each: each.drive.frame_bytes)
    assert sizes[0] == pytest.approx(sizes[1], rel=0.05)
    rate, bare_rate = medians(found, lambda each: each.drive.rate)
    cost, bare_cost = medians(found, lambda each: each.cpu_us)
    note = f"frames of {sizes[0]:.0f} bytes"
    row = results.add(Row(SECTION, f"{who}, round trips", rate, "/s", bare_rate, LIMIT, note))
    results.add(Row(SECTION, f"{who}, server CPU per round trip", cost, "us", bare_cost))
    for name, (unit, pick) in WAITS.items():
        wait, bare_wait = medians(found, pick)
        results.add(Row(SECTION, f"{who}, {name}", wait, unit, bare_wait))
    hold(row)


def test_sixty_clients_take_turns(benchmark: Benchmark, results: ResultTable) -> None:
    drives: list[list[Drive]] = []
    with RunningService() as service, ClientProcess() as client:
        messages = force_messages(client.open("one", f"{service.ws}/", 1))
        client.open("sixty", f"{service.ws}/", CLIENTS)
        for name in ("one", "sixty"):
            client.drive(name, messages, SECONDS)
        measures = [lambda: client.drive("one", messages, SECONDS), lambda: client.drive("sixty", messages, SECONDS)]
        benchmark.pedantic(lambda: drives.extend(in_turn(measures, ROUNDS)))
    alone, p50 = medians(drives, lambda each: each.p50_us)
    _, p99 = medians(drives, lambda each: each.p99_us)
    fair = CLIENTS * alone
    results.add(Row(SECTION, f"{CLIENTS} clients, latency p50", p50, "us", fair))
    note = f"reference: {CLIENTS} x p50 of one client"
    hold(results.add(Row(SECTION, f"{CLIENTS} clients, latency p99", p99, "us", fair, TURNS, note)))
