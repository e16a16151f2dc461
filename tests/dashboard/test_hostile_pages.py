"""Pages of strangers in the real browser: they open no channel and change nothing, and what they write stays text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect

from tests.dashboard.conftest import address
from tests.support.browser.chromium import Browser
from tests.support.service.process import RunningService

MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


class Foreign(BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>foreign</title><iframe></iframe>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        del format, args


@pytest.fixture(scope="module")
def foreign() -> Iterator[int]:
    """Port of a web server; the browser finds evil.example there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def evil(browser: Browser, service: RunningService, foreign: int) -> Browser:
    """A page of evil.example."""
    del service
    browser.open(f"http://evil.example:{foreign}/")
    return browser


CHANGES = {
    "stop": ("POST", "stop", None),
    "release": ("DELETE", "stop", None),
    "setting": ("POST", "settings/control/frequency", {"value": 1000}),
    "port reset": ("POST", "ports/sim0/reset", None),
    "simulation": ("POST", "simulation/arm/0", {"fault": "unplug"}),
    "profile": ("POST", "sessions/:0/profile", {"name": "evil"}),
    "disconnect": ("DELETE", "sessions/*", None),
    "home": ("POST", "home_return", {"enabled": True}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_foreign_page_changes_nothing(evil: Browser, service: RunningService, change: str) -> None:
    """`no-cors` sends what a form could send, without asking first; the answer shows in the log of the service."""
    method, path, body = CHANGES[change]
    before = state(service)
    script = """
      const [url, method, body] = args;
      const tried = [];
      for (const mode of ['cors', 'no-cors']) {
        try {
          const options = { method, mode, body: body === null ? undefined : JSON.stringify(body) };
          const reply = await fetch(url, options);
          tried.push(`${mode} ${reply.type} ${reply.status}`);
        } catch (error) { tried.push(`${mode} ${error.name}`); }
      }
      return tried;
    """
    tried = evil.run_async(script, f"{service.http}/{path}", method, body)

    assert tried[0] == "cors TypeError"
    assert tried[1] in {"no-cors opaque 0", "no-cors TypeError"}
    assert state(service) == before
    if method == "POST":
        assert f"POST /{path} 403" in service.log


def state(service: RunningService) -> list[Any]:
    """What a foreign page would like to change."""
    return [
        service.request("GET", "/stop")[1],
        service.request("GET", "/settings/control/frequency")[1]["data"]["value"],
        service.request("GET", "/simulation/arm/0")[1]["fault"],
        service.request("GET", "/arm/0/home_return")[1],
        service.request("GET", "/ports")[1],
    ]


@pytest.mark.parametrize("channel", ["ws", "ws_v30", "events"])
def test_foreign_page_opens_no_channel(evil: Browser, service: RunningService, channel: str) -> None:
    url = getattr(service, channel)
    script = """
      return await new Promise((resolve) => {
        const socket = new WebSocket(args[0]);
        socket.onopen = () => resolve('open');
        socket.onclose = (event) => resolve(`closed ${event.code}`);
      });
    """

    assert evil.run_async(script, url) == "closed 1006"
    assert service.request("GET", "/sessions")[1]["session_count"] == 0


def test_foreign_page_cannot_read_or_frame_the_dashboard(evil: Browser, service: RunningService) -> None:
    script = "try { const r = await fetch(args[0]); return r.status; } catch (error) { return error.name; }"
    assert evil.run_async(script, address(service)) == "TypeError"
    framed = """
      const frame = document.querySelector('iframe');
      return await new Promise((resolve) => {
        frame.onload = () => { try { resolve(String(frame.contentDocument?.body?.innerText ?? 'foreign')); } catch { resolve('foreign'); } };
        frame.src = args[0];
      });
    """
    assert evil.run_async(framed, address(service)) == "foreign"
    assert service.request("GET", "/sessions")[1]["session_count"] == 0


def test_page_of_this_machine_cannot_frame_the_dashboard(
    browser: Browser, service: RunningService, foreign: int
) -> None:
    browser.open(f"http://localhost:{foreign}/")
    script = """
      const frame = document.querySelector('iframe');
      return await new Promise((resolve) => { frame.onload = () => resolve('loaded'); frame.src = args[0]; });
    """
    browser.run_async(script, address(service))

    assert service.request("GET", "/sessions")[1]["session_count"] == 0
    assert any("frame-ancestors" in line or "X-Frame-Options" in line for line in browser.console())


def test_rebound_name_is_refused(browser: Browser, service: RunningService) -> None:
    """A name of another machine that suddenly leads here: the page has the service's own origin, but a foreign Host."""
    browser.open(address(service, host="rebound.example"))

    assert "is no name of this machine" in browser.text("body")
    port = urlsplit(service.http).port
    script = (
        "const reply = await fetch(args[0], { method: 'POST' }); return [reply.status, (await reply.json()).error];"
    )
    status, error = browser.run_async(script, f"http://rebound.example:{port}/stop")
    assert status == 403
    assert "Host" in error
    assert service.request("GET", "/stop")[1]["stopped"] is False
    browser.console()


def test_markup_in_names_and_messages_is_shown_as_text(browser: Browser, service: RunningService) -> None:
    with connect(f"{service.ws}/?vocabulary=neutral") as session:
        session_id = json.loads(session.recv())["session_id"]
        session.send(json.dumps({"session": {"configure": {"profile": {"name": MARKUP}}}}))
        session.recv()
        session.send(json.dumps({MARKUP: []}))
        session.recv()
        browser.open(address(service, "sessions"))
        row = f'[data-session="{session_id}"]'
        browser.until(lambda: MARKUP in browser.text(row), "the name is shown as it is")
        assert browser.all(f"{row} img") == []
        browser.run("location.hash = 'events'")
        browser.until(lambda: MARKUP[:20] in browser.text("main"), "the message is shown as it is")

    assert browser.all("main img, main script") == []
    assert browser.run("return window.hacked ?? null") is None


def test_inline_script_and_style_are_refused_by_the_policy(browser: Browser, service: RunningService) -> None:
    browser.open(address(service, "devices"))
    browser.find("[data-device]")
    style = (
        "const s = document.createElement('style'); s.textContent = 'body { visibility: hidden }'; document.head.append(s);"
        "const seen = getComputedStyle(document.body).visibility; s.remove(); return seen;"
    )
    handler = "try { document.body.setAttribute('onclick', '1'); return 'set'; } catch (e) { return e.name; }"

    assert browser.run(style) == "visible"
    assert browser.run(handler) == "TypeError"
    assert (
        browser.run("try { document.body.innerHTML = '<p>'; return 'ran'; } catch (e) { return e.name; }")
        == "TypeError"
    )
    browser.console()
