"""The page while its service goes and comes back, on a service of its own."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.dashboard.conftest import SETTINGS, address
from tests.support.browser.chromium import Browser
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.process import RunningService


def test_restart_shows_the_banner_and_the_page_comes_back(browser: Browser) -> None:
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as service:
        browser.open(address(service, "devices"))
        browser.find("[data-device]")
        ports = service.ports
        state = service.state_dir
        service.stop()
        browser.until(lambda: "Connection lost" in browser.text("[role=alert]"), "the banner")
        browser.until(lambda: browser.all(".card.stale"), "the values are grey")
        assert "old" in browser.text(".card.stale .age")
        with RunningService(settings={**SETTINGS, **ports}, state_dir=state):
            browser.until(lambda: browser.text("#connection").endswith("connected"), "connected again")
            browser.until(lambda: not browser.all("[role=alert]"), "the banner is gone")
            browser.until(lambda: not browser.all(".card.stale"), "the values are new")
            browser.driver.get("about:blank")
        service.start()


def test_facts_of_a_lost_service_are_grey_and_say_how_old_they_are(browser: Browser) -> None:
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as service:
        browser.open(address(service, "devices"))
        browser.until(lambda: browser.text("#stop-state") == "Not stopped", "the state is known")
        service.stop()
        for fact in ("#stop-state", "#loop"):
            browser.until(lambda fact=fact: "s old" in browser.text(fact), f"{fact} says its age")  # type: ignore[misc]
            assert "stale" in str(browser.find(fact).get_attribute("class"))
        browser.until(lambda: browser.driver.title.startswith("("), "the title counts it")
        browser.driver.get("about:blank")
        service.start()


def test_stop_that_is_not_delivered_says_so_and_is_forgotten_when_the_state_is_known(browser: Browser) -> None:
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as service:
        browser.open(address(service, "devices"))
        browser.find("[data-device]")
        ports = service.ports
        state = service.state_dir
        service.stop()
        browser.find("body").send_keys(Keys.ESCAPE)
        browser.until(lambda: "STOP not delivered" in browser.text("[role=alert]"), "the failure is an alert")
        assert "press again" in browser.text("[role=alert]")
        with RunningService(settings={**SETTINGS, **ports}, state_dir=state) as again:
            browser.until(lambda: browser.text("#stop-state") == "Not stopped", "the state is known")
            browser.until(lambda: not browser.all("[role=alert]"), "the failure is forgotten")
            assert again.request("GET", "/stop")[1]["stopped"] is False
            browser.driver.get("about:blank")
        service.start()
