"""Soak, 30 minutes: an open dashboard keeps its memory flat, and the control loop and another client run as without it.

16 simulated devices. Each minute the browser shows Overview, 3D view and Plots for a quarter of it each; for the last quarter another
tab is in front, so the page is hidden, has closed its channels and keeps its heap. Meanwhile another client makes 500 round trips a
second. So every minute has a figure with the page and one without it, from the same machine at the same time.

Service and client go before the browser on the processors: one on another machine takes no time of theirs.
HAPTICD_SOAK_PAGE_MINUTES sets another duration.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from statistics import linear_regression
from typing import Final
from urllib.parse import urlsplit

import pytest

from bench.bench_dashboard import DEVICES, Turn, turn
from bench.support.force_messages import force_messages
from bench.support.processes import ClientProcess
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import medians
from tests.support.browser.chromium import Browser, chromium, missing
from tests.support.service.process import RunningService

SECTION: Final = (
    "page of the dashboard · 16 simulated devices, Overview, 3D view and Plots in turn · reference: page hidden"
)
MINUTES: Final = int(os.environ.get("HAPTICD_SOAK_PAGE_MINUTES", "30"))
QUARTER_S: Final = 15.0
RATE: Final = 500.0
# A browser that others go before may wait for a processor.
WITHIN_S: Final = 300.0
# Minutes until every list and ring of the page is full.
WARM_UP: Final = min(5, MINUTES // 3)
MIB: Final = 1024 * 1024
# What each view shows once it is drawn.
VIEWS: Final = {"overview": "#space[data-cursor]", "space": "#space[data-cursor]", "plots": ".u-wrap"}

GROWTH: Final = Limit(0.05, "≤", of="figure")
AS_WITHOUT: Final = Limit(2.0, "≤")

pytestmark = pytest.mark.soak


def heap_mib(browser: Browser) -> float:
    """MiB of the page's JavaScript heap after a garbage collection."""
    browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    used: float = browser.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]
    return used / MIB


def nodes(browser: Browser) -> float:
    """DOM nodes of the page that are alive, attached or not."""
    count: float = browser.driver.execute_cdp_cmd("Memory.getDOMCounters", {})["nodes"]
    return count


def growth(values: list[float]) -> float:
    """Slope per minute after the warm-up."""
    after = values[WARM_UP:]
    return linear_regression(range(len(after)), after).slope if len(after) > 1 else 0.0


def trip_p99_us(one: Turn) -> float:
    """p99 of the client's round trips, us."""
    return one.drive.p99_us


def lateness_p99_us(one: Turn) -> float:
    """p99 of the loop's lateness, us."""
    return one.lateness_p99_us


def minute_line(minute: int, heap: float, count: float, shown: list[Turn], hidden: Turn) -> str:
    """One minute's figures as text."""
    trip, late = medians([shown, [hidden]], trip_p99_us), medians([shown, [hidden]], lateness_p99_us)
    return (
        f"minute {minute}: heap {heap:.2f} MiB, {count:.0f} nodes; p99 with the page and without it: "
        f"round trip {trip[0]:.0f} and {trip[1]:.0f} us, lateness {late[0]:.1f} and {late[1]:.1f} us"
    )


def test_open_page_stays_flat_and_takes_nothing_from_loop_and_clients(results: ResultTable, tmp_path: Path) -> None:
    if why := missing():
        pytest.skip(why)
    with_page: list[Turn] = []
    without: list[Turn] = []
    heaps: list[float] = []
    counts: list[float] = []
    with (
        RunningService(simulate=DEVICES) as service,
        ClientProcess() as client,
        chromium(tmp_path, background=True) as browser,
    ):

        def measure() -> Turn:
            # A connection of its own: one that waits for the browser for long is not there to answer pings.
            messages = force_messages(client.open("one", f"{service.ws}/", 1))
            try:
                return turn(service, client, messages, QUARTER_S, RATE)
            finally:
                client.close("one")

        browser.open(f"http://localhost:{urlsplit(service.http).port}/dashboard/")
        page = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        other = browser.driver.current_window_handle
        for minute in range(MINUTES):
            browser.driver.switch_to.window(page)
            for view, drawn in VIEWS.items():
                browser.run("location.hash = arguments[0]", view)
                browser.shows(drawn, WITHIN_S)
                with_page.append(measure())
            browser.run("location.hash = 'overview'")
            browser.shows(VIEWS["overview"], WITHIN_S)
            heaps.append(heap_mib(browser))
            counts.append(nodes(browser))
            browser.driver.switch_to.window(other)
            without.append(measure())
            line = minute_line(minute + 1, heaps[-1], counts[-1], with_page[-len(VIEWS) :], without[-1])
            print(line, flush=True)  # noqa: T201  # for whoever watches half an hour with -s

    def compared(name: str, pick: Callable[[Turn], float]) -> Row:
        shown, hidden = medians([with_page, without], pick)
        return results.add(Row(SECTION, name, shown, "us", hidden, AS_WITHOUT))

    note = f"{heaps[0]:.2f} to {heaps[-1]:.2f} MiB in {MINUTES} min, largest {max(heaps):.2f}"
    rows = [
        results.add(Row(SECTION, "growth of the heap", growth(heaps), "MiB/min", limit=GROWTH, note=note)),
        results.add(
            Row(SECTION, "growth of the DOM", growth(counts), "nodes/min", note=f"{counts[0]:.0f} to {counts[-1]:.0f}")
        ),
        compared("lateness of the loop p99", lateness_p99_us),
        compared("round trip of another client p99", trip_p99_us),
    ]
    assert sum(each.drive.lost for each in [*with_page, *without]) == 0
    hold(*rows)
