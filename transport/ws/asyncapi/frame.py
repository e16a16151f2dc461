"""Schemas of the frames that a session channel sends, in both versions and vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from actors.modules.built_in import built_in
from actors.modules.module import Place
from actors.values.identity import Connection
from actors.values.kinds.base import FrameShape, KindSpec
from transport.http.schema.devices import ARM_CONFIG, ARM_STATE, GRIP_CONFIG, GRIP_STATE, parts_of
from transport.http.schema.json_schema import (
    ANYTHING,
    FLAG,
    OBJECT,
    TEXT,
    WHOLE,
    Named,
    listed,
    mapped,
    number,
    obj,
)
from transport.http.schema.values import BASIS
from transport.wire.vocabulary import INVERSE, MEMBERS, NEUTRAL, Vocabulary

V31: Final = "3.1"
V30: Final = "3.0"
_VERSIONS: Final = {V31: "Frame", V30: "FrameV30"}
_INFO: Final[Mapping[str, dict[str, Any]]] = {
    V31: obj({"major_version": WHOLE, "minor_version": WHOLE, "id": TEXT, "device_type": WHOLE, "uuid": TEXT}),
    V30: obj({"firmware_version": TEXT, "hardware_version": TEXT, "model": WHOLE, "id": TEXT, "uuid": TEXT}),
}
_VELOCITY: Final = obj(
    {}, optional={name: obj(dict.fromkeys("xyz", number())) for name in ("position", "rotation", "scale")}
)
_MOVER_STATUS: Final = obj(
    dict.fromkeys(("calibrated", "in_use", "power_supply", "ready", "started"), FLAG),
    optional={"safety": OBJECT, "navigation": OBJECT},
)
_HANDLE_STATUS: Final = obj({**dict.fromkeys(("ready", "connected", "awake", "attached"), FLAG), "error": WHOLE})
_ERROR: Final = Named(
    "Fault", obj({"path": TEXT, "reason": TEXT}, description="What of the message did not count; the rest did.")
)


def frame(version: str) -> Named:
    """Return the schema of a frame of a version: the groups of either vocabulary."""
    words = {
        name: _group(vocabulary, name, version) for vocabulary in (NEUTRAL, INVERSE) for name in vocabulary.groups()
    }
    schema = obj(
        {"session_id": {"type": "integer", "minimum": 1}},
        optional={
            **words,
            "errors": listed(_ERROR, minItems=1),
            "tick": WHOLE,
            "time": number(),
        },
        description="The state of every device; `config` in the first frame and when it was asked for.",
    )
    schema["anyOf"] = [{"required": list(vocabulary.groups())} for vocabulary in (NEUTRAL, INVERSE)]
    return Named(_VERSIONS[version], schema)


def _group(vocabulary: Vocabulary, name: str, version: str) -> dict[str, Any]:
    """Return the schema of a group: an array of entries, in v3.0 an object keyed by id."""
    connections = (Connection.SIMULATED, Connection.WIRELESS)
    specs = {
        member.kind.spec.frame_shape: member.kind.spec
        for member in MEMBERS
        if name in {vocabulary.group(member.kind, connection) for connection in connections}
    }
    entries = [_entry(spec, version) for spec in specs.values()]
    entry: Any = entries[0] if len(entries) == 1 else {"anyOf": entries}
    return mapped(entry) if version == V30 else listed(entry)


def _entry(spec: KindSpec, version: str) -> Named:
    """Return the schema of a device's entry."""
    match spec.frame_shape:
        case FrameShape.CURSOR:
            name, parts = "Mover", _mover(version)
        case FrameShape.HANDLE:
            name, parts = "Handle", _handle()
        case _:
            name, parts = spec.name.capitalize(), parts_of(spec)
    config = parts.pop("config")
    head = {} if version == V30 else {"device_id": TEXT}
    suffix = "V30" if version == V30 else ""
    return Named(f"{name}Frame{suffix}", obj({**head, **parts}, optional={"config": config}))


def _mover(version: str) -> dict[str, Any]:
    config, state = dict(ARM_CONFIG["properties"]), dict(ARM_STATE["properties"])
    optional = {key: config.pop(key) for key in ("name", "force_gate", "damping", "filters", "navigation", "scene")}
    config |= {"device_info": _INFO[version], "basis": BASIS}
    navigation = {"navigation": state.pop("navigation")}
    state["transform_velocity"] = _VELOCITY
    if version == V30:
        state["mode"] = state["control_mode"]
    of_modules = {name: ANYTHING for module in built_in() for name in module.words.by_place()[Place.STATE]}
    words = (name for module in built_in() for name in module.words.by_place()[Place.CONFIGURE])
    shown = {name: ANYTHING for name in words if name not in optional}
    return {
        "config": obj(config, optional={**optional, **shown}),
        "state": obj(state, optional={**navigation, **of_modules}),
        "status": _MOVER_STATUS,
    }


def _handle() -> dict[str, Any]:
    state = dict(GRIP_STATE["properties"])
    battery = {key: state.pop(key) for key in ("battery_level", "battery_voltage")}
    state["buttons"] = obj(dict.fromkeys("abc", FLAG))
    config = dict(GRIP_CONFIG["properties"])
    name = {"name": config.pop("name")}
    return {
        "config": obj({**config, "basis": BASIS}, optional=name),
        "state": obj(state, optional=battery),
        "status": _HANDLE_STATUS,
    }
