"""Encode HTTP answers: errors as status and sentence, values plain or as `{"ok", "error", "data"}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from actors.kit.errors import (
    Busy,
    CalibrationLocked,
    Conflict,
    FirmwareTooOld,
    HapticError,
    InvalidInput,
    NoSlot,
    NoSuchActor,
    NotFound,
    PortBlocked,
    StateNotWritable,
    UnsupportedArea,
)
from fastpath.text.encoder import encode_json

RETRY_AFTER_S: Final = 1
OUR_FAULT: Final = "The service failed at this: look for the error in its log and report it."
MOST_WARNINGS: Final = 16
LONGEST_WARNING: Final = 100


class NoSuchRoute(NotFound):
    """No route has this path."""

    noun = "route"
    hint = "check the spelling of the path"


class MethodNotAllowed(HapticError):
    """The route has other methods."""

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        """`allowed`: methods that the route has."""
        super().__init__(f"{method} is not for this route: use {', '.join(allowed)}.")
        self.allowed = tuple(allowed)


class BodyTooLarge(HapticError):
    """The body is longer than the service reads."""

    def __init__(self, limit: int) -> None:
        """`limit` in bytes."""
        super().__init__(f"The body is too long: send at most {limit} bytes.")


class HeadersTooLarge(HapticError):
    """The headers are longer than the service takes."""

    def __init__(self, limit: int) -> None:
        """`limit` in bytes."""
        super().__init__(f"The headers are too long: send at most {limit} bytes of them.")


class TokenRequired(HapticError):
    """The peer is not on this machine and has shown no valid token."""


class Forbidden(HapticError):
    """The request names a host or comes from an origin that may not."""


class TooManyRequests(HapticError):
    """A peer from another machine asks faster than it may."""

    def __init__(self, per_s: float) -> None:
        """`per_s` is how many requests it may send each second."""
        super().__init__(
            f"One peer may send {per_s:g} requests a second: send fewer, or use one session for many messages."
        )


class NotReady(HapticError):
    """The service starts, stops, or a part of it does not work yet."""

    def __init__(self, sentence: str = "The service is starting or stopping: try again in a moment.") -> None:
        """`sentence` names what is missing."""
        super().__init__(sentence)


STATUS: Final[Mapping[type[HapticError], int]] = MappingProxyType(
    {
        InvalidInput: 400,
        TokenRequired: 401,
        Forbidden: 403,
        NotFound: 404,
        MethodNotAllowed: 405,
        CalibrationLocked: 409,
        Conflict: 409,
        PortBlocked: 409,
        BodyTooLarge: 413,
        FirmwareTooOld: 422,
        UnsupportedArea: 422,
        TooManyRequests: 429,
        HeadersTooLarge: 431,
        Busy: 503,
        NoSlot: 503,
        NoSuchActor: 503,
        NotReady: 503,
        StateNotWritable: 507,
    }
)


@dataclass(frozen=True, slots=True)
class Encoded:
    """Text of a JSON object, written as it is."""

    text: bytes


Data: TypeAlias = Mapping[str, object] | Encoded


@dataclass(frozen=True, slots=True)
class Notes:
    """Members beside the data: unknown body keys, and the replacement of a deprecated route."""

    unknown_keys: Sequence[str] = ()
    deprecation: str | None = None

    def fields(self) -> dict[str, object]:
        """Return `warnings` and `deprecation_warning`, each only when there is one."""
        found: dict[str, object] = {}
        if self.unknown_keys:
            found["warnings"] = [_warning(key) for key in self.unknown_keys[:MOST_WARNINGS]]
        if self.deprecation is not None:
            found["deprecation_warning"] = self.deprecation
        return found


NO_NOTES: Final = Notes()


def status_of(error: BaseException) -> int:
    """Return the HTTP status of an error; 500 for one that is not in the table."""
    for kind in type(error).__mro__:
        status = STATUS.get(kind)
        if status is not None:
            return status
    return 500


def headers_of(error: BaseException) -> dict[str, str]:
    """Return the headers that belong to the status: `Allow`, `Retry-After`, `WWW-Authenticate`."""
    if isinstance(error, MethodNotAllowed):
        return {"Allow": ", ".join(error.allowed)}
    status = status_of(error)
    if status in {429, 503}:
        return {"Retry-After": str(RETRY_AFTER_S)}
    return {"WWW-Authenticate": "Bearer"} if status == 401 else {}


def sentence_of(error: BaseException) -> str:
    """Return the sentence for the client: a HapticError's own; for any other error one that shows nothing of the inside."""
    return error.sentence if isinstance(error, HapticError) else OUR_FAULT


def failure(sentence: str, notes: Notes = NO_NOTES) -> bytes:
    """Return the body of an error, the same with and without the envelope: `{"ok": false, "error": sentence, "data": null}`."""
    return encode_json({"ok": False, "error": sentence, "data": None, **notes.fields()})


def answered(data: Data, *, envelope: bool, notes: Notes = NO_NOTES, error: str | None = None) -> bytes:
    """Return the body of an answer with data; `error`: why the status is no 2xx, so that the envelope's `ok` is false.

    The envelope has all three members always. `notes` stand beside `data` in the envelope, inside the object without it.
    """
    body = data.text if isinstance(data, Encoded) else encode_json(data)
    extra = notes.fields()
    if envelope:
        head = encode_json({"ok": error is None, "error": error})
        body = b'%b,"data":%b}' % (head[:-1], body)
    return joined(body, encode_json(extra)) if extra else body


def joined(text: bytes, more: bytes) -> bytes:
    """Return the members of two JSON objects as one object; they have no name in common."""
    comma = b"" if b"{}" in (text, more) else b","
    return b"%b%b%b" % (text[:-1], comma, more[1:])


def _warning(key: str) -> str:
    shown = f"{key[: LONGEST_WARNING - 1]}…" if len(key) > LONGEST_WARNING else key
    return f'unknown key "{shown}" was ignored'
