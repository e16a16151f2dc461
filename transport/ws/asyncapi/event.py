"""Schemas of the events, one for each row of the catalogue."""

from __future__ import annotations

from typing import Any, Final

from actors.event.api import EVENT_KINDS, SAFETY_LEVELS, EventKind
from transport.http.schema.json_schema import ANYTHING, FLAG, TEXT, Named, listed, nullable, number, obj, text, word

# Fields that may be null, or that no example shows with a value.
NULLABLE: Final = frozenset({"paired_with", "dropped", "held_by", "received_data", "path"})
# A device that never answers has no identity: in these kinds the fields of the device may be null.
WITHOUT_IDENTITY: Final = frozenset({"device-connection-loop"})
IDENTITY: Final = frozenset({"device_id", "device_family"})


def event(kind: str) -> Named:
    """Return the schema of the events of a kind."""
    row = EVENT_KINDS[kind]
    name = "".join(part.capitalize() for part in kind.split("-"))
    extra = {field for fields in (*row.reasons.values(), *row.safety_types.values()) for field in fields}
    data = obj(
        {
            field: nullable(_field(row, field))
            if kind in WITHOUT_IDENTITY and field in IDENTITY
            else _field(row, field)
            for field in row.data
        },
        optional=dict.fromkeys(sorted(extra - set(row.data)), ANYTHING),
    )
    schema = obj(
        {
            "name": {"const": kind},
            "category": {"const": row.category},
            "level": word(*row.levels),
            "time": text("UTC", format="date-time"),
            "data": data,
            "message": text("One sentence; its words may change."),
        },
        description=row.summary,
    )
    return Named(name, schema)


def _field(row: EventKind, field: str) -> Any:
    """Return the schema of a field, by the type of its value in the example of the row."""
    if field == "safety_type":
        return word(*SAFETY_LEVELS)
    if field == "reason" and row.reasons:
        return word(*row.reasons)
    schema = _of(row.example.data.get(field))
    return nullable(schema) if field in NULLABLE and schema is not ANYTHING else schema


def _of(value: object) -> Any:
    match value:
        case bool():
            return FLAG
        case int() | float():
            return number()
        case str():
            return TEXT
        case list():
            return listed(TEXT)
        case _:
            return ANYTHING
