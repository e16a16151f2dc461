"""The page while its service goes and comes back, on a service of its own."""

from __future__ import annotations

from urllib.parse import urlsplit

from selenium.webdriver.common.keys import Keys

from tests.dashboard.conftest import SETTINGS, address
from tests.support.browser.chromium import Browser
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.process import RunningService


def test_restart_shows_the_banner_and_the_page_comes_back(browser: Browser) -> None:
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as service:
        browser.open(address(service))
        browser.find("[data-device]")
        ports = {
            "communication/websocket/port": urlsplit(service.ws).port,
            "communication/websocket/legacy_port": urlsplit(service.ws_v30).port,
            "communication/events/port": urlsplit(service.events).port,
        }
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


def test_stop_that_cannot_be_sent_says_that_it_failed(browser: Browser) -> None:
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as service:
        browser.open(address(service))
        browser.find("[data-device]")
        service.stop()
        browser.find("body").send_keys(Keys.ESCAPE)
        browser.until(lambda: "STOP FAILED" in browser.text("[role=alert]"), "the failure is an alert")
        browser.driver.get("about:blank")
        service.start()
