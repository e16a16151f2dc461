"""Kept lines of the log: bounded in lines and bytes, numbered, and chosen by level, text, time and number."""

from __future__ import annotations

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.kept_log import (
    LEVELS,
    LONGEST_MESSAGE,
    LONGEST_TRACEBACK,
    MOST_BYTES,
    KeptLog,
    LogQuery,
    chosen,
    jsonl,
)
from transport.log import Log
from transport.log_format import LONGEST_FIELD

ANY_TEXT = st.text(st.characters(codec="utf-8"))


def kept(*messages: str, **bounds: int) -> KeptLog:
    log = KeptLog(**bounds)
    for at, message in enumerate(messages):
        log.append(logging.INFO, float(at), {"level": "info", "kind": "k", "message": message})
    return log


def messages(log: KeptLog, query: LogQuery = LogQuery()) -> list[str]:  # noqa: B008 - frozen
    return [json.loads(line.encoded)["message"] for line in chosen(log.lines, query)[0]]


def test_oldest_lines_are_forgotten_beyond_the_most_lines() -> None:
    log = kept(*map(str, range(7)), most_lines=3)

    assert messages(log) == ["4", "5", "6"]
    assert [line.number for line in log.lines] == [5, 6, 7]


def test_oldest_lines_are_forgotten_beyond_the_most_bytes() -> None:
    log = kept(*["x" * 500] * 50, most_bytes=4_000)

    assert 1 < len(log.lines) < 8
    assert sum(line.size for line in log.lines) <= 4_000


def test_newest_line_stays_whatever_its_size() -> None:
    assert messages(kept("a", "b" * 500, most_bytes=10)) == ["b" * 500]


def test_one_line_takes_a_quarter_of_the_bytes_at_most() -> None:
    log = KeptLog()
    most: dict[str, str | int] = dict.fromkeys(("message", "traceback", "device", "client"), "\U0001f480" * 100_000)
    log.append(logging.ERROR, 0.0, most)

    (line,) = log.lines
    assert line.size < MOST_BYTES / 4
    shown = json.loads(line.encoded)
    assert [len(shown[name].partition("…")[0]) for name in most] == [
        LONGEST_MESSAGE,
        LONGEST_TRACEBACK,
        LONGEST_FIELD,
        LONGEST_FIELD,
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (LogQuery(), ["start", "Port SIM0 blocked", "lost é", "end"]),
        (LogQuery(level=LEVELS["warning"]), ["Port SIM0 blocked", "lost é"]),
        (LogQuery(words="sim0"), ["Port SIM0 blocked"]),
        (LogQuery(words="é"), ["lost é"]),
        (LogQuery(words="46c6"), ["lost é"]),
        (LogQuery(words="warning"), []),
        (LogQuery(words='"'), []),
        (LogQuery(since=datetime.fromtimestamp(1, UTC)), ["lost é", "end"]),
        (LogQuery(after=3), ["end"]),
        (LogQuery(after=99), []),
        (LogQuery(limit=2), ["lost é", "end"]),
    ],
)
def test_query_chooses_lines(query: LogQuery, found: list[str]) -> None:
    log = KeptLog()
    rows: list[tuple[str, dict[str, str | int]]] = [
        ("info", {"message": "start"}),
        ("warning", {"message": "Port SIM0 blocked"}),
        ("error", {"message": "lost é", "device": "46C6", "session": 7}),
        ("info", {"message": "end"}),
    ]
    for at, (level, members) in enumerate(rows):
        log.append(LEVELS[level], float(at), {"level": level, **members})

    assert messages(log, query) == found


def test_number_of_fitting_lines_ignores_the_limit() -> None:
    lines, fitting = chosen(kept("a", "ab", "b", "ab").lines, LogQuery(words="a", limit=1))

    assert [line.number for line in lines] == [4]
    assert fitting == 3


@given(ANY_TEXT, ANY_TEXT)
def test_any_text_is_one_json_line_and_is_found_by_itself(message: str, device: str) -> None:
    log = KeptLog()
    log.append(logging.INFO, 0.0, {"message": message, "device": device})

    (line,) = jsonl(log.lines).splitlines()
    assert json.loads(line)["message"].startswith(message[:100])
    assert chosen(log.lines, LogQuery(words=message[:100].casefold()))[1] == 1


def test_lines_of_several_threads_are_numbered_without_gaps() -> None:
    log = KeptLog(most_lines=10_000, most_bytes=10_000_000)
    start = threading.Barrier(4)

    def write() -> None:
        start.wait()
        for _ in range(200):
            log.append(logging.INFO, 0.0, {"message": "x"})
            assert log.lines[-1].number <= 800

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [line.number for line in log.lines] == list(range(1, 801))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The log of a run, taken over by it; the root logger is as before afterwards."""
    root = logging.getLogger()
    before, level, hooks = root.handlers[:], root.level, (sys.excepthook, threading.excepthook, sys.unraisablehook)
    monkeypatch.setattr(sys, "stderr", None)
    made = Log()
    made.begin()
    yield made
    logging.captureWarnings(capture=False)
    root.handlers[:] = before
    root.setLevel(level)
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    for one in logging.getLogger("tornado.general").filters[:]:
        logging.getLogger("tornado.general").removeFilter(one)
    logging.getLogger("tornado.access").setLevel(logging.NOTSET)


@pytest.mark.parametrize("form", ["text", "json"])
def test_log_keeps_the_lines_of_its_start_without_secrets_and_without_a_stream(log: Log, form: str) -> None:
    log.hide(["the-token-of-this-run"])
    logging.getLogger("a").warning("early the-token-of-this-run", extra={"port": "sim0"})
    log.use(form, "info")
    logging.getLogger("a").debug("not asked for")
    logging.getLogger("a").error("late", exc_info=ValueError("http://user:pass-word@host/"))

    first, second = (json.loads(line.encoded) for line in log.kept.lines)
    assert (first["message"], first["port"], first["number"]) == ("early [hidden]", "sim0", 1)
    assert second["traceback"] == "ValueError: http://[hidden]@host/"
    assert second["level"] == "error"
