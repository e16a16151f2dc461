"""Queue of HTTP requests: one begins in each iteration of the event loop, and sessions are served in between."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, RequestStartLine, ResponseStartLine


class RequestQueue:
    """First come, first served; used on the event loop's thread only."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        """Number of requests that wait."""
        return len(self._waiting)

    async def turn(self) -> None:
        """Wait until this request may begin: at once when no other one began in this iteration."""
        loop = asyncio.get_running_loop()
        if not self._taken:
            self._taken = True
            loop.call_soon(self._serve, loop)
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the next request begin; with an empty queue the next one to come begins at once."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                loop.call_soon(self._serve, loop)
                return
        self._taken = False


class Waiting(HTTPMessageDelegate):
    """A queued request: its handler is made, and its body read, when its turn comes."""

    def __init__(self, turn: Callable[[], Awaitable[None]], request: HTTPMessageDelegate) -> None:
        """`turn` is awaited first; `request` is Tornado's delegate, which makes the handler."""
        self._turn = turn
        self._request = request
        self._begun = False

    async def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> None:
        """Wait for the turn, then hand the headers to the handler."""
        await self._turn()
        self._begun = True
        begun = self._request.headers_received(start_line, headers)
        if begun is not None:
            await begun

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Hand a piece of the body to the handler."""
        return self._request.data_received(chunk)

    def finish(self) -> None:
        """Tell the handler that the body has ended."""
        self._request.finish()

    def on_connection_close(self) -> None:
        """Tell the handler, if there is one, that the connection ended before the request."""
        if self._begun:
            self._request.on_connection_close()
