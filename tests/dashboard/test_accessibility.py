"""No serious finding of axe-core in any view and theme; a picture of each goes to build/dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from selenium.webdriver.common.keys import Keys

from tests.dashboard.conftest import address, pictures
from tests.dashboard.test_views import VIEWS
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

AXE: Final = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN: Final = """
const found = await axe.run(document, { runOnly: { type: 'tag', values: args[0] }, resultTypes: ['violations'] });
return found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map(
  (one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`);
"""
FOCUSED: Final = "const e = document.activeElement; return e.id || e.getAttribute('href') || e.tagName"
# Something to see in each view, and how to know that it is there.
READY: Final = {
    "overview": "#space[data-cursor]",
    "devices": ".card",
    "space": "#space[data-cursor]",
    "plots": ".u-wrap",
    "touch": "#touch-begin",
    "simulation": "#pad",
    "problems": "#no-problem, [data-problem]",
    "ports": "[data-port]",
    "sessions": "[data-session]",
    "events": "[data-event]",
    "log": "[data-line], #log-empty",
    "settings": "[data-setting]",
    "calibration": ".calibration-state",
}


@pytest.fixture(scope="module")
def page(browser: Browser, service: RunningService) -> Iterator[Browser]:
    browser.open(address(service, "devices"))
    browser.find("[data-device]")
    browser.run(AXE)
    yield browser
    browser.run("localStorage.clear()")


def findings(page: Browser) -> list[str]:
    found: list[str] = page.run_async(RUN, TAGS)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_finding(page: Browser, theme: str) -> None:
    while page.run("return document.documentElement.dataset.theme") != theme:
        page.find("body").send_keys("t")
    problems: dict[str, list[str]] = {}
    for view in VIEWS:
        page.run("location.hash = arguments[0]", view)
        page.find(READY[view])
        if view == "plots":
            # A picture of a plot needs a few seconds of values.
            page.until(lambda: "NaN" not in page.text(".latest") and "\u2013" not in page.text(".latest"), "values")
        page.picture(pictures() / f"{view}-{theme}.png")
        if found := findings(page):
            problems[view] = found

    assert problems == {}


@pytest.mark.soak
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024), (1024, 768), (1440, 900)])
def test_no_view_has_a_serious_finding_or_scrolls_sideways_in_any_width(
    page: Browser, theme: str, width: int, height: int
) -> None:
    while page.run("return document.documentElement.dataset.theme") != theme:
        page.find("body").send_keys("t")
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 900}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    problems: dict[str, Any] = {}
    try:
        for view in VIEWS:
            page.run("location.hash = arguments[0]", view)
            page.find(READY[view])
            page.picture(pictures() / f"{view}-{width}-{theme}.png")
            excess = page.run("return document.documentElement.scrollWidth - innerWidth")
            if (found := findings(page)) or excess > 0:
                problems[view] = (found, excess)
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert problems == {}


def test_stopped_page_with_a_question_has_no_serious_finding(page: Browser) -> None:
    page.click("#stop")
    page.find("[role=alert]")
    assert findings(page) == []
    page.picture(pictures() / "stopped.png")
    page.click("#release")
    page.find("dialog[open]")
    assert findings(page) == []
    page.click("#question-yes")
    page.until(lambda: not page.all("[role=alert]"), "released")


def test_list_of_keys_has_no_serious_finding(page: Browser) -> None:
    page.find("body").send_keys("?")
    page.find("#help[open]")
    assert findings(page) == []
    page.picture(pictures() / "keys.png")
    page.click("#help p.row button")


def test_everything_can_be_reached_by_tab(page: Browser) -> None:
    """Each control of the bar and the menu has the focus once on the way, STOP among them, and shows it."""
    page.run("location.hash = 'ports'")
    page.run("document.activeElement.blur(); getSelection().removeAllRanges()")
    seen: list[str] = []
    page.find("body").send_keys(Keys.TAB)
    for _ in range(30):
        seen.append(page.run(FOCUSED))
        if seen[-1] != "BODY":
            assert page.run("return getComputedStyle(document.activeElement).outlineStyle") != "none", seen[-1]
        page.driver.switch_to.active_element.send_keys(Keys.TAB)

    assert "stop" in seen
    assert {f"#{view}" for view in VIEWS} <= set(seen)


def test_narrow_page_does_not_scroll_sideways(page: Browser) -> None:
    """At 320 px, which is 400 % of a usual window (WCAG 1.4.10), only tables scroll, in their own region."""
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 320, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    wide: dict[str, Any] = {}
    for view in VIEWS:
        page.run("location.hash = arguments[0]", view)
        page.find(READY[view])
        excess = page.run("return document.documentElement.scrollWidth - innerWidth")
        if excess > 0:
            wide[view] = excess
    page.run("location.hash = 'devices'")
    page.find(".card")
    page.picture(pictures() / "devices-narrow.png")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert wide == {}
