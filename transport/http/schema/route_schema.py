"""Description of a route beyond path and method: body, query, answer, errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from transport.http.schema.json_schema import (
    NULL,
    OBJECT,
    TEXT,
    FromService,
    Named,
    Schema,
    either,
    listed,
    obj,
    with_description,
    word,
)

MOVER_WORDS: Final = FromService("mover_words")
NOWHERE: Final[Mapping[str, Schema]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Query:
    """One query field."""

    name: str
    schema: Schema
    description: str
    needed: bool = False
    alone: bool = False  # not needed while exactly one session is open


@dataclass(frozen=True, slots=True)
class RouteSchema:
    """Schemas and examples of a route."""

    answer: Schema = field(default_factory=lambda: OBJECT)  # data of a 200
    body: Schema | None = None
    body_needed: bool = True
    query: tuple[Query, ...] = ()
    # replaces the usual schema of a name in the path
    path: Mapping[str, Schema] = field(default_factory=lambda: NOWHERE)
    results: tuple[str, ...] = ()  # names in the entries of `results`, if a selector may match several
    fails: tuple[int, ...] = ()  # statuses besides those of every such route
    example: object = None  # body of the curl example
    place: str = ""  # path of the curl example
    preview: str = ""  # setting without which the route is refused
    media: str = ""  # content type of an answer that is not JSON
    deprecated: bool = False

    @property
    def of_movers(self) -> bool:
        """Whether only devices with motors have it; a handle is refused with 422."""
        return self.path.get("device") == MOVER_WORDS


PLAIN: Final = RouteSchema()

# Beyond those of every route: not found, conflict, firmware too old, disk full.
DEVICE_FAILS: Final = (404, 409, 422, 507)

# ---------------------------------------------------------------- selectors of paths and `?session=`

DEVICE_ID: Final = FromService("devices")
# Members of an entry of `results` that covers devices and sessions.
BOTH: Final = ("session_id", "device_id")
SESSION_ID: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 1}

SEVERAL_DEVICES: Final[Mapping[str, Schema]] = MappingProxyType(
    {"device": FromService("device_words"), "id": FromService("devices", ("0", "*"))}
)
SEVERAL_MOVERS: Final[Mapping[str, Schema]] = MappingProxyType(
    {"device": MOVER_WORDS, "id": FromService("movers", ("0", "*"))}
)

SEVERAL_SESSIONS: Final = FromService("sessions", (":0", ":-1", "*"))
OF_SESSIONS: Final = Query(
    "session",
    FromService("sessions", (":0", ":-1", "*", "default")),
    "The sessions, or `default`.",
    needed=True,
    alone=True,
)
CLEARED_SESSIONS: Final = Query(
    "session",
    FromService("sessions", (":0", ":-1", "*", "default")),
    "The sessions, or `default`; without it every session.",
)

YES_OR_NO: Final = word("true", "false", "1", "0", "yes", "no")

# ---------------------------------------------------------------- answers of every route

ERROR: Final = Named(
    "Error",
    obj(
        {
            "ok": {"const": False},
            "error": with_description(dict(TEXT), "One sentence that says what to change."),
            "data": NULL,
        },
        optional={"deprecation_warning": TEXT},
        description="Every error, with and without the envelope.",
    ),
)
NAMES: Final[Mapping[str, Schema]] = MappingProxyType({"device_id": TEXT, "session_id": SESSION_ID})


def results_of(names: tuple[str, ...], echo: Schema) -> Schema:
    """Return the schema of `results`: for each, the value in force or the refusal."""
    who = {name: NAMES[name] for name in names}
    maybe = {"session_id": NAMES["session_id"]} if "session_id" in who else {}
    who = {name: schema for name, schema in who.items() if name not in maybe}
    done: Mapping[str, Any] = {"allOf": [obj({**who, "ok": {"const": True}}, optional=maybe), echo]}
    refused = obj({**who, "ok": {"const": False}, "error": TEXT}, optional=maybe)
    return obj({"results": listed(either(done, refused))})


def enveloped(data: Schema, *, ok: bool = True) -> Schema:
    """`{"ok": true, "error": null, "data": …}`; with `ok` false the `error` is a sentence beside the data."""
    members: dict[str, Schema] = {"ok": {"const": ok}, "error": NULL if ok else TEXT, "data": data}
    return obj(members, optional={"warnings": listed(TEXT), "deprecation_warning": TEXT})
