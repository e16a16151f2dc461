"""The overview and the page of one device: what an operator looks at first, and does there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

import pytest

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser
from tests.support.clients.pushing_client import PushingClient
from tests.support.service.process import RunningService


def arm_of(service: RunningService) -> str:
    found: str = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    return found


@pytest.fixture
def page(browser: Browser, service: RunningService) -> Iterator[Browser]:
    browser.open(address(service))
    browser.find(f'[data-line="{arm_of(service)}"]')
    yield browser
    service.request("DELETE", "/stop")


def test_overview_is_first_and_leads_to_a_wall_while_nothing_real_is_there(page: Browser) -> None:
    assert page.text("#view-title").strip() == "Overview"
    page.until(lambda: page.run("return document.querySelector('#space')?.dataset.cursor"), "the device is drawn")
    labels = page.run("return [...document.querySelectorAll('.canvas-labels span')].map((one) => one.textContent)")
    assert labels == ["x", "y", "z", "grid 50 mm"]
    page.click("#feel a")
    page.find("#touch-begin")


def test_newest_events_have_no_statistics(page: Browser) -> None:
    page.until(lambda: page.text("#newest-events"), "events")
    assert "ticks at" not in page.text("#newest-events")
    assert len(page.all("#newest-events li")) <= 5


def test_force_of_a_device_is_a_bar_and_a_number(page: Browser, service: RunningService) -> None:
    arm = arm_of(service)
    with PushingClient(service.ws, "arm", arm):
        page.until(lambda: page.run("return document.querySelector('meter').value") > 0.5, "the bar shows the force")


def test_one_device_is_stopped_and_released_from_its_line(page: Browser, service: RunningService) -> None:
    arm = arm_of(service)
    page.click(f'[data-stop="{arm}"]')
    page.until(lambda: service.request("GET", "/stop")[1]["devices"] == [arm], "it alone is stopped")
    page.until(lambda: "stopped" in page.text(f'[data-line="{arm}"]'), "its line says so")
    page.click(f'[data-stop="{arm}"]')
    page.click("#question-yes")
    page.until(lambda: service.request("GET", "/stop")[1]["stopped"] is False, "released")


def test_device_has_a_page_with_its_values_and_trips(page: Browser, service: RunningService) -> None:
    arm = arm_of(service)
    page.click(f'[data-line="{arm}"] a')
    page.until(lambda: page.text("#view-title").strip() == f"Device {arm}", "its page")
    page.until(lambda: "Trips" in page.text("main"), "its trips")
    assert page.all(f'[data-device="{arm}"] .sparkline')
    page.run("location.hash = 'device/nobody'")
    page.until(lambda: "No device nobody" in page.text("#no-device"), "an unknown one is told")


def test_problem_is_told_with_what_mends_it_and_the_title_counts_it(page: Browser, service: RunningService) -> None:
    page.run("location.hash = 'problems'")
    service.request("POST", "/simulation/devices", {"type": "pen", "device_id": "09E1"})
    page.run("location.hash = 'devices'")
    page.find('[data-device="09E1"]')
    page.run("location.hash = 'problems'")

    service.request("DELETE", "/simulation/devices/09E1")

    card = '[data-problem="gone 09E1"]'
    page.until(lambda: "pen 09E1 went at" in page.text(card), "the device that went")
    assert page.driver.title.startswith("(")
    assert "problem" in page.text("#problem-count")
    page.click(f"{card} button")
    page.until(lambda: not page.all(card), "it was meant to go")


def test_hidden_tab_asks_nothing_whatever_view_it_shows(page: Browser, service: RunningService) -> None:
    first = page.driver.current_window_handle
    for view in ("overview", "space", "sessions", "simulation", "calibration", f"device/{arm_of(service)}"):
        page.run("location.hash = arguments[0]", view)
        page.find("#view-title")
        page.driver.switch_to.new_window("tab")
        # What was on its way when the tab was hidden is answered; then there is silence.
        page.until(lambda: not asked(page, service), f"{view}: silence")
        page.driver.close()
        page.driver.switch_to.window(first)
        page.until(lambda: page.text("#connection").endswith("connected"), "connected again")


def asked(page: Browser, service: RunningService) -> list[str]:
    """Requests to the service since the last call, over some hundred turns of the new tab."""
    page.requests()
    page.run_async("for (let turn = 0; turn < 90; turn++) await new Promise((done) => setTimeout(done, 16));")
    return [url for url in page.requests() if urlsplit(url).port == urlsplit(service.http).port]


# ---------------------------------------------------------------- which device is it?


def test_name_that_somebody_gives_is_shown_in_every_view(page: Browser, service: RunningService) -> None:
    arm = arm_of(service)
    page.click(f'[data-line="{arm}"] a')
    page.find("#device-name").send_keys("left arm\n")
    page.until(lambda: service.request("GET", f"/arm/{arm}/config/name")[1] == {"name": "left arm"}, "it is stored")
    try:
        page.until(lambda: page.text(".device-name") == f"left arm arm {arm}", "its own page shows it")
        for view, place in (
            ("overview", f'[data-line="{arm}"] strong'),
            ("devices", f'[data-device="{arm}"] h2'),
            ("calibration", "h2"),
        ):
            page.open(address(service, view))
            page.until(partial(_shows, page, place, "left arm"), f"{view} shows it")
        page.open(address(service, f"device/{arm}"))
        page.until(lambda: page.run("return document.querySelector('#device-name')?.value") == "left arm", "read again")
    finally:
        service.request("DELETE", f"/arm/{arm}/config/name")


def _shows(page: Browser, place: str, text: str) -> bool:
    return text in page.text(place)


def test_refused_name_says_why_and_stays_to_be_mended(page: Browser, service: RunningService) -> None:
    page.click(f'[data-line="{arm_of(service)}"] a')
    page.find("#device-name").send_keys("left/arm\n")
    page.until(lambda: "a name has no" in page.text("#which-told"), "the reason")
    assert page.run("return document.querySelector('#device-name').value") == "left/arm"


def test_device_vibrates_at_a_press_and_a_handle_lights_up(page: Browser, service: RunningService) -> None:
    arm = arm_of(service)
    page.click(f'[data-line="{arm}"] a')
    page.click("#identify")
    page.until(lambda: page.text("#which-told") == "It has vibrated three times.", "the sign is over")
    grip = service.request("GET", "/devices")[1]["grip"][0]["device_id"]
    page.open(address(service))
    page.find(f'[data-line="{grip}"]')
    assert not page.all(f'[data-line="{grip}"].pressed')
    service.request("POST", f"/simulation/grip/{grip}", {"buttons": {"a": True}})
    try:
        page.find(f'[data-line="{grip}"].pressed')
    finally:
        service.request("POST", f"/simulation/grip/{grip}", {"buttons": {"a": False}})
