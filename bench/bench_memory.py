"""Benchmark: peak memory of the service with eight streaming clients, and its growth."""

from __future__ import annotations

from typing import Final

from bench.support.force_messages import force_messages
from bench.support.machine import memory_mib
from bench.support.plugin import Benchmark
from bench.support.processes import ClientProcess
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.service.process import RunningService

SECTION: Final = "memory of the service · eight clients at full speed"
LIMIT: Final = Limit(150, "<", of="figure")
CLIENTS: Final = 8
PARTS: Final = 10
SECONDS: Final = 2.0


def test_memory(benchmark: Benchmark, results: ResultTable) -> None:
    resident: list[float] = []
    with RunningService() as service, ClientProcess() as client:
        pid = service.process.pid
        alone = memory_mib(pid, "VmRSS")
        messages = force_messages(client.open("eight", f"{service.ws}/", CLIENTS))

        def stream() -> None:
            client.drive("eight", messages, SECONDS)
            resident.append(memory_mib(pid, "VmRSS"))

        benchmark.pedantic(stream, rounds=PARTS)
        peak = memory_mib(pid, "VmHWM")
    row = results.add(Row(SECTION, "peak", peak, "MiB", alone, LIMIT, "reference: before the first client"))
    after = f"after {PARTS * SECONDS:.0f} s"
    results.add(Row(SECTION, after, resident[-1], "MiB", resident[1], note=f"reference: after {2 * SECONDS:.0f} s"))
    hold(row)
