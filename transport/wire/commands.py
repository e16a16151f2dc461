"""Parse one message of a session channel into configuration, workspace changes, commands and faults.

Nothing takes effect here. The channel applies what was read in the contract's order: configuration, workspace, commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeGuard

import orjson

from actors.kit.errors import InvalidInput
from actors.modules.module import Place
from actors.modules.registry import NOTHING_ON, Active
from actors.session.api import SetPreset
from actors.values.commands import (
    PROBE_COMMANDS,
    RENAMED_COMMANDS,
    SET_COORDINATE_ORIGIN,
    SET_POINT_COMMANDS,
    SET_TRANSFORM,
    SetPointCommand,
    StateCommand,
)
from actors.values.identity import Kind
from actors.values.kinds.nouns import any_of, plurals_of, takers_of
from actors.values.spatial import WorkspaceChange
from fastpath.layout.constants import Command
from transport.wire import device_wide, module_words, shapes
from transport.wire.configuration import CONFIGURE_KEYS, arrange, device_configuration, session_part
from transport.wire.deprecated import coordinate_origin
from transport.wire.device_wide import DEVICE_WIDE
from transport.wire.nan_repair import repair_nan
from transport.wire.parsed_message import MOST_PARTS, TOO_LONG, NamedDevice, ParsedMessage, TooLong, checked
from transport.wire.vocabulary import GROUPS_IN, OWNERS, Vocabulary

_NUMBER: Final = frozenset({float, int})

# code of a set-point -> its command; the code is the index of its three numbers in a session's record
BY_CODE: Final[Mapping[int, SetPointCommand]] = MappingProxyType(
    {int(Command[row.code]): row for row in SET_POINT_COMMANDS}
)
SET_POINTS: Final[Mapping[str, tuple[int, SetPointCommand]]] = MappingProxyType(
    {row.name: (code, row) for code, row in BY_CODE.items()}
)
PROBES: Final = frozenset(row.name for row in PROBE_COMMANDS)
COMMANDS: Final = (*SET_POINTS, SET_TRANSFORM.name, *(row.name for row in PROBE_COMMANDS))
GROUP_WORDS: Final = ("session", *GROUPS_IN)
ENTRY_KEYS: Final = ("device_id", "commands", "configure")
UNKNOWN_COMMAND: Final = f"unknown command: send {', '.join([*list(SET_POINTS)[:2], SET_TRANSFORM.name])} or keep_alive"
# The interface calls the map of commands both ways; under its second name it may hold `configure` too.
COMMAND_MAPS: Final = frozenset({"commands", "command_data"})


def read(
    message: str | bytes, devices: Mapping[str, NamedDevice], vocabulary: Vocabulary, active: Active = NOTHING_ON
) -> ParsedMessage:
    """Read one message; never raises: whatever is wrong becomes a fault, and the rest counts. `vocabulary` names the groups."""
    parsed = ParsedMessage(modules=active)
    try:
        document = orjson.loads(message)
    except (orjson.JSONDecodeError, RecursionError) as error:
        document = repair_nan(message)
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
        parsed.fault(word[:40], parsed.unknown(word, GROUP_WORDS, "a message holds session and groups of devices"))
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
        where = f"{path}.device_id" if "device_id" in entry or device_id is None else path
        parsed.fault(where, _unknown(parsed, devices, kinds, named))
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
            reason = parsed.unknown(key, ENTRY_KEYS, "a device entry holds device_id, commands and configure")
            parsed.fault(f"{path}.{key[:40]}", reason)


def _count(parsed: ParsedMessage, path: str) -> None:
    """Count one key, device or command; TooLong."""
    parsed.parts += 1
    if parsed.parts > MOST_PARTS:
        raise TooLong(path)


def _unknown(parsed: ParsedMessage, devices: Mapping[str, NamedDevice], kinds: frozenset[Kind], named: Any) -> str:
    if named is None:
        return "device_id is missing"
    if type(named) is not str:
        return f"a device_id is a string, not {shapes.kind(named)}"
    other = devices.get(named)
    if other is not None:
        names = {kind.spec.name for kind in kinds}
        return f'"{named[:16]}" is {other.kind.with_article}, and this group is for {plurals_of(lambda spec: spec.name in names)}'
    here = tuple(device_id for device_id, device in devices.items() if device.kind in kinds)
    meant = parsed.meant(named, here)
    if meant is None and len(here) == 1:
        (meant,) = here
    likely = f"did you mean {meant}?" if meant else "GET /devices lists those that are here"
    return f'no such device "{named[:16]}" in this group: {likely}'


def _command(parsed: ParsedMessage, target: NamedDevice, name: str, body: Any, path: str) -> None:
    _count(parsed, path)
    found = SET_POINTS.get(name)
    if found is not None and target.accepts and type(body) is dict and len(body) == 1:
        # The hot path: one named field with three plain numbers.
        code, row = found
        value = body.get(row.field)
        if type(value) is dict and len(value) == 3 and _takes(target, row):
            keys, largest = row.keys, row.largest
            x, y, z = value.get(keys[0]), value.get(keys[1]), value.get(keys[2])
            if _plain(x, largest) and _plain(y, largest) and _plain(z, largest):
                parsed.commands.append((target.device_id, code, x, y, z, f"{path}.{name}" if row.exclusive else path))
                return
    if name not in PROBES:
        try:
            _checked_command(parsed, body, f"{path}.{name[:40]}", target, name)
        except InvalidInput as error:
            parsed.fault(error.path or f"{path}.{name[:40]}", error.reason)
            _release(parsed, target.device_id, RENAMED_COMMANDS.get(name, name))


def _release(parsed: ParsedMessage, device_id: str, name: str) -> None:
    """Drop a command that an earlier entry of the message gave: of two, the later counts, and that one is faulty."""
    row = SET_POINTS.get(name)
    if parsed.module_changes:
        parsed.module_changes[:] = (
            change
            for change in parsed.module_changes
            if (change.device_id, change.place, change.word) != (device_id, Place.COMMAND, name)
        )
    if row is not None:
        parsed.commands[:] = (command for command in parsed.commands if (command[0], command[1]) != (device_id, row[0]))


def _takes(target: NamedDevice, row: SetPointCommand) -> bool:
    """Whether the device has what a set-point moves: a cursor, or motors at its joints."""
    return target.has_cursor if row.needs_cursor else target.has_motors


def _plain(value: Any, largest: float) -> TypeGuard[float]:
    return type(value) in _NUMBER and -largest <= value <= largest


def _checked_command(parsed: ParsedMessage, body: Any, path: str, target: NamedDevice, name: str) -> None:
    if name == SET_COORDINATE_ORIGIN:
        parsed.deprecated.append((name, "configure.preset"))
        parsed.changes.append(SetPreset(target.device_id, coordinate_origin(body, path), path))
        return
    renamed = RENAMED_COMMANDS.get(name)
    if renamed is not None:
        parsed.deprecated.append((name, renamed))
        name = renamed
        if name in PROBES:
            return
    if name == SET_TRANSFORM.name:
        if not SET_TRANSFORM.taken_by(target.kind.spec):
            raise _not_taken(SET_TRANSFORM, path)
        parsed.workspaces.append((target.device_id, _workspace(parsed, body, path, target)))
    elif name in SET_POINTS:
        _set_point(parsed, body, path, target, name)
    elif not module_words.take_up(parsed, Place.COMMAND, name, body, path, target):
        raise InvalidInput(_no_command(parsed, target, name), path)


def _no_command(parsed: ParsedMessage, target: NamedDevice, name: str) -> str:
    """Return what to send instead of an unknown command: a similar one, or what configures that."""
    area = name.removeprefix("set_")
    if area in device_wide.of(target):
        return f"unknown: configure.{area}, by POST /{target.kind}/{target.device_id}/config/{area}"
    if area in DEVICE_WIDE:
        return f"unknown, and {target.kind.with_article} has no {area}: it is for {takers_of(area)}"
    if area in CONFIGURE_KEYS:
        return f"unknown: send it as configure.{area}"
    meant = parsed.meant(name, COMMANDS)
    return f"unknown command: did you mean {meant}?" if meant else UNKNOWN_COMMAND


def _set_point(parsed: ParsedMessage, body: Any, path: str, target: NamedDevice, name: str) -> None:
    """Read a set-point that is not in its plain form; InvalidInput."""
    code, row = SET_POINTS[name]
    if not _takes(target, row):
        raise _not_taken(row, path)
    if not target.accepts:
        raise InvalidInput(target.refusal, path)
    fields = shapes.mapping(body, path)
    shapes.known(fields, (row.field, "values"), path, parsed.fault)
    if row.field in fields:
        x, y, z = shapes.vec3(fields[row.field], f"{path}.{row.field}", parsed.fault, row.keys, row.largest)
    elif "values" in fields:
        parsed.deprecated.append((name, row.field))
        x, y, z = shapes.vec3_or_array(fields["values"], f"{path}.values", parsed.fault, row.keys, row.largest)
    else:
        raise InvalidInput(f"{row.field} is missing", f"{path}.{row.field}")
    parsed.commands.append((target.device_id, code, x, y, z, path))


def _not_taken(row: SetPointCommand | StateCommand, path: str) -> InvalidInput:
    """Return the error of a command that a device of this kind does not take; it names the kinds that do."""
    return InvalidInput(f"this device takes no {row.name}: send it to {any_of(row.taken_by)}", path)


def _workspace(parsed: ParsedMessage, body: Any, path: str, target: NamedDevice) -> WorkspaceChange:
    fields = shapes.mapping(body, path)
    words = module_words.transform_words(parsed.modules, fields, path)
    if "transform" not in fields:
        raise InvalidInput("transform is missing", f"{path}.transform")
    change = shapes.transform({key: value for key, value in fields.items() if key not in words}, path, parsed.fault)
    return module_words.changed(words, fields, path, target.kind, change, parsed.fault)
