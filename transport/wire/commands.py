"""One message of a session channel, read: what it configures, which workspaces it moves, what it commands, what is wrong with it.

Nothing takes effect here. The channel applies what was read in the contract's order: configuration, workspace, commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeGuard

import orjson

from actors.kit.errors import InvalidInput
from actors.session.messages import Change, DeclareProfile, RequireSdk, SetBasis, SetMount, SetPreset
from actors.values.identity import Kind
from actors.values.spatial import PartialTransform
from transport.wire import shapes
from transport.wire.deprecated import RENAMED
from transport.wire.vocabulary import Vocabulary, group_in, preset_in

FORCE: Final = 1
POSITION: Final = 2
TORQUE: Final = 4
ANGLE: Final = 8
FORCES: Final = FORCE | TORQUE

MOST_PARTS: Final = 512

EXCLUSIVE: Final = "mount and preset exclude each other: send one of them"
TOO_LONG: Final = f"this and what follows is ignored: a message may have {MOST_PARTS} keys, devices and commands in all"

_NUMBER: Final = frozenset({float, int})
_RANKS: Final[Mapping[type[Change], int]] = {DeclareProfile: 0, RequireSdk: 1, SetBasis: 2}

# name -> (code, named field, keys of its value): the commands that make motors move
SET_POINTS: Final[Mapping[str, tuple[int, str, tuple[str, ...]]]] = {
    "set_cursor_force": (FORCE, "vector", shapes.XYZ),
    "set_cursor_position": (POSITION, "position", shapes.XYZ),
    "set_angular_torques": (TORQUE, "torques", shapes.JOINTS),
    "set_angular_position": (ANGLE, "angles", shapes.JOINTS),
}
PROBES: Final = frozenset({"probe_position", "probe_orientation", "keep_alive"})


class Target(Protocol):
    """What reading needs to know of one device."""

    @property
    def device_id(self) -> str:
        """Its id."""
        ...

    @property
    def kind(self) -> Kind:
        """Its type."""
        ...

    @property
    def moves(self) -> bool:
        """Whether it has motors."""
        ...

    @property
    def accepts(self) -> bool:
        """Whether it takes commands now."""
        ...


class _TooLong(Exception):
    """A message has so many parts that reading all of them would keep the others waiting; the text is the path of the next."""


# device id, code, three numbers (application space or joints), path for a fault
Wish: TypeAlias = tuple[str, int, float, float, float, str]


@dataclass(slots=True)
class Read:
    """A message, read; `mapped` are the devices with a commands map, `full` the groups wanted with config (None: no full frame)."""

    changes: list[Change] = field(default_factory=list)
    workspaces: list[tuple[str, PartialTransform]] = field(default_factory=list)
    mapped: set[str] = field(default_factory=set)
    wishes: list[Wish] = field(default_factory=list)
    full: frozenset[str] | None = None
    faults: list[tuple[str, str]] = field(default_factory=list)
    deprecated: list[str] = field(default_factory=list)
    parts: int = 0

    def part(self, path: str) -> None:
        """Count one key, device or command; _TooLong."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise _TooLong(path)

    def fault(self, path: str, reason: str) -> None:
        """Note one bad part."""
        self.faults.append((path, reason))


def read(data: str | bytes, devices: Mapping[str, Target], vocabulary: Vocabulary) -> Read:
    """Read one message; never raises: whatever is wrong becomes a fault, and the rest counts. `vocabulary` names the groups."""
    found = Read()
    try:
        message = orjson.loads(data)
    except (orjson.JSONDecodeError, RecursionError) as error:
        found.fault("", f"no JSON: {error}")
        return found
    if type(message) is not dict:
        found.fault("", f"a message is a JSON object, not {shapes.kind(message)}")
        return found
    try:
        for word, part in message.items():
            found.part(word[:40])
            if word == "session":
                _checked(found, _session, part, "session", vocabulary)
            else:
                _group(found, devices, word, part)
    except _TooLong as error:
        found.faults.insert(0, (str(error), TOO_LONG))
    if len(found.changes) > 1:
        _arrange(found)
    return found


