"""Soak: memory of the service stays flat with eight clients that stream for five minutes."""

from __future__ import annotations

from statistics import linear_regression
from typing import Final

import pytest

from bench.support.force_messages import force_messages
from bench.support.machine import memory_mib
from bench.support.processes import ClientProcess
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.service.process import RunningService

SECTION: Final = "memory of the service · eight clients at full speed for five minutes"
PEAK: Final = Limit(150, "<", of="figure")
SLOPE: Final = Limit(0.1, "≤", of="figure")
CLIENTS: Final = 8
PARTS: Final = 75
WARM_UP_PARTS: Final = 10
SECONDS: Final = 4.0

pytestmark = pytest.mark.soak


def test_memory_stays_flat_with_eight_streaming_clients(results: ResultTable) -> None:
    minutes: list[float] = []
    anonymous: list[float] = []
    trips = 0
    with RunningService() as service, ClientProcess() as client:
        pid = service.process.pid
        messages = force_messages(client.open("eight", f"{service.ws}/", CLIENTS))
        for part in range(PARTS):
            trips += client.drive("eight", messages, SECONDS).trips
            minutes.append((part + 1) * SECONDS / 60)
            anonymous.append(memory_mib(pid, "RssAnon"))
        peak = memory_mib(pid, "VmHWM")
    slope = linear_regression(minutes[WARM_UP_PARTS:], anonymous[WARM_UP_PARTS:]).slope
    note = f"{trips:,} messages; {anonymous[WARM_UP_PARTS]:.2f} MiB of its own after the warm-up, {anonymous[-1]:.2f} at the end"
    rows = [
        results.add(Row(SECTION, "peak", peak, "MiB", limit=PEAK)),
        results.add(Row(SECTION, "growth", slope, "MiB/min", limit=SLOPE, note=note)),
    ]
    hold(*rows)
