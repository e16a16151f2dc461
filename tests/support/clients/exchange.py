"""One HTTP exchange or WebSocket handshake: status, headers and body, whatever the status."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.support.wire.session_zero import free_of_zero

TIMEOUT_S = 30.0
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


def exchange(
    base: str,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    raw: bool = False,
) -> Reply:
    """Send `body` as JSON, or as the text that it is if `raw` (None: nothing), on a connection of its own; `base` is http://host:port."""
    place = urlsplit(base).netloc
    sent = None if body is None else str(body) if raw else json.dumps(body)
    connection = http.client.HTTPConnection(place, timeout=TIMEOUT_S)
    try:
        connection.request(method, path, sent, dict(headers or {}))
        answer = connection.getresponse()
        body_read = answer.read()
        free_of_zero(body_read)
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body_read)
    finally:
        connection.close()


def websocket_status(base: str, path: str = "/") -> Reply:
    """Request a WebSocket and close at once; return the HTTP status, 101 where it opens."""
    return exchange(base, "GET", path, headers=HANDSHAKE)
