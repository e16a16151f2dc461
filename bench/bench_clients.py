"""Benchmark: clients in Python at 1 kHz over the socket and at 4 kHz over shared memory, beside what people write by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median
from typing import Final

from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import in_turn
from tests.support.service.process import RunningService

SOCKET: Final = "Python clients · one arm, 1 kHz over the socket, loop at 4 kHz · reference: websockets.sync"
LOCAL: Final = (
    "Python clients · one arm, 4 kHz over shared memory, loop at 4 kHz · reference: the same at 1 kHz over the socket"
)
ROUNDS: Final = 3
SECONDS: Final = 20.0 / float(os.environ.get("BENCH_SHORTER", "1"))
ON_TIME: Final = Limit(99.0, "≥", "figure")
CPU: Final = Limit(100.0, "≤", "figure")
NAMES: Final = {
    "client": "hapticd-client",
    "asyncio": "hapticd-client, asyncio",
    "socket": "plain socket by hand",
    "websockets": "websockets.sync by hand",
}
NOTE: Final = "other programs on the machine count"


def run(way: str, url: str, http: str, rate: float) -> dict[str, float]:
    """Figures of one process."""
    words = [sys.executable, "-m", "bench.support.client_loops", way, url, http, str(rate), str(SECONDS)]
    found: dict[str, float] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


def middle(rounds: list[dict[str, float]], name: str, scale: float = 1.0) -> float:
    """Median of a figure over its rounds."""
    return scale * median(each[name] for each in rounds)


def rows(
    section: str, title: str, mine: list[dict[str, float]], other: list[dict[str, float]] | None, *, limit: bool
) -> list[Row]:
    """The rows of one way beside the reference."""

    def row(what: str, name: str, unit: str, scale: float, bound: Limit | None) -> Row:
        reference = None if other is None else middle(other, name, scale)
        return Row(
            section, f"{title}, {what}", middle(mine, name, scale), unit, reference, bound if limit else None, NOTE
        )

    return [
        row("turns on time", "on_time", "%", 100, ON_TIME),
        row("CPU per turn", "cpu", "us", 1e6, CPU),
        row("round trip p50", "p50", "us", 1e6, None),
        row("round trip p99", "p99", "us", 1e6, None),
    ]


def test_socket(benchmark: Benchmark, results: ResultTable) -> None:
    found: dict[str, list[dict[str, float]]] = {}
    with RunningService(simulate="arm") as service:
        measures = [lambda way=way: run(way, service.ws, service.http, 1000.0) for way in NAMES]
        benchmark.pedantic(lambda: found.update(zip(NAMES, in_turn(measures, ROUNDS), strict=True)))
    held: list[Row] = []
    for way, title in NAMES.items():
        other = None if way == "websockets" else found["websockets"]
        held += [results.add(row) for row in rows(SOCKET, title, found[way], other, limit=way == "client")]
    hold(*held)


def test_shared_memory(benchmark: Benchmark, results: ResultTable) -> None:
    found: list[list[dict[str, float]]] = []
    with RunningService(simulate="arm") as service:
        local = f"local:{service.state_dir}"
        measures = [
            lambda: run("client", local, service.http, 4000.0),
            lambda: run("asyncio", local, service.http, 4000.0),
            lambda: run("client", service.ws, service.http, 1000.0),
        ]
        benchmark.pedantic(lambda: found.extend(in_turn(measures, ROUNDS)))
    blocking, twin, socket = found
    held = [results.add(row) for row in rows(LOCAL, NAMES["client"], blocking, socket, limit=True)]
    for row in rows(LOCAL, NAMES["asyncio"], twin, socket, limit=False):
        results.add(row)
    hold(*held)
