"""HTTP client for a service inside the test's process."""

from __future__ import annotations

import http.client
import json
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from tests.support.wire.session_zero import free_of_zero

TIMEOUT_S: Final = 60.0


class Reply(NamedTuple):
    """Status and body of an answer."""

    status: int
    json: Any

    @property
    def data(self) -> Any:
        """The body of a success."""
        assert self.status == 200, self.json
        return self.json

    @property
    def error(self) -> str:
        """The sentence of an error, whose body has the one shape that errors have."""
        assert self.status != 200
        assert set(self.json) - {"deprecation_warning"} == {"ok", "error", "data"}
        assert (self.json["ok"], self.json["data"]) == (False, None)
        return str(self.json["error"])


class HttpClient:
    """Asks one base URL; each exchange has a connection of its own."""

    def __init__(self, base: str) -> None:
        self._netloc = urlsplit(base).netloc

    def ask(self, method: str, path: str, body: object = ...) -> Reply:
        """`body` is sent as JSON, also None; without one nothing is sent."""
        connection = http.client.HTTPConnection(self._netloc, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, None if body is ... else json.dumps(body).encode())
            answer = connection.getresponse()
            return Reply(answer.status, json.loads(free_of_zero(answer.read())))
        finally:
            connection.close()

    def get(self, path: str) -> Reply:
        return self.ask("GET", path)

    def post(self, path: str, body: object = ...) -> Reply:
        return self.ask("POST", path, body)

    def patch(self, path: str, body: object = ...) -> Reply:
        return self.ask("PATCH", path, body)

    def delete(self, path: str) -> Reply:
        return self.ask("DELETE", path)
