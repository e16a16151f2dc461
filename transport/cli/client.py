"""HTTP client of the commands, over the standard library: one request at a time, one deadline for each, errors as sentences."""

from __future__ import annotations

import functools
import http.client
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode

from transport.cli.address import Address
from transport.cli.bounded_connection import BoundedConnection, Deadline, Unreachable
from transport.cli.commands_for_routes import with_commands
from transport.cli.exit_codes import CommandError, NoService, Refused, ServiceFailed, WrongUsage
from transport.cli.text import clean

MOST_BYTES: Final = 32 * 1024 * 1024
PIECE: Final = 65536
ZIP: Final = b"PK\x03\x04"  # how a ZIP begins
SERVER_FAULT: Final = 500
OWN_PATHS: Final = frozenset({"settings", "ports", "sessions"})  # first segments that are no type of a device


class Client:
    """A service at one address."""

    def __init__(self, address: Address, token: str | None = None, timeout_s: float = 5.0) -> None:
        """`token` is sent as a bearer token; `timeout_s` bounds each request with its answer."""
        self.address = address
        self.token = token
        self.timeout_s = timeout_s

    def get(self, path: str, **query: str) -> Any:
        """Return the answer's data; NoService, Refused, ServiceFailed."""
        return self.ask("GET", path, query=query)

    def ask(self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None) -> Any:
        """Send one request and return the answer's data; NoService, Refused, ServiceFailed."""
        status, data, error = self.exchange(method, path, body, query)
        if error is None:
            return data
        raise self._refusal(path, status, error)

    def _refusal(self, path: str, status: int, error: str) -> CommandError:
        """Return what a refusal means to the user."""
        if status >= SERVER_FAULT:
            return ServiceFailed(error)
        if status == http.client.NOT_FOUND and error.startswith("There is no route"):
            return self._no_route(path)
        if status == 401:
            return Refused(f"{error} Give the service's token with --token-file or HAPTICD_TOKEN.", status)
        return Refused(error, status)

    def exchange(
        self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None
    ) -> tuple[int, Any, str | None]:
        """Return status, data and the service's error sentence, None without one; NoService."""
        fields = urlencode({**(query or {}), "format": "json"})
        status, text = self._send(method, f"{path}?{fields}", None if body is None else json.dumps(body).encode())
        return self._parsed(status, text)

    def _parsed(self, status: int, text: str) -> tuple[int, Any, str | None]:
        """Return status, data and error sentence of an answer; NoService when it is not from hapticd."""
        try:
            answer = json.loads(text)
            ok, error, data = answer["ok"], answer["error"], answer["data"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise self._stranger() from None
        if ok is True:
            return status, data, None
        return status, data, _sentence(error, data)

    def text(self, path: str) -> str:
        """Return the text of an answer that is no JSON; NoService, Refused, ServiceFailed."""
        status, text = self._send("GET", path, None)
        if status == http.client.OK:
            return text
        kind = ServiceFailed if status >= SERVER_FAULT else Refused
        raise kind(f"The service answers {path} with status {status}.")

    def content(self, path: str) -> bytes:
        """Return an answer that is a file; NoService, Refused, ServiceFailed."""
        status, raw = self._fetch("GET", path, None)
        if status == http.client.OK and raw.startswith(ZIP):
            return raw
        if status == http.client.OK:
            raise self._stranger()
        _, _, error = self._parsed(status, raw.decode("utf-8", "replace"))
        raise self._refusal(path, status, error or "")

    def _send(self, method: str, target: str, body: bytes | None) -> tuple[int, str]:
        status, raw = self._fetch(method, target, body)
        return status, raw.decode("utf-8", "replace")

    def _fetch(self, method: str, target: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Accept": "application/json", "User-Agent": "hapticd-command-line"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        tls = self.address.scheme == "https"
        connection = BoundedConnection(self.address.host, self.address.port, Deadline(self.timeout_s), tls=tls)
        try:
            connection.request(method, self.address.path + target, body, headers)
            response = connection.getresponse()
            raw = self._read(response)
        except TimeoutError:
            raise NoService(
                f"The service at {self.address.url} did not answer within {self.timeout_s:g} s: "
                "see its log, or give it longer with --timeout."
            ) from None
        except UnicodeError:
            raise NoService(f"{self.address.host} is no name of a machine: see --url.") from None
        except Unreachable as error:
            raise NoService(
                f"No service answers at {self.address.url} ({clean(error.reason)}): "
                "start one with hapticd run, or give its address with --url."
            ) from None
        except http.client.RemoteDisconnected:
            raise NoService(
                f"What listens at {self.address.url} closed the connection without an answer: "
                "see the service's log, or give the service's address with --url."
            ) from None
        except (http.client.IncompleteRead, OSError):
            raise self._cut_off() from None
        except http.client.HTTPException:
            raise (self._cut_off() if connection.ended else self._stranger()) from None
        finally:
            connection.finish()
        return response.status, raw

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        raw = bytearray()
        while piece := response.read1(PIECE):
            raw += piece
            if len(raw) > MOST_BYTES:
                raise self._stranger()
        if response.length:
            raise http.client.IncompleteRead(bytes(raw), response.length)
        return bytes(raw)

    def _no_route(self, path: str) -> CommandError:
        kind, _, device_id = unquote(path[1:]).partition("/")
        if device_id and kind not in OWN_PATHS:
            # The path of a device: its type is none.
            named = f"{kind}/{device_id.rpartition('/')[0] or device_id}"
            return Refused(f'There is no device "{clean(named, 80)}": hapticd devices lists those that are here.')
        return NoService(
            f"What answers at {self.address.url} has no {clean(path, 80)}: it is another port of hapticd or another path, "
            "or another version. Give the address that the service's ready line shows first."
        )

    def _cut_off(self) -> NoService:
        return NoService(
            f"The connection to {self.address.url} ended in the middle of the answer: "
            "try again, and see the service's log if it happens again."
        )

    def _stranger(self) -> NoService:
        return NoService(f"What answers at {self.address.url} is not hapticd: give the service's address with --url.")


@functools.cache
def device_types() -> frozenset[str]:
    """Return the words of types of devices, in every vocabulary."""
    from transport.wire.vocabulary import path_words

    return frozenset(word for word in path_words() if "*" not in word)


def segment(text: str) -> str:
    """Return a text as one segment of a path; `*` keeps its meaning."""
    return quote(text, safe="*:")


def device_path(named: str) -> str:
    """Return the path of DEVICE: an id, a pattern or a type, or TYPE/ID, TYPE/INDEX; WrongUsage when it is none of these."""
    kind, slash, device_id = named.partition("/")
    if not slash and named in device_types():
        return f"/{named}/*"
    if not kind or "/" in device_id or bool(slash) != bool(device_id):
        raise WrongUsage(
            f'"{clean(named, 80)}" is no device: write an id, a pattern with *, or TYPE/INDEX such as arm/0; hapticd devices lists them.'
        )
    return f"/{segment(kind)}/{segment(device_id)}" if slash else f"/*/{segment(named)}"


def results_of(data: Any) -> list[dict[str, Any]]:
    """Return the entries of an answer, whether one or several were meant."""
    found = data.get("results", [data]) if isinstance(data, dict) else []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _sentence(error: Any, data: Any) -> str:
    """Return the error with what each device or session answered, where several were meant."""
    first = clean(error) if isinstance(error, str) and error else "The service refuses without a reason."
    # DEVICE without a type is sent as */DEVICE.
    said = [first.replace('no device "*/', 'no device "')]
    for entry in results_of(data):
        if isinstance(entry.get("error"), str):
            name = entry.get("device_id", entry.get("session_id", ""))
            line = f"{clean(name)}: {clean(entry['error'])}"
            if entry["error"] != error:
                said.append(line)
    return with_commands(" ".join(said))
