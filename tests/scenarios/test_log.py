"""The log of a busy service: each line is one valid object with the fields that its fact has, and none has a secret."""

from __future__ import annotations

import json
import re
import socket
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.service.process import RunningService

WRONG: Final = "wrong-token-wrong-token-wrong-token"
MARK: Final = "mark-of-a-client"
EVIL: Final = 'a\nb\r\x1b[31m"\u2028\x00\ud800'
ALWAYS: Final = ("time", "level", "kind", "message")
KNOWN: Final = {*ALWAYS, "event", "session", "device", "client", "port", "actor", "traceback"}


def keep_busy(service: RunningService, token: str) -> str:
    """Everything that has names, messages and tokens in it; returns the id of the stopped device."""
    device_id = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    for query in ("", f"?token={token}", f"?token={WRONG}", f"?x={quote(EVIL.encode('utf-8', 'surrogatepass'))}"):
        for path in ("/devices", "/version", "/nothing", f"/arm/{quote('x' * 500)}", "/settings/control"):
            requests.get(service.http + path + query, headers={"Authorization": f"Bearer {token}"}, timeout=20)
    raw(service, f"GET /?token={token} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nbroken\r\n\r\n")
    raw(service, f"token={token}\r\n\r\n")
    with connect(f"{service.ws}/?token={token}") as channel:
        session = json.loads(channel.recv())["session_id"]
        for message in (
            "{",
            json.dumps({EVIL: EVIL, "token": token}),
            json.dumps({"session": {"configure": {"profile": {"name": EVIL}}}}),
        ):
            channel.send(message)
            channel.recv()
        service.request("DELETE", f"/sessions/{session}")
        read_to_the_end(channel)
    with pytest.raises(InvalidStatus):
        connect(f"{service.ws}/nothing?token={token}")
    service.request("POST", "/settings/presets/freeform_profiles", [f"{EVIL[:-1]}*", "x" * 5_000])
    service.request("POST", "/settings/presets/freeform_profiles", [f"a{token}", f"?token={WRONG}"])
    service.request("POST", f"/arm/{device_id}/stop")
    service.request("DELETE", f"/arm/{device_id}/stop")
    service.request("POST", "/stop")
    service.request("DELETE", "/stop")
    service.request("POST", "/ports/sim0/reset")
    return str(device_id)


def read_to_the_end(channel: ClientConnection) -> None:
    """Frames until the service closes."""
    with suppress(ConnectionClosed):
        while True:
            channel.recv()


def raw(service: RunningService, text: str) -> None:
    """Bytes that are no request."""
    at = urlsplit(service.http)
    with socket.create_connection((at.hostname or "", at.port or 0), timeout=20) as connection:
        connection.sendall(text.encode())
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass


def test_no_line_has_what_a_client_sent_in_a_header_a_query_or_a_method(tmp_path: Path) -> None:
    begin, end = "HTTP/1.1\r\nHost: localhost\r\n", "Connection: close\r\n\r\n"
    with RunningService("--log-level", "debug", state_dir=tmp_path) as service:
        for text in (
            f"POST /stop {begin}Content-Length: {MARK}\r\n{end}",
            f"POST /stop {begin}Content-Length: 1\r\nContent-Length: {MARK}\r\n{end}",
            f"POST /stop {begin}Transfer-Encoding: {MARK}\r\n{end}",
            f"GET /version HTTP/1.1\r\nHost: {MARK}, other\r\n{end}",
            f"GET /version {begin}{MARK}(: x\r\n{end}",
            f"GET /version {begin}Cookie: {MARK}\x01\r\n{end}",
            f"GET /?{MARK} {MARK} HTTP/1.1\r\n{end}",
            f"GET /version HTTP/1.{MARK}\r\n{end}",
            f"{MARK} /version {begin}{end}",
            f"GET http://{MARK}:{MARK}@localhost/version?{MARK} {begin}{end}",
            f"GET /version?x={MARK} {begin}Cookie: {MARK}\r\nOrigin: {MARK}\r\nX-Request: {MARK}\r\n{end}",
            f"GET /?{MARK} {begin}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: {MARK}\r\n\r\n",
        ):
            raw(service, text)
    log = service.log

    assert "cannot be read and gets 400: Only integer Content-Length is allowed" in log
    assert "another method /version 405" in log
    assert "GET /version 400" in log or "GET /version 200" in log
    assert MARK.lower() not in log.lower()


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str, str]:
    """What the service wrote, its token, and a device's id."""
    state = tmp_path_factory.mktemp("state")
    with RunningService("--log-format", "json", "--log-level", "debug", state_dir=state) as service:
        token = (state / "token").read_text(encoding="ascii").strip()
        device_id = keep_busy(service, token)
    return service.log.splitlines(), token, device_id


def parsed(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_every_line_is_an_object_with_known_fields(lines: tuple[list[str], str, str]) -> None:
    found = parsed(lines[0])

    assert len(found) > 30
    for one in found:
        assert all(isinstance(one[name], str) and one[name] for name in ALWAYS), one
        assert set(one) <= KNOWN, one
        assert datetime.fromisoformat(one["time"]).utcoffset() == timedelta()
        assert one["level"] in {"debug", "info", "warning", "error", "critical"}


def test_lines_have_session_device_client_and_port_as_fields(lines: tuple[list[str], str, str]) -> None:
    found = parsed(lines[0])
    audit = [one for one in found if one["kind"] == "hapticd.audit"]

    assert [one["session"] for one in audit if one["message"].endswith("disconnected over HTTP")] == [1]
    assert all(one["client"] == "127.0.0.1" for one in audit)
    assert {one["device"] for one in audit if "device" in one} == {lines[2]}
    assert {one["port"] for one in audit if "port" in one} == {"sim0"}
    assert all(one["client"] == "127.0.0.1" for one in found if one["kind"] == "hapticd.access")
    assert [one["message"].split()[0] for one in found if one.get("event") == "ready"] == ["ready"]


def test_no_line_of_json_has_a_token(lines: tuple[list[str], str, str]) -> None:
    text = "\n".join(lines[0])

    assert lines[1] not in text
    assert WRONG not in text
    assert any(one["kind"] == "hapticd.access" for one in parsed(lines[0])), "requests were logged at all"


def test_no_line_of_text_has_a_token_or_a_control_character(tmp_path: Path) -> None:
    with RunningService("--log-level", "debug", state_dir=tmp_path) as service:
        token = (tmp_path / "token").read_text(encoding="ascii").strip()
        keep_busy(service, token)
    log = service.log

    assert "hapticd.access" in log
    assert token not in log
    assert WRONG not in log
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", log)


def test_format_of_the_environment_holds_and_the_option_wins(tmp_path: Path) -> None:
    environment = {"HAPTICD_MISC__LOG_FORMAT": "json"}
    with RunningService(state_dir=tmp_path, environment=environment) as service:
        pass
    assert [json.loads(line)["kind"] for line in service.log.splitlines()][-1] == "hapticd"

    with RunningService("--log-format", "text", state_dir=tmp_path, environment=environment) as service:
        pass
    assert " INFO hapticd: stopped: zero force on every device" in service.log


def test_lines_before_the_settings_are_known_are_json_too(tmp_path: Path) -> None:
    tmp_path.joinpath("settings.json").write_bytes(b"\xff no json")

    with RunningService("--log-format", "json", state_dir=tmp_path) as service:
        pass

    (found,) = [one for one in parsed(service.log.splitlines()) if one["kind"] == "actors.settings.file"]
    assert found["level"] == "error"
    assert "cannot be read" in found["message"]
