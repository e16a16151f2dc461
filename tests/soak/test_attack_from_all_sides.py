"""Soak, ten minutes: all attacks at once; a good client at 500 Hz and a stop every second are served.

Attackers: floods of connections, slow readers of a big answer, sessions that send 64 messages ahead, loops of GET requests. They run
on the processor of the control loop, as if they came from another machine: beside the service they would take the processor away
from it, whatever it does. Nothing else bounds them. The neighbour and whoever asks for the stops stand for clients elsewhere too,
that have a processor of their own: they run on that processor as well, before the attackers and behind the control loop. So their
figures are waits for the service, not for the attackers' processes. HAPTICD_SOAK_ATTACK_SECONDS sets another time for a short run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

import pytest

from bench.support.machine import ProcessorTime, cores, memory_mib
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.clients.attack_programs import PipelineAttack, SteadyClientProgram
from tests.support.clients.http_attack import connection_flood, get_loops, slow_readers
from tests.support.service.process import RunningService
from tests.support.suite.shares import quick_folder

SECTION: Final = "service under attack from all sides · a good neighbour at 500 Hz, a stop every second"
SECONDS: Final = float(os.environ.get("HAPTICD_SOAK_ATTACK_SECONDS", "600"))
SESSIONS: Final = 60
AT_ONCE: Final = 64
READERS: Final = 200
LOOPS: Final = 6
PATHS: Final = ("/metrics", "/devices", "/openapi.json", "/settings")
RATE: Final = Limit(400, "≥", of="figure")
GAP: Final = Limit(50, "<", of="figure")
STOP: Final = Limit(100, "<", of="figure")
MEMORY: Final = Limit(150, "<", of="figure")

pytestmark = pytest.mark.soak


@contextmanager
def on_the_processor_of_the_loop() -> Generator[None]:
    """Start processes inside on the processor that the service leaves to its control loop, if it does."""
    mask, loop = os.sched_getaffinity(0), cores().loop
    if loop is not None:
        os.sched_setaffinity(0, {loop})
    try:
        yield
    finally:
        os.sched_setaffinity(0, mask)


@contextmanager
def before_the_attackers(*others: int) -> Generator[None]:
    """Run this thread and the main threads of those processes there too, at the lowest realtime priority, if the loop has a processor."""
    loop = cores().loop
    if loop is None:
        yield
        return
    mask = os.sched_getaffinity(0)
    for process in (0, *others):
        os.sched_setaffinity(process, {loop})
        os.sched_setscheduler(process, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, mask)


def test_steady_client_and_stop_are_served_under_attack(results: ResultTable) -> None:
    stops_ms: list[float] = []
    rates: list[float] = []
    gap_ms = 0.0
    before = ProcessorTime.now()
    with ExitStack() as stack:
        # A stop is answered when it is stored: in memory, or the figure would be the disk's.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="hapticd-soak-", dir=quick_folder())))
        service = stack.enter_context(RunningService(simulate="arm", state_dir=folder / "state"))
        port = urlsplit(service.http).port
        assert port is not None
        (arm,) = (device["device_id"] for device in service.request("GET", "/devices")[1]["arm"])
        steady = stack.enter_context(SteadyClientProgram(service.ws, arm, 500))
        with on_the_processor_of_the_loop():
            attackers = {
                "flood": stack.enter_context(connection_flood(port)),
                "readers": stack.enter_context(slow_readers(port, READERS)),
                "loops": stack.enter_context(get_loops(port, PATHS, LOOPS)),
            }
            ahead = stack.enter_context(PipelineAttack(service.ws, SESSIONS, AT_ONCE))
        stack.enter_context(before_the_attackers(steady.pid))
        steady.report()
        until_s = time.monotonic() + SECONDS
        while time.monotonic() < until_s:
            time.sleep(1)
            for method in ("POST", "DELETE"):
                begun_s = time.perf_counter()
                status, _ = service.request(method, "/stop")
                stops_ms.append((time.perf_counter() - begun_s) * 1e3)
                assert status == 200
            seen = steady.report()
            rates.append(seen["rate"])
            gap_ms = max(gap_ms, seen["longest_gap_ms"])
        peak = memory_mib(service.process.pid, "VmHWM")
        done = {name: attack.counts() for name, attack in attackers.items()}
        frames = ahead.stop()
        assert "Traceback" not in service.log
    idle = ProcessorTime.now().idle_since(before)
    sys.stdout.write(f"attack: {done}, {frames:,} frames of sessions that sent ahead; processors idle {idle:.0f} %\n")
    note = f"worst second {min(rates):.0f} /s; {SECONDS:.0f} s"
    hold(
        results.add(Row(SECTION, "neighbour's rate", sum(rates) / len(rates), "/s", 500, RATE, note)),
        results.add(Row(SECTION, "neighbour's longest gap", gap_ms, "ms", limit=GAP)),
        results.add(
            Row(SECTION, "longest answer to a stop", max(stops_ms), "ms", limit=STOP, note=f"{len(stops_ms)} asked")
        ),
        results.add(Row(SECTION, "peak of memory", peak, "MiB", limit=MEMORY)),
    )
