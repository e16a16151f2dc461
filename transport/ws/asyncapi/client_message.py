"""Schema of what a client sends on a session channel; whatever the service names in `errors` for its shape does not fit it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from actors.modules.built_in import built_in
from actors.modules.module import Place
from actors.values.commands import (
    PROBE_COMMANDS,
    SET_COORDINATE_ORIGIN,
    SET_POINT_COMMANDS,
    SET_TRANSFORM,
    SetPointCommand,
)
from actors.values.identity import Kind
from transport.http.schema.json_schema import ANYTHING, Named, Schema, either, listed, mapped, number, obj, text, word
from transport.http.schema.navigation import SENT_NAVIGATION
from transport.http.schema.scene import SENT_SCENE
from transport.http.schema.values import (
    FLAT,
    PERMUTATION,
    PROFILE,
    SENT_BASIS,
    SENT_DAMPING,
    SENT_FORCE_GATE,
    SENT_PRESET,
)
from transport.wire.configuration import FACTS
from transport.wire.deprecated import ORIGINS, SESSION_BASIS
from transport.wire.device_wide import DEVICE_WIDE, OF_EVERY_KIND
from transport.wire.vocabulary import GROUPS_IN, path_words

LONGEST_ID: Final = 8
ID: Final = text(minLength=1, maxLength=LONGEST_ID)
_FULL_WORDS: Final = tuple(name for name in path_words() if "*" not in name)


def client_message() -> Named:
    """Return the schema of a message."""
    groups = {name: _group(kinds) for name, kinds in GROUPS_IN.items()}
    description = (
        "One message, answered by one frame. `{}` is a message. Omitted commands are released by a message that holds a map of commands. "
        "Words of modules that are not shipped come on top."
    )
    whole = obj({}, optional={"session": _session(), **groups}, description=description)
    return Named("SentMessage", closed(whole))


def closed(schema: Any) -> Any:
    """Return the schema with all objects refusing keys that they do not name."""
    if isinstance(schema, Named):
        # The same values are open where they are shown.
        name = schema.name if schema.name.startswith("Sent") else f"Sent{schema.name}"
        return Named(name, closed(schema.schema))
    if isinstance(schema, Mapping):
        found = cast("Mapping[str, Any]", schema)
        inner = {key: closed(value) for key, value in found.items()}
        if "properties" in found and isinstance(found["properties"], Mapping):
            inner.setdefault("additionalProperties", False)
        return inner
    if isinstance(schema, (list, tuple)):
        return [closed(entry) for entry in cast("list[Any]", schema)]
    return schema


def _group(kinds: Iterable[Kind]) -> dict[str, Any]:
    """Return the schema of a group: an array of devices, or an object keyed by id. Kinds of one side share it."""
    named = sorted(kinds, key=list(Kind).index)
    name = "Or".join(kind.value.capitalize() for kind in named)
    fields = _entry_fields(named)
    entry = Named(f"{name}Entry", obj({"device_id": ID}, optional=fields))
    keyed = Named(f"{name}KeyedEntry", obj({}, optional={"device_id": ID, **fields}))
    return either(listed(entry), {**mapped(keyed), "propertyNames": ID})


def _entry_fields(kinds: list[Kind]) -> dict[str, Any]:
    commands, configure = _commands(kinds), _configure(kinds)
    return {
        "commands": obj({}, optional=commands),
        "command_data": obj({}, optional={**commands, "configure": configure}, description="Another name of commands."),
        "configure": configure,
    }


def _commands(kinds: list[Kind]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in SET_POINT_COMMANDS:
        if any(row.taken_by(kind.spec) for kind in kinds):
            found |= dict.fromkeys((row.name, *row.old_names), _set_point(row))
    if any(SET_TRANSFORM.taken_by(kind.spec) for kind in kinds):
        beside = dict.fromkeys(_words(Place.TRANSFORM), ANYTHING)
        found[SET_TRANSFORM.name] = obj({"transform": FLAT}, optional=beside, description=SET_TRANSFORM.unit)
    if any(kind.spec.has("preset") for kind in kinds):
        found[SET_COORDINATE_ORIGIN] = _origin()
    for probe in PROBE_COMMANDS:
        found |= dict.fromkeys((probe.name, *probe.old_names), ANYTHING)
    return found | dict.fromkeys(_words(Place.COMMAND), ANYTHING)


def _set_point(row: SetPointCommand) -> Named:
    real = number(-row.largest, row.largest)
    numbers = obj(dict.fromkeys(row.keys, real), description=row.unit)
    old = {**either(numbers, listed(real, minItems=3, maxItems=3)), "deprecated": True}
    fields = obj({}, optional={row.field: numbers, "values": old}, one_of_them=True)
    return Named("".join(part.capitalize() for part in row.name.split("_")), fields)


def _configure(kinds: list[Kind]) -> Named:
    areas: dict[str, Schema] = {
        "basis": SENT_BASIS,
        "preset": SENT_PRESET,
        "mount": either(obj({"transform": FLAT}), FLAT),
        "force_gate": SENT_FORCE_GATE,
        "damping": SENT_DAMPING,
        "navigation": SENT_NAVIGATION,
        "scene": SENT_SCENE,
        "filters": obj({}, optional={"force_gate": SENT_FORCE_GATE, "damping": SENT_DAMPING}),
    }
    own = {name: schema for name, schema in areas.items() if any(kind.spec.has(name) for kind in kinds)}
    # What config shows can be sent back as it is.
    wide = (name for name in DEVICE_WIDE if name in OF_EVERY_KIND or any(kind.spec.has(name) for kind in kinds))
    shown = dict.fromkeys(sorted((*FACTS, *wide)), ANYTHING)
    modules = dict.fromkeys((name for name in _words(Place.CONFIGURE) if name not in areas), ANYTHING)
    name = "Or".join(kind.value.capitalize() for kind in kinds)
    return Named(f"{name}Configure", obj({}, optional={**own, **shown, **modules}))


def _session() -> dict[str, Any]:
    configure = {
        "profile": either(PROFILE, PROFILE["properties"]["name"]),
        "basis": SENT_BASIS,
        "required_sdk_version": text(pattern=r"^[0-9]+(\.[0-9]+)*$"),
        **dict.fromkeys(_words(Place.SESSION), ANYTHING),
    }
    types = listed(word(*_FULL_WORDS))
    entry: Schema = {"enum": [-1, 0, 1]}
    matrix = listed(listed(entry, minItems=3, maxItems=3), minItems=3, maxItems=3)
    bases = (PERMUTATION, matrix, obj({"permutation": PERMUTATION}), obj({"matrix": matrix}))
    old: dict[str, Schema] = {
        SESSION_BASIS: {**either(*bases), "deprecated": True},
        SET_COORDINATE_ORIGIN: _origin(),
    }
    return obj(
        {},
        optional={
            "configure": obj({}, optional=configure),
            "force_render_full_state": obj(
                {}, optional={"device_types": types}, description="All types unless some are named."
            ),
            **old,
        },
    )


def _origin() -> dict[str, Any]:
    origin = word(*ORIGINS)
    wrapped = {**mapped(origin), "minProperties": 1, "maxProperties": 1}
    return {**either(origin, wrapped), "deprecated": True}


def _words(place: Place) -> tuple[str, ...]:
    """Return the words of the shipped modules at a place; refused while the module is off."""
    return tuple(sorted(name for module in built_in() for name in module.words.by_place()[place]))
