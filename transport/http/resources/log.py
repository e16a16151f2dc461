"""Route of `/log`: the newest lines of the service's log, filtered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from actors.event.api import parse_since
from actors.kit.errors import InvalidInput
from transport.http.call import Answer, Call
from transport.http.route import Route
from transport.http.schema.json_schema import TEXT, WHOLE, listed, obj, text, word
from transport.http.schema.route_schema import Query, RouteSchema
from transport.kept_log import LEVELS, MOST_LINES, LogQuery, chosen
from transport.wire.envelope import Encoded

USUAL_LINES: Final = 200
LONGEST_WORDS: Final = 200
LONGEST_NUMBER: Final = 15  # digits

LINE: Final[Mapping[str, Any]] = obj(
    {"number": {"type": "integer", "minimum": 1}, "time": TEXT, "level": word(*LEVELS), "kind": TEXT, "message": TEXT},
    optional={
        "event": TEXT,
        "session": {"type": "integer"},
        "device": TEXT,
        "client": TEXT,
        "port": TEXT,
        "actor": TEXT,
        "traceback": TEXT,
    },
)
LOG: Final = RouteSchema(
    obj(
        {"lines": listed(LINE), "fitting": WHOLE, "oldest": WHOLE, "newest": WHOLE},
        description="`lines`, oldest first, are the newest of `fitting` lines; `oldest` and `newest` number the lines that are kept, 0: none.",
    ),
    query=(
        Query("level", word(*LEVELS), "The lowest level."),
        Query("text", text(maxLength=LONGEST_WORDS), "What message, kind or a field holds, in any case."),
        Query("since", text(format="date-time"), "A time, ISO 8601: later lines."),
        Query(
            "after",
            {"type": "integer", "minimum": 0, "maximum": 10**LONGEST_NUMBER - 1},
            "The number of a line: lines behind it.",
        ),
        Query(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": MOST_LINES},
            f"The most lines, {USUAL_LINES} without it.",
        ),
    ),
)


def routes() -> Iterator[Route]:
    """Yield the route, also answered while the service starts and stops."""
    yield Route("GET", "/log", read_log, "The newest lines of the log.", always=True, schema=LOG)


async def read_log(call: Call) -> Answer:
    """Return the newest kept lines that fit the query, oldest first."""
    query = parse_log_query(call.query)
    lines = call.edge.support.kept_log.lines
    found, fitting = chosen(lines, query)
    numbers = (fitting, lines[0].number, lines[-1].number) if lines else (0, 0, 0)
    texts = b",".join(line.encoded for line in found)
    return Answer(Encoded(b'{"lines":[%b],"fitting":%d,"oldest":%d,"newest":%d}' % (texts, *numbers)))


def parse_log_query(query: Mapping[str, str]) -> LogQuery:
    """Return which lines a request wants; InvalidInput."""
    level = query.get("level", "debug").lower()
    if level not in LEVELS:
        raise InvalidInput(f"give one of {', '.join(LEVELS)}.", "?level=")
    words = query.get("text", "")
    if len(words) > LONGEST_WORDS:
        raise InvalidInput(f"give at most {LONGEST_WORDS} characters.", "?text=")
    return LogQuery(
        level=LEVELS[level],
        words=words.casefold(),
        since=parse_since(query.get("since", "")),
        after=_number(query, "after", 0, 0, None),
        limit=_number(query, "limit", USUAL_LINES, 1, MOST_LINES),
    )


def _number(query: Mapping[str, str], name: str, usual: int, least: int, most: int | None) -> int:
    text = query.get(name)
    if text is None:
        return usual
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else -1
    if number < least or (most is not None and number > most):
        bounds = f"from {least} to {most}" if most is not None else f"of {least} or more"
        raise InvalidInput(f"give a whole number {bounds}.", f"?{name}=")
    return number
