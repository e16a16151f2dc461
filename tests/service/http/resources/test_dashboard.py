"""The dashboard's files over a real socket: page, redirections, entity tags, access."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from transport.dashboard.files import StaticFiles
from transport.http import app
from transport.http.requester import requester_of

if TYPE_CHECKING:
    from tornado.httputil import HTTPServerRequest

    from tests.service.edge_server import EdgeServer
    from transport.security import Requester

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request comes from another machine."""

    def from_away(request: HTTPServerRequest) -> Requester:
        return replace(requester_of(request), peer="192.0.2.9")

    monkeypatch.setattr(app, "requester_of", from_away)


@pytest.mark.parametrize(
    ("path", "place"),
    [("/", "dashboard/"), ("/?token=x", "dashboard/"), ("/3.1", "3.1/dashboard/"), ("/3.1/", "dashboard/")],
)
def test_browser_that_asks_for_the_root_is_led_to_the_dashboard(rig: EdgeServer, path: str, place: str) -> None:
    reply = rig.get(path, Accept=BROWSER)

    assert reply.status == 302
    assert reply.headers["location"] == place
    assert reply.headers["vary"] == "Origin, Accept"


def test_address_without_the_final_slash_is_led_to_the_one_with_it(rig: EdgeServer) -> None:
    reply = rig.get("/dashboard")

    assert (reply.status, reply.headers["location"]) == (302, "dashboard/")


def test_every_file_is_served_with_its_type_and_the_policy(rig: EdgeServer) -> None:
    files = StaticFiles()

    for name in files.names:
        reply, found = rig.get(f"/dashboard/{name}"), files.find(name)
        assert found is not None
        assert (reply.status, reply.body) == (200, found.content), name
        assert reply.headers["content-type"] == found.content_type
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-cache"
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


def test_file_that_the_browser_has_is_not_sent_again(rig: EdgeServer) -> None:
    tag = rig.get("/dashboard/vendor/scene.js").headers["etag"]

    same = rig.get("/dashboard/vendor/scene.js", **{"If-None-Match": tag})
    other = rig.get("/dashboard/vendor/scene.js", **{"If-None-Match": '"other"'})

    assert (same.status, same.body) == (304, b"")
    assert same.headers["etag"] == tag
    assert other.status == 200


def test_head_has_the_length_and_no_body(rig: EdgeServer) -> None:
    reply = rig.ask("HEAD", "/dashboard/")

    assert reply.status == 200
    assert int(reply.headers["content-length"]) > 0
    assert reply.body == b""


@pytest.mark.parametrize(
    "path", ["/dashboard/nope.js", "/dashboard/../files.py", "/dashboard/%2e%2e/files.py", "/dashboard/js"]
)
def test_unknown_name_is_a_json_error(rig: EdgeServer, path: str) -> None:
    reply = rig.get(path)

    assert reply.status == 404
    assert reply.json["ok"] is False


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
def test_files_can_only_be_read(rig: EdgeServer, method: str) -> None:
    reply = rig.ask(method, "/dashboard/")

    assert reply.status == 405
    assert reply.headers["allow"] == "GET, HEAD, OPTIONS"


def test_service_json_has_the_ports_and_the_kinds_with_a_reach(rig: EdgeServer) -> None:
    rig.edge.ports.update({"session": 10001, "events": 10020})

    found = rig.get("/dashboard/service.json").json

    assert found["ports"] == {"session": 10001, "events": 10020}
    assert found["kinds"]["arm"]["links"] == [0.26, 0.26]
    assert "grip" not in found["kinds"]


def test_page_is_there_while_the_service_starts(rig: EdgeServer) -> None:
    rig.bridge.listening = False

    assert rig.get("/dashboard/").status == 200
    assert rig.get("/devices").status == 503


@pytest.mark.usefixtures("away")
def test_other_machine_reads_the_page_without_a_token_and_nothing_else(rig: EdgeServer) -> None:
    assert rig.get("/", Accept=BROWSER).status == 302
    assert rig.get("/dashboard/").status == 200
    assert rig.get("/dashboard/vendor/ui.js").status == 200
    for path in ("/", "/devices", "/stop", "/dashboards", "/x/dashboard"):
        assert rig.get(path).status == 401, path
    assert rig.get("/devices", Accept=BROWSER).status == 401
    assert rig.ask("POST", "/dashboard/").status == 401
    assert rig.ask("POST", "/", headers={"Accept": BROWSER}).status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=lambda headers: next(iter(headers)),
)
def test_foreign_host_or_page_does_not_get_the_dashboard(rig: EdgeServer, headers: dict[str, str]) -> None:
    for path in ("/dashboard/", "/dashboard/js/main.js", "/dashboard/service.json"):
        assert rig.get(path, **headers).status == 403


def test_handshake_at_the_page_opens_no_channel(rig: EdgeServer) -> None:
    wanted = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }

    assert rig.get("/dashboard/", **wanted).status == 200
