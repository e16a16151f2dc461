"""Break the reference cycles of a handler whose connection has closed; Tornado does it only where a request is finished."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tornado.iostream import StreamClosedError

if TYPE_CHECKING:
    from tornado.web import RequestHandler


def break_cycles(handler: RequestHandler) -> None:
    """Forget the template modules, and the future of the body, whose exception refers to the handler; call it once it is closed."""
    closed: asyncio.Future[None] = asyncio.Future()
    closed.set_exception(StreamClosedError())
    closed.exception()
    vars(handler.request)["_body_future"] = closed
    vars(handler)["ui"] = None
