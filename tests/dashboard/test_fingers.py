"""The page on a phone and a tablet: targets that a finger hits, nothing off the screen, and drags that scroll or turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.dashboard.conftest import address
from tests.dashboard.test_accessibility import READY
from tests.dashboard.test_views import VIEWS
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

PHONE: Final = (390, 844)
TABLET: Final = (768, 1024)
LEAST_PX: Final = 44
# What a finger is meant to hit: a field with its label is one target. Hidden ones have no box.
TARGETS: Final = """
const least = arguments[0];
const small = [];
for (const one of document.querySelectorAll('button, a[href], input, select, summary, [role=tab], [role=switch]')) {
  if (one.closest('.skip') || getComputedStyle(one).visibility === 'hidden') continue;
  const target = one.matches('input[type=checkbox]') ? (one.closest('label, .check') ?? one) : one;
  const { width, height } = target.getBoundingClientRect();
  if (width === 0 || height === 0) continue;
  // A pixel is a fraction of a rem: what is drawn 44 px high may measure 43.99.
  if (width < least - 0.5 || height < least - 0.5) {
    small.push(`${Math.round(width)} x ${Math.round(height)}: ${(one.outerHTML.slice(0, 70) + ' ' + one.innerText).replace(/\\s+/g, ' ')}`);
  }
}
return small;
"""
# Controls and messages that are beside the window, though the page itself does not scroll sideways.
OFF_SCREEN: Final = """
const beside = [];
for (const one of document.querySelectorAll('button, a[href], input, select, td, th, .alert, .outcome, .chip, dd, #newest-events li')) {
  if (one.closest('.skip, .hidden, thead') || one.matches('.hidden')) continue;
  const { left, right, width } = one.getBoundingClientRect();
  if (width > 0 && (left < -0.5 || right > innerWidth + 0.5)) beside.push(`${Math.round(left)} to ${Math.round(right)}: ${one.outerHTML.slice(0, 90)}`);
}
return beside;
"""

# Whether the menu's button shows less than its title, or is higher than STOP beside it.
CUT: Final = """
const one = document.getElementById('menu-button');
return one.scrollWidth > one.clientWidth || one.offsetHeight > document.getElementById('stop').offsetHeight;
"""


@pytest.fixture
def page(browser: Browser, service: RunningService) -> Iterator[Browser]:
    browser.be_touch_screen(*PHONE)
    browser.open(address(service, "devices"))
    browser.find("[data-device]")
    yield browser
    browser.be_window()
    browser.driver.get("about:blank")


def show(page: Browser, view: str) -> None:
    page.run("location.hash = arguments[0]", view)
    page.find(f'.menu a[href="#{view}"][aria-current=page]')
    page.find(READY[view])


@pytest.mark.parametrize("size", [PHONE, TABLET], ids=["phone", "tablet"])
def test_everything_that_is_touched_is_at_least_44_px_wide_and_high(
    page: Browser, service: RunningService, size: tuple[int, int]
) -> None:
    page.be_touch_screen(*size)
    assert page.run("return matchMedia('(pointer: coarse)').matches")
    small: dict[str, str] = {}

    def note(what: str) -> None:
        small.update((target, what) for target in page.run(TARGETS, LEAST_PX) if target not in small)

    for view in VIEWS:
        show(page, view)
        note(view)
    page.run("location.hash = arguments[0]", f"device/{service.request('GET', '/devices')[1]['arm'][0]['device_id']}")
    page.find("[data-device] .sparkline")
    note("device")
    page.run("document.getElementById('menu-button').click()")
    page.find(".menu.is-open")
    note("menu")
    show(page, "touch")
    page.run("document.getElementById('touch-begin').click()")
    page.find("#touch-pad")
    note("first touch, running")
    page.run("document.getElementById('touch-end').click()")
    page.find("body").send_keys("?")
    page.find("dialog[open]")
    note("list of keys")

    assert small == {}


def test_nothing_is_beside_the_screen_of_a_phone(page: Browser, service: RunningService) -> None:
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    beside: dict[str, Any] = {}
    service.request("POST", f"/arm/{arm}/stop")
    try:
        page.until(lambda: "Stopped" in page.text("[role=alert]"), "the alert")
        for view in VIEWS:
            show(page, view)
            if found := page.run(OFF_SCREEN):
                beside[view] = found
    finally:
        service.request("DELETE", "/stop")

    assert beside == {}


@pytest.mark.parametrize("view", ["sessions", "ports"])
def test_row_of_a_table_is_a_card_on_a_phone_and_a_line_on_a_tablet(page: Browser, view: str) -> None:
    show(page, view)
    cells = """
        const row = document.querySelector('.as-cards tbody tr');
        const shown = [...row.querySelectorAll('td[data-name]')].filter((one) => one.getClientRects().length > 0);
        const boxes = shown.map((one) => one.getBoundingClientRect());
        const names = shown.map((one) => getComputedStyle(one, '::before').content);
        return [boxes.map((box) => box.left), boxes.map((box) => box.top), names];
    """
    lefts, tops, names = page.run(cells)
    assert len(set(lefts)) == 1
    assert tops == sorted(set(tops))
    assert all(name not in {"none", "normal"} for name in names)

    page.be_touch_screen(*TABLET)

    lefts, tops, names = page.run(cells)
    assert lefts == sorted(set(lefts))
    assert len(set(tops)) == 1
    assert set(names) <= {"none", "normal"}


def test_card_of_a_healthy_port_says_what_it_has_and_no_more(page: Browser) -> None:
    show(page, "ports")
    shown = page.run("return document.querySelector('.as-cards tbody tr').innerText")

    assert shown.split("\n")[0] == "sim0"
    assert "active" in shown
    for missing in ("Reason", "Since", "Reset"):
        assert missing not in shown


@pytest.mark.parametrize("faulty", [False, True])
def test_title_of_the_view_stands_whole_in_the_bar_of_a_phone(
    page: Browser, service: RunningService, *, faulty: bool
) -> None:
    service.request("POST", "/simulation/grip/0", {"fault": "unplug" if faulty else "none"})
    try:
        page.until(lambda: ("1" in page.text("#problem-count")) is faulty, "the number of problems")
        cut = []
        for view in VIEWS:
            show(page, view)
            if page.run(CUT):
                cut.append(view)
    finally:
        service.request("POST", "/simulation/grip/0", {"fault": "none"})

    assert cut == []


def test_event_is_a_card_on_a_phone_with_its_message_below_its_time(page: Browser) -> None:
    show(page, "events")
    boxes = page.run(
        "return [...document.querySelector('[data-event]').cells].map((one) => one.getBoundingClientRect())"
        ".map((box) => [box.left, box.top, box.right])"
    )

    (time_left, time_top, _), (_, level_top, _), (name_left, name_top, _), (message_left, message_top, right) = boxes
    assert abs(level_top - time_top) < LEAST_PX / 2
    assert time_left == name_left == message_left
    assert time_top < name_top < message_top
    assert right <= PHONE[0]


@pytest.mark.parametrize("size", [PHONE, TABLET, (1024, 768)], ids=["phone", "tablet", "low tablet"])
def test_disconnect_is_on_the_screen(page: Browser, size: tuple[int, int]) -> None:
    page.be_touch_screen(*size)
    show(page, "sessions")

    left, right = page.run(
        "const box = document.querySelector('[data-session] button').getBoundingClientRect(); return [box.left, box.right]"
    )

    assert 0 <= left < right <= size[0]


def middle(page: Browser, selector: str) -> tuple[float, float]:
    x, y = page.run(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.left + box.width / 2, box.top + box.height / 2]",
        selector,
    )
    return x, y


@pytest.mark.parametrize("view", ["overview", "space"])
def test_finger_on_the_3d_view_scrolls_the_page_up_and_turns_the_view_sideways(page: Browser, view: str) -> None:
    show(page, view)
    page.run("document.querySelector('#space').scrollIntoView({ block: 'center' })")
    labels = "return [...document.querySelectorAll('.canvas-labels span')].map((one) => one.style.transform).join()"
    page.until(lambda: page.run(labels).strip(","), "the labels are placed")
    x, y = middle(page, "#space")
    top, turned = page.run("return scrollY"), page.run(labels)

    page.drag_finger((x, y), (x + 90, y))
    page.until(lambda: page.run(labels) != turned, "the view has turned")
    assert page.run("return scrollY") == top

    page.drag_finger((x, y), (x, y - 120))
    page.until(lambda: page.run("return scrollY") > top + 60, "the page has scrolled")


def test_chosen_view_is_in_sight_when_the_menu_of_a_low_phone_opens(page: Browser) -> None:
    page.be_touch_screen(667, 375)
    show(page, VIEWS[-1])
    page.run("document.getElementById('menu-button').click()")
    page.find(".menu.is-open")

    page.until(
        lambda: page.run(
            "const menu = document.getElementById('menu').getBoundingClientRect();"
            "const chosen = document.querySelector('.menu [aria-current]').getBoundingClientRect();"
            "return chosen.top >= menu.top && chosen.bottom <= Math.min(menu.bottom, innerHeight)"
        ),
        "it is in sight",
        within_s=5,
    )
