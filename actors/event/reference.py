"""Generator of docs/events.md from the catalogue; `python -m actors.event.reference` prints it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from actors.event.catalog import EVENT_KINDS, SAFETY_LEVELS, EventKind
from actors.event.hub_state import REMEMBERED, event_of
from actors.event.messages import LEVELS, Emit
from actors.event.policy import (
    BATTERY_CRITICAL,
    BATTERY_HYSTERESIS,
    BATTERY_LOW,
    THROTTLES,
    UPDATES,
)
from actors.event.queue import MOST_WAITING

AT_US: Final = 1_893_456_000_000_000

HEAD: Final = """\
# Events

This page is generated from the catalogue in `actors/event/catalog.py`; `make docs` writes it again.

Events come on a WebSocket of their own, `/` on the port `communication/events/port`: one JSON object in each text message,
from the service to the client only. What a client sends there is ignored. In the URL

* `?kinds=a,b` chooses kinds, `?level=warning` the lowest level of {levels};
* `?since=2030-01-31T12:00:00Z` first tells again what happened after that time, of the last {remembered} events;
* `?vocabulary=inverse` chooses the words, as on the session channel.

Who does not read loses its oldest event when {waiting} wait, is told how many by a `session-warning` of its own
(`events_dropped`), and slows nobody. `time` is UTC. A field `suppressed` counts what was held back since the last such event.

Low charge is {low:.0%}, critical {critical:.0%}, told again after a rise of {hysteresis:.0%}; only wireless grips have it.
The loop's rate is low below 90 % and critical below 50 % of `control/frequency` over 1 s, told again after it was 5 % above.
"""


def page() -> str:
    """Return the page; ends with a newline."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD.format(
        levels=", ".join(LEVELS),
        remembered=REMEMBERED,
        waiting=MOST_WAITING,
        low=BATTERY_LOW,
        critical=BATTERY_CRITICAL,
        hysteresis=BATTERY_HYSTERESIS,
    ).rstrip()
    yield f"\n## The {len(EVENT_KINDS)} kinds\n"
    yield "| Name | Category | Level | Data |"
    yield "|---|---|---|---|"
    for kind, row in EVENT_KINDS.items():
        yield f"| [`{kind}`](#{kind}) | {row.category} | {', '.join(row.levels)} | {', '.join(row.data)} |"
    for category, rows in groupby(EVENT_KINDS.items(), lambda item: item[1].category):
        yield f"\n## {category}"
        for kind, row in rows:
            yield from _section(kind, row)


def _section(kind: str, row: EventKind) -> Iterator[str]:
    yield f"\n### {kind}\n"
    yield f"{row.summary}{_how_often(kind)}"
    if kind == "device-safety-triggered":
        types = (f"`{name}` ({', '.join(levels)})" for name, levels in SAFETY_LEVELS.items())
        yield f"\n`safety_type`: {', '.join(types)}."
    for name, fields in row.safety_types.items():
        yield f"\n* `safety_type` `{name}`, with {', '.join(f'`{field}`' for field in fields)}"
    for reason, fields in row.reasons.items():
        yield f"\n* `reason` `{reason}`" + (f", with {', '.join(f'`{field}`' for field in fields)}" if fields else "")
    yield "\n```json"
    yield json.dumps(event_of(Emit(kind, *row.example), AT_US).body, indent=1)
    yield "```"


def _how_often(kind: str) -> str:
    if kind == "session-updated":
        return f" At most {UPDATES} in a second for each session; what comes in between is merged."
    rule = THROTTLES.get(kind)
    return "" if rule is None else f" At most one in {rule.period_s:g} s for each `{rule.key}`."


if __name__ == "__main__":
    sys.stdout.write(page())
