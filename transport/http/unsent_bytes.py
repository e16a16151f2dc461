"""The bytes of answers that their clients have not taken yet, over all connections: bounded, whoever stands still pays."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tornado.iostream import IOStream

logger = logging.getLogger(__name__)


class UnsentBytes:
    """One answer at most for each connection, the one that stands still longest first; main thread only."""

    def __init__(self, limit: int) -> None:
        """`limit` in bytes."""
        self._limit = limit
        self._left: dict[IOStream, int] = {}
        self.total = 0

    def goes_on(self, stream: IOStream, size: int) -> None:
        """An answer begins, or a piece of it was taken: `size` bytes are left. Past the limit, close those that stand still."""
        self.ends(stream)
        if stream.closed():
            return
        self._left[stream] = size
        self.total += size
        while self.total > self._limit and len(self._left) > 1:
            slowest = next(iter(self._left))
            self.ends(slowest)
            logger.debug("a connection does not take its answer and is closed: too many bytes wait for their clients")
            slowest.close()

    def ends(self, stream: IOStream) -> None:
        """The answer has left, or its connection has ended."""
        self.total -= self._left.pop(stream, 0)
