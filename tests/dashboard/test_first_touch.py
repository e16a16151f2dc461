"""The guided first touch: three steps in the page, without a client program."""

from __future__ import annotations

from collections.abc import Callable

from selenium.webdriver.common.keys import Keys

from tests.dashboard.conftest import address, pictures
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService


def test_guided_first_touch_ends_with_a_force_on_the_arm(browser: Browser, service: RunningService) -> None:
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    # A browser that waits for a processor may be late with its commands.
    service.request("POST", "/settings/sessions/command_timeout", {"value": 1.0})
    browser.open(address(service, "touch"))
    browser.click("#touch-begin")

    def step() -> str:
        return browser.text("#touch-steps [aria-current=step]")

    def press(key: str, holds: Callable[[], bool]) -> bool:
        """Press once; whether `holds` then."""
        browser.find("#touch-pad").send_keys(key)
        return holds()

    def force() -> float:
        found: float = service.request("GET", f"/arm/{arm}")[1]["state"]["current_cursor_force"]["z"]
        return found

    browser.until(lambda: step() == "Move the hand", "the first step")
    # The hand circled before: it rests now, and the step is done by nobody else.
    assert service.request("GET", f"/simulation/arm/{arm}")[1]["hand"]["path"] == "rest"
    browser.until(lambda: press(Keys.ARROW_RIGHT, lambda: step() == "Feel a wall"), "the hand has moved")
    browser.until(lambda: press(Keys.PAGE_DOWN, lambda: step() != "Feel a wall"), "the wall is felt")
    browser.find("#force-arrow")
    browser.until(lambda: press(Keys.PAGE_DOWN, lambda: "Finish" in browser.text("#touch-end")), "the force is seen")
    browser.until(lambda: press(Keys.PAGE_DOWN, lambda: force() > 0.9), "the arm has the force")
    assert "rendered at the rate of the control loop" in browser.text("#touch-words")
    browser.picture(pictures() / "first-touch.png")

    browser.click("#touch-end")

    browser.find("#touch-begin")
    browser.until(lambda: force() == 0, "the wall is gone")
    assert service.request("GET", "/sessions")[1]["session_count"] == 1
    service.request("DELETE", "/settings/sessions/command_timeout")
    browser.until(
        lambda: service.request("GET", f"/simulation/arm/{arm}")[1]["hand"]["path"] == "circle",
        "the hand goes on as before",
    )


def test_stop_ends_the_touch_and_says_so(browser: Browser, service: RunningService) -> None:
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    browser.open(address(service, "touch"))
    browser.click("#touch-begin")
    browser.find("#touch-steps")

    browser.click("#stop")

    browser.until(lambda: "the touch has ended" in browser.text("#touch-trouble"), "it says so")
    browser.until(
        lambda: service.request("GET", f"/simulation/arm/{arm}")[1]["hand"]["path"] == "circle",
        "the hand goes on as before",
    )
    assert not browser.all("#touch-steps")
