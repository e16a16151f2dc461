"""Limits on log lines: on repeats of one fact, and on text and number of what Tornado logs of peers before any access check."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from fastpath.arena.runtime import now_ns
from transport.tornado_ext.log_lines import text_of
from transport.wire.hint_limit import HintLimit

LONGEST_LINE: Final = 200  # characters
MOST_KEPT: Final = 1_024  # facts whose repeats are counted
AUDIT: Final = "hapticd.audit"


class LineLimit(logging.Filter):
    """Take out what clients sent and cut lines to LONGEST_LINE characters; pass ten at once, then one in six seconds.

    That one has the number of those held back. Lines with a traceback pass whole: they are about this service, not about a peer. Main thread only.
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
        text = text_of(record)
        if len(text) > LONGEST_LINE:
            text = f"{text[:LONGEST_LINE]}… ({len(text)} characters)"
        if held_back:
            text = f"{text} ({held_back} lines held back)"
        record.msg, record.args = text, ()
        return True


class RepeatLimit(logging.Filter):
    """Pass a line that repeats ten times at once, then one in six seconds with the number of those held back. Any thread.

    Lines repeat when logger, level, template, error and the fields session, device, client and port are the same. Lines of the
    audit log and of debugging always pass.
    """

    def __init__(self, now_ns: Callable[[], int] = now_ns) -> None:
        """`now_ns` returns monotonic nanoseconds."""
        super().__init__()
        self._now_ns = now_ns
        self._limits: OrderedDict[tuple[object, ...], HintLimit] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; the number of those held back is added to its text."""
        if record.levelno <= logging.DEBUG or record.name == AUDIT:
            return True
        error = record.exc_info[0] if record.exc_info else None
        key = (
            record.name,
            record.levelno,
            str(record.msg),
            error,
            *(str(getattr(record, name, "")) for name in ("session", "device", "client", "port")),
        )
        with self._lock:
            limit = self._limits.setdefault(key, HintLimit())
            self._limits.move_to_end(key)
            if len(self._limits) > MOST_KEPT:
                self._limits.popitem(last=False)
            held_back = limit.due(self._now_ns())
        if held_back is None:
            return False
        if held_back:
            record.msg, record.args = f"{record.getMessage()} ({held_back} lines held back)", ()
        return True
