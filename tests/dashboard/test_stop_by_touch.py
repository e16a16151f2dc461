"""STOP is pressed by a finger in every view, width and state, with whatever lies open: it is there, in one place, and sends at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.dashboard.conftest import SETTINGS, address
from tests.dashboard.test_views import VIEWS
from tests.support.browser.chromium import Browser
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.process import RunningService

WIDTHS: Final = (390, 768, 1024, 1440)
HEIGHT: Final = 844
# Plots and 3D view are slow to come without a graphics processor.
PATIENT_S: Final = 120
AT_ONCE: Final = Limit(100, "<", of="figure")
# Notes when a finger touched the screen, however late the page learns of it, when the request of a stop left it, and when it was answered.
NOTE: Final = """
window.noted = {};
addEventListener('pointerdown', (event) => { if (event.pointerType === 'touch') noted.touched = event.timeStamp; }, { capture: true });
const before = window.fetch;
window.fetch = async (url, options) => {
  const stop = String(url).includes('/stop?') && options?.method === 'POST' && new URL(url).pathname === '/stop';
  if (stop) { noted.count = (noted.count ?? 0) + 1; noted.sent ??= performance.now(); }
  try { return await before(url, options); } finally { if (stop) noted.answered ??= performance.now(); }
};
"""
BOX: Final = "const box = document.getElementById('stop').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]"
FORGET: Final = "const { stopRequest } = await import('/dashboard/js/state.js'); stopRequest.value = null;"
ON_TOP: Final = """
const box = document.getElementById('stop').getBoundingClientRect();
const points = [[.1, .1], [.9, .1], [.5, .5], [.1, .9], [.9, .9]];
return points.every(([x, y]) => document.elementFromPoint(box.left + x * box.width, box.top + y * box.height)?.closest('#stop'));
"""

OPENED: Final[dict[str, Callable[[Browser], object]]] = {
    "nothing": lambda page: page.find("#stop"),
    "list of keys": lambda page: page.find("body").send_keys("?"),
    "question": lambda page: page.run("document.querySelector('[data-session] button')?.click()"),
    "menu": lambda page: page.run("document.getElementById('menu-button').click()"),
}


@pytest.fixture(scope="module")
def own(browser: Browser) -> Iterator[RunningService]:
    del browser
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as running:
        yield running


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Browser, own: RunningService) -> Iterator[Browser]:
    """The page at one width, under fingers."""
    browser.be_touch_screen(request.param, HEIGHT)
    own.request("DELETE", "/stop")
    browser.open(address(own, "sessions"))
    browser.until(
        lambda: browser.text("#connection").endswith("connected") or browser.text("#stop-state") == "Not stopped",
        "connected",
    )
    browser.run(NOTE)
    yield browser
    browser.be_window()
    browser.driver.get("about:blank")


def touch_stop(page: Browser) -> dict[str, float]:
    """Touch the middle of STOP with one finger; when it was touched, sent, answered, ms, and how often it was sent."""
    page.run("window.noted = {}")
    left, top, width, height = page.run(BOX)
    point = {"x": left + width / 2, "y": top + height / 2}
    page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    noted: dict[str, float] = page.until(
        lambda: (found := page.run("return noted")).get("answered") and found, "STOP was sent"
    )
    return noted


def situations(page: Browser) -> Iterator[tuple[str, str]]:
    """Every view with everything that may lie open over it, which is closed again afterwards."""
    for view in VIEWS:
        page.run("location.hash = arguments[0]", view)
        page.shows(f'.menu a[href="#{view}"][aria-current=page]', PATIENT_S)
        for what, make in OPENED.items():
            if what == "question" and view != "sessions":
                continue
            if what == "question":
                page.shows("[data-session] button")
            make(page)
            if what in {"list of keys", "question"}:
                page.shows("dialog[open]")
            yield view, what
            # Escape closes what is open; with nothing open it would stop.
            if what != "nothing" and (page.all("dialog[open]") or page.all(".menu.is-open")):
                page.run("document.activeElement.blur()")
                page.run("window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))")
            page.until(lambda: not page.all("dialog[open]") and not page.all(".menu.is-open"), "closed")


def test_finger_stops_from_every_view_with_whatever_is_open(page: Browser, own: RunningService) -> None:
    place: list[Any] | None = None
    for view, what in situations(page):
        assert page.run(ON_TOP), (view, what)
        place = place or page.run(BOX)
        assert page.run(BOX) == place, (view, what, "STOP has moved")

        assert touch_stop(page)["count"] == 1, (view, what)

        page.until(lambda: page.text("#stop-state").startswith("■"), "it is stopped")
        # RELEASE is there now, and STOP where it was.
        page.shows("#release")
        assert page.run(BOX) == place, (view, what, "STOP has moved when RELEASE came")
        assert touch_stop(page)["count"] == 1, (view, what, "while stopped")
        own.request("DELETE", "/stop")
        page.until(lambda: page.text("#stop-state") == "Not stopped", "released")


@pytest.mark.soak
def test_finger_sends_stop_within_100_ms_in_every_view_layer_and_state(
    page: Browser, own: RunningService, results: ResultTable
) -> None:
    """The matrix: a row for each view and what lies open over it, in it each state."""
    found: dict[tuple[str, str], dict[str, float]] = {}

    def touch(at: tuple[str, str], state: str) -> None:
        noted = touch_stop(page)
        assert noted["count"] == 1, (*at, state)
        found.setdefault(at, {})[state] = noted["sent"] - noted["touched"]

    for at in situations(page):
        touch(at, "connected")
        page.until(lambda: page.text("#stop-state").startswith("■"), "it is stopped")
        touch(at, "stopped")
        own.request("DELETE", "/stop")
        page.until(lambda: page.text("#stop-state") == "Not stopped", "released")
    own.stop()
    try:
        page.until(lambda: page.all("#lost"), "the loss is told")
        for at in situations(page):
            page.run_async(FORGET)
            touch(at, "lost")
            page.until(lambda: "STOP not delivered" in page.text("[role=alert]"), "the failure is told")
            touch(at, "failed")
    finally:
        own.start()
    section = (
        f"STOP by touch · {page.run('return innerWidth')} px wide · from the touch to the request, the slowest state"
    )
    rows = [
        results.add(
            Row(
                section,
                f"{view}, {what} open",
                max(by_state.values()),
                "ms",
                limit=AT_ONCE,
                note=", ".join(f"{state} {ms:.0f}" for state, ms in by_state.items()),
            )
        )
        for (view, what), by_state in found.items()
    ]
    hold(*rows)


def test_finger_reaches_stop_while_the_service_is_gone(page: Browser, own: RunningService) -> None:
    """Lost, and after a press that was not delivered: the press is sent, and its failure told."""
    place = page.run(BOX)
    own.stop()
    try:
        page.until(lambda: page.all("#lost"), "the loss is told")
        assert page.run(ON_TOP)
        assert page.run(BOX) == place
        for state in ("lost", "failed"):
            assert touch_stop(page)["count"] == 1, state
            page.until(lambda: "STOP not delivered" in page.text("[role=alert]"), "the failure is told")
            assert page.run(ON_TOP), state
            assert page.run(BOX) == place, state
    finally:
        own.start()
