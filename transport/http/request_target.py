"""Parse a request target: path segments and query, percent-decoded once after the path is split."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, unquote_to_bytes

from actors.kit.errors import InvalidInput

VERSIONS: Final = ("3.0", "3.1")
NEWEST: Final = "3.1"
MOST_FIELDS: Final = 64
# If malformed, the SessionManager opens a new session and warns the client.
RESUMED: Final = "session_id"

_BROKEN: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed target: segments without version prefix and trailing empty segment; `prefix` is the version prefix."""

    segments: tuple[str, ...]
    query: Mapping[str, str]
    prefix: str | None = None

    @property
    def version(self) -> str:
        """Version of the answer's shape: 3.0 only behind its prefix."""
        return self.prefix or NEWEST


def parse_target(uri: str) -> Target:
    """Parse a target in origin or absolute form; InvalidInput for bad percent-encoding or a missing path."""
    path, _, query = _ABSOLUTE.sub("", uri, count=1).partition("?")
    if path and not path.startswith("/"):
        raise InvalidInput("Begin the path with a slash.")
    segments = [_decoded(segment, "the path") for segment in path.split("/")[1:]]
    prefix = None
    if segments and segments[0] in VERSIONS:
        prefix = segments.pop(0)
    if segments and not segments[-1]:
        segments.pop()
    return Target(tuple(segments), MappingProxyType(parse_query(query)), prefix)


def path_of(uri: str) -> str:
    """Return the path of a target in origin or absolute form as it was sent, without scheme, authority and query."""
    return _ABSOLUTE.sub("", uri, count=1).partition("?")[0]


def parse_query(query: str) -> dict[str, str]:
    """Return the query fields by name (the last of a name wins, `+` is a blank); InvalidInput."""
    fields = [field for field in query.split("&") if field]
    if len(fields) > MOST_FIELDS:
        raise InvalidInput(f"Send at most {MOST_FIELDS} query fields.")
    pairs = (field.replace("+", " ").partition("=") for field in fields)
    return {
        name: _value(name, value) for name, value in ((_decoded(name, "the query"), value) for name, _, value in pairs)
    }


def _value(name: str, text: str) -> str:
    return unquote(text, errors="replace") if name == RESUMED else _decoded(text, "the query")


def _decoded(text: str, where: str) -> str:
    if _BROKEN.search(text):
        raise InvalidInput(f"A % in {where} is not followed by two hex digits: write %25 for a % sign.")
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"The percent-encoding in {where} is not UTF-8: encode the text as UTF-8 first.") from None
