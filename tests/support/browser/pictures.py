"""Take the pictures of the dashboard: `python -m tests.support.browser.pictures`, or `make pictures`.

Every view in both themes and four widths goes to build/pictures; the pictures of the documentation, the first of them moving, go to
docs/img. All of them are of a real service with a simulated arm and grip, in a real browser.
"""

from __future__ import annotations

import io
import json
import math
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from PIL import Image
from selenium.webdriver.common.keys import Keys
from websockets.sync.client import connect

from tests.support.browser.chromium import Browser, chromium, missing
from tests.support.service.process import RunningService

ROOT: Final = Path(__file__).parents[3]
ALL: Final = ROOT / "build" / "pictures"
DOCS: Final = ROOT / "docs" / "img"
SIZES: Final = ((390, 844), (768, 1024), (1024, 768), (1440, 900))
THEMES: Final = ("light", "dark")
# Each view, and what it shows once there is something to see.
VIEWS: Final = {
    "overview": "#space[data-cursor]",
    "devices": ".card",
    "space": "#space[data-cursor]",
    "plots": ".u-wrap",
    "touch": "#touch-begin",
    "simulation": "#pad",
    "problems": "#no-problem, [data-problem]",
    "events": "[data-event]",
    "sessions": "[data-session]",
    "ports": "[data-port]",
    "settings": "[data-setting]",
    "calibration": ".calibration-state",
}
# Frames of the page: a third of a plot.
SOME_FRAMES: Final = 250
FRAMES: Final = "const { frameCount } = await import('/dashboard/js/feed.js'); return frameCount();"

MOVING: Final = "dashboard.webp"
MOVING_SIZE: Final = (1280, 720)
MOVING_FRAMES: Final = 40
MOVING_MS: Final = 100
MOST_BYTES: Final = 1_500_000
# A floor in the session's space, m, that the simulated hand is pressed into by as much at most.
WALL_Z: Final = -0.1
ABOVE: Final = 0.12
INTO: Final = 0.018
HAND_STIFFNESS: Final = 400  # N/m
COMMAND_S: Final = 0.01


def show(browser: Browser, view: str) -> None:
    """Show a view with something to see in it."""
    browser.run("location.hash = arguments[0]", view)
    browser.shows(f'.menu a[href="#{view}"][aria-current=page]')
    browser.shows(VIEWS[view])
    if view in {"overview", "space"}:
        browser.until(lambda: browser.text(".canvas-labels"), "the 3D view is drawn")


def use(browser: Browser, service: RunningService, theme: str) -> None:
    """Open the page in a theme and wait until its plots have lines."""
    browser.open(f"http://localhost:{urlsplit(service.http).port}/dashboard/")
    browser.run("localStorage.setItem('hapticd-theme', arguments[0])", theme)
    browser.driver.refresh()
    browser.shows("[data-line]")
    browser.until(lambda: browser.run_async(FRAMES) > SOME_FRAMES, "some seconds of values", 120)


def set_size(browser: Browser, width: int, height: int) -> None:
    """Be a touch screen where the width is that of one, else a window."""
    if width < 1000:
        browser.be_touch_screen(width, height)
    else:
        browser.be_window(width, height)


def every_view(browser: Browser, service: RunningService) -> None:
    """Save each view in each theme and width."""
    for theme in THEMES:
        use(browser, service, theme)
        for size in SIZES:
            set_size(browser, *size)
            for view in VIEWS:
                show(browser, view)
                browser.picture(ALL / f"{view}-{size[0]}-{theme}.png")
    browser.be_window()


def still_pictures(browser: Browser, service: RunningService) -> None:
    """Save the pictures of the documentation that do not move."""
    for theme, view, name in (
        ("light", "overview", "dashboard-overview"),
        ("dark", "devices", "dashboard-devices"),
        ("light", "touch", "dashboard-first-touch"),
    ):
        use(browser, service, theme)
        browser.be_window(1280, 800)
        show(browser, view)
        if view == "touch":
            first_touch(browser)
        browser.picture(DOCS / f"{name}.png")
        if view == "touch":
            browser.click("#touch-end")
        shrink(DOCS / f"{name}.png")


def first_touch(browser: Browser) -> None:
    """Go through the guided touch until the wall is felt."""
    browser.click("#touch-begin")
    browser.shows("#touch-pad")

    def pressed(key: str, wanted: str) -> bool:
        browser.find("#touch-pad").send_keys(key)
        return wanted in browser.text("#touch-steps [aria-current=step]") or wanted in browser.text("#touch-end")

    browser.until(lambda: pressed(Keys.ARROW_RIGHT, "Feel a wall"), "the hand has moved")
    browser.until(lambda: pressed(Keys.PAGE_DOWN, "Finish"), "the wall is felt")


