"""Parse the configuration in a message of the session channel: `configure` of a device, and `session`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from actors.kit.errors import InvalidInput
from actors.modules.module import Place
from actors.session.api import (
    Change,
    DeclareProfile,
    RequireSdk,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetPreset,
)
from actors.values.commands import SET_COORDINATE_ORIGIN
from actors.values.spatial import PartialTransform, Transform
from transport.wire import device_wide, module_words, navigation, scene, shapes
from transport.wire.deprecated import SESSION_BASIS, coordinate_origin, legacy_basis
from transport.wire.device_wide import DEVICE_WIDE
from transport.wire.parsed_message import NamedDevice, ParsedMessage, checked
from transport.wire.vocabulary import OWNERS, Vocabulary, preset_in

CONFIGURE_KEYS: Final = ("basis", "mount", "preset", "damping", "force_gate", "navigation")
CONFIGURE_TAKES: Final = f"configure takes {', '.join(CONFIGURE_KEYS)}"
SESSION_KEYS: Final = ("configure", "force_render_full_state")
SESSION_CONFIGURE_KEYS: Final = ("profile", "basis", "required_sdk_version")
EXCLUSIVE: Final = "mount and preset exclude each other: send one of them"
ALIKE: Final = 1e-6

# What the device is: `config` shows it, and a client may send it back.
FACTS: Final = frozenset(
    {
        "type", "connection", "port", "device_info", "extended_device_id", "extended_firmware_version", "streaming_mode",
        "major_version", "minor_version", "hardware_version",
    }
)  # fmt: skip

_RANKS: Final[Mapping[type[Change], int]] = {DeclareProfile: 0, RequireSdk: 1, SetBasis: 2}


def arrange(parsed: ParsedMessage) -> None:
    """Sort the changes into the order in which they apply: profile, version, bases, mounts and presets."""
    mounted = {change.device_id for change in parsed.changes if isinstance(change, SetMount)}
    both = mounted & {change.device_id for change in parsed.changes if isinstance(change, SetPreset)}
    kept: list[Change] = []
    for change in parsed.changes:
        if isinstance(change, (SetMount, SetPreset)) and change.device_id in both:
            parsed.fault(change.path, EXCLUSIVE)
        else:
            kept.append(change)
    parsed.changes = sorted(kept, key=lambda change: _RANKS.get(type(change), len(_RANKS)))


# ---------------------------------------------------------------- one device


def device_configuration(parsed: ParsedMessage, value: Any, path: str, target: NamedDevice) -> None:
    """Parse the `configure` of a device; a fault in one key leaves the others valid."""
    fields = shapes.mapping(value, path)
    if "mount" in fields and "preset" in fields:
        if not _as_shown(fields, path, target):
            for key in ("mount", "preset"):
                parsed.fault(f"{path}.{key}", EXCLUSIVE)
        fields = {key: part for key, part in fields.items() if key not in {"mount", "preset"}}
    for key, part in fields.items():
        parsed.part(path)
        if key in DEVICE_WIDE:
            checked(parsed, _device_wide, part, f"{path}.{key}", target, key)
        elif key not in FACTS:
            checked(parsed, _device_key, part, f"{path}.{key[:40]}", target, key)


def _device_wide(_found: ParsedMessage, part: Any, path: str, target: NamedDevice, key: str) -> None:
    device_wide.check(part, path, target, key)


def _device_key(parsed: ParsedMessage, part: Any, path: str, target: NamedDevice, key: str) -> None:
    match key:
        case "basis":
            parsed.changes.append(SetBasis(target.device_id, shapes.basis(part, path, parsed.fault), path))
        case "mount":
            parsed.changes.append(SetMount(target.device_id, shapes.transform(part, path, parsed.fault), path))
        case "preset":
            word = shapes.word(part, "preset", path, parsed.fault)
            parsed.spoken |= OWNERS.get(word, 0)
            parsed.changes.append(SetPreset(target.device_id, preset_in(word), path))
        case "damping" | "force_gate" | "navigation":
            parsed.changes.append(_READERS[key](part, path, target.device_id, parsed.fault))
        case "scene":
            parsed.modules.find(Place.CONFIGURE, key, path)
            parsed.changes.append(scene.read(part, path, target.device_id, parsed.fault, parsed.fault))
        case "filters":
            for name, inner in shapes.mapping(part, path).items():
                parsed.part(path)
                if name not in {"damping", "force_gate"}:
                    parsed.fault(f"{path}.{name[:40]}", "unknown: filters holds damping and force_gate")
                else:
                    checked(parsed, _device_key, inner, f"{path}.{name}", target, name)
        case _:
            if not module_words.take_up(parsed, Place.CONFIGURE, key, part, path, target):
                raise InvalidInput(
                    parsed.unknown(key, (*CONFIGURE_KEYS, *device_wide.of(target)), CONFIGURE_TAKES), path
                )


def damping(value: Any, path: str, device_id: str, name_unknown: shapes.NameUnknown) -> SetDamping:
    """Parse `{"scalar"?, "vector"?}`, at least one of them; InvalidInput."""
    fields = shapes.mapping(value, path)
    shapes.needed(fields, ("scalar", "vector"), path, name_unknown)
    scalar = shapes.number(fields["scalar"], f"{path}.scalar") if "scalar" in fields else None
    vector = shapes.vec3(fields["vector"], f"{path}.vector", name_unknown) if "vector" in fields else None
    return SetDamping(device_id, scalar, vector, path)


def force_gate(value: Any, path: str, device_id: str, name_unknown: shapes.NameUnknown) -> SetForceGate:
    """Parse `{"gain"}` or the bare number; InvalidInput."""
    inner, where = shapes.only(value, "gain", path, name_unknown)
    return SetForceGate(device_id, shapes.number(inner, where), path)


_READERS: Final[Mapping[str, Callable[[Any, str, str, shapes.NameUnknown], Change]]] = {
    "damping": damping,
    "force_gate": force_gate,
    "navigation": navigation.read,
}


def _as_shown(fields: dict[str, Any], path: str, target: NamedDevice) -> bool:
    """Whether mount and preset are those in force: a `config` that comes back as it was shown."""
    try:
        preset = preset_in(shapes.word(fields["preset"], "preset", path, _ignore))
        mount = shapes.transform(fields["mount"], path, _ignore)
    except InvalidInput:
        return False
    return preset == target.preset and _alike(mount, target.mount)


def _alike(sent: PartialTransform, shown: Transform) -> bool:
    whole = sent.over(Transform())
    pairs = zip(
        (*whole.position, *whole.rotation, *whole.scale),
        (*shown.position, *shown.rotation, *shown.scale),
        strict=True,
    )
    return all(abs(a - b) <= ALIKE * max(1.0, abs(b)) for a, b in pairs)


def _ignore(_path: str, _reason: str) -> None:
    """Ignore unknown keys; they are named when the value is parsed to take effect."""


# ---------------------------------------------------------------- the session


def session_part(
    parsed: ParsedMessage, part: Any, path: str, devices: Mapping[str, NamedDevice], vocabulary: Vocabulary
) -> None:
    """Parse everything under `session`; a fault in one key leaves the others valid."""
    for key, value in shapes.mapping(part, path).items():
        parsed.part(path)
        match key:
            case "force_render_full_state":
                checked(parsed, _full, value, f"{path}.{key}", vocabulary)
            case "configure":
                checked(parsed, _session_configure, value, f"{path}.{key}")
            case "set_basis":
                parsed.deprecated.append((SESSION_BASIS, "configure.basis"))
                checked(parsed, _old_basis, value, f"{path}.{key}")
            case "set_coordinate_origin":
                parsed.deprecated.append((SET_COORDINATE_ORIGIN, "configure.preset"))
                checked(parsed, _old_origin, value, f"{path}.{key}", devices)
            case _:
                reason = parsed.unknown(key, SESSION_KEYS, "session holds configure and force_render_full_state")
                parsed.fault(f"{path}.{key[:40]}", reason)


def _old_basis(parsed: ParsedMessage, value: Any, path: str) -> None:
    parsed.changes.append(SetBasis(None, legacy_basis(value, path), path))


def _old_origin(parsed: ParsedMessage, value: Any, path: str, devices: Mapping[str, NamedDevice]) -> None:
    preset = coordinate_origin(value, path)
    parsed.changes += [
        SetPreset(target.device_id, preset, path) for target in devices.values() if target.kind.spec.has("preset")
    ]


def _full(parsed: ParsedMessage, value: Any, path: str, vocabulary: Vocabulary) -> None:
    # A faulty request for a full frame gives one of all groups: more than was asked for does no harm.
    parsed.full = frozenset(vocabulary.groups())
    fields = shapes.mapping(value, path)
    words = fields.get("device_types", [])
    if not isinstance(words, list):
        raise InvalidInput("device_types is an array of device types", f"{path}.device_types")
    groups: set[str] = set()
    for index, word in enumerate(words):
        parsed.part(f"{path}.device_types[{index}]")
        meant = vocabulary.full_groups(word) if isinstance(word, str) else None
        if meant is None:
            near = parsed.meant(word, vocabulary.groups()) if isinstance(word, str) else None
            likely = f"did you mean {near}?" if near else f"use {', '.join(vocabulary.groups())}"
            parsed.fault(f"{path}.device_types[{index}]", f"no such device type: {likely}")
        else:
            parsed.spoken |= OWNERS[word]
            groups |= meant
    if groups:
        parsed.full = frozenset(groups)
    shapes.known(fields, ("device_types",), path, parsed.fault)


def _session_configure(parsed: ParsedMessage, value: Any, path: str) -> None:
    for key, part in shapes.mapping(value, path).items():
        parsed.part(path)
        checked(parsed, _session_key, part, f"{path}.{key[:40]}", key)


def _session_key(parsed: ParsedMessage, part: Any, path: str, key: str) -> None:
    match key:
        case "profile":
            parsed.changes.append(DeclareProfile(shapes.word(part, "name", path, parsed.fault), path))
        case "basis":
            parsed.changes.append(SetBasis(None, shapes.basis(part, path, parsed.fault), path))
        case "required_sdk_version":
            parsed.changes.append(RequireSdk(shapes.text(part, path), path))
        case _:
            if not module_words.take_up(parsed, Place.SESSION, key, part, path, None):
                listed = "a session configures profile, basis and required_sdk_version"
                raise InvalidInput(parsed.unknown(key, SESSION_CONFIGURE_KEYS, listed), path)
