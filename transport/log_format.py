"""Formats of the log: one line a fact as text or as JSON, without control characters and without secrets."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, cast

TEXT: Final = "text"
JSON: Final = "json"

# Fields beside those that every line has, in their order; a line has those that its fact has.
FIELDS: Final = ("event", "session", "device", "client", "port", "actor")
LONGEST_MESSAGE: Final = 8_192  # characters
LONGEST_TRACEBACK: Final = 65_536  # characters
LONGEST_FIELD: Final = 256  # characters
HIDDEN: Final = "[hidden]"

# What looks like a secret whoever wrote it: a token in a URL, in a header, in a setting; a password; user and password of an address.
_SECRET: Final = re.compile(
    r"""(?P<name>token(?:=|%3d)|["']token["']\s*:\s*["']|\bbearer\s+(?=\S{12})|\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:\w+\s+)?"""
    r"""|(?:passw(?:or)?d|passphrase|secret|api[_-]?key|private[_-]?key)["']?\s*[:=]\s*["']?)"""
    r"""(?P<value>[^\s&"'#]+)""",
    re.IGNORECASE,
)
# The address ends at the last @ before its path: a password may hold one.
_LOGIN: Final = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,31}://)[^\s/?#\"'<>]{1,512}@", re.IGNORECASE)
# Names of JSON members and settings whose value is a secret.
_SECRET_NAME: Final = re.compile(
    r"(?:^|[_/.-])(?:token|passw(?:or)?d|passphrase|secret|authorization|(?:api|private)[_-]?key)$", re.IGNORECASE
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Redaction:
    """Replaces secrets in texts: known ones wherever they stand, others by the name before them."""

    def __init__(self) -> None:
        self._known: tuple[str, ...] = ()

    def hide(self, secrets: Iterable[str]) -> None:
        """Hide these texts from now on."""
        self._known = tuple(secret for secret in secrets if secret)

    def clean(self, text: str) -> str:
        """Return the text without secrets."""
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        text = _LOGIN.sub(rf"\g<scheme>{HIDDEN}@", text) if "@" in text else text
        return _SECRET.sub(rf"\g<name>{HIDDEN}", text)

    def cleaned(self, value: object) -> object:
        """Return a JSON value without secrets: texts are cleaned, members named as a secret are replaced whole."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            members = cast("Mapping[str, object]", value)
            return {
                self.clean(str(name)): HIDDEN if is_secret_name(str(name)) else self.cleaned(one)
                for name, one in members.items()
            }
        if isinstance(value, list | tuple):
            return [self.cleaned(one) for one in cast("Sequence[object]", value)]
        return value


class TextFormat(logging.Formatter):
    """`2026-01-31 12:00:00,123 LEVEL logger: message` in local time; a traceback follows on lines of its own."""

    def __init__(self, redaction: Redaction) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redaction = redaction

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - a name of logging
        """Return the line with control characters escaped."""
        return escaped(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the traceback behind it."""
        kept = record.msg, record.args
        record.msg, record.args = message_of(record), ()
        try:
            return self._redaction.clean(super().format(record))
        finally:
            record.msg, record.args = kept


class JsonFormat(logging.Formatter):
    """One object a line, ASCII only: time, level, kind, message, those of FIELDS that the fact has, traceback."""

    def __init__(self, redaction: Redaction) -> None:
        super().__init__()
        self._redaction = redaction

    def format(self, record: logging.LogRecord) -> str:
        """Return the object as one line of ASCII."""
        return json.dumps(self.members(record))

    def members(self, record: logging.LogRecord) -> dict[str, str | int]:
        """Return the members of the object in their order."""
        shown: dict[str, str | int] = {
            "time": utc(record.created),
            "level": record.levelname.lower(),
            "kind": self._text(record.name, LONGEST_FIELD),
            "message": self._text(message_of(record), LONGEST_MESSAGE),
        }
        for name in FIELDS:
            value: object = getattr(record, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                shown[name] = int(value)
            elif value is not None and value != "":
                shown[name] = self._text(str(value), LONGEST_FIELD)
        if traceback := self._traceback(record):
            shown["traceback"] = self._text(traceback, LONGEST_TRACEBACK)
        return shown

    def _traceback(self, record: logging.LogRecord) -> str:
        parts = [record.exc_text or ""] if record.exc_text or not record.exc_info else []
        if not parts and record.exc_info:
            parts = [self.formatException(record.exc_info)]
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return "\n".join(part for part in parts if part)

    def _text(self, text: str, longest: int) -> str:
        return shortened(unicode(self._redaction.clean(text)), longest)


def is_secret_name(name: str) -> bool:
    """Return whether the last word of a member's name or of a setting's key names a secret, as in `auth/token`."""
    return _SECRET_NAME.search(name) is not None


def message_of(record: logging.LogRecord) -> str:
    """Return the message; arguments that do not fit their template are shown beside it."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - whatever a value's own text raises, the line is written
        return f"{record.msg!r} (its arguments do not fit it)"


def utc(seconds: float) -> str:
    """Return a time (s since 1970) as ISO 8601 in UTC with microseconds: `2026-01-31T12:00:00.123456Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unicode(text: str) -> str:
    r"""Return the text with lone surrogates as `\udc80`: JSON takes them, its readers may not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def escaped(text: str) -> str:
    r"""Return the text on one line: control characters as `\n` or `\x1b`, lone surrogates as `\udc80`."""
    return unicode(_CONTROL.sub(lambda found: ascii(found[0])[1:-1], text))


def shortened(text: str, longest: int) -> str:
    """Return the text, cut after `longest` characters, with its length."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"
