"""Schemas of a session's scene, sent and shown, from the table of fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastpath.scene.values import FIELDS, LONGEST_ID, MOST_FIELDS, Form, Parameter
from transport.http.schema.json_schema import (
    FLAG,
    Named,
    Schema,
    either,
    listed,
    mapped,
    nullable,
    number,
    obj,
    text,
    word,
)
from transport.http.schema.values import PRINTABLE
from transport.wire.scene import KEYS, MOST_NAMED

_ID: Final = text(minLength=1, maxLength=LONGEST_ID, format=PRINTABLE)


def _parameter(parameter: Parameter) -> dict[str, Any]:
    """Return the schema of a parameter's value."""
    real = number(parameter.least, parameter.most)
    match parameter.form:
        case Form.FLAG:
            return dict(FLAG)
        case Form.AXES:
            return listed(word("x", "y", "z"), minItems=1, maxItems=3, uniqueItems=True)
        case Form.NUMBER:
            return number(parameter.least, parameter.most, parameter.unit)
        case Form.MATRIX:
            return listed(real, minItems=9, maxItems=9, description=f"{parameter.form.value}; {parameter.unit}")
        case Form.DIAGONAL:
            each = obj(dict.fromkeys(KEYS[Form.DIAGONAL], real))
            return either(real, each, description=parameter.unit)
        case form:
            return obj(dict.fromkeys(KEYS[form], real), description=form.value)


def _forms(name: str, *, whole: bool) -> list[Schema]:
    """Return the forms of a field: one for each of the parameters of which it has exactly one, else one."""
    rows = FIELDS[name]
    one_of = [key for key, row in rows.items() if row.optional]
    return [_form(name, choice, one_of, whole=whole) for choice in one_of or [""]]


def _form(name: str, choice: str, one_of: list[str], *, whole: bool) -> Named:
    """Return the form of a field with the optional parameter `choice`, "" for none; `whole`: with every default."""
    rows = FIELDS[name]
    needed = [
        key for key, row in rows.items() if key == choice or (not row.optional and (whole or row.default is None))
    ]
    fields: dict[str, Schema] = {"field": word(name), **{key: _parameter(rows[key]) for key in needed}}
    may = {key: _parameter(row) for key, row in rows.items() if key not in needed and not row.optional}
    excluded = [{"required": [key]} for key in one_of if key != choice]
    title = "".join(part.capitalize() for part in (name, choice, "field"))
    schema = {**obj(fields, optional=may), **({"not": {"anyOf": excluded}} if excluded else {})}
    return Named(title if whole else f"Sent{title}", schema)


def _fields(value: Mapping[str, Any], most: int) -> dict[str, Any]:
    return {**mapped(value, "Fields by their ids."), "propertyNames": _ID, "maxProperties": most}


SCENE: Final = Named(
    "Scene",
    obj(
        {"fields": _fields(either(*(form for name in FIELDS for form in _forms(name, whole=True))), MOST_FIELDS)},
        description="Force fields of a session on a device; forces and materials are at the device.",
    ),
)
_SENT: Final = obj(
    {},
    optional={
        "fields": _fields(
            nullable(either(*(form for name in FIELDS for form in _forms(name, whole=False)))), MOST_NAMED
        ),
        "replace": {**FLAG, "description": "Whether all other fields are removed."},
    },
    one_of_them=True,
    description="What is not sent stays; null removes a field; {} changes nothing.",
)
SENT_SCENE: Final = Named("SentScene", {**_SENT, "anyOf": [*_SENT["anyOf"], {"maxProperties": 0}]})
