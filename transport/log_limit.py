"""Limits on log lines whose text and number a peer chooses: Tornado logs what it cannot parse, before any access check."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from fastpath.arena.runtime import now_ns
from transport.wire.hint_limit import HintLimit

LONGEST_LINE: Final = 200  # characters


class LineLimit(logging.Filter):
    """Cut lines to LONGEST_LINE characters; pass ten at once, then one in six seconds with the number of those held back.

    Lines with a traceback pass whole: they are about this service, not about a peer. Main thread only.
    """

    def __init__(self, now_ns: Callable[[], int] = now_ns) -> None:
        """`now_ns` returns monotonic nanoseconds."""
        super().__init__()
        self._now_ns = now_ns
        self._limit = HintLimit()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; its text is replaced by the cut one."""
        if record.exc_info:
            return True
        held_back = self._limit.due(self._now_ns())
        if held_back is None:
            return False
        text = record.getMessage()
        if len(text) > LONGEST_LINE:
            text = f"{text[:LONGEST_LINE]}… ({len(text)} characters)"
        if held_back:
            text = f"{text} ({held_back} lines held back)"
        record.msg, record.args = text, ()
        return True
