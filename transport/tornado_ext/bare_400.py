"""Replace Tornado's response to bytes that it cannot parse: a bare 400, sent even when the request was answered already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tornado.iostream import IOStream

BARE_400: Final = b"HTTP/1.1 400 Bad Request\r\n\r\n"
WRITE: Final = "write"


class Bare400Replacement:
    """Stands in for `stream.write`: the bare 400 becomes `response`, or nothing when the request was answered already."""

    def __init__(self, write: Callable[[bytes], asyncio.Future[None]], response: bytes) -> None:
        self._write = write
        self._response = response
        self.answered = False

    def __call__(self, data: bytes) -> asyncio.Future[None]:
        """Write `data`, or what replaces it."""
        if data == BARE_400:
            data = b"" if self.answered else self._response
        self.answered = True
        return self._write(data)


def replace_bare_400(stream: IOStream, response: bytes) -> None:
    """Send `response` in place of a bare 400 on this stream, at most one response to each request."""
    setattr(stream, WRITE, Bare400Replacement(stream.write, response))


def await_request(stream: IOStream) -> None:
    """Note that the next request may begin: it has no response yet."""
    replacement = vars(stream).get(WRITE)
    if isinstance(replacement, Bare400Replacement):
        replacement.answered = False


def restore_write(stream: IOStream) -> None:
    """Make `stream.write` Tornado's own again, because the stream speaks HTTP no more."""
    if WRITE in vars(stream):
        delattr(stream, WRITE)
