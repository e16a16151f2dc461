"""The newest lines of the log in memory, bounded in lines and bytes, and the rules that choose some of them.

Any thread appends under the lock of the log's handler; the main thread reads. Neither waits for more than one append or one copy.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from transport.log_format import LONGEST_FIELD, shortened

MOST_LINES: Final = 2_000
MOST_BYTES: Final = 512 * 1024  # of JSON and search text together
# Shorter than in a line that is written: one line takes a quarter of MOST_BYTES at most.
LONGEST_MESSAGE: Final = 2_048  # characters
LONGEST_TRACEBACK: Final = 4_096  # characters
LEVELS: Final[Mapping[str, int]] = MappingProxyType(
    {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log."""

    number: int  # 1 for the first line of the run
    level: int  # of logging: 10 is debug, 50 critical
    seconds: float  # s since 1970
    encoded: bytes  # JSON object, ASCII
    words: str  # what a search looks at, case-folded

    @property
    def size(self) -> int:
        """Bytes that count for MOST_BYTES."""
        return len(self.encoded) + len(self.words)


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which lines are wanted."""

    level: int = 0  # the lowest
    words: str = ""  # text that a line must hold, case-folded
    since: datetime | None = None  # lines of a later time
    after: int = 0  # lines with a larger number
    limit: int = MOST_LINES


class KeptLog:
    """The newest lines of one run."""

    def __init__(self, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._most_lines = most_lines
        self._lines: deque[LogLine] = deque()
        self._lock = threading.Lock()
        self._bytes = 0
        self._number = 0

    def append(self, level: int, seconds: float, members: Mapping[str, str | int]) -> None:
        """Keep a line, given as the members of its JSON object, and forget the oldest ones beyond the bounds."""
        line_of = {name: _bounded(name, value) for name, value in members.items()}
        with self._lock:
            self._number += 1
            encoded = json.dumps({"number": self._number, **line_of}).encode("ascii")
            searched = (str(value) for name, value in line_of.items() if name not in {"time", "level"})
            line = LogLine(self._number, level, seconds, encoded, "\n".join(searched).casefold())
            self._lines.append(line)
            self._bytes += line.size
            # The newest line stays, whatever its size.
            while len(self._lines) > self._most_lines or (self._bytes > self._most_bytes and len(self._lines) > 1):
                self._bytes -= self._lines.popleft().size

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """The kept lines, oldest first."""
        with self._lock:
            return tuple(self._lines)


def chosen(lines: Sequence[LogLine], query: LogQuery) -> tuple[tuple[LogLine, ...], int]:
    """Return the newest lines that fit the query, oldest first, and how many fit it without its limit."""
    fitting = [line for line in lines if _fits(line, query)]
    return tuple(fitting[-query.limit :]), len(fitting)


def jsonl(lines: Iterable[LogLine]) -> bytes:
    """Return the lines as JSON Lines."""
    return b"".join(line.encoded + b"\n" for line in lines)


def _fits(line: LogLine, query: LogQuery) -> bool:
    return (
        line.number > query.after
        and line.level >= query.level
        and (query.since is None or line.seconds > query.since.timestamp())
        and query.words in line.words
    )


def _bounded(name: str, value: str | int) -> str | int:
    if isinstance(value, int):
        return value
    return shortened(value, {"message": LONGEST_MESSAGE, "traceback": LONGEST_TRACEBACK}.get(name, LONGEST_FIELD))
