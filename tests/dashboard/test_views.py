"""The dashboard in a real browser: what each view shows and does. No test here needs a client program but as a subject."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from websockets.sync.client import connect

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser, leaves_the_machine
from tests.support.service.process import RunningService

VIEWS = (
    "overview",
    "devices",
    "space",
    "plots",
    "touch",
    "simulation",
    "problems",
    "events",
    "sessions",
    "ports",
    "log",
    "settings",
    "calibration",
)
# The page asks why the service is not ready, and is answered so.
UNREADY = "readyz?format=json&vocabulary=neutral - Failed to load resource: the server responded with a status of 503"
# The only device with motors may have gone between the frame that showed it and the question whether it brakes.
GONE = "resume?format=json&vocabulary=neutral - Failed to load resource: the server responded with a status of 422"


def ids(service: RunningService, kind: str) -> list[str]:
    _, found = service.request("GET", "/devices")
    return [entry["device_id"] for entry in found[kind]]


@pytest.fixture
def page(browser: Browser, service: RunningService) -> Iterator[Browser]:
    """The dashboard with every device shown."""
    browser.console()
    browser.open(address(service, "devices"))
    browser.find(f'[data-device="{ids(service, "arm")[0]}"]')
    yield browser
    assert [line for line in browser.console() if not any(known in line for known in (GONE, UNREADY))] == []


def test_no_view_logs_an_error_or_asks_another_machine(page: Browser) -> None:
    page.requests()
    for view in VIEWS:
        page.run("location.hash = arguments[0]", view)
        page.until(lambda view=view: page.all(f'.menu a[href="#{view}"][aria-current=page]'), view)  # type: ignore[misc]
        page.find("#view-title")
    page.run("location.hash = 'space'")
    page.until(lambda: page.run("return document.querySelector('#space').dataset.cursor"), "the 3D view is drawn")

    asked = page.requests()

    assert asked
    assert [url for url in asked if leaves_the_machine(url)] == []


def test_3d_library_comes_with_the_3d_view_only(page: Browser, service: RunningService) -> None:
    page.requests()
    page.open(address(service, "devices"))
    page.find("[data-device]")
    before = page.requests()
    page.run("location.hash = 'space'")
    page.until(lambda: page.run("return document.querySelector('#space').dataset.cursor"), "the 3D view is drawn")

    assert any("vendor/ui.js" in url for url in before)
    assert not any("vendor/scene.js" in url for url in before)
    assert any("vendor/scene.js" in url for url in page.requests())


def test_device_appears_and_vanishes_while_the_page_is_open(page: Browser, service: RunningService) -> None:
    service.request("POST", "/simulation/devices", {"type": "compact", "device_id": "02C4"})
    card = '[data-device="02C4"]'
    page.find(card)
    page.until(lambda: "7.5" in page.text(card), "its firmware is shown")

    service.request("DELETE", "/simulation/devices/02C4")

    page.until(lambda: not page.all(card), "it is gone")
    page.until(lambda: "compact 02C4 unplugged at" in page.text('[data-gone="02C4"]'), "it says so")
    page.run("location.hash = 'ports'")
    page.until(
        lambda: len(page.all("[data-port]")) == len(service.request("GET", "/ports")[1]["ports"]), "its port is gone"
    )
    assert all(port["device_id"] for port in service.request("GET", "/ports")[1]["ports"])


def test_3d_cursor_follows_the_simulated_hand(page: Browser, service: RunningService) -> None:
    arm = ids(service, "arm")[0]
    page.run("location.hash = 'space'")
    drawn = "return document.querySelector('#space')?.dataset.cursor ?? ''"
    page.until(lambda: page.run(drawn), "the cursor is drawn")

    cell = '#space-numbers [data-row="cursor"] td'

    def shown() -> list[float]:
        return [float(part) for part in str(page.run(drawn)).split()]

    for x in (0.05, -0.05):
        place = {"hand": {"position": {"x": x, "y": -0.12, "z": 0.14}, "path": "rest"}}
        assert service.request("POST", f"/simulation/arm/{arm}", place)[0] == 200
        page.until(lambda x=x: abs(shown()[0] - x) < 0.003, f"the cursor is at x = {x}")  # type: ignore[misc]
        page.until(
            lambda x=x: abs(float(page.text(cell).replace("\u2212", "-")) - 1000 * x) < 3,  # type: ignore[misc]
            "the table says the same",
        )


def test_hand_follows_the_keyboard_and_the_pointer(page: Browser, service: RunningService) -> None:
    arm = ids(service, "arm")[0]
    page.run("location.hash = 'simulation'")
    pad = page.find("#pad")

    def hand() -> dict[str, float]:
        found: dict[str, float] = service.request("GET", f"/simulation/arm/{arm}")[1]["hand"]["position"]
        return found

    before = hand()["x"]
    pad.send_keys(Keys.ARROW_RIGHT)
    page.until(lambda: hand()["x"] == pytest.approx(before + 0.005), "the arrow key moved it by 5 mm")
    ActionChains(page.driver).click_and_hold(page.find("#pad")).move_by_offset(60, 0).release().perform()
    page.until(lambda: hand()["x"] > before + 0.02, "the pointer moved it")


def test_buttons_and_attachment_of_the_grip_follow_the_page(page: Browser, service: RunningService) -> None:
    grip = ids(service, "grip")[0]
    page.run("location.hash = 'simulation'")
    page.find(f'#simulated option[value="{grip}"]').click()
    page.click('[data-button="a"]')
    page.until(lambda: service.request("GET", f"/grip/{grip}")[1]["state"]["buttons"]["a"], "the button is down")
    page.click("#attached")
    page.until(lambda: service.request("GET", f"/simulation/grip/{grip}")[1]["attached"] is False, "it is pulled off")
    service.request("POST", f"/simulation/grip/{grip}", {"attached": True, "buttons": {"a": False}})


def test_setting_is_changed_and_put_back(page: Browser, service: RunningService) -> None:
    key = "sessions/command_timeout"
    page.run("location.hash = 'settings'")
    page.find("#setting-search").send_keys("command_timeout")
    row = f'[data-setting="{key}"]'
    page.until(lambda: len(page.all(".setting")) == 1, "the search leaves one")
    field = page.find(f"{row} input")
    field.clear()
    field.send_keys("0.2", Keys.ENTER)
    page.until(lambda: page.text(f"{row} [role=status]") == "Saved.", "it is saved")
    assert service.request("GET", f"/settings/{key}")[1]["data"]["value"] == 0.2

    page.find(f"{row} button[type=button]").click()
    page.until(lambda: page.text(f"{row} [role=status]") == "Back to the default.", "it is put back")
    assert service.request("GET", f"/settings/{key}")[1]["data"]["value"] == 0.05


def test_setting_out_of_range_is_refused_in_words(page: Browser, service: RunningService) -> None:
    page.run("location.hash = 'settings'")
    page.find("#setting-search").send_keys("control/frequency")
    field = page.find('[data-setting="control/frequency"] input')
    field.clear()
    field.send_keys("99", Keys.ENTER)

    told = '[data-setting="control/frequency"] [role=status]'
    page.until(lambda: "a whole number from 100 to 32000 Hz" in page.text(told), "the range is told")
    assert field.get_attribute("aria-invalid") == "true"
    assert service.request("GET", "/settings/control/frequency")[1]["data"]["value"] == 4000


def test_settings_have_sections_switches_and_a_list_of_changed_ones(page: Browser, service: RunningService) -> None:
    key = "features/brake_latch"
    page.run("location.hash = 'settings'")
    page.click('[data-jump="features"]')
    page.until(lambda: page.run("return document.activeElement.id") == "section-features", "the jump")
    page.click(f'[data-setting="{key}"] [role=switch]')
    page.until(lambda: page.text(f'[data-setting="{key}"] [role=status]') == "Saved.", "it is saved by one press")
    assert service.request("GET", f"/settings/{key}")[1]["data"]["value"] is True
    page.run("scrollTo(0, 0)")
    page.click("#setting-changed")
    page.until(lambda: key in [one.get_attribute("data-setting") for one in page.all(".setting")], "it is listed")
    assert all("changed" in one.text for one in page.all(".setting"))
    service.request("DELETE", f"/settings/{key}")
    page.click("#setting-changed")


def test_search_without_a_setting_says_so_and_shows_all_again(page: Browser) -> None:
    page.run("location.hash = 'settings'")
    page.find(".setting")
    page.find("#setting-search").send_keys("nothing says this")
    page.until(lambda: "No setting fits" in page.text("#no-setting"), "it says so")
    page.click("#no-setting button")
    page.until(lambda: len(page.all(".setting")) > 20, "all again")


def test_edit_that_is_not_saved_asks_before_it_is_lost(page: Browser) -> None:
    page.run("location.hash = 'settings'")
    page.find('[data-setting="sessions/command_timeout"] input').send_keys("9")
    page.click('.menu a[href="#ports"]')
    page.until(lambda: "sessions/command_timeout" in page.text("#question"), "it asks")
    page.click("#question-no")
    page.until(lambda: page.run("return location.hash") == "#settings", "it stays")
    assert str(page.find('[data-setting="sessions/command_timeout"] input').get_property("value")).endswith("9")
    page.click('.menu a[href="#ports"]')
    page.click("#question-yes")
    page.until(lambda: page.text("#view-title").strip() == "Ports", "it leaves")


def test_setting_of_the_next_start_says_so(page: Browser, service: RunningService) -> None:
    key = "communication/max_sessions"
    page.run("location.hash = 'settings'")
    page.find("#setting-search").send_keys(key)
    field = page.find(f'[data-setting="{key}"] input')
    field.clear()
    field.send_keys("60", Keys.ENTER)

    page.until(lambda: "Acts at the next start" in page.text(f'[data-setting="{key}"]'), "the restart is told")
    service.request("DELETE", f"/settings/{key}")


def test_events_are_filtered_by_text_and_level(page: Browser, service: RunningService) -> None:
    page.run("location.hash = 'events'")
    grip = ids(service, "grip")[0]
    service.request("POST", f"/simulation/grip/{grip}", {"battery_level": 0.1})
    page.find('[data-event="device-battery-low"]')
    assert page.all('[data-event="session-opened"]')

    page.find("#event-level option[value=warning]").click()
    page.until(lambda: not page.all('[data-event="session-opened"]'), "information is left out")
    page.find("#event-text").send_keys("nothing says this")
    page.until(lambda: not page.all("[data-event]"), "nothing is left")
    page.find("#event-text").send_keys(*[Keys.BACKSPACE] * 20)
    page.find("#event-text").send_keys("CHARGE")
    page.until(lambda: page.all('[data-event="device-battery-low"]'), "the text is found")
    page.find("#event-text").send_keys(*[Keys.BACKSPACE] * 20)
    page.find("#event-level option[value=info]").click()
    service.request("POST", f"/simulation/grip/{grip}", {"battery_level": 0.9})


def test_paused_events_stay_as_they_are(page: Browser, service: RunningService) -> None:
    def newest() -> str:
        return page.find("[data-event]").text

    page.run("location.hash = 'events'")
    page.find("[data-event]")
    page.click("#event-pause")
    paused = newest()
    with connect(service.ws):
        pass
    page.until(lambda: "new" in page.text("[role=search]"), "new ones are counted")
    assert newest() == paused
    page.click("#event-pause")
    # The list has a bound: on a machine with many events it may not grow.
    page.until(lambda: newest() != paused, "they are shown")


def test_session_is_shown_and_disconnected(page: Browser, service: RunningService) -> None:
    with connect(f"{service.ws}/?vocabulary=neutral") as session:
        session_id = json.loads(session.recv())["session_id"]
        session.send(json.dumps({"session": {"configure": {"profile": {"name": "painter"}}}}))
        session.recv()
        page.run("location.hash = 'sessions'")
        row = f'[data-session="{session_id}"]'
        page.until(lambda: "painter" in page.text(row), "its profile is shown")
        page.click(f"{row} button")
        page.click("#question-yes")
        page.until(lambda: not page.all(row), "it is gone")
        with pytest.raises(Exception, match="disconnected over HTTP"):
            session.recv(timeout=10)


@pytest.mark.parametrize("button", [".alert button", "[data-problem] button"])
def test_blocked_port_is_reset_where_it_is_told(page: Browser, service: RunningService, button: str) -> None:
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    port = service.request("GET", f"/arm/{arm}")[1]["config"]["port"]
    page.run("location.hash = 'problems'")
    service.request("POST", f"/simulation/arm/{arm}", {"fault": "connection_loop"})
    page.until(lambda: page.text(f'[data-problem="port {port}"]'), "the problem")
    assert not page.all(f'[data-problem="gone {arm}"]'), "one cause is one problem"
    service.request("POST", f"/simulation/arm/{arm}", {"fault": "none"})
    page.click(button)
    page.until(lambda: not page.all(f'[data-problem="port {port}"]'), "it is reset")
    page.until(lambda: service.request("GET", f"/arm/{arm}")[1]["status"]["ready"], "the arm is back")


def test_plots_of_a_device_that_is_unplugged_show_no_other_one(page: Browser, service: RunningService) -> None:
    added = service.request("POST", "/simulation/devices", {"type": "arm", "device_id": "B0A7"})[0]
    assert added == 200
    try:
        page.run("location.hash = 'plots'")
        page.until(lambda: "B0A7" in page.text("#mover"), "it can be chosen")
        page.run(
            "const box = document.getElementById('mover'); box.value = 'B0A7'; box.dispatchEvent(new Event('change'))"
        )
        page.until(lambda: "of B0A7" in page.text('[data-plot="position"]'), "its plots say so")
        service.request("POST", "/simulation/arm/B0A7", {"fault": "unplug"})
        page.until(lambda: "B0A7, unplugged" in page.text("#mover"), "it is told")
        assert "of no device" in page.text('[data-plot="position"]')
        service.request("POST", "/simulation/arm/B0A7", {"fault": "none"})
        page.until(lambda: "of B0A7" in page.text('[data-plot="position"]'), "it is back")
    finally:
        service.request("DELETE", "/simulation/devices/B0A7")


def test_blocked_port_is_an_alert_and_is_reset_by_a_click(page: Browser, service: RunningService) -> None:
    arm = ids(service, "arm")[0]
    port = service.request("GET", f"/arm/{arm}")[1]["config"]["port"]
    service.request("POST", f"/simulation/arm/{arm}", {"fault": "connection_loop"})
    page.until(lambda: "blocked" in page.text("[role=alert]"), "the alert")
    service.request("POST", f"/simulation/arm/{arm}", {"fault": "none"})
    page.run("location.hash = 'ports'")
    row = f'[data-port="{port}"]'
    page.until(lambda: "connection loop" in page.text(row), "the reason is shown")

    page.click(f"{row} button")

    page.until(lambda: "active" in page.text(row), "the port is active")
    page.until(lambda: not page.all("[role=alert]"), "the alert is gone")
    page.until(lambda: arm in ids(service, "arm"), "the arm is back")


def test_devices_are_paired_and_calibrated_from_the_page(page: Browser, service: RunningService) -> None:
    arm, grip = ids(service, "arm")[0], ids(service, "grip")[0]
    page.run("location.hash = 'calibration'")
    card = f'[data-device="{arm}"]'
    page.until(lambda: grip in page.text(card), "the pair is shown")
    page.until(lambda: page.text(f"{card} .calibration-state") in {"ready", "calibrated"}, "it can be calibrated")
    (start,) = (one for one in page.all(f"{card} button") if one.text == "Start calibration")
    start.click()
    page.until(lambda: page.text(f"{card} .calibration-state") == "calibrated", "it is calibrated")


def test_paired_handle_is_chosen_beforehand_and_a_free_one_without_a_pair(
    page: Browser, service: RunningService
) -> None:
    arm, grip = ids(service, "arm")[0], ids(service, "grip")[0]
    service.request("POST", "/simulation/devices", {"type": "arm", "device_id": "0A11"})
    page.run("location.hash = 'calibration'")
    try:
        page.until(
            lambda: page.run(f"return document.querySelector('[data-device=\"{arm}\"] select').value") == grip,
            "its own",
        )
        page.until(
            lambda: page.run("return document.querySelector('[data-device=\"0A11\"] select').value") == "",
            "none is free",
        )
    finally:
        service.request("DELETE", "/simulation/devices/0A11")


def test_handle_is_offered_no_fault_that_it_cannot_have(page: Browser, service: RunningService) -> None:
    grip = ids(service, "grip")[0]
    page.run("location.hash = 'simulation'")
    page.find(f'#simulated option[value="{grip}"]').click()
    page.find('[data-button="a"]')
    offered = [one.get_attribute("data-fault") for one in page.all("[data-fault]")]
    assert offered == ["unplug", "connection_loop", "hang", "none"]


def test_hidden_tab_has_no_session_and_no_event_channel(page: Browser, service: RunningService) -> None:
    def channels() -> tuple[int, bool]:
        sessions = service.request("GET", "/sessions")[1]["session_count"]
        return sessions, "hapticd_event_subscribers 0.0" in service.metrics()

    page.until(lambda: channels() == (1, False), "the page is connected")
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.until(lambda: channels() == (0, True), "the hidden page is not")
    page.driver.close()
    page.driver.switch_to.window(first)
    page.until(lambda: channels() == (1, False), "the page is connected again")


def test_page_sends_no_command(page: Browser, service: RunningService) -> None:
    page.until(lambda: page.text("#connection").endswith("connected"), "connected")
    for view in VIEWS:
        page.run("location.hash = arguments[0]", view)

    assert service.request("GET", "/devices")[1]["arm"][0]["status"]["in_use"] is False


def test_keys_are_listed_and_letters_can_be_turned_off(page: Browser) -> None:
    body = page.find("body")
    body.send_keys("?")
    page.find("#help[open]")
    page.click("#help input")
    page.click("#help p.row button")
    page.until(lambda: not page.all("#help"), "closed")
    body.send_keys("3")
    body.send_keys("?")
    assert not page.all("#help")
    assert page.run("return location.hash") == "#devices"
    page.run("localStorage.clear()")


def test_theme_is_kept(page: Browser, service: RunningService) -> None:
    page.find("body").send_keys("t")
    page.find("body").send_keys("t")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    page.open(address(service, "devices"))
    page.find("[data-device]")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    page.run("localStorage.clear()")


def test_waiting_e_brake_is_said_and_resumed_by_a_click(page: Browser, service: RunningService) -> None:
    (arm, *_) = ids(service, "arm")
    assert service.request("POST", "/settings/features/brake_latch", {"value": True})[0] == 200
    try:
        assert service.request("POST", f"/simulation/arm/{arm}", {"fault": "throw"})[0] == 200
        page.until(lambda: "held by its e-brake" in page.text(f'[data-brake="{arm}"]'), "the brake is said")
        page.until(lambda: "held by its e-brake" in page.text(f'[data-device="{arm}"]'), "the card says so too")
        service.request("POST", f"/simulation/arm/{arm}", {"fault": "none", "hand": {"path": "rest"}})

        page.click(f'[data-brake="{arm}"] button')

        page.until(lambda: not page.all(f'[data-brake="{arm}"]'), "the device is free again", within_s=60)
    finally:
        service.request("DELETE", "/settings/features/brake_latch")
        service.request("POST", f"/simulation/arm/{arm}", {"fault": "none"})
