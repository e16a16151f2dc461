"""HTTP requests as bytes, and answers from bytes: one exchange a connection, HTTP/1.0, no I/O."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import orjson

from hapticd_client.core.address import Address
from hapticd_client.core.version import VERSION as CLIENT_VERSION
from hapticd_client.errors import HapticsError, NoService, Refused, WrongInstance

T = TypeVar("T")
MOST_BYTES: Final = 32 * 1024 * 1024
LONGEST_LENGTH: Final = 20  # digits


@dataclass(frozen=True, slots=True)
class Request:
    """One request; its answer's data are sent back into the operation."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict[str, str])


VERSION: Final = Request("GET", "/version")


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for so many seconds before going on."""

    seconds: float


Operation: TypeAlias = Generator[Request | Pause, Any, T]
"""What is done in requests and pauses, the same over a blocking socket and asyncio; returns T."""


class Checked(Generic[T]):
    """One run of an operation, whoever does the exchanges."""

    def __init__(self, operation: Operation[T], address: Address) -> None:
        self._operation = operation
        self._address = address

    def first(self) -> Request | Pause:
        """Return the first step; StopIteration with the result at the end."""
        return next(self._operation)

    def after(self, answer: Any) -> Request | Pause:
        """Return the next step after an answer's data. NoService for data of another shape than this service's."""
        try:
            return self._operation.send(answer)
        except HapticsError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise NoService(
                f"What answers at {self._address.http} gives another answer than docs/http.md says ({error!r}): is this hapticd?"
            ) from None

    def failed(self, error: HapticsError) -> Request | Pause:
        """Return the next step after an error."""
        return self._operation.throw(error)


def check_same(expected: str, version: Any, address: Address) -> None:
    """Check that the HTTP interface is that of the service whose shared memory is used. WrongInstance."""
    found = version.get("instance") if isinstance(version, dict) else None
    if found != expected:
        raise WrongInstance(
            f"What answers HTTP at {address.http} is not the service of {address.local}: give the address of that one with http= or "
            "HAPTICD_HTTP"
        )


def encode(request: Request, address: Address, token: str | None) -> bytes:
    """Return the bytes of a request."""
    query = urlencode({**request.query, "format": "json"})
    body = b"" if request.body is None else orjson.dumps(request.body, option=orjson.OPT_SERIALIZE_NUMPY)
    lines = [
        f"{request.method} {address.path}{request.path}?{query} HTTP/1.0",
        f"Host: {address.place}",
        f"User-Agent: hapticd-client/{CLIENT_VERSION}",
        "Accept: application/json",
        f"Content-Length: {len(body)}",
    ]
    if request.body is not None:
        lines.append("Content-Type: application/json")
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


class Answer:
    """An answer while it comes in."""

    def __init__(self, address: Address) -> None:
        self._shown = f"{'https' if address.tls else 'http'}://{address.place}"
        self._raw = bytearray()
        self._length: int | None = None
        self._head = -1

    def take(self, data: bytes) -> bool:
        """Take some bytes, b"" at the end; return whether the answer is whole. NoService."""
        self._raw += data
        if len(self._raw) > MOST_BYTES:
            raise self._stranger()
        if self._head < 0:
            found = self._raw.find(b"\r\n\r\n")
            if found >= 0:
                self._head = found + 4
                self._length = _length(bytes(self._raw[:found]))
        if not data:
            return True
        return self._head >= 0 and self._length is not None and len(self._raw) >= self._head + self._length

    def data(self) -> Any:
        """Return the data of a whole answer. NoService, Refused."""
        try:
            version, code = bytes(self._raw[: max(0, self._head)]).split(None, 2)[:2]
            status = int(code) if version.startswith(b"HTTP/") else int("")
            body = orjson.loads(bytes(self._raw[self._head :]))
            ok, error, data = body["ok"], body["error"], body["data"]
        except (ValueError, LookupError, TypeError):
            raise self._stranger() from None
        if ok is True:
            return data
        sentence = str(error or "The service refuses without a reason.")
        if status == 401:
            sentence += " Give the service's token with token= or HAPTICD_TOKEN."
        raise Refused(sentence, status)

    def _stranger(self) -> HapticsError:
        return NoService(f"What answers at {self._shown} is not hapticd: give the service's address.")


def segment(text: str) -> str:
    """Return a text as one segment of a path."""
    return quote(text, safe="")


def _length(head: bytes) -> int | None:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit() and len(value) < LONGEST_LENGTH:
            return int(value)
    return None
