"""What the page makes of the loop's numbers: the chip `slow`, and statistics that come by themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

# Puts rates into the metrics page as the browser reads it: {hz, target}.
TOLD = """
const before = window.fetch;
window.told = null;
window.fetch = async (url, options) => {
  const reply = await before(url, options);
  if (window.told === null || !new URL(url, location).pathname.endsWith('/metrics')) return reply;
  const page = (await reply.text())
    .replace(/^hapticd_loop_frequency_hertz .*$/m, `hapticd_loop_frequency_hertz ${told.hz}`)
    .replace(/^hapticd_loop_target_frequency_hertz .*$/m, `hapticd_loop_target_frequency_hertz ${told.target}`);
  return new Response(page, { status: reply.status, headers: reply.headers });
};
"""
JUDGED = """
const { LoopJudge } = await import('/dashboard/js/loop_judge.js');
const judge = new LoopJudge();
return args[0].map(([now, hz, target]) => judge.take(now, {
  frequency_hertz: hz, target_frequency_hertz: target, ticks_total: 4000 * now, ticks_missed_total: 0, realtime: 1 }).slow);
"""


@pytest.fixture
def page(browser: Browser, service: RunningService) -> Iterator[Browser]:
    browser.open(address(service, "events"))
    browser.until(lambda: "4,000 Hz" in browser.text("#loop"), "the loop's numbers")
    browser.run(TOLD)
    yield browser
    browser.driver.get("about:blank")


def test_rate_that_still_follows_a_new_frequency_is_not_called_slow(page: Browser) -> None:
    page.run("window.told = { hz: 4000, target: 8000 }")

    page.until(lambda: "4,000 of 8,000 Hz" in page.text("#loop"), "the new target")

    assert not page.all("#loop .chip")


def test_rate_far_below_an_unchanged_frequency_is_called_slow(page: Browser) -> None:
    page.run("window.told = { hz: 3000, target: 4000 }")

    page.until(lambda: "slow" in page.text("#loop .chip"), "it is called slow")
    page.run("window.told = null")
    page.until(lambda: not page.all("#loop .chip"), "no longer")


def test_rate_is_slow_from_five_seconds_after_a_change_of_the_frequency(page: Browser) -> None:
    readings = [
        (10, 4000, 4000),
        (11, 4000, 8000),
        (15.9, 4000, 8000),
        (16, 4000, 8000),
        (17, 7900, 8000),
        (18, 2000, 1000),
    ]

    assert page.run_async(JUDGED, readings) == [False, False, False, True, False, False]


def test_statistics_of_the_loop_are_shown_when_asked_for_and_take_no_place_of_events(
    page: Browser, service: RunningService
) -> None:
    lists = """
        const { events, loopStatistics } = await import('/dashboard/js/state.js');
        return [events.value, loopStatistics.value].map((list) => list.map((one) => one.name));
    """
    service.request("POST", "/settings/control/statistics_period", {"value": 1})
    try:
        page.until(lambda: len(page.run_async(lists)[1]) >= 2, "statistics have come")
        page.until(lambda: page.all("[data-event]"), "events")
        events, statistics = page.run_async(lists)
        assert "main-loop-statistics" not in events
        assert set(statistics) == {"main-loop-statistics"}
        assert not page.all('[data-event="main-loop-statistics"]')

        page.click("#event-statistics")

        page.find('[data-event="main-loop-statistics"]')
        assert not page.all('[data-event]:not([data-event="main-loop-statistics"])')
        page.click("#event-statistics")
        page.until(lambda: not page.all('[data-event="main-loop-statistics"]'), "events again")
    finally:
        service.request("DELETE", "/settings/control/statistics_period")
