"""Parse one message of a session channel into configuration, workspace changes, commands and faults.

Nothing takes effect here. The channel applies what was read in the contract's order: configuration, workspace, commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

import orjson

from actors.kit.errors import InvalidInput
from actors.modules.module import Place
from actors.modules.registry import NOTHING_ON, Active
from actors.session.api import SetPreset
from actors.values.identity import Kind
from actors.values.kinds.nouns import any_of, takers_of
from actors.values.spatial import WorkspaceChange
from transport.wire import module_words, shapes
from transport.wire.configuration import arrange, device_configuration, session_part
from transport.wire.deprecated import COORDINATE_ORIGIN, RENAMED, coordinate_origin
from transport.wire.nan_repair import repair_nan
from transport.wire.parsed_message import MOST_PARTS, TOO_LONG, NamedDevice, ParsedMessage, TooLong, checked
from transport.wire.vocabulary import GROUPS_IN, OWNERS, Vocabulary

FORCE: Final = 1
POSITION: Final = 2
TORQUE: Final = 4
ANGLE: Final = 8
FORCES: Final = FORCE | TORQUE
OF_CURSOR: Final = FORCE | POSITION

_NUMBER: Final = frozenset({float, int})

# name -> (code, named field, keys of its value): the commands that make motors move
SET_POINTS: Final[Mapping[str, tuple[int, str, tuple[str, ...]]]] = {
    "set_cursor_force": (FORCE, "vector", shapes.XYZ),
    "set_cursor_position": (POSITION, "position", shapes.XYZ),
    "set_angular_torques": (TORQUE, "torques", shapes.JOINTS),
    "set_angular_position": (ANGLE, "angles", shapes.JOINTS),
}
# The interface calls the map of commands both ways; under its second name it may hold `configure` too.
COMMAND_MAPS: Final = frozenset({"commands", "command_data"})
PROBES: Final = frozenset({"probe_position", "probe_orientation", "keep_alive"})


def read(
    text: str | bytes, devices: Mapping[str, NamedDevice], vocabulary: Vocabulary, active: Active = NOTHING_ON
) -> ParsedMessage:
    """Read one message; never raises: whatever is wrong becomes a fault, and the rest counts. `vocabulary` names the groups."""
    parsed = ParsedMessage(modules=active)
    try:
        document = orjson.loads(text)
    except (orjson.JSONDecodeError, RecursionError) as error:
        document = repair_nan(text)
        if document is None:
            parsed.fault("", f"no JSON: {shapes.no_json(error)}")
            return parsed
    if type(document) is not dict:
        parsed.fault("", f"a message is a JSON object, not {shapes.kind(document)}")
        return parsed
    try:
        for word, part in document.items():
            _count(parsed, word[:40])
            if word == "session":
                checked(parsed, session_part, part, "session", devices, vocabulary)
            else:
                _group(parsed, devices, word, part)
    except TooLong as error:
        parsed.faults.insert(0, (str(error), TOO_LONG))
    if len(parsed.changes) > 1:
        arrange(parsed)
    return parsed


def _group(parsed: ParsedMessage, devices: Mapping[str, NamedDevice], word: str, part: Any) -> None:
    kinds = GROUPS_IN.get(word)
    if kinds is None:
        parsed.fault(word[:40], "unknown: a message holds session and groups of devices")
        return
    parsed.spoken |= OWNERS[word]
    if type(part) is list:
        for index, entry in enumerate(part):
            _entry(parsed, devices, kinds, entry, f"{word}[{index}]", None)
    elif type(part) is dict:
        for device_id, entry in part.items():
            _entry(parsed, devices, kinds, entry, f"{word}.{device_id[:40]}", device_id)
    else:
        parsed.fault(word, "a group is an array of devices, or an object keyed by device id")


# ---------------------------------------------------------------- one device


def _entry(
    parsed: ParsedMessage,
    devices: Mapping[str, NamedDevice],
    kinds: frozenset[Kind],
    entry: Any,
    path: str,
    device_id: str | None,
) -> None:
    _count(parsed, path)
    if type(entry) is not dict:
        parsed.fault(path, f"a device is an object, not {shapes.kind(entry)}")
        return
    named = entry.get("device_id", device_id)
    target = devices.get(named) if type(named) is str else None
    if target is None or target.kind not in kinds:
        parsed.fault(f"{path}.device_id" if "device_id" in entry or device_id is None else path, _unknown(named))
        if not COMMAND_MAPS.isdisjoint(entry):
            parsed.mapped.add("")
        return
    for key, value in entry.items():
        _count(parsed, path)
        if key in COMMAND_MAPS:
            parsed.mapped.add(target.device_id)
            if type(value) is dict:
                for name, body in value.items():
                    if name == "configure" and key == "command_data":
                        checked(parsed, device_configuration, body, f"{path}.{key}.{name}", target)
                    else:
                        _command(parsed, target, name, body, f"{path}.{key}")
            else:
                parsed.fault(f"{path}.{key}", f"commands are an object, not {shapes.kind(value)}")
        elif key == "configure":
            checked(parsed, device_configuration, value, f"{path}.configure", target)
        elif key != "device_id":
            parsed.fault(f"{path}.{key[:40]}", "unknown: a device entry holds device_id, commands and configure")


def _count(parsed: ParsedMessage, path: str) -> None:
    """Count one key, device or command; TooLong."""
    parsed.parts += 1
    if parsed.parts > MOST_PARTS:
        raise TooLong(path)


def _unknown(named: Any) -> str:
    if named is None:
        return "device_id is missing"
    if type(named) is not str:
        return f"a device_id is a string, not {shapes.kind(named)}"
    return f'no such device "{named[:16]}" in this group'


def _command(parsed: ParsedMessage, target: NamedDevice, name: str, body: Any, path: str) -> None:
    _count(parsed, path)
    row = SET_POINTS.get(name)
    if row is not None and _takes(target, row[0]) and target.accepts and type(body) is dict and len(body) == 1:
        # The hot path: one named field with three plain numbers.
        code, wanted, keys = row
        value = body.get(wanted)
        if type(value) is dict and len(value) == 3:
            x, y, z = value.get(keys[0]), value.get(keys[1]), value.get(keys[2])
            if _plain(x) and _plain(y) and _plain(z):
                parsed.commands.append((target.device_id, code, x, y, z, path if code & FORCES else f"{path}.{name}"))
                return
    if name not in PROBES:
        try:
            _checked_command(parsed, body, f"{path}.{name[:40]}", target, name)
        except InvalidInput as error:
            parsed.fault(error.path or f"{path}.{name[:40]}", error.reason)
            _release(parsed, target.device_id, RENAMED.get(name, name))


def _release(parsed: ParsedMessage, device_id: str, name: str) -> None:
    """A faulty command is not held, whatever an earlier entry of the same message said: of two, the later one counts."""
    row = SET_POINTS.get(name)
    if row is not None:
        parsed.commands[:] = (command for command in parsed.commands if (command[0], command[1]) != (device_id, row[0]))


def _takes(target: NamedDevice, code: int) -> bool:
    """Whether the device's kind has what a command moves: a cursor, or motors at its joints."""
    return target.has_cursor if code & OF_CURSOR else target.has_motors


