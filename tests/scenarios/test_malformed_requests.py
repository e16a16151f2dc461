"""Requests refused before routing: each gets one JSON error that does not reveal the server software."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.support.service.in_process_service import InProcessService

KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
UPGRADE = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"


class Said(NamedTuple):
    """One answer as it came."""

    status: int
    headers: dict[str, str]
    rest: bytes

    @property
    def error(self) -> str:
        body: Any = json.loads(self.rest)
        assert body["ok"] is False
        return str(body["error"])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    with InProcessService(tmp_path_factory.mktemp("state"), stepping=True) as running:
        yield running


def said(url: str, request: bytes, *, until_closed: bool = True) -> Said:
    """What comes back: all until the service closes, or the headers."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(request)
        text = b""
        while until_closed or b"\r\n\r\n" not in text:
            part = connection.recv(65536)
            if not part:
                break
            text += part
    head, _, rest = text.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Said(int(first.split(" ")[1]), headers, rest)


@pytest.mark.parametrize(
    "request_text",
    [
        "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nno colon here\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /\r\n\r\n",
        "POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        "POST /stop HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_malformed_request_gets_one_json_error(service: InProcessService, request_text: str) -> None:
    answer = said(service.http, request_text.encode())

    assert (answer.status, answer.headers["server"]) == (400, "hapticd")
    assert answer.headers["content-type"] == "application/json"
    assert "HTTP request" in answer.error


@pytest.mark.parametrize("length", [2**63 - 1, 2**63, 2**64, 10**30])
def test_oversized_body_gets_one_answer(service: InProcessService, length: int) -> None:
    request = f"POST /stop HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"

    answer = said(service.http, request.encode())

    assert answer.status == 413
    assert "65536 bytes" in answer.error


@pytest.mark.parametrize("port", ["ws", "ws_v30", "events"])
@pytest.mark.parametrize(
    ("lines", "status", "part"),
    [
        ([KEY, "Sec-WebSocket-Version: 99"], 426, "version 13"),
        ([KEY], 426, "version 13"),
        (["Sec-WebSocket-Version: 13"], 400, "Sec-WebSocket-Key"),
        (["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x"], 400, "16 bytes"),
        (["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ"], 400, "16 bytes"),
        (["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSE="], 400, "16 bytes"),
    ],
)
def test_malformed_handshake_gets_one_json_error(
    service: InProcessService, port: str, lines: list[str], status: int, part: str
) -> None:
    request = UPGRADE + "\r\n".join([*lines, "Connection: close", "", ""])

    answer = said(getattr(service, port), request.encode(), until_closed=False)

    assert (answer.status, answer.headers["server"]) == (status, "hapticd")
    assert answer.headers["content-type"] == "application/json"
    assert part in answer.error
    assert answer.headers.get("sec-websocket-version") == ("13" if status == 426 else None)


@pytest.mark.parametrize("port", ["ws", "ws_v30", "events"])
def test_handshake_does_not_reveal_the_server_software(service: InProcessService, port: str) -> None:
    request = UPGRADE + f"{KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"

    answer = said(getattr(service, port), request.encode(), until_closed=False)

    assert (answer.status, answer.headers["server"]) == (101, "hapticd")
    assert "content-type" not in answer.headers