def shrink(path: Path) -> None:
    """Save a picture again with a palette: few colours are in it."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(colors=256, dither=Image.Dither.NONE).save(path, optimize=True)


@contextmanager
def floor(service: RunningService, arm: str) -> Generator[None]:
    """A session that renders a floor for the arm, as the guided touch does."""
    contact = {
        "shape": "plane",
        "point": {"x": 0, "y": 0, "z": WALL_Z},
        "normal": {"x": 0, "y": 0, "z": 1},
        "stiffness": 800,
        "damping": 4,
    }
    message = json.dumps({"arm": [{"device_id": arm, "commands": {"set_contact": contact}}]})
    end = threading.Event()

    def render() -> None:
        with connect(f"{service.ws}/?vocabulary=neutral") as session:
            session.recv()
            session.send(json.dumps({"session": {"configure": {"profile": {"name": "floor"}}}}))
            session.recv()
            while not end.wait(COMMAND_S):
                session.send(message)
                session.recv()

    thread = threading.Thread(target=render, name="floor", daemon=True)
    service.request("POST", "/settings/features/contact/enabled", {"value": True})
    service.request("POST", "/settings/sessions/command_timeout", {"value": 1.0})
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
        service.request("DELETE", "/settings/features/contact/enabled")
        service.request("DELETE", "/settings/sessions/command_timeout")


def hand(service: RunningService, arm: str, **change: object) -> None:
    """Change the simulated hand of the arm; AssertionError if the service refuses."""
    status, reply = service.request("POST", f"/simulation/arm/{arm}", {"hand": change})
    assert status == 200, reply


def moving_picture(browser: Browser, service: RunningService) -> None:
    """Save the Overview while the hand goes down, presses the floor, slides along it and comes up."""
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    use(browser, service, "light")
    browser.be_window(*MOVING_SIZE)
    show(browser, "overview")
    frames: list[Image.Image] = []
    with floor(service, arm):
        for number in range(-1, MOVING_FRAMES):
            turn = 2 * math.pi * number / MOVING_FRAMES
            middle, far = WALL_Z + (ABOVE - INTO) / 2, (ABOVE + INTO) / 2
            place = {"x": 0.1 * math.sin(turn), "y": -0.14, "z": middle + far * math.cos(turn)}
            hand(service, arm, position=place, path="rest", stiffness=HAND_STIFFNESS)
            drawn(browser, service, arm)
            if number >= 0:
                picture = browser.until(browser.driver.get_screenshot_as_png, "a picture", 120)
                frames.append(Image.open(io.BytesIO(picture)).convert("RGB"))
        hand(service, arm, position=None, path="circle", stiffness=150)
    browser.be_window()
    target = DOCS / MOVING
    frames[0].save(
        target,
        save_all=True,
        append_images=frames[1:],
        duration=MOVING_MS,
        loop=0,
        quality=80,
        method=6,
        minimize_size=True,
    )
    if target.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{target} has {target.stat().st_size:,} bytes: take fewer frames or a smaller window")


def drawn(browser: Browser, service: RunningService, arm: str) -> None:
    """Wait until the arm has come to rest where its hand is held, and the page shows it there."""

    def state() -> tuple[float, ...]:
        at: dict[str, Any] = service.request("GET", f"/arm/{arm}")[1]["state"]
        return (*at["cursor_position"].values(), *at["cursor_velocity"].values())

    def still() -> bool:
        x, y, z, *velocity = state()
        shown = [
            float(part) for part in str(browser.run("return document.querySelector('#space').dataset.cursor")).split()
        ]
        return math.hypot(*velocity) < 0.02 and math.dist((x, y, z), shown) < 0.002

    browser.until(still, "the arm is where its hand is", 120)
    # Numbers follow the frames five times a second.
    time.sleep(0.25)


def main() -> None:
    """Take all pictures, or those that are named: views, still, moving."""
    if why := missing():
        raise SystemExit(why)
    steps = {"still": still_pictures, "moving": moving_picture, "views": every_view}
    names = sys.argv[1:] or list(steps)
    with (
        RunningService(settings={"devices/detection/loop_window": "60"}) as service,
        TemporaryDirectory() as profile,
        chromium(Path(profile)) as browser,
    ):
        for name in names:
            steps[name](browser, service)
    for path in (ALL, DOCS):
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