def _group(found: Read, devices: Mapping[str, Target], word: str, part: Any) -> None:
    kinds = group_in(word)
    if kinds is None:
        found.fault(word[:40], "unknown: a message holds session and groups of devices")
    elif type(part) is list:
        for index, entry in enumerate(part):
            _entry(found, devices, kinds, entry, f"{word}[{index}]", None)
    elif type(part) is dict:
        for device_id, entry in part.items():
            _entry(found, devices, kinds, entry, f"{word}.{device_id[:40]}", device_id)
    else:
        found.fault(word, "a group is an array of devices, or an object keyed by device id")


def _arrange(found: Read) -> None:
    """Changes in the one order that counts, whatever the order of keys: profile, version, bases, mounts and presets."""
    mounted = {change.device_id for change in found.changes if isinstance(change, SetMount)}
    both = mounted & {change.device_id for change in found.changes if isinstance(change, SetPreset)}
    kept: list[Change] = []
    for change in found.changes:
        if isinstance(change, (SetMount, SetPreset)) and change.device_id in both:
            found.fault(change.path, EXCLUSIVE)
        else:
            kept.append(change)
    found.changes = sorted(kept, key=lambda change: _RANKS.get(type(change), len(_RANKS)))


# ---------------------------------------------------------------- one device


def _entry(
    found: Read, devices: Mapping[str, Target], kinds: frozenset[Kind], entry: Any, path: str, device_id: str | None
) -> None:
    found.part(path)
    if type(entry) is not dict:
        found.fault(path, f"a device is an object, not {shapes.kind(entry)}")
        return
    named = entry.get("device_id", device_id)
    target = devices.get(named) if type(named) is str else None
    if target is None or target.kind not in kinds:
        found.fault(f"{path}.device_id" if "device_id" in entry or device_id is None else path, _unknown(named))
        if "commands" in entry:
            found.mapped.add("")
        return
    for key, value in entry.items():
        found.part(path)
        if key == "commands":
            found.mapped.add(target.device_id)
            if type(value) is dict:
                for name, body in value.items():
                    _command(found, target, name, body, f"{path}.commands")
            else:
                found.fault(f"{path}.commands", f"commands are an object, not {shapes.kind(value)}")
        elif key == "configure":
            _checked(found, _configure, value, f"{path}.configure", target)
        elif key != "device_id":
            found.fault(f"{path}.{key[:40]}", "unknown: a device entry holds device_id, commands and configure")


def _unknown(named: Any) -> str:
    if named is None:
        return "device_id is missing"
    if type(named) is not str:
        return f"a device_id is a string, not {shapes.kind(named)}"
    return f'no such device "{named[:16]}" in this group'


def _command(found: Read, target: Target, name: str, body: Any, path: str) -> None:
    found.part(path)
    row = SET_POINTS.get(name)
    if row is not None and target.moves and target.accepts and type(body) is dict and len(body) == 1:
        # The hot path: one named field with three plain numbers.
        code, wanted, keys = row
        value = body.get(wanted)
        if type(value) is dict and len(value) == 3:
            x, y, z = value.get(keys[0]), value.get(keys[1]), value.get(keys[2])
            if _plain(x) and _plain(y) and _plain(z):
                found.wishes.append((target.device_id, code, x, y, z, path if code & FORCES else f"{path}.{name}"))
                return
    if name not in PROBES:
        _checked(found, _checked_command, body, f"{path}.{name[:40]}", target, name)


def _plain(value: Any) -> TypeGuard[float]:
    return type(value) in _NUMBER and -shapes.LARGEST <= value <= shapes.LARGEST


def _checked_command(found: Read, body: Any, path: str, target: Target, name: str) -> None:
    renamed = RENAMED.get(name)
    if renamed is not None:
        found.deprecated.append(name)
        name = renamed
        if name in PROBES:
            return
    if name != "set_transform" and name not in SET_POINTS:
        raise InvalidInput("unknown command", path)
    if not target.moves:
        raise InvalidInput(f"this device takes no {name}: send it to an arm or a compact", path)
    if name == "set_transform":
        found.workspaces.append((target.device_id, _workspace(found, body, path)))
        return
    if not target.accepts:
        raise InvalidInput("settling: commands are taken once the device is ready", path)
    code, wanted, keys = SET_POINTS[name]
    fields = shapes.mapping(body, path)
    shapes.known(fields, (wanted, "values"), path, found.fault)
    if wanted in fields:
        x, y, z = shapes.vec3(fields[wanted], f"{path}.{wanted}", found.fault, keys)
    elif "values" in fields:
        found.deprecated.append(name)
        x, y, z = shapes.vec3_or_array(fields["values"], f"{path}.values", found.fault, keys)
    else:
        raise InvalidInput(f"{wanted} is missing", f"{path}.{wanted}")
    found.wishes.append((target.device_id, code, x, y, z, path))


