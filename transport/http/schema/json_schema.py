"""Builders of JSON Schema, and two placeholders filled in later: a shared schema, and values of the running service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

Schema: TypeAlias = "Mapping[str, Any] | Named | FromService"


@dataclass(frozen=True, slots=True)
class Named:
    """A schema that is written once under `components/schemas` and referenced by name."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FromService:
    """Placeholder for values of the running service, such as device ids: `what` names a field of `ServiceValues`.

    `also` are further allowed words.
    """

    what: str
    also: tuple[str, ...] = ()


ANYTHING: Final[Mapping[str, Any]] = {}
OBJECT: Final[Mapping[str, Any]] = {"type": "object"}
TEXT: Final[Mapping[str, Any]] = {"type": "string"}
FLAG: Final[Mapping[str, Any]] = {"type": "boolean"}
WHOLE: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0}
NULL: Final[Mapping[str, Any]] = {"type": "null"}


def number(least: float | None = None, most: float | None = None, description: str = "") -> dict[str, Any]:
    """Return the schema of a number from `least` to `most`."""
    limits = {"minimum": least, "maximum": most}
    return with_description(
        {"type": "number", **{key: limit for key, limit in limits.items() if limit is not None}}, description
    )


def word(*choices: str, description: str = "") -> dict[str, Any]:
    """Return the schema of one of a few words."""
    return with_description({"type": "string", "enum": list(choices)}, description)


def text(description: str = "", **rules: Any) -> dict[str, Any]:
    """Return the schema of a string; `rules` are keywords of JSON Schema."""
    return with_description({"type": "string", **rules}, description)


def obj(
    fields: Mapping[str, Schema],
    *,
    optional: Mapping[str, Schema] | None = None,
    one_of_them: bool = False,
    description: str = "",
) -> dict[str, Any]:
    """Return the schema of an object with all of `fields`; `one_of_them`: at least one optional one. Further keys are allowed."""
    may = dict(optional or {})
    schema: dict[str, Any] = {"type": "object", "properties": {**fields, **may}}
    if fields:
        schema["required"] = list(fields)
    if one_of_them:
        schema["anyOf"] = [{"required": [name]} for name in may]
    return with_description(schema, description)


def listed(entry: Schema, **rules: Any) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": entry, **rules}


def mapped(value: Schema, description: str = "") -> dict[str, Any]:
    """Return the schema of an object whose keys are names."""
    return with_description({"type": "object", "additionalProperties": value}, description)


def either(*schemas: Schema, description: str = "") -> dict[str, Any]:
    """Return the schema of any of the schemas."""
    return with_description({"anyOf": list(schemas)}, description)


def nullable(schema: Schema) -> dict[str, Any]:
    """Return the schema or null."""
    return either(schema, NULL)


def with_description(schema: dict[str, Any], description: str) -> dict[str, Any]:
    """Return the schema with a description, if there is one."""
    return {**schema, "description": description} if description else schema


def resolved(schema: object, refer: Callable[[Named], object], live: Callable[[FromService], object]) -> Any:
    """Return a copy with every placeholder filled in."""
    if isinstance(schema, Named):
        return refer(schema)
    if isinstance(schema, FromService):
        return live(schema)
    if isinstance(schema, Mapping):
        found = cast("Mapping[str, object]", schema)
        return {key: resolved(value, refer, live) for key, value in found.items()}
    if isinstance(schema, (list, tuple)):
        return [resolved(entry, refer, live) for entry in cast("list[object]", schema)]
    return schema
