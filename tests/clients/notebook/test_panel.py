"""The panel: numbers move, STOP and RELEASE reach the service, a service that goes is told, and nothing stays when the cell is run again."""

from __future__ import annotations

from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

ROW = "[data-device]"
SAID = ".hapticd-said"


def stopped(service: RunningService) -> bool:
    return bool(service.request("GET", "/stop")[1]["stopped"])


def sessions(service: RunningService) -> int:
    return int(service.request("GET", "/sessions")[1]["session_count"])


def test_cursor_moves_and_the_rate_of_the_loop_is_shown(panel: Browser) -> None:
    panel.shows(ROW)
    first = panel.text(ROW)

    assert first.startswith("arm ")
    panel.until(lambda: panel.text(ROW) != first, "the cursor moves")
    panel.until(lambda: panel.text(".hapticd-rate").endswith("Hz"), "the loop's rate")


def test_stop_and_release_reach_the_service(panel: Browser, service: RunningService) -> None:
    panel.until(lambda: panel.text(SAID) == "Not stopped", "the state is known")
    panel.click(".hapticd-stop")
    panel.until(lambda: panel.text(SAID).startswith("Stopped"), "it says so")
    assert stopped(service)
    panel.click(".hapticd-release")
    panel.until(lambda: panel.text(SAID) == "Not stopped", "released")
    assert not stopped(service)


def test_stop_from_elsewhere_is_shown(panel: Browser, service: RunningService) -> None:
    service.request("POST", "/stop")

    panel.until(lambda: panel.text(SAID).startswith("Stopped"), "it says so")


def test_service_that_goes_is_told_and_comes_back_by_itself(panel: Browser, service: RunningService) -> None:
    panel.shows(ROW)
    service.stop()
    try:
        panel.until(lambda: "does not answer" in panel.text(SAID), "the loss is told")
        panel.click(".hapticd-stop")
        panel.until(lambda: "STOP not delivered" in panel.text(SAID), "the failure is told")
    finally:
        service.start()
    panel.until(lambda: panel.text(SAID) == "Not stopped", "it is back")
    seen = panel.text(ROW)
    panel.until(lambda: panel.text(ROW) != seen, "the cursor moves again")


def test_ended_panel_closes_its_session(panel: Browser, service: RunningService) -> None:
    panel.shows(ROW)
    panel.until(lambda: sessions(service) == 1, "older pages are gone")

    panel.run("window.end()")

    panel.until(lambda: sessions(service) == 0, "its session is gone")
