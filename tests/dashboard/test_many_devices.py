"""Devices and ports where there are many: natural order, search and sorting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from selenium.webdriver.common.keys import Keys

from tests.dashboard.conftest import SETTINGS, address
from tests.support.browser.chromium import Browser
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.process import RunningService

TWELVE: Final = ",".join(["arm", "grip"] * 5 + ["compact", "pen"])


@pytest.fixture(scope="module")
def twelve(browser: Browser) -> Iterator[RunningService]:
    del browser
    with RunningService(simulate=TWELVE, settings={**SETTINGS, **FREE_PORTS}) as running:
        yield running


@pytest.fixture
def page(browser: Browser, twelve: RunningService) -> Iterator[Browser]:
    browser.open(address(twelve, "devices"))
    browser.until(lambda: len(browser.all("[data-device]")) == 12, "the devices")
    yield browser
    browser.driver.get("about:blank")


def ids(page: Browser) -> list[str]:
    found: list[str] = page.run(
        "return [...document.querySelectorAll('[data-device]')].map((one) => one.dataset.device)"
    )
    return found


def choose(page: Browser, order: str) -> None:
    page.find(f"#device-order option[value={order}]").click()


def test_ports_are_in_natural_order(page: Browser) -> None:
    page.run("location.hash = 'ports'")
    page.until(lambda: len(page.all("[data-port]")) == 12, "the ports")

    shown = page.run("return [...document.querySelectorAll('[data-port]')].map((one) => one.dataset.port)")

    assert shown == [f"sim{number}" for number in range(12)]


def test_ten_devices_are_sorted_by_id_by_kind_and_by_port(page: Browser, twelve: RunningService) -> None:
    groups = twelve.request("GET", "/devices")[1]
    entries = [(kind, one) for kind, group in groups.items() if isinstance(group, list) for one in group]
    by_port = {one["config"]["port"]: one["device_id"] for _, one in entries}
    as_in_frames = ids(page)
    kinds = {one["device_id"]: kind for kind, one in entries}

    choose(page, "port")
    wanted = [by_port[f"sim{number}"] for number in range(12)]
    page.until(lambda: ids(page) == wanted, "by port, sim2 before sim10")
    choose(page, "kind")
    page.until(lambda: [kinds[one] for one in ids(page)] == sorted(kinds.values()), "by kind")
    choose(page, "id")
    collated = page.run("return arguments[0].sort(new Intl.Collator('en', { numeric: true }).compare)", [*as_in_frames])
    page.until(lambda: ids(page) == collated, "by id")
    choose(page, "frame")
    page.until(lambda: ids(page) == as_in_frames, "as in frames")


def test_search_leaves_the_devices_that_fit_and_shows_all_again(page: Browser) -> None:
    field = page.find("#device-search")
    field.send_keys("Compact")
    page.until(lambda: len(ids(page)) == 1, "one compact")
    assert "1 of 12 devices" in page.text("[role=search]")
    field.send_keys("s of nobody")
    page.until(lambda: "No device fits" in page.text("main"), "none")

    page.click("main > p button")

    page.until(lambda: len(ids(page)) == 12, "all again")
    field.send_keys("sim11", Keys.ENTER)
    page.until(lambda: len(ids(page)) == 1, "found by its port")
    field.clear()


def test_search_is_not_there_for_fewer_than_ten_devices(browser: Browser, service: RunningService) -> None:
    browser.open(address(service, "devices"))
    browser.find("[data-device]")
    assert not browser.all("#device-search")
