"""Bound the bytes of answers that clients have not read yet, over all connections."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tornado.iostream import IOStream

logger = logging.getLogger(__name__)


class UnsentBytes:
    """Unread bytes of each connection's answer, the longest stalled first; main thread only."""

    def __init__(self, limit: int) -> None:
        """`limit`: bytes over all connections."""
        self._limit = limit
        self._left: dict[IOStream, int] = {}
        self.total = 0

    def goes_on(self, stream: IOStream, size: int) -> None:
        """Record that `size` bytes of an answer are unsent, at its start and after each piece; past the limit close stalled connections."""
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
        """Forget an answer that was sent or whose connection ended."""
        self.total -= self._left.pop(stream, 0)