def takers_of_command(name: str) -> str:
    """The kinds that take a command, each with its article: "an arm or a compact"."""
    if name == "set_transform":
        return takers_of("transform")
    of_cursor = SET_POINTS[name][0] & OF_CURSOR
    return any_of(lambda spec: spec.has_cursor if of_cursor else spec.has_motors)


def _plain(value: Any) -> TypeGuard[float]:
    return type(value) in _NUMBER and -shapes.LARGEST <= value <= shapes.LARGEST


def _checked_command(parsed: ParsedMessage, body: Any, path: str, target: NamedDevice, name: str) -> None:
    if name == COORDINATE_ORIGIN:
        parsed.deprecated.append((name, "configure.preset"))
        parsed.changes.append(SetPreset(target.device_id, coordinate_origin(body, path), path))
        return
    renamed = RENAMED.get(name)
    if renamed is not None:
        parsed.deprecated.append((name, renamed))
        name = renamed
        if name in PROBES:
            return
    if name != "set_transform" and name not in SET_POINTS:
        if not module_words.take_up(parsed, Place.COMMAND, name, body, path, target):
            raise InvalidInput("unknown command", path)
        return
    taken = target.kind.spec.has("transform") if name == "set_transform" else _takes(target, SET_POINTS[name][0])
    if not taken:
        raise InvalidInput(f"this device takes no {name}: send it to {takers_of_command(name)}", path)
    if name == "set_transform":
        parsed.workspaces.append((target.device_id, _workspace(parsed, body, path, target)))
        return
    if not target.accepts:
        raise InvalidInput(target.refusal, path)
    code, wanted, keys = SET_POINTS[name]
    fields = shapes.mapping(body, path)
    shapes.known(fields, (wanted, "values"), path, parsed.fault)
    if wanted in fields:
        x, y, z = shapes.vec3(fields[wanted], f"{path}.{wanted}", parsed.fault, keys)
    elif "values" in fields:
        parsed.deprecated.append((name, wanted))
        x, y, z = shapes.vec3_or_array(fields["values"], f"{path}.values", parsed.fault, keys)
    else:
        raise InvalidInput(f"{wanted} is missing", f"{path}.{wanted}")
    parsed.commands.append((target.device_id, code, x, y, z, path))


def _workspace(parsed: ParsedMessage, body: Any, path: str, target: NamedDevice) -> WorkspaceChange:
    fields = shapes.mapping(body, path)
    words = module_words.transform_words(parsed.modules, fields, path)
    if "transform" not in fields:
        raise InvalidInput("transform is missing", f"{path}.transform")
    change = shapes.transform({key: value for key, value in fields.items() if key not in words}, path, parsed.fault)
    return module_words.changed(words, fields, path, target.kind, change, parsed.fault)
