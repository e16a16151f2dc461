"""Round-robin order of connections that have frames waiting.

A frame for which the service had to wait is served at once: its sender takes turns by itself. A frame that was sent ahead, behind
another one, waits in one queue for all connections, and each iteration of the event loop serves one of that queue. So a
client that waits for its answers is not held up by those who do not, and of those no one is served twice before all others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

# Served more often than this in a row, with an iteration of the event loop in between, a connection has nobody beside it. Data
# that has come needs two iterations until it is served.
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
        """Count `connection` as served now. Return whether others may have something waiting: one was served not long ago, or is in the queue."""
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
