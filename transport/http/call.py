"""Input and output of a route's handler: `Call`, a checked and decoded request, and `Answer`, a value not encoded yet."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import orjson

from actors.kit.errors import InvalidInput
from transport.dashboard.files import StaticFiles
from transport.http.body_cache import BodyCache
from transport.http.support import Support
from transport.wire.envelope import Data
from transport.wire.shapes import no_json
from transport.wire.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transport.bridge import Bridge
    from transport.security import AccessPolicy

YES: Final = frozenset({"true", "1", "yes"})
BOM: Final = b"\xef\xbb\xbf"
NO: Final = frozenset({"false", "0", "no"})
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class NoBody:
    """Marks a request without a body, which differs from `null`."""


NO_BODY: Final = NoBody()


@dataclass(frozen=True, slots=True)
class Edge:
    """Shared by all listeners: bridge to the actors, access policy, answer of `GET /version`, cached bodies, dashboard files, support."""

    bridge: Bridge
    access: AccessPolicy
    build: Mapping[str, str]
    body_cache: BodyCache
    files: StaticFiles = field(default_factory=StaticFiles)
    # Open TCP ports by purpose: session, legacy, events, and http if there is one more; written once, when they are open.
    ports: dict[str, int] = field(default_factory=dict[str, int])
    support: Support = field(default_factory=Support)


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON answer."""

    data: Data
    status: int = 200
    error: str | None = None  # sentence of a `status` other than 2xx


@dataclass(frozen=True, slots=True)
class Text:
    """An answer of another content type than JSON; `headers` replace those of every answer."""

    content: bytes
    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    binary: bool = False  # no text: base64 in the envelope

    @property
    def in_envelope(self) -> str:
        """What the member `data` of the envelope holds."""
        return (b64encode(self.content) if self.binary else self.content).decode()


@dataclass(slots=True)
class Call:
    """One request."""

    edge: Edge
    words: Mapping[str, str]  # named segments of the path
    query: Mapping[str, str]
    body: object
    peer: str
    vocabulary: Vocabulary
    version: str
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING)  # of the request; names in any case
    path: str = "/"  # as it came, without the query
    unknown_keys: list[str] = field(default_factory=list[str])

    @property
    def bridge(self) -> Bridge:
        """The bridge to the actors and their snapshots."""
        return self.edge.bridge

    def flag(self, name: str) -> bool:
        """Return a boolean query field, False when absent; InvalidInput."""
        text = self.query.get(name, "false").lower()
        if text not in YES | NO:
            raise InvalidInput("give true or false.", f"?{name}=")
        return text in YES

    def value(self) -> object:
        """Return the body, any JSON value; InvalidInput when there is none."""
        if self.body is NO_BODY:
            raise InvalidInput("Send a JSON body.")
        return self.body

    def fields(self, *known: str) -> dict[str, object]:
        """Return the body as an object; unknown keys become warnings in the answer.

        InvalidInput if it is not an object, or has keys but none that is known.
        """
        body = self.value()
        if not isinstance(body, dict):
            raise InvalidInput("The body must be a JSON object.")
        found = cast("dict[str, object]", body)
        if found and not found.keys() & set(known):
            first = next(iter(found))
            raise InvalidInput(f"unknown, and nothing else was sent: use {', '.join(known)}", first[:40])
        self.note_unknown(found, known)
        return found

    def refuse_body(self) -> None:
        """Raise InvalidInput if there is a body other than `{}`."""
        if self.body is NO_BODY or self.body == {}:
            return
        if isinstance(self.body, dict):
            first = next(iter(cast("dict[str, object]", self.body)))
            raise InvalidInput("unknown: this route takes no body, leave it out", first[:40])
        raise InvalidInput("This route takes no body: leave it out.")

    def note_unknown(self, found: Collection[str], known: Collection[str]) -> None:
        """Add a warning to the answer for each key of `found` that is not `known`."""
        self.unknown_keys += (key for key in found if key not in known)


Handler: TypeAlias = Callable[[Call], Awaitable[Answer | Text]]


def wants_envelope(query: Mapping[str, str], *, default: bool) -> bool:
    """Whether `?format=` asks for the envelope; InvalidInput."""
    envelope = query.get("format")
    if envelope is None:
        return default
    if envelope not in {"json", "plain"}:
        raise InvalidInput("give json or plain.", "?format=")
    return envelope == "json"


def parse_body(body: bytes) -> object:
    """Parse a JSON body (of equal keys the last counts); NO_BODY if empty. InvalidInput with the position of the fault."""
    text = body.removeprefix(BOM)
    if not text.strip():
        return NO_BODY
    try:
        parsed: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            f"The body is not JSON: {no_json(error.msg)} at line {error.lineno}, column {error.colno}."
        ) from None
    return parsed
