"""The compiled client in the real browser, from a page of another port of this machine: it pushes, and a page that is left leaves zero."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.clients.notebook.conftest import Quiet
from tests.clients.python.programs import arm_force, until_no_session, until_zero
from tests.support.browser import chromium as browsers
from tests.support.browser.chromium import Browser, chromium
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

PATIENT = {"sessions/command_timeout": 0.5}
PAGE = """<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>wall</title><script type="module">
import {{ connect }} from "./hapticd.js";
const service = await connect("{url}");
window.service = service;
for await (const turn of service.loop({{ rate: 200, maxForce: 3 }})) {{
  service.arm.force = [0, 0, Math.max(0, 2 * (1 - service.arm.position[2]))];
  document.title = `turn ${{turn.number}}`;
}}
document.title = "over";
</script></html>"""


@pytest.fixture(scope="module")
def service(compiled: Path) -> Iterator[RunningService]:
    del compiled
    with RunningService(simulate="arm", settings=PATIENT) as running:
        yield running


@pytest.fixture
def page(compiled: Path, service: RunningService, tmp_path: Path) -> Iterator[Browser]:
    if why := browsers.missing():
        pytest.skip(why)
    site = tmp_path / "site"
    shutil.copytree(compiled / "clients" / "typescript" / "src", site)
    (site / "index.html").write_text(PAGE.format(url=service.ws), "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with chromium(tmp_path / "profile") as browser:
                browser.open(f"http://localhost:{server.server_port}/")
                yield browser
        finally:
            server.shutdown()
            thread.join()


def test_page_pushes_and_closing_ends_the_loop_with_zero(page: Browser, service: RunningService) -> None:
    eventually(lambda: arm_force(service) > 1, "it pushes", pause_s=0.01)
    page.run("service.close()")
    page.until(lambda: page.run("return document.title") == "over", "the loop has ended")
    until_zero(service)
    until_no_session(service)
    assert page.console() == []


def test_page_that_is_left_leaves_zero_and_no_session(page: Browser, service: RunningService) -> None:
    eventually(lambda: arm_force(service) > 1, "it pushes", pause_s=0.01)
    page.driver.get("about:blank")
    until_zero(service)
    until_no_session(service)
