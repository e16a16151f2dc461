"""Plots: a legend that names and colours the axes, zoom, values under the cursor or held still, and files of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

POSITION = '[data-plot="position"]'


@pytest.fixture
def page(browser: Browser, service: RunningService) -> Browser:
    browser.open(address(service, "plots"))
    browser.until(lambda: "\u2013" not in browser.text(f"{POSITION} .latest"), "values")
    return browser


def test_legend_has_a_line_in_the_colour_of_each_axis(page: Browser) -> None:
    colours = page.run(
        f"return [...document.querySelectorAll('{POSITION} .legend line')].map((one) => getComputedStyle(one).stroke)"
    )

    assert len(set(colours)) == 3
    assert [part for part in page.text(f"{POSITION} .latest").split() if part in "xyz"] == ["x", "y", "z"]


def test_paused_plots_stand_still(page: Browser) -> None:
    page.click("#plots-pause")
    before = page.text(f"{POSITION} .latest")
    frames = "const { frameCount } = await import('/dashboard/js/feed.js'); return frameCount();"
    begin = page.run_async(frames)
    page.until(lambda: page.run_async(frames) > begin + 25, "a second of frames")
    assert page.text(f"{POSITION} .latest") == before
    page.click("#plots-pause")
    page.until(lambda: page.text(f"{POSITION} .latest") != before, "they go on")


def test_values_are_saved_as_csv_and_the_picture_as_png(page: Browser, tmp_path: Path) -> None:
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})

    def saved(kind: str) -> Path:
        page.click(f'{POSITION} [data-save="{kind}"]')
        (found,) = page.until(lambda: list(tmp_path.glob(f"position-*.{kind}")), kind)
        return found

    head, *rows = saved("csv").read_text(encoding="utf-8").splitlines()
    assert head == "time_s,x_mm,y_mm,z_mm"
    assert rows
    assert all(len([float(cell) for cell in row.split(",") if cell]) == 4 for row in rows)
    assert saved("png").read_bytes().startswith(b"\x89PNG")


def test_drag_in_a_plot_zooms_and_a_double_click_shows_all_of_it(page: Browser) -> None:
    def shown() -> list[float]:
        return [
            float(part)
            for part in page.run(f"return document.querySelector('{POSITION} .plot').dataset.shown.split(' ')")
        ]

    area = page.find(f"{POSITION} .u-over")
    assert shown() == [-30, 0]
    ActionChains(page.driver).move_to_element_with_offset(area, -100, 0).click_and_hold().move_by_offset(
        150, 0
    ).release().perform()
    page.until(lambda: shown() != [-30, 0], "it is zoomed")
    low, high = shown()
    width = float(page.run("return arguments[0].clientWidth", area))
    assert high - low == pytest.approx(30 * 150 / width, rel=0.05)
    assert -30 < low < high < 0

    ActionChains(page.driver).double_click(area).perform()
    page.until(lambda: shown() == [-30, 0], "all of it")


def test_legend_shows_the_values_under_the_cursor(page: Browser) -> None:
    first = page.text(f"{POSITION} .latest")
    page.until(lambda: page.text(f"{POSITION} .latest") != first, "more than one row")
    page.click("#plots-pause")
    newest = page.text(f"{POSITION} .latest")
    assert " at " not in newest

    # The rows of a page that has just been opened are at the right end.
    area = page.find(f"{POSITION} .u-over")
    ActionChains(page.driver).move_to_element_with_offset(area, 0, 0).perform()

    page.until(lambda: " s" in page.text(f"{POSITION} .latest .dim"), "the time under the cursor")
    page.until(lambda: page.text(f"{POSITION} .latest").split("at")[0] != newest, "its values")
    page.run("document.getElementById('plots-pause').click()")
