"""Headless Chromium of the distribution under chromedriver, with a profile of its own and nothing that talks to other machines."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

T = TypeVar("T")

WITHIN_S: Final = 30.0
ARGUMENTS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
    "--window-size=1400,900",
)
LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def missing() -> str | None:
    """Return why there is no browser here, or None."""
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if shutil.which(program) is None:
            return f"{program} is not installed: apt-get install {package}"
    return None


class Browser:
    """One tab of one browser."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver
        self._log: Any = driver.get_log

    def open(self, url: str) -> None:
        """Load a page from scratch, also when only the part after `#` differs."""
        self.driver.get("about:blank")
        self.driver.get(url)

    def run(self, script: str, *arguments: Any) -> Any:
        """Value of the body of a function in the page."""
        return self.driver.execute_script(script, *arguments)

    def run_async(self, script: str, *arguments: Any) -> Any:
        """Value that an asynchronous function body returns in the page."""
        wrapped = (
            "const done = arguments[arguments.length - 1];"
            f"(async (...args) => {{ {script} }})(...arguments).then(done, (e) => done('error: ' + e.name));"
        )
        return self.driver.execute_async_script(wrapped, *arguments)

    def find(self, selector: str) -> WebElement:
        """The first element, waited for."""
        return self.until(lambda: self.driver.find_element(By.CSS_SELECTOR, selector), selector)

    def shows(self, selector: str, within_s: float = WITHIN_S) -> None:
        """Wait for an element; unlike `find` this keeps no reference, which would keep the element in the page's memory."""
        self.until(
            lambda: self.run("return Boolean(document.querySelector(arguments[0]))", selector), selector, within_s
        )

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Text of the first element as it is shown, "" without one."""
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def click(self, selector: str) -> None:
        def pressed() -> bool:
            self.find(selector).click()
            return True

        self.until(pressed, f"click {selector}")

    def until(self, holds: Callable[[], T], what: str, within_s: float = WITHIN_S) -> T:
        """The first true value of `holds`, which may raise while the page changes; AssertionError."""

        def attempt(_driver: object) -> Any:
            try:
                return holds()
            except (StaleElementReferenceException, WebDriverException):
                return None

        wait: Any = WebDriverWait(self.driver, within_s, poll_frequency=0.02)
        try:
            found: T = wait.until(attempt)
        except WebDriverException as late:
            raise AssertionError(f"{what}: not within {within_s:g} s") from late
        return found

    def console(self) -> list[str]:
        """Errors and warnings of the console since the last call."""
        entries: Any = self._log("browser")
        return [str(entry["message"]) for entry in entries if entry["level"] in {"SEVERE", "WARNING"}]

    def requests(self) -> list[str]:
        """URLs of requests and WebSockets since the last call."""
        entries: Any = self._log("performance")
        found: list[str] = []
        for entry in entries:
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.webSocketCreated":
                found.append(message["params"]["url"])
        return found

    def be_touch_screen(self, width: int, height: int) -> None:
        """Be a screen of that size that is touched; `be_window` ends it."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 900}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def be_window(self, width: int = 0, height: int = 0) -> None:
        """Be the window of a desktop again, of that size or as it was opened."""
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        if width == 0:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        else:
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def drag_finger(self, start: tuple[float, float], end: tuple[float, float], steps: int = 10) -> None:
        """Put a finger down at `start`, move it to `end` and lift it; x, y in px of the window."""
        for step in range(steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
            kind = "touchMove" if step else "touchStart"
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def picture(self, path: Path) -> None:
        """Save what is seen; a browser that draws without a graphics processor may need a second try."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.until(lambda: self.driver.save_screenshot(str(path)), f"picture {path.name}")


def leaves_the_machine(url: str) -> bool:
    """Whether a request goes to another host."""
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in LOCAL


@contextmanager
def at_idle_priority() -> Generator[None]:
    """Start processes inside at SCHED_IDLE."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def chromium(profile: Path, *arguments: str, background: bool = False) -> Generator[Browser]:
    """A browser with an empty profile; `arguments` are added to its command line.

    With `background` others go before it on the processors, and `requests()` is not available: chromedriver keeps no copy
    of every WebSocket frame.
    """
    options: Any = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}", *arguments):
        options.add_argument(argument)
    logs = {"browser": "ALL"} if background else {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logs)
    kind: Any = ChromeService
    service = kind(
        shutil.which("chromedriver") or "", log_output=os.devnull, popen_kw={"start_new_session": background}
    )
    with at_idle_priority() if background else nullcontext():
        driver = Chrome(options=options, service=service)
    if background:
        # Where the kernel shares out time by session, the priority counts only within one.
        with suppress(OSError):
            Path(f"/proc/{service.process.pid}/autogroup").write_text("10", encoding="ascii")
    try:
        driver.set_script_timeout(WITHIN_S)
        yield Browser(driver)
    finally:
        driver.quit()
