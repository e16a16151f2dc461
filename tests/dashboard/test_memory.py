"""Memory of a page that stays open: rings and lists have an end, so the heap does not grow with time."""

from __future__ import annotations

import pytest

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

FRAMES_A_SECOND = 25
VIEWS = ("plots", "space", "events", "devices", "sessions", "simulation")
MIB = 1024 * 1024


def heap(browser: Browser) -> int:
    """Bytes of the page's JavaScript heap after a collection."""
    browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    browser.driver.execute_cdp_cmd("Performance.enable", {})
    figures = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return int(next(one["value"] for one in figures if one["name"] == "JSHeapUsedSize"))


def watch(browser: Browser, frames: int) -> None:
    """Let the page take so many frames more, and look at every view meanwhile."""
    script = "const { frameCount } = await import('/dashboard/js/feed.js'); return frameCount();"
    begin = browser.run_async(script)
    for at, view in enumerate(VIEWS, start=1):
        browser.run("location.hash = arguments[0]", view)
        wanted = begin + frames * at // len(VIEWS)
        browser.until(lambda wanted=wanted: browser.run_async(script) >= wanted, "frames", within_s=600)  # type: ignore[misc]


def test_open_page_does_not_grow_by_the_frame(browser: Browser, service: RunningService) -> None:
    browser.open(address(service, "devices"))
    browser.find("[data-device]")
    # The 3D library is loaded once, and rings that are not full yet have their whole size already.
    watch(browser, 60)
    before = heap(browser)
    watch(browser, 150)

    assert heap(browser) - before < 2 * MIB


@pytest.mark.soak
def test_page_that_is_open_for_ten_minutes_stays_flat(browser: Browser, service: RunningService) -> None:
    browser.open(address(service, "devices"))
    browser.find("[data-device]")
    minute = 60 * FRAMES_A_SECOND
    watch(browser, minute)
    sizes = [heap(browser)]
    for _ in range(9):
        watch(browser, minute)
        sizes.append(heap(browser))

    assert max(sizes[1:]) - sizes[0] < 3 * MIB, sizes
