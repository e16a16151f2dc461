"""The log in the real browser: filter, pause, hostile lines as text, nothing asked while hidden; and the download of the bundle."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.conftest import SETTINGS, address, pictures
from tests.support.browser.chromium import Browser
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.logging_service import MARKUP
from tests.support.service.process import RunningService
from transport.bundle_archive import CONTENTS, README

COMMAND = [sys.executable, "-m", "tests.support.service.logging_service"]
# Settings that are changed to have a line of the audit log.
KEY = "presets/freeform_profiles"


@pytest.fixture(scope="module")
def noisy(browser: Browser) -> Iterator[RunningService]:
    del browser
    with RunningService(settings={**SETTINGS, **FREE_PORTS}, command=COMMAND) as running:
        yield running


@pytest.fixture
def page(browser: Browser, noisy: RunningService) -> Iterator[Browser]:
    browser.console()
    browser.open(address(noisy, "log"))
    browser.find('[data-level="critical"]')
    yield browser
    browser.run("localStorage.clear()")


def say(service: RunningService, text: str) -> None:
    """Have the service log a line with this text."""
    assert service.request("POST", f"/settings/{KEY}", [text])[0] == 200


def levels(page: Browser) -> set[str]:
    return set(page.run("return [...document.querySelectorAll('[data-line]')].map((row) => row.dataset.level)"))


def choose(page: Browser, level: str) -> None:
    page.find(f'#log-level option[value="{level}"]').click()


def test_newest_line_comes_first_and_new_lines_are_added(page: Browser, noisy: RunningService) -> None:
    say(noisy, "line-of-this-test")
    page.until(lambda: "line-of-this-test" in page.text("[data-line]"), "the new line is the first one")

    numbers = page.run("return [...document.querySelectorAll('[data-line]')].map((row) => Number(row.dataset.line))")
    assert numbers == sorted(set(numbers), reverse=True)


def test_level_and_text_filter_the_lines(page: Browser) -> None:
    assert levels(page) == {"info", "warning", "error", "critical"}
    choose(page, "error")
    page.until(lambda: levels(page) == {"error", "critical"}, "errors and worse remain")
    choose(page, "debug")
    page.until(lambda: "debug" in levels(page), "everything is shown")
    page.find("#log-text").send_keys("A PART failed")
    page.until(lambda: levels(page) == {"error"}, "the line with this text remains")
    page.find("#log-text").send_keys("nothing has this")
    page.until(lambda: "No line fits" in page.text("#log-empty"), "it says that nothing fits")


def test_pause_holds_the_lines_and_counts_the_new_ones(page: Browser, noisy: RunningService) -> None:
    page.click("#log-pause")
    first = page.text("[data-line]")
    say(noisy, "while-paused")
    page.until(lambda: " new" in page.text("#log-count"), "new lines are counted")
    assert page.text("[data-line]") == first
    assert page.find("#log-pause").get_attribute("aria-pressed") == "true"

    page.click("#log-pause")

    page.until(lambda: "while-paused" in page.text("[data-line]"), "the new line is shown")


def test_hostile_lines_are_text(page: Browser) -> None:
    choose(page, "info")
    page.until(lambda: MARKUP in page.text("main"), "the message is shown as it is")
    page.click(".log summary")
    page.until(lambda: MARKUP in page.text(".log pre"), "the traceback is shown as it is")

    assert page.all("main img, main script") == []
    assert page.run("return window.hacked ?? null") is None


def test_view_that_was_left_asks_no_more(page: Browser) -> None:
    page.run("location.hash = 'ports'")
    page.find("[data-port]")
    page.requests()
    asked: list[str] = []

    def others() -> int:
        """How often the page has asked for its ports since: every 0.7 s, where the log was asked for every 2 s."""
        asked.extend(page.requests())
        return sum("/ports?" in url for url in asked)

    page.until(lambda: others() >= 5, "the other polls go on")

    assert [url for url in asked if "/log?" in url] == []


def test_hidden_tab_does_not_ask_for_the_log(page: Browser, noisy: RunningService) -> None:
    page.open(address(noisy, "problems"))
    page.find("#bundle")
    page.run("Object.defineProperty(document, 'visibilityState', { get: () => window.seen ?? 'hidden' })")
    page.requests()
    page.run("location.hash = 'log'")
    page.find("#log-empty")
    assert [url for url in page.requests() if "/log?" in url] == []

    page.run("window.seen = 'visible'; document.dispatchEvent(new Event('visibilitychange'))")

    page.find("[data-line]")


def test_restarted_service_s_log_takes_the_place_of_the_old_one(page: Browser, noisy: RunningService) -> None:
    del noisy
    merged = """
      const { merged } = await import('./js/log_lines.js');
      const line = (number, time) => ({ number, time });
      const known = [line(3, 'c'), line(2, 'b')];
      return [
        merged(known, { lines: [line(3, 'c'), line(4, 'd')], newest: 4 }).map((one) => one.number),
        merged(known, { lines: [line(3, 'c')], newest: 3 }) === known,
        merged(known, { lines: [line(3, 'z'), line(4, 'y')], newest: 4 }),
        merged(known, { lines: [], newest: 1 }),
        merged([], { lines: [line(1, 'a'), line(2, 'b')], newest: 2 }).map((one) => one.number),
      ];
    """
    assert page.run_async(merged) == [[4, 3, 2], True, None, None, [2, 1]]


def test_bundle_is_downloaded_from_the_problems(page: Browser, tmp_path: Path) -> None:
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.run("location.hash = 'problems'")
    page.click("#bundle")
    page.until(lambda: "is saved" in page.text("#bundle-outcome"), "the bundle is saved")

    found = page.until(lambda: list(tmp_path.glob("hapticd-support-*.zip")), "the file is there")
    with zipfile.ZipFile(io.BytesIO(found[0].read_bytes())) as zipped:
        assert zipped.namelist() == [README, *CONTENTS]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_log_and_problems_fit_every_width_in_both_themes(page: Browser, theme: str, width: int) -> None:
    metrics: dict[str, Any] = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 900}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.run("document.documentElement.dataset.theme = arguments[0]", theme)
        for view, ready in (("log", "[data-line]"), ("problems", "#bundle")):
            page.run("location.hash = arguments[0]", view)
            page.find(ready)
            page.picture(pictures() / f"{view}-{width}-{theme}.png")
            assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
            wide = "return [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length"
            assert page.run(wide) == 0
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_runbook_of_an_alert_opens_at_its_section(browser: Browser, service: RunningService) -> None:
    browser.open(f"{address(service).split('#')[0]}runbook.html#hapticddevicestale")
    place = "return document.querySelector('#hapticddevicestale').getBoundingClientRect().top"
    browser.until(lambda: abs(browser.run(place)) < 100, "the section is at the top")
    assert "HapticdDeviceStale" in browser.text("h2:target")
    assert browser.console() == []
