"""Log lines that a peer can cause are cut and rate-limited; tracebacks are logged whole."""

from __future__ import annotations

import logging

from actors.kit.clock import ManualClock
from transport.log_limit import LONGEST_LINE, LineLimit
from transport.wire.hint_limit import AT_ONCE, ONE_EVERY_NS


def line(text: str, *, fault: BaseException | None = None) -> logging.LogRecord:
    about = None if fault is None else (type(fault), fault, None)
    return logging.LogRecord("tornado.general", logging.INFO, "x.py", 1, "Malformed: %s", (text,), about)


def test_long_line_is_cut_with_its_length() -> None:
    record = line("A" * 60_000)

    assert LineLimit(ManualClock().now_ns).filter(record)

    assert record.getMessage().startswith("Malformed: AAAA")
    assert record.getMessage().endswith("(60011 characters)")
    assert len(record.getMessage()) < LONGEST_LINE + 30


def test_lines_over_the_limit_are_suppressed_and_counted() -> None:
    clock = ManualClock()
    limit = LineLimit(clock.now_ns)

    assert [limit.filter(line("x")) for _ in range(AT_ONCE + 5)] == [True] * AT_ONCE + [False] * 5

    clock.advance(ONE_EVERY_NS / 1e9)
    record = line("x")
    assert limit.filter(record)
    assert record.getMessage() == "Malformed: x (5 lines held back)"


def test_line_with_a_traceback_is_not_cut() -> None:
    record = line("A" * 60_000, fault=ValueError("x"))

    assert LineLimit(ManualClock().now_ns).filter(record)

    assert len(record.getMessage()) > 60_000
