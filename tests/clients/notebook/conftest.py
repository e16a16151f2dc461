"""A page that shows the panel beside a real service, in the real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copyfile

import pytest

from tests.support.browser import chromium as browsers
from tests.support.browser.chromium import Browser, chromium
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.process import RunningService

CLIENT = Path(__file__).parents[3] / "clients" / "python" / "hapticd_client"
PAGE = """<!doctype html><html lang="en"><title>notebook</title><link rel="stylesheet" href="panel.css"><div id="cell"></div>
<script type="module">
import panel from "./panel.js";
const place = {places};
window.end = panel.render({{ model: {{ get: (name) => place[name] }}, el: document.getElementById("cell") }});
</script></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if why := browsers.missing():
        pytest.skip(why)
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def service(browser: Browser) -> Iterator[RunningService]:
    del browser
    with RunningService(settings=FREE_PORTS) as first:
        ports = first.ports
    with RunningService(settings=ports) as running:
        yield running


@pytest.fixture
def panel(browser: Browser, service: RunningService, tmp_path: Path) -> Iterator[Browser]:
    """The page with the panel; it comes from another port of this machine, as that of a notebook does."""
    for name in ("panel.js", "panel.css"):
        copyfile(CLIENT / name, tmp_path / name)
    place = {"url": service.ws.rstrip("/"), "http": service.http}
    (tmp_path / "index.html").write_text(PAGE.format(places=place), "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            browser.open(f"http://localhost:{server.server_port}/")
            yield browser
            browser.driver.get("about:blank")
        finally:
            server.shutdown()
            thread.join()
            service.request("DELETE", "/stop")
