"""Schemas of settings, generated from the catalogue: value of each key, and the record of one."""

from __future__ import annotations

from typing import Any, Final

from actors.settings.api import ADDRESS, FAMILY, KINDS, TEXT_LENGTH, Setting, TypeHint
from transport.http.schema.json_schema import (
    ANYTHING,
    FLAG,
    TEXT,
    Named,
    Schema,
    either,
    listed,
    mapped,
    nullable,
    obj,
    text,
    with_description,
    word,
)
from transport.http.schema.values import PRINTABLE
from transport.settings_catalog import SETTINGS_CATALOG

LOCALHOST: Final = "localhost"

RECORD: Final = Named(
    "Setting",
    obj(
        {
            "key": TEXT,
            "value": with_description({}, "What is stored, or the default."),
            "effective": with_description({}, "What the running service goes by."),
            "default": ANYTHING,
            "type_hint": word(*TypeHint),
            "metadata": obj({"constraint": obj({}), "locked": FLAG, "advanced": FLAG}),
            "description": TEXT,
        },
        optional={
            "unit": TEXT,
            "overridden_by": text("Who gave the effective value over the stored one."),
            "restart_required": text("Stored; it acts at the next start.") | {"type": "boolean"},
        },
    ),
)
NOTES: Final = {"warnings": listed(TEXT), "deprecation_warning": TEXT}
RECORDS: Final = {**mapped(RECORD, "Keys and their records."), "properties": NOTES}


def keys() -> tuple[str, ...]:
    """Return every key of the catalogue, and its forms for one kind."""
    own = tuple(setting.key for setting in SETTINGS_CATALOG)
    return own + tuple(key.replace("haptic*", kind) for key in own if key.startswith(FAMILY) for kind in KINDS)


def value_of(setting: Setting) -> Schema:
    """Return the schema of a key's bare value."""
    limits = setting.constraint
    span = {"minimum": limits.least, "maximum": limits.most} if limits.least is not None else {}
    match setting.type_hint:
        case TypeHint.BOOL:
            schema: dict[str, Any] = dict(FLAG)
            if setting.local_only:
                schema = {"enum": [value for value in (True, False) if value not in setting.local_only]}
        case TypeHint.INT:
            schema = {"type": "integer", **span}
        case TypeHint.FLOAT:
            schema = {"type": "number", **span}
        case TypeHint.STRING:
            schema = _text(setting)
        case TypeHint.ARR_STRING:
            schema = listed(_text(setting), maxItems=setting.entries)
        case TypeHint.VEC3:
            part = {"type": "number", **span}
            schema = either(listed(part, minItems=3, maxItems=3), obj(dict.fromkeys("xyz", part)))
        case TypeHint.GENERIC:
            schema = either(word(*limits.choices), {"type": "integer", **span})
    return nullable(schema) if limits.nullable else schema


def _text(setting: Setting) -> dict[str, Any]:
    if setting.constraint.choices:
        return word(*setting.constraint.choices)
    rule = setting.text_rule
    if rule is None:
        return text(minLength=1, maxLength=TEXT_LENGTH, format=PRINTABLE)
    if rule is ADDRESS:
        return either({"const": LOCALHOST}, text(format="ipv4"), text(format="ipv6"))
    return text(minLength=1, maxLength=TEXT_LENGTH, format=PRINTABLE, pattern=rule.pattern)


def _sent(setting: Setting) -> Schema:
    value = value_of(setting)
    return either(value, obj({"value": value}), description=setting.description)


_PARTS: Final = {"type": "number"}
_BARE: Final[tuple[Schema, ...]] = (FLAG, _PARTS, TEXT, listed(either(TEXT, _PARTS)), obj(dict.fromkeys("xyz", _PARTS)))
ONE_VALUE: Final = either(
    *_BARE,
    obj({"value": either(*_BARE)}),
    description="The value, bare or as `value`; what a key takes stands in SettingValues, which says of a few keys that null is taken too.",
)
VALUES: Final = Named(
    "SettingValues",
    {
        "type": "object",
        "properties": {key: _sent(SETTINGS_CATALOG.find(key)) for key in keys()},
        "additionalProperties": False,
        "minProperties": 1,
        "description": "What each key takes. A key devices/haptic*/… also exists with a device id in the place of haptic*.",
    },
)
KEY: Final = word(*keys())
KEY_OR_PREFIX: Final = word(
    *dict.fromkeys("/".join(key.split("/")[:length]) for key in keys() for length in range(1, key.count("/") + 2))
)
