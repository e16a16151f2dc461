"""Log lines that a peer can cause are cut and rate-limited; tracebacks are logged whole."""

from __future__ import annotations

import logging
from typing import Any

from actors.kit.clock import ManualClock
from transport.log_limit import AUDIT, LONGEST_LINE, MOST_KEPT, LineLimit, RepeatLimit
from transport.wire.hint_limit import AT_ONCE, ONE_EVERY_NS


def line(text: str, *, fault: BaseException | None = None) -> logging.LogRecord:
    about = None if fault is None else (type(fault), fault, None)
    return logging.LogRecord("tornado.general", logging.INFO, "x.py", 1, f"Malformed: {text}", (), about)


def test_long_line_is_cut_with_its_length() -> None:
    record = line("A" * 60_000)

    assert LineLimit(ManualClock().now_ns).filter(record)

    assert record.getMessage().startswith("Malformed: AAAA")
    assert record.getMessage().endswith("(60011 characters)")
    assert len(record.getMessage()) < LONGEST_LINE + 30


def test_values_of_an_unknown_template_are_left_out() -> None:
    record = logging.LogRecord("tornado.general", logging.DEBUG, "x.py", 1, "%s: %r", ("no origin", "secret"), None)

    assert LineLimit(ManualClock().now_ns).filter(record)

    assert record.getMessage() == "…: …"


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


# ---------------------------------------------------------------- repeats of one fact


def repeated(logger: str = "actors.x", level: int = logging.ERROR, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord(logger, level, "x.py", 1, "port %s failed", ("a",), None)
    record.__dict__.update(fields)
    return record


def test_repeats_are_held_back_and_counted() -> None:
    clock = ManualClock()
    limit = RepeatLimit(clock.now_ns)

    assert [limit.filter(repeated()) for _ in range(AT_ONCE + 5)] == [True] * AT_ONCE + [False] * 5

    clock.advance(ONE_EVERY_NS / 1e9)
    record = repeated()
    assert limit.filter(record)
    assert record.getMessage() == "port a failed (5 lines held back)"


def test_lines_about_other_ports_sessions_devices_and_clients_are_counted_apart() -> None:
    limit = RepeatLimit(ManualClock().now_ns)

    for name in ("port", "session", "device", "client"):
        for number in range(10 * AT_ONCE):
            record = repeated()
            setattr(record, name, number)
            assert limit.filter(record)


def test_lines_with_other_errors_are_counted_apart() -> None:
    limit = RepeatLimit(ManualClock().now_ns)
    taken = [limit.filter(repeated(exc_info=(ValueError, ValueError("x"), None))) for _ in range(AT_ONCE + 1)]

    assert not taken[-1]
    assert limit.filter(repeated(exc_info=(KeyError, KeyError("x"), None)))


def test_audit_and_debugging_are_never_held_back() -> None:
    limit = RepeatLimit(ManualClock().now_ns)

    assert all(limit.filter(repeated(AUDIT, logging.INFO)) for _ in range(10 * AT_ONCE))
    assert all(limit.filter(repeated(level=logging.DEBUG)) for _ in range(10 * AT_ONCE))


def test_number_of_counted_facts_is_bounded() -> None:
    limit = RepeatLimit(ManualClock().now_ns)
    for number in range(MOST_KEPT + 100):
        limit.filter(repeated(session=number))

    assert len(limit._limits) == MOST_KEPT
