"""Access checks over a real socket: foreign hosts and origins are refused first, over HTTP and at the handshake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tornado.httputil import HTTPServerRequest
from tornado.websocket import WebSocketHandler

from tests.service.edge_server import TOKEN, EdgeServer
from transport.http import app
from transport.http.app import HTTP_ROUTES, session_upgrade
from transport.http.requester import requester_of
from transport.security import Requester

UPGRADE = {
    "Connection": "keep-alive, Upgrade",
    "Upgrade": "WebSocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Greeting(WebSocketHandler):
    """Says with what it was made, then closes."""

    def initialize(self, **parts: Any) -> None:
        self.parts = parts

    def check_origin(self, origin: str) -> bool:
        del origin
        return True

    def open(self, *_args: str, **_kwargs: str) -> None:
        self.write_message(str(self.parts["version"]))
        self.close()


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request comes from another machine."""

    def from_away(request: HTTPServerRequest) -> Requester:
        return replace(requester_of(request), peer="192.0.2.9")

    monkeypatch.setattr(app, "requester_of", from_away)


@pytest.fixture
def channel(rig: EdgeServer) -> EdgeServer:
    rig.port = rig.serve(HTTP_ROUTES, session_upgrade(Greeting, {}, "3.0"))
    return rig


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:10001", ""])
def test_a_foreign_host_is_refused_on_every_route(rig: EdgeServer, host: str) -> None:
    for path in ("/", "/nope", "/%zz", "/healthz", "/settings"):
        reply = rig.get(path, Host=host)
        assert (reply.status, "allowed_hosts" in reply.error) == (403, True)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]", "workbench", "WORKBENCH.local:99"])
def test_own_host_is_served(rig: EdgeServer, host: str) -> None:
    assert rig.get("/", Host=host).status == 200


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://localhost.evil.example"])
def test_foreign_origin_cannot_change_state(rig: EdgeServer, origin: str) -> None:
    for method, path in (("POST", "/stop"), ("DELETE", "/stop"), ("POST", "/settings/control/frequency")):
        reply = rig.ask(method, path, 2000, {"Origin": origin})
        assert (reply.status, "allowed_origins" in reply.error) == (403, True)
        assert "access-control-allow-origin" not in reply.headers
    assert rig.get("/stop").json["stopped"] is False
    assert rig.get("/settings/control/frequency").json["data"]["value"] == 4000


def test_foreign_origin_cannot_read(rig: EdgeServer) -> None:
    for method in ("GET", "HEAD", "OPTIONS"):
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            reply = rig.ask(method, "/stop", headers=headers)
            assert reply.status == 403
            assert not [name for name in reply.headers if name.startswith("access-control")]


def test_allowed_origin_gets_cors_headers_on_answers_errors_and_preflights(rig: EdgeServer) -> None:
    origin = {"Origin": "https://app.example"}
    assert rig.ask("POST", "/settings/communication/allowed_origins", ["https://app.example"]).status == 200

    answers = [
        rig.ask("POST", "/stop", headers=origin),
        rig.ask("GET", "/stop", headers=origin),
        rig.ask("OPTIONS", "/stop", headers=origin),
        rig.ask("GET", "/nope", headers=origin),
        rig.ask("PUT", "/stop", headers=origin),
    ]

    assert [reply.status for reply in answers] == [200, 200, 200, 404, 405]
    for reply in answers:
        assert reply.headers["access-control-allow-origin"] == "https://app.example"
        assert reply.headers["access-control-allow-headers"] == "Content-Type, Authorization"
        assert reply.headers["vary"] == "Origin"
    assert answers[2].headers["access-control-allow-methods"] == "GET, HEAD, POST, DELETE, OPTIONS"


@pytest.mark.usefixtures("away")
def test_remote_peer_needs_the_token(rig: EdgeServer) -> None:
    for path in ("/", "/nope", "/metrics", "/stop?token=wrong", "/stop?token=%zz"):
        reply = rig.get(path)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert TOKEN not in reply.error

    assert rig.get("/", Authorization=f"Bearer {TOKEN}").status == 200
    assert rig.get(f"/?token={TOKEN}").status == 200
    assert rig.get(f"/?token={TOKEN}", Authorization="Bearer wrong").status == 401
    assert rig.ask("OPTIONS", "/stop").status == 200


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({}, "/", 401),
        ({}, f"/?token={TOKEN}", 101),
        ({"Authorization": f"Bearer {TOKEN}"}, "/", 101),
        ({"Authorization": "Bearer x"}, "/", 401),
    ],
)
def test_remote_handshake_needs_the_token(channel: EdgeServer, headers: dict[str, str], path: str, status: int) -> None:
    assert channel.ask("GET", path, headers=UPGRADE | headers).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 101),
        ({"Origin": "http://localhost:5173"}, 101),
        ({"Origin": "http://127.0.0.1:10001"}, 101),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
    ],
)
def test_handshake_is_checked_by_the_access_policy(channel: EdgeServer, headers: dict[str, str], status: int) -> None:
    reply = channel.ask("GET", "/", headers=UPGRADE | headers)

    assert reply.status == status
    assert status == 101 or reply.error


@pytest.mark.parametrize(
    ("path", "version"),
    [("/", "3.0"), ("/3.1", "3.1"), ("/3.1/", "3.1"), ("/3.0/", "3.0"), ("/?x=1", "3.0"), ("", "3.0")],
)
def test_websocket_has_the_version_of_its_port_or_prefix(channel: EdgeServer, path: str, version: str) -> None:
    with channel.connect() as connection:
        lines = [
            f"GET {path or '/'} HTTP/1.1",
            "Host: localhost",
            *(f"{name}: {value}" for name, value in UPGRADE.items()),
        ]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while b"\x81\x03" not in answer or len(answer.partition(b"\x81\x03")[2]) < 3:
            received = connection.recv(4096)
            assert received, answer
            answer += received

    assert answer.startswith(b"HTTP/1.1 101")
    assert answer.partition(b"\x81\x03")[2][:3] == version.encode()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Upgrade": "websocket"},
        {"Connection": "Upgrade"},
        {"Connection": "Upgrade", "Upgrade": "h2c"},
        {"Connection": "close", "Upgrade": "websocket"},
    ],
)
def test_plain_get_on_the_websocket_path_gets_the_version(channel: EdgeServer, headers: dict[str, str]) -> None:
    reply = channel.ask("GET", "/", headers=headers)

    assert (reply.status, reply.json["project_name"]) == (200, "hapticd")


def test_websocket_is_on_the_root_path_only(channel: EdgeServer) -> None:
    assert channel.ask("GET", "/stop", headers=UPGRADE).status == 200
    assert channel.ask("GET", "/nope", headers=UPGRADE).status == 404
    assert channel.ask("POST", "/", headers=UPGRADE).status == 405


def test_a_port_without_a_channel_answers_http(rig: EdgeServer) -> None:
    assert rig.ask("GET", "/", headers=UPGRADE).status == 200


@pytest.mark.parametrize(("listening", "stopping"), [(False, False), (True, True)])
def test_no_channel_opens_while_the_service_starts_or_stops(
    channel: EdgeServer, listening: bool, stopping: bool
) -> None:
    channel.bridge.listening, channel.bridge.stopping = listening, stopping

    assert channel.ask("GET", "/", headers=UPGRADE).status == 503
