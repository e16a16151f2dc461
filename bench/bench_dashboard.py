"""Benchmark: what an open dashboard takes from the control loop and from other clients, with 16 simulated devices.

By turns (A B A B …): the browser shows the plots of the dashboard, or an empty page. The browser computes on the same machine, without
a graphics processor, so the figures contain its drawing; on a tablet beside the machine that part is not there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from bench.support.force_messages import force_messages
from bench.support.plugin import Benchmark
from bench.support.processes import ClientProcess, Drive
from bench.support.result_table import ResultTable, Row
from bench.support.turns import bucket_quantile, in_turn, medians
from tests.support.browser.chromium import Browser, chromium, missing
from tests.support.service.process import RunningService

SECTION: Final = "dashboard open · 16 simulated devices, loop at 4 kHz · reference: an empty page in the same browser"
DEVICES: Final = ",".join(["arm", "grip"] * 6 + ["compact", "pen"] * 2)
ROUNDS: Final = 6
SECONDS: Final = 3.0
BUCKET: Final = re.compile(r'^hapticd_loop_lateness_seconds_bucket\{le="[^"]+"\} ([0-9.e+]+)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Turn:
    """One drive of the client, and the lateness of the loop meanwhile."""

    drive: Drive
    lateness_p99_us: float


def turn(
    service: RunningService, client: ClientProcess, messages: list[str], seconds: float = SECONDS, rate: float = 0.0
) -> Turn:
    """Drive the set `one`; `rate` is in round trips per second, 0: as fast as the replies come."""
    before = counts(service)
    drive = client.drive("one", messages, seconds, rate)
    buckets = [now - then for now, then in zip(counts(service), before, strict=True)]
    return Turn(drive, bucket_quantile(buckets, 0.99))


def counts(service: RunningService) -> list[int]:
    """Ticks in each bucket of lateness, not added up."""
    upto = [int(float(text)) for text in BUCKET.findall(service.metrics())]
    return [count - below for below, count in zip([0, *upto], upto, strict=False)]


def show(browser: Browser, service: RunningService | None) -> None:
    if service is None:
        browser.driver.get("about:blank")
        return
    browser.open(f"http://localhost:{urlsplit(service.http).port}/dashboard/#plots")
    browser.find(".u-wrap")


def test_dashboard(benchmark: Benchmark, results: ResultTable, tmp_path: Path) -> None:
    if why := missing():
        pytest.skip(why)
    found: list[list[Turn]] = []
    with RunningService(simulate=DEVICES) as service, ClientProcess() as client, chromium(tmp_path) as browser:
        messages = force_messages(client.open("one", f"{service.ws}/", 1))
        client.drive("one", messages, SECONDS)

        def measured(page: RunningService | None) -> Turn:
            show(browser, page)
            return turn(service, client, messages)

        benchmark.pedantic(lambda: found.extend(in_turn([lambda: measured(service), lambda: measured(None)], ROUNDS)))
    late, bare_late = medians(found, lambda each: each.lateness_p99_us)
    trip, bare_trip = medians(found, lambda each: each.drive.p99_us)
    half, bare_half = medians(found, lambda each: each.drive.p50_us)
    results.add(Row(SECTION, "lateness of the loop p99", late, "us", bare_late))
    results.add(Row(SECTION, "round trip of another client p50", half, "us", bare_half))
    results.add(Row(SECTION, "round trip of another client p99", trip, "us", bare_trip))
