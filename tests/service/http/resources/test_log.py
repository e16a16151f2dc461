"""`/log`: the newest lines, filtered by level, text, time and number; what cannot be taken is named."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.service.edge_server import TOKEN, EdgeServer
from transport.kept_log import LEVELS, MOST_LINES

MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def rig(rig: EdgeServer) -> EdgeServer:
    for level, message in (("info", "start"), ("warning", "Port sim0"), ("error", MARKUP), ("debug", "end")):
        time = f"2026-01-31T12:00:0{len(rig.edge.support.kept_log.lines)}.000000Z"
        seconds = 1_769_860_800.0 + len(rig.edge.support.kept_log.lines)
        rig.edge.support.kept_log.append(
            LEVELS[level], seconds, {"time": time, "level": level, "kind": "actors.port", "message": message}
        )
    return rig


def messages(rig: EdgeServer, query: str) -> list[str]:
    reply = rig.get(f"/log{query}")
    assert reply.status == 200
    return [line["message"] for line in reply.json["lines"]]


def test_lines_are_shown_oldest_first_with_their_numbers(rig: EdgeServer) -> None:
    shown = rig.get("/log").json

    assert shown["lines"][0] == {
        "number": 1,
        "time": "2026-01-31T12:00:00.000000Z",
        "level": "info",
        "kind": "actors.port",
        "message": "start",
    }
    assert [line["number"] for line in shown["lines"]] == [1, 2, 3, 4]
    assert (shown["fitting"], shown["oldest"], shown["newest"]) == (4, 1, 4)


def test_empty_log_has_no_lines(rig: EdgeServer) -> None:
    rig.edge.support.kept_log = type(rig.edge.support.kept_log)()

    assert rig.get("/log").json == {"lines": [], "fitting": 0, "oldest": 0, "newest": 0}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?level=warning", ["Port sim0", MARKUP]),
        ("?level=WARNING", ["Port sim0", MARKUP]),
        ("?text=PORT", ["start", "Port sim0", MARKUP, "end"]),
        (f"?text={quote(MARKUP)}", [MARKUP]),
        ("?text=%00", []),
        ("?since=2026-01-31T12:00:01Z", [MARKUP, "end"]),
        ("?since=2026-01-31T13:00:01%2B01:00", [MARKUP, "end"]),
        ("?after=3", ["end"]),
        ("?limit=1", ["end"]),
        ("?limit=2&level=info&after=1", ["Port sim0", MARKUP]),
    ],
)
def test_query_filters_the_lines(rig: EdgeServer, query: str, found: list[str]) -> None:
    assert messages(rig, query) == found


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?level=loud", "?level=: give one of debug, info, warning, error, critical."),
        ("?level=", "?level=: give one of debug, info, warning, error, critical."),
        (f"?text={'x' * 201}", "?text=: give at most 200 characters."),
        ("?since=yesterday", 'since: "yesterday" is no time'),
        ("?after=-1", "?after=: give a whole number of 0 or more."),
        (f"?after={'9' * 4_000}", "?after=: give a whole number of 0 or more."),
        ("?limit=0", f"?limit=: give a whole number from 1 to {MOST_LINES}."),
        ("?limit=2001", f"?limit=: give a whole number from 1 to {MOST_LINES}."),
        ("?limit=1e3", f"?limit=: give a whole number from 1 to {MOST_LINES}."),
        (f"?limit={quote('²')}", f"?limit=: give a whole number from 1 to {MOST_LINES}."),
    ],
)
def test_bad_value_is_named(rig: EdgeServer, query: str, sentence: str) -> None:
    reply = rig.get(f"/log{query}")

    assert reply.status == 400
    assert reply.error.startswith(sentence)


def test_log_is_answered_while_the_service_starts(rig: EdgeServer) -> None:
    rig.call(lambda: setattr(rig.bridge, "listening", False))

    assert rig.get("/log").status == 200
    assert rig.get("/devices").status == 503


@pytest.mark.parametrize("path", ["/log", "/support-bundle"])
def test_page_of_another_site_is_refused(rig: EdgeServer, path: str) -> None:
    assert rig.get(path, Origin="http://evil.example").status == 403
    assert rig.get(path, Sec_Fetch_Site="cross-site").status == 403
    assert rig.get(path, Host="evil.example", Authorization=f"Bearer {TOKEN}").status == 403
