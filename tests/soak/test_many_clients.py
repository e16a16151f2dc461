"""Soak: 64 clients, each 500 times a second, for five minutes: every message has its frame, nobody waits for others, memory stays flat."""

from __future__ import annotations

from statistics import linear_regression
from typing import Final

import pytest

from bench.support.force_messages import force_messages
from bench.support.machine import memory_mib
from bench.support.processes import ClientProcess, Drive
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.service.process import RunningService

SECTION: Final = "64 clients at 500 Hz each for five minutes · reference: what they asked for"
CLIENTS: Final = 64
RATE: Final = 500.0
PARTS: Final = 30
WARM_UP_PARTS: Final = 12  # each session's caches fill
SECONDS: Final = 10.0
NONE: Final = Limit(0, "≤", of="figure")
SLOWEST: Final = Limit(0.8, "≥", of="figure")
SLOPE: Final = Limit(0.1, "≤", of="figure")

pytestmark = pytest.mark.soak


def test_sixty_four_clients_at_500_hz(results: ResultTable) -> None:
    drives: list[Drive] = []
    minutes: list[float] = []
    anonymous: list[float] = []
    with RunningService(settings={"communication/max_sessions": CLIENTS}) as service, ClientProcess() as client:
        messages = force_messages(client.open("many", f"{service.ws}/", CLIENTS))
        for part in range(PARTS):
            drives.append(client.drive("many", messages, SECONDS, RATE))
            minutes.append((part + 1) * SECONDS / 60)
            anonymous.append(memory_mib(service.process.pid, "RssAnon"))
        assert "Traceback" not in service.log
    rate = sum(drive.trips for drive in drives) / sum(drive.seconds for drive in drives)
    slope = linear_regression(minutes[WARM_UP_PARTS:], anonymous[WARM_UP_PARTS:]).slope
    note = f"p50 {max(d.p50_us for d in drives):.0f} us, p99 {max(d.p99_us for d in drives):.0f} us in the worst ten seconds"
    results.add(Row(SECTION, "round trips", rate, "/s", CLIENTS * RATE, note=note))
    hold(
        results.add(Row(SECTION, "messages without a frame", sum(drive.lost for drive in drives), "", limit=NONE)),
        results.add(
            Row(SECTION, "slowest client, of the mean", min(d.slowest_share for d in drives), "", limit=SLOWEST)
        ),
        results.add(Row(SECTION, "growth of memory", slope, "MiB/min", limit=SLOPE)),
    )
