"""STOP and RELEASE on the page, as another client sees them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from selenium.webdriver.common.keys import Keys

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser
from tests.support.clients.pushing_client import PushingClient
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

TRIES = 5
WITHIN_S = 0.1
# The page notes when a press reached it, by the clock that the service stamps its frames with.
NOTE_PRESS = """
window.pressedAt = null;
const note = () => { window.pressedAt ??= Date.now() / 1000; };
addEventListener('pointerdown', note, { capture: true });
addEventListener('keydown', note, { capture: true });
"""

PRESSES: dict[str, Callable[[Browser], None]] = {
    "click": lambda page: page.find("#stop").click(),
    "escape": lambda page: page.find("body").send_keys(Keys.ESCAPE),
    "pause key in a field": lambda page: page.find("#event-text").send_keys(Keys.PAUSE),
}


@pytest.fixture
def page(browser: Browser, service: RunningService) -> Browser:
    browser.open(address(service, "events"))
    browser.until(lambda: browser.text("#connection").endswith("connected"), "connected")
    browser.until(lambda: browser.text("#stop-state") == "Not stopped", "not stopped")
    return browser


def arm_of(service: RunningService) -> str:
    found: str = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    return found


@pytest.mark.parametrize("press", PRESSES)
def test_press_makes_the_force_zero_within_100_ms(page: Browser, service: RunningService, press: str) -> None:
    """A busy machine may be late; it is not late each time."""
    page.run(NOTE_PRESS)
    took: list[float] = []
    with PushingClient(service.ws, "arm", arm_of(service)) as client:
        while len(took) < TRIES and (not took or min(took) > WITHIN_S):
            eventually(lambda: client.force() > 0.5, "there is force", pause_s=0.01)
            page.run("window.pressedAt = null")
            PRESSES[press](page)
            page.until(lambda: "STOP acknowledged" in page.text("#stop-request"), "acknowledged")
            since = eventually(client.zero_since, "zero force", pause_s=0.01)
            took.append(since - page.run("return window.pressedAt"))
            assert service.request("GET", "/stop")[1]["everything"] is True
            service.request("DELETE", "/stop")
            page.until(lambda: page.text("#stop-state") == "Not stopped", "released")

    assert min(took) <= WITHIN_S, took


def test_stop_is_large_and_says_what_it_is_not(page: Browser) -> None:
    size = page.find("#stop").size
    assert min(size["height"], size["width"]) >= 64
    assert "not an emergency stop device" in page.text(".stop")


def test_stopped_state_is_an_alert_and_release_asks_back(page: Browser, service: RunningService) -> None:
    page.click("#stop")
    page.until(lambda: "Everything is stopped" in page.text("[role=alert]"), "the alert")
    page.click("#release")
    page.find("dialog[open]")
    assert page.run("return document.activeElement.id") == "question-no"
    page.click("#question-no")
    assert service.request("GET", "/stop")[1]["stopped"] is True

    page.click("#release")
    page.click("#question-yes")

    page.until(lambda: "RELEASE acknowledged" in page.text("#stop-request"), "acknowledged")
    page.until(lambda: not page.all("[role=alert]"), "the alert is gone")
    assert service.request("GET", "/stop")[1]["stopped"] is False


def test_stop_by_another_client_is_shown(page: Browser, service: RunningService) -> None:
    service.request("POST", "/stop")

    page.until(lambda: "Everything is stopped" in page.text("[role=alert]"), "the alert")


def is_stopped(service: RunningService) -> bool:
    stopped: bool = service.request("GET", "/stop")[1]["stopped"]
    return stopped


@pytest.mark.parametrize("key", [Keys.PAUSE, Keys.CONTROL + "."], ids=["Pause", "Ctrl+."])
def test_stop_keys_stop_while_a_dialog_is_open_and_while_a_field_has_the_focus(
    page: Browser, service: RunningService, key: str
) -> None:
    page.find("body").send_keys("?")
    page.find("dialog[open]").send_keys(key)
    page.until(lambda: is_stopped(service), "stopped with a dialog open")
    assert page.all("dialog[open]")
    page.find("dialog[open]").send_keys(Keys.ESCAPE)
    service.request("DELETE", "/stop")

    page.find("#event-text").send_keys("words", key)

    page.until(lambda: is_stopped(service), "stopped from a field")
    assert page.find("#event-text").get_property("value") == "words"
    page.find("#event-text").clear()


def test_first_escape_closes_a_dialog_and_the_second_stops(page: Browser, service: RunningService) -> None:
    page.find("body").send_keys("?")
    page.find("dialog[open]").send_keys(Keys.ESCAPE)
    page.until(lambda: not page.all("dialog[open]"), "closed")
    page.until(lambda: "Esc again stops" in page.text("#stop-request"), "what the next press does")
    assert not is_stopped(service)

    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)

    page.until(lambda: is_stopped(service), "stopped")


def test_first_escape_clears_a_search_and_the_second_stops(page: Browser, service: RunningService) -> None:
    page.find("#event-text").send_keys("nothing says this")
    page.until(lambda: not page.all("[data-event]"), "nothing is left")
    page.find("#event-text").send_keys(Keys.ESCAPE)
    page.until(lambda: page.all("[data-event]"), "the search is cleared")
    assert page.find("#event-text").get_property("value") == ""
    assert not is_stopped(service)

    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)

    page.until(lambda: is_stopped(service), "stopped")


def test_focus_goes_to_stop_after_a_release(page: Browser) -> None:
    page.click("#stop")
    page.click("#release")
    page.click("#question-yes")
    page.until(lambda: page.text("#stop-state") == "Not stopped", "released")

    page.until(lambda: page.run("return document.activeElement.id") == "stop", "the focus is on STOP")


def test_dialog_that_closes_takes_no_focus_from_who_types_by_then(page: Browser) -> None:
    page.find("body").send_keys("?")
    page.find("dialog[open]")

    focused = page.driver.execute_async_script(
        """
        const done = arguments[0];
        const field = document.getElementById("event-text");
        new MutationObserver((changes, observer) => {
          if (document.querySelector("dialog[open]")) return;
          observer.disconnect();
          field.focus();
          requestAnimationFrame(() => requestAnimationFrame(() => done(document.activeElement.id)));
        }).observe(document.body, { childList: true, subtree: true });
        document.querySelector("dialog[open]").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
        """
    )

    assert focused == "event-text"


def test_words_of_a_press_are_forgotten_when_another_client_releases(page: Browser, service: RunningService) -> None:
    page.click("#stop")
    page.until(lambda: "STOP acknowledged" in page.text("#stop-request"), "acknowledged")

    service.request("DELETE", "/stop")

    page.until(lambda: page.text("#stop-state") == "Not stopped", "released")
    page.until(lambda: "acknowledged" not in page.text("#stop-request"), "the old words are gone")


def test_title_of_the_tab_says_that_everything_is_stopped(page: Browser) -> None:
    page.click("#stop")
    page.until(lambda: page.driver.title.startswith("STOPPED"), "the title")
    page.click("#release")
    page.click("#question-yes")
    page.until(lambda: not page.driver.title.startswith("STOPPED"), "the title again")


def test_stop_keeps_its_colour_where_the_system_chooses_them(page: Browser) -> None:
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "forced-colors", "value": "active"}]}
    )
    try:
        assert page.run("return matchMedia('(forced-colors: active)').matches")
        assert (
            page.run("return getComputedStyle(document.getElementById('stop')).backgroundColor") == "rgb(196, 13, 20)"
        )
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
