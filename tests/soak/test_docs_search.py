"""Search on the built documentation site finds the page that explains a word first: mkdocs builds it, a browser searches it.

Needs what `make docs-site` installs, and a Chromium; skipped with the reason where one is missing.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import pytest

from tests.support.browser import chromium as browsers
from tests.support.browser.chromium import Browser, chromium

pytestmark = pytest.mark.soak

ROOT: Final = Path(__file__).parents[2]
WIRE: Final = ("wire", "frame", "force", "websocket", "websocket message", "message", "set_cursor_force")
OTHERS: Final = {
    "settings": "docs/settings.html",
    "force path": "docs/force-path.html",
    "events": "docs/events.html",
    "oscillation filter": "docs/force-path.html",
    "runbook": "ops/runbook.html",
    "falcon": "docs/hardware.html",
    "dashboard": "docs/dashboard.html",
}


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is that of the base class
        """Drop it."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the site, built as `make docs-site` does."""
    if why := browsers.missing():
        pytest.skip(why)
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: make docs-site installs it")
    folder = tmp_path_factory.mktemp("site")
    runpy.run_path(str(ROOT / "ops" / "docs_site.py"))["gather"](folder / "pages")
    config = folder / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: pages\nsite_dir: built\n", encoding="utf-8")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", config], check=True, env=environment)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder / "built"))) as server:
        thread = threading.Thread(target=server.serve_forever, name="site")
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(site: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser; `site` comes first, so that nothing starts where something is missing."""
    del site
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def first_found(browser: Browser, site: str, words: str) -> str:
    """Return the path of the first page that search shows for `words`."""
    browser.open(f"{site}/index.html?q={quote(words)}")
    href = browser.until(
        lambda: browser.run("return document.querySelector('.md-search-result__item a')?.href ?? ''"), f"search {words}"
    )
    return urlsplit(str(href)).path.lstrip("/")


@pytest.mark.parametrize("words", WIRE)
def test_search_for_a_word_of_the_protocol_finds_the_wire_first(browser: Browser, site: str, words: str) -> None:
    assert first_found(browser, site, words) == "docs/wire.html"


@pytest.mark.parametrize("words", OTHERS)
def test_search_for_the_subject_of_another_page_finds_that_page_first(browser: Browser, site: str, words: str) -> None:
    assert first_found(browser, site, words) == OTHERS[words]
