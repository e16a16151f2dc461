"""What a client on this machine asks for in its one line. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from actors.kit.errors import InvalidInput
from fastpath.local.seats import VERSION
from transport.wire.commands import SET_POINTS

LONGEST_LINE: Final = 4096
LONGEST_NAME: Final = 64
KEYS: Final = ("hapticd_local", "name", "devices", "commands")
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class LocalRequest:
    """A client's request."""

    name: str  # for people: log lines and `remote_address`
    devices: frozenset[str] | None  # ids; None: every device, also those that come later
    commands: int  # bits of the codes of what it may command


def parse_request(line: bytes) -> LocalRequest:
    """Read the line; InvalidInput says what to change."""
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"no JSON: {error}") from None
    if not isinstance(document, dict):
        raise InvalidInput("the first line is a JSON object")
    for key in document:
        if key not in KEYS:
            raise InvalidInput(f"unknown: the line holds {', '.join(KEYS)}", str(key)[:40])
    version = document.get("hapticd_local")
    if version != VERSION or type(version) is not int:
        raise InvalidInput(
            f"this service speaks version {VERSION}: compile with the hapticd_local.h that came with it",
            "hapticd_local",
        )
    return LocalRequest(_name(document.get("name")), _devices(document.get("devices", ALL)), _commands(document))


def _name(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"a text of 1 to {LONGEST_NAME} printable characters that says what the client is", "name")
    return name


def _devices(devices: Any) -> frozenset[str] | None:
    if devices == ALL:
        return None
    if not isinstance(devices, list) or not all(isinstance(each, str) for each in devices):
        raise InvalidInput('"all", or an array of device ids', "devices")
    return frozenset(devices)


def _commands(document: dict[str, Any]) -> int:
    words = document.get("commands", [])
    if not isinstance(words, list) or not all(isinstance(word, str) and word in SET_POINTS for word in words):
        raise InvalidInput(f"an array of the commands that the client will use: {', '.join(SET_POINTS)}", "commands")
    return sum(1 << SET_POINTS[word][0] for word in set(words))
