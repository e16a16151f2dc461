"""Round-robin order of connections that have frames waiting.

A frame for which the service had to wait is served at once: its sender waits for each answer. A frame that was sent before the
last one was answered waits in one queue of all connections, and each iteration of the event loop serves one of them. So a
client that waits for its answers is not delayed by those that do not, and those are served in turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

# A connection served more often than this in a row, in successive iterations of the event loop, is the only active one. Arrived
# data needs two iterations until it is served.
ALONE: Final = 8


class Turns:
    """The queue of all connections; event loop's thread only."""

    def __init__(self) -> None:
        self._last: object = None
        self._in_a_row = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        """Number of frames in the queue."""
        return len(self._waiting)

    def shared(self, connection: object) -> bool:
        """Count `connection` as served. Return whether others may wait: one was served recently or is in the queue."""
        if self._last is not connection:
            self._last, self._in_a_row = connection, 0
        self._in_a_row += 1
        return self._in_a_row <= ALONE or bool(self._waiting)

    def next(self) -> asyncio.Future[None]:
        """Return a future that is done when all that are in the queue now have been served."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._serve, loop)
        self._waiting.append(turn)
        return turn

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake the first one; the next one in the next iteration of the event loop."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        if self._waiting:
            loop.call_soon(self._serve, loop)
