"""Generate the reference of the HTTP interface from the route table: docs/http.md, and docs/http/ with a page for each subject.

`python -m transport.http.reference docs` writes them and removes pages of subjects that no longer exist.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from actors.values.kinds.nouns import any_of
from transport.http.app import HTTP_ROUTES
from transport.http.openapi import document, path_of, tag_of
from transport.http.route import Route
from transport.http.schema.error_responses import EVERYWHERE, MEANINGS, refusals_of, statuses
from transport.http.schema.service_values import ServiceValues

BASE: Final = "http://127.0.0.1:10001"
SAMPLE: Final = {"device": "arm", "id": "0", "session": ":0", "port": "sim0", "key": "control/frequency"}
HEAD: Final = """\
# HTTP interface

Each subject has a page of its own; [rules](#rules) and [errors](#errors) are the same for all. A running service describes the same, with its
devices and sessions, as OpenAPI 3.1 at `GET /openapi.json`. These pages are generated from the route table in `transport/http/app.py`;
`make docs` writes them again.

SUBJECTS
## Rules

* Every path is there on the ports of both session channels, with or without `/3.1` before it; behind `/3.0` device records have
  the shape of frame v3.0. Paths with `GET` answer `HEAD`, all answer `OPTIONS`.
* `?format=json` wraps the answer: `{"ok": true, "error": null, "data": …}`; `?format=plain` takes the envelope off where it is
  the default (marked *envelope*). `ok` is true exactly for a status of 2xx; all three members are there always.
  `?vocabulary=neutral|inverse` chooses the words of the answer; `auto` means neutral here.
* `{device}` is a type or a family, `{id}` an id, an index from 0 or a pattern with `*`. `{session}` and `?session=` take an id,
  `:0` (first), `:-1` (newest), a profile name or a pattern with `*` and `?`. `?session=default` means what new sessions start with;
  sessions whose profile is called `default`, or that declared none, are `:default`, in `/sessions/…` also `default`.
* Where several devices or sessions are meant, the answer of a route marked *several* is `{"results": […]}`, an entry for each
  with its `device_id`, `session_id` and `ok`. A session pattern that finds exactly one session means that session. A GET of a
  device pattern that finds one device answers as for that device, POST, PATCH and DELETE always with `results`.
* `?session=` may be left out of an area that each session has for itself while exactly one session is open; DELETE without it
  clears every session and has `results` always. A firmware that is too old (422) is told before a missing session (400).
* A body is JSON, whatever its Content-Type. Unknown keys beside known ones are ignored and named in `warnings`; a body whose
  keys are all unknown is 400 with the name of the first, and changes nothing. As a transform `{}` sends no part: POST of
  `state/transform` makes what is not sent identity, PATCH and `config/mount` keep it, the preset as well. `home_return` without a
  body is switched on. `resume` takes no body, or `{}`. A stop, its release, a calibration and a reset of a port take any body.
* From this machine no credentials are needed; from elsewhere `Authorization: Bearer TOKEN` or `?token=TOKEN`, which
  `hapticd token` prints.
* Web pages of this machine and of `communication/allowed_origins` get CORS headers on every answer, all others 403:
  [Web pages](operations.md#web-pages).
"""
UNLESS_ALONE: Final = " unless exactly one session is open"
ERRORS: Final = """\
The body is `{"ok": false, "error": "one sentence that says what to change", "data": null}`, with and without the envelope. Where
several devices or sessions were meant, `data` (without the envelope: the body) has the `results` of each. A deprecated route adds
`deprecation_warning`. Every route can answer the statuses with a dot.
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """A page of the reference."""

    name: str  # of the file, docs/http/NAME.md
    title: str
    contents: str  # one line for the index


# In the order of the index.
SUBJECTS: Final = (
    Subject("devices", "Devices", "Read, stop, resume and calibrate devices; return-to-home."),
    Subject(
        "device-settings", "Device settings", "What a device has for all sessions: handedness, pair, torques, gravity."
    ),
    Subject(
        "session-view",
        "A session's view of a device",
        "Basis, mount, preset, filters, navigation, scene, workspace transform.",
    ),
    Subject("sessions", "Sessions", "Who is connected; profiles, scale of forces, disconnecting."),
    Subject("stop", "Stop", "Zero force on every device, until released."),
    Subject("settings", "Settings", "Read, change and reset every setting."),
    Subject("ports", "Ports", "What is found where, and how to try a port again."),
    Subject("simulation", "Simulation", "Simulated devices: add and remove them, move the hand, let them fail."),
    Subject("service", "Service", "Version, health, metrics, the description of every route."),
    Subject("deprecated", "Deprecated routes", "Old forms, which answer with a `deprecation_warning`."),
)
# Areas of a device that are the same for all sessions; the others are of one session.
SHARED_AREAS: Final = ("handedness", "torque_scaling", "gravity_compensation", "home_return", "paired_with")
GENERATED: Final = "<!-- Generated from the route table in transport/http/app.py; `make docs` writes it again. -->\n"


def pages() -> Mapping[str, str]:
    """Return every page by its path below docs/; each ends with a newline."""
    whole = document(HTTP_ROUTES, ServiceValues(), "")
    found = {"http.md": "\n".join(_index()) + "\n"}
    for subject in SUBJECTS:
        found[f"http/{subject.name}.md"] = "\n".join(_page(subject, whole)) + "\n"
    return MappingProxyType(found)


def write(folder: Path) -> None:
    """Write every page below `folder`, and remove pages of subjects that no longer exist."""
    current = pages()
    for old in (folder / "http").glob("*.md"):
        if f"http/{old.name}" not in current:
            old.unlink()
    for name, text in current.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def subject_of(route: Route) -> str:
    """Return the name of the page that has the route."""
    tag = tag_of(route)
    if tag != "devices":
        return tag
    area = re.search(r"/(?:config|state)/(\w+)", route.shape)
    if area is None:
        return tag
    return "device-settings" if area[1] in SHARED_AREAS else "session-view"


def routes_of(subject: Subject) -> list[Route]:
    """Return the routes of a page, in the order of the table."""
    return [route for route in HTTP_ROUTES if subject_of(route) == subject.name]


def _index() -> Iterator[str]:
    before, after = HEAD.rstrip().split("SUBJECTS\n")
    yield before.rstrip()
    for subject in SUBJECTS:
        yield f"\n## [{subject.title}](http/{subject.name}.md)\n"
        yield f"{subject.contents}\n"
        yield "| Path | Methods | |"
        yield "|---|---|---|"
        for shape, routes in groupby(routes_of(subject), lambda route: route.shape):
            first, *others = list(routes)
            methods = ", ".join(_link(subject, route) for route in (first, *others))
            yield f"| `{shape}` | {methods} | {first.summary} |"
    yield f"\n{after}"
    yield "\n## Errors\n"
    yield ERRORS
    yield "| Status | | Meaning |"
    yield "|---|---|---|"
    for status in statuses():
        yield f"| {status} | {'•' if status in EVERYWHERE else ''} | {MEANINGS[status]} |"


def _link(subject: Subject, route: Route) -> str:
    """Return the method as a link to the section of the route."""
    anchor = re.sub(r"[^a-z0-9_-]", "", f"{route.method} {route.shape}".lower().replace(" ", "-"))
    # Of "GET /" GitHub and the site make different anchors.
    return f"[{route.method}](http/{subject.name}.md{'' if route.shape == '/' else f'#{anchor}'})"


def _page(subject: Subject, whole: Mapping[str, Any]) -> Iterator[str]:
    yield f"{GENERATED}# HTTP: {subject.title[0].lower() + subject.title[1:]}\n"
    yield f"{subject.contents} [HTTP interface](../http.md) has the rules and errors of every route."
    for route in routes_of(subject):
        yield from _section(route, whole["paths"][path_of(route)][route.method.lower()], whole["components"]["schemas"])


def _section(route: Route, operation: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[str]:
    schema = route.schema
    marks = [word for word, holds in (("envelope", route.enveloped), ("several", bool(schema.results))) if holds]
    yield f"\n## {route.method} {route.shape}\n"
    yield route.summary + (f" *({', '.join(marks)})*" if marks else "") + "\n"
    if schema.of_movers:
        movers, others = any_of(lambda spec: spec.has_motors), any_of(lambda spec: not spec.has_motors)
        yield f"* Of {movers}; {others} that is named: 422"
    if schema.preview:
        yield f"* A preview, refused while the setting `{schema.preview}` is false"
    for field in schema.query:
        yield f"* `?{field.name}=`{' (needed{UNLESS_ALONE if field.alone else })' if field.needed else ''}: {field.description}"
    if schema.body is not None:
        sent = operation["requestBody"]["content"]["application/json"]["schema"]
        yield f"* Body{'' if schema.body_needed else ' (may be left out)'}: {_shape(sent, shared)}"
    if schema.media:
        yield f"* Answer: `{schema.media}`"
    else:
        both = operation["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]
        plain = both[1] if route.enveloped else both[0]
        yield f"* Answer: {_shape(plain['anyOf'][0] if schema.results else plain, shared)}"
    own = [str(status) for status in refusals_of(route) if status not in EVERYWHERE]
    if own:
        yield f"* Fails also with {', '.join(own)}"
    yield f"\n```\n{_curl(route)}\n```"


def _curl(route: Route) -> str:
    schema = route.schema
    path = schema.place or path_of(route)
    for name, value in SAMPLE.items():
        path = path.replace(f"{{{name}}}", value)
    if any(field.needed for field in schema.query):
        path += "?session=:0"
    method = "" if route.method == "GET" else f" -X {route.method}"
    body = "" if schema.body is None else f" -d '{json.dumps(schema.example)}'"
    method += " -OJ" if schema.media == "application/zip" else ""
    return f"curl{method} '{BASE}{path}'{body}"


def _shape(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    """Return a schema in one line: a shared one by its fields, choices with `or`."""
    return " or ".join(dict.fromkeys(f"`{text}`" for text in _texts(schema, shared)))


def _texts(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _texts(shared[schema["$ref"].rpartition("/")[2]], shared)
    elif "anyOf" in schema and "properties" not in schema:
        for one in schema["anyOf"]:
            yield from _texts(one, shared)
    else:
        yield _text(schema)


def _text(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema and "properties" not in schema:
        return " | ".join(dict.fromkeys(_text(one) for one in schema["anyOf"]))
    if "enum" in schema:
        words = [str(word) for word in schema["enum"]]
        return " | ".join(words) if len(words) <= 12 else f"{' | '.join(words[:3])} | …"
    if kind == "array":
        return f"[{_text(schema['items'])}, …]"
    if kind == "object":
        return _object(schema)
    if kind in {"number", "integer"} and "maximum" in schema:
        return f"{schema['minimum']:g}…{schema['maximum']:g}"
    return str(kind or "any")


def _object(schema: Mapping[str, Any]) -> str:
    fields, needed = schema.get("properties", {}), schema.get("required", ())
    shown = [f'"{name}"{"" if name in needed else "?"}: {_text(one)}' for name, one in list(fields.items())[:14]]
    more = schema.get("additionalProperties")
    if len(fields) > 14:
        shown.append("…")
    if more:
        shown.append(f"KEY: {_text(more)}")
    return f"{{{', '.join(shown)}}}"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
