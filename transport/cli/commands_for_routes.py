"""Replace the routes that a service's sentence names by the commands that do the same. Imports no library."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

NAME: Final = r"[^/\s,;:?.]+(?:\.[^/\s,;:?.]+)*"
ROUTE: Final = re.compile(rf"(?<![\w/])(GET|POST|DELETE) (/(?:{NAME}|…)(?:/(?:{NAME}|…))*(?:\?advanced=true)?)")


def with_commands(sentence: str) -> str:
    """Return the sentence with `hapticd reset X` for `POST /ports/X/reset`, and so on; routes without a command stay."""
    return ROUTE.sub(lambda found: _command(found[1], found[2]) or found[0], sentence)


def _command(method: str, path: str) -> str | None:
    for wanted, pattern, made in ROWS:
        found = pattern.fullmatch(path)
        if found is not None and method == wanted:
            return made(found)
    return None


def _row(method: str, pattern: str, command: str) -> tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]:
    """Return a row; `{}` in the pattern is one segment or more, and its text stands for `{}` in the command."""
    whole = re.escape(pattern).replace(re.escape("{}"), "(.+)")
    return method, re.compile(whole), lambda found: f"hapticd {command.format(*map(_named, found.groups()[-1:]))}"


def _named(segment: str) -> str:
    """Return a segment as the help of the commands writes it: `{id}` is DEVICE."""
    return "DEVICE" if segment == "{id}" else segment


ROWS: Final = (
    _row("GET", "/devices", "devices"),
    _row("GET", "/sessions", "sessions"),
    _row("GET", "/ports", "ports"),
    _row("GET", "/support-bundle", "bundle"),
    _row("POST", "/ports/{}/reset", "reset {}"),
    _row("GET", "/settings", "settings get"),
    _row("GET", "/settings?advanced=true", "settings get --advanced"),
    _row("GET", "/settings/{}", "settings get {}"),
    _row("POST", "/settings/{}", "settings set {}"),
    _row("DELETE", "/settings/{}", "settings reset {}"),
    _row("POST", "/stop", "stop"),
    _row("DELETE", "/stop", "resume"),
    _row("POST", "/{}/{}/stop", "stop {}"),
    _row("DELETE", "/{}/{}/stop", "resume {}"),
    _row("POST", "/{}/{}/resume", "resume {}"),
    _row("POST", "/{}/{}/calibration", "calibrate {}"),
    _row("DELETE", "/{}/{}/config/paired_with", "pair {} --dissolve"),
)