def _workspace(found: Read, body: Any, path: str) -> PartialTransform:
    fields = shapes.mapping(body, path)
    if "pivot" in fields:
        raise InvalidInput("pivot is a preview: set features/workspace_zoom/enabled first", f"{path}.pivot")
    if "transform" not in fields:
        raise InvalidInput("transform is missing", f"{path}.transform")
    return shapes.transform(fields, path, found.fault)


def _configure(found: Read, value: Any, path: str, target: Target) -> None:
    fields = shapes.mapping(value, path)
    if "mount" in fields and "preset" in fields:
        for key in ("mount", "preset"):
            found.fault(f"{path}.{key}", EXCLUSIVE)
        fields = {key: part for key, part in fields.items() if key not in {"mount", "preset"}}
    for key, part in fields.items():
        found.part(path)
        _checked(found, _configure_key, part, f"{path}.{key[:40]}", target, key)


def _configure_key(found: Read, part: Any, path: str, target: Target, key: str) -> None:
    match key:
        case "basis":
            found.changes.append(SetBasis(target.device_id, shapes.basis(part, path, found.fault), path))
        case "mount":
            found.changes.append(SetMount(target.device_id, shapes.transform(part, path, found.fault), path))
        case "preset":
            word = shapes.word(part, "preset", path, found.fault)
            found.changes.append(SetPreset(target.device_id, preset_in(word), path))
        case _:
            raise InvalidInput("unknown: configure takes basis, mount and preset", path)


# ---------------------------------------------------------------- the session


def _session(found: Read, part: Any, path: str, vocabulary: Vocabulary) -> None:
    for key, value in shapes.mapping(part, path).items():
        found.part(path)
        if key == "force_render_full_state":
            _checked(found, _full, value, f"{path}.{key}", vocabulary)
        elif key == "configure":
            _checked(found, _session_configure, value, f"{path}.{key}")
        else:
            found.fault(f"{path}.{key[:40]}", "unknown: session holds configure and force_render_full_state")


def _full(found: Read, value: Any, path: str, vocabulary: Vocabulary) -> None:
    # A faulty wish for a full frame is still one: more than was asked for harms nobody.
    found.full = frozenset(vocabulary.groups())
    fields = shapes.mapping(value, path)
    words = fields.get("device_types", [])
    if not isinstance(words, list):
        raise InvalidInput("device_types is an array of device types", f"{path}.device_types")
    groups: set[str] = set()
    for index, word in enumerate(words):
        found.part(f"{path}.device_types[{index}]")
        meant = vocabulary.full_groups(word) if isinstance(word, str) else None
        if meant is None:
            found.fault(f"{path}.device_types[{index}]", "no such device type")
        else:
            groups |= meant
    if groups:
        found.full = frozenset(groups)
    shapes.known(fields, ("device_types",), path, found.fault)


def _session_configure(found: Read, value: Any, path: str) -> None:
    for key, part in shapes.mapping(value, path).items():
        found.part(path)
        _checked(found, _session_key, part, f"{path}.{key[:40]}", key)


def _session_key(found: Read, part: Any, path: str, key: str) -> None:
    match key:
        case "profile":
            found.changes.append(DeclareProfile(shapes.word(part, "name", path, found.fault), path))
        case "basis":
            found.changes.append(SetBasis(None, shapes.basis(part, path, found.fault), path))
        case "required_sdk_version":
            found.changes.append(RequireSdk(shapes.text(part, path), path))
        case _:
            raise InvalidInput("unknown: a session configures profile, basis and required_sdk_version", path)


def _checked(found: Read, step: Any, value: Any, path: str, *more: Any) -> None:
    """Run one step of reading; what it refuses becomes a fault."""
    try:
        step(found, value, path, *more)
    except InvalidInput as error:
        found.fault(error.path or path, error.reason)
