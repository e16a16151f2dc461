"""One browser and one service for all tests of the dashboard; skipped with the reason where there is no Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.support.plugin import pytest_terminal_summary, results
from tests.support.browser import chromium as browsers
from tests.support.browser.chromium import Browser, chromium
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.process import RunningService

# The figures of long runs, printed at their end.
__all__ = ["pytest_terminal_summary", "results"]
# Names of other machines that the browser finds here.
FOREIGN = ("evil.example", "rebound.example")
SETTINGS = {
    "simulation/settle_time": "0.05",
    "serialization/timestamps": "true",
    "misc/log_level": "debug",
    "devices/detection/loop_window": "60",
}


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if why := browsers.missing():
        pytest.skip(why)
    rules = ",".join(f"MAP {name} 127.0.0.1" for name in FOREIGN)
    with chromium(tmp_path_factory.mktemp("profile"), f"--host-resolver-rules={rules}") as opened:
        yield opened


@pytest.fixture(scope="session")
def service(browser: Browser) -> Iterator[RunningService]:
    """The service; `browser` comes first, so that nothing starts where there is none."""
    del browser
    with RunningService(settings={**SETTINGS, **FREE_PORTS}) as running:
        yield running


@pytest.fixture(autouse=True)
def _as_before(request: pytest.FixtureRequest) -> Iterator[None]:
    """Undo what a test did to the shared service."""
    yield
    if "service" in request.fixturenames:
        running: RunningService = request.getfixturevalue("service")
        with suppress(OSError):
            running.request("DELETE", "/stop")
            running.request("POST", "/simulation/arm/*", {"hand": {"position": None, "path": "circle"}})


def address(service: RunningService, view: str = "", host: str = "localhost") -> str:
    """Address of the dashboard; `localhost` is what a person types."""
    return f"http://{host}:{urlsplit(service.http).port}/dashboard/#{view}"


def pictures() -> Path:
    return Path(__file__).parents[2] / "build" / "dashboard"
