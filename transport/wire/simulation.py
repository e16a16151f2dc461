"""Parse and check bodies of `/simulation/…`, and build the `simulation` of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from actors.device.api import Phase, SimulatedSpec
from actors.kit.errors import InvalidInput
from actors.values.identity import Connection, Firmware, Kind
from actors.values.kinds.nouns import any_of, names_of
from actors.values.simulation import BUTTONS, Fault, HandPath, SimulationChange
from transport.wire import shapes
from transport.wire.vocabulary import member_of, path_members

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord

W = TypeVar("W", HandPath, Fault)

SPEC: Final = ("type", "connection", "firmware", "device_id")
CHANGE: Final = ("hand", "buttons", "orientation", "attached", "battery_level", "awake", "fault")
HAND: Final = ("position", "path", "stiffness")

_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,8}")
_FIRMWARE: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")


def spec(fields: Mapping[str, Any]) -> SimulatedSpec:
    """Parse `{"type", "connection"?, "firmware"?, "device_id"?}`; InvalidInput."""
    kind, connection = _sort(fields)
    return SimulatedSpec(kind, connection, _device_id(fields.get("device_id")), _firmware(fields.get("firmware")))


def connections(word: str) -> tuple[Connection, ...]:
    """Return the connections that a simulated device of this type can have."""
    members = path_members(word)
    ways = {way for member in members for way in member.kind.spec.connections if member_of(member.kind, way) in members}
    return tuple(sorted(ways))


def change(fields: Mapping[str, Any], note: shapes.NameUnknown) -> SimulationChange:
    """Parse members of CHANGE, at least one; `null` for `hand.position` or `orientation` returns it to the hand model. InvalidInput."""
    if not fields.keys() & set(CHANGE):
        raise InvalidInput(f"Send at least one of {', '.join(CHANGE)}.")
    hand = shapes.mapping(fields["hand"], "hand") if "hand" in fields else {}
    shapes.known(hand, HAND, "hand", note)
    if "hand" in fields and not hand.keys() & set(HAND):
        raise InvalidInput(f"at least one of {', '.join(HAND)} is needed", "hand")
    placed, turned = hand.get("position"), fields.get("orientation")
    return SimulationChange(
        path=_choice(hand["path"], HandPath, "hand.path") if "path" in hand else None,
        position=None if placed is None else shapes.vec3(placed, "hand.position", note),
        centred=True if "position" in hand and placed is None else None,
        stiffness=shapes.number(hand["stiffness"], "hand.stiffness") if "stiffness" in hand else None,
        buttons=_buttons(fields["buttons"], note) if "buttons" in fields else None,
        orientation=None if turned is None else shapes.rotation(turned, "orientation", note),
        free=True if "orientation" in fields and turned is None else None,
        attached=_flag(fields["attached"], "attached") if "attached" in fields else None,
        battery_level=shapes.number(fields["battery_level"], "battery_level") if "battery_level" in fields else None,
        awake=_flag(fields["awake"], "awake") if "awake" in fields else None,
        fault=_choice(fields["fault"], Fault, "fault") if "fault" in fields else None,
    )


def shown(record: DeviceRecord, battery_level: float) -> dict[str, object]:
    """Return the simulation values in force, of those that the device's kind has."""
    told, identity = record.simulation, record.identity
    hand: dict[str, object] = {"path": str(told.path)}
    turned = told.orientation
    body: dict[str, object] = {
        "device_id": record.device_id,
        "hand": hand,
        "orientation": None if turned is None else dict(zip("wxyz", turned, strict=True)),
        "awake": record.phase is not Phase.ASLEEP,
        "fault": str(told.fault),
    }
    if identity.reach is not None:
        hand["position"] = dict(zip("xyz", told.position or identity.reach.centre, strict=True))
        hand["stiffness"] = told.stiffness
    if record.kind.is_handle:
        body["buttons"] = {name: bool(told.buttons & 1 << bit) for bit, name in enumerate(BUTTONS)}
        body["attached"] = told.attached
    if identity.connection is Connection.WIRELESS:
        body["battery_level"] = battery_level
    return body


def _sort(fields: Mapping[str, Any]) -> tuple[Kind, Connection]:
    if "type" not in fields:
        raise InvalidInput(f"name the type: {names_of(lambda _: True)}", "type")
    word = shapes.text(fields["type"], "type")
    members = frozenset() if "*" in word else path_members(word)
    if not members:
        raise InvalidInput(f"a simulated device is {any_of(lambda _: True)}", "type")
    kind, possible, wanted = next(iter(members)).kind, connections(word), fields.get("connection")
    if wanted is None:
        return kind, kind.spec.connection if kind.spec.connection in possible else possible[0]
    for connection in possible:
        if connection == wanted:
            return kind, connection
    if len(kind.spec.connections) == 1:
        raise InvalidInput(f"a simulated {kind} is connected as {kind.spec.connection}: leave it out", "connection")
    raise InvalidInput(f"give {' or '.join(possible)}", "connection")


def _device_id(value: Any) -> str | None:
    if value is None:
        return None
    if not _ID.fullmatch(shapes.text(value, "device_id")):
        raise InvalidInput("a device_id is one to eight letters, digits, dots, dashes or underscores", "device_id")
    return str(value)


def _firmware(value: Any) -> Firmware | None:
    if value is None:
        return None
    found = _FIRMWARE.fullmatch(shapes.text(value, "firmware"))
    if found is None:
        raise InvalidInput('a firmware is two numbers with a dot, such as "7.5"', "firmware")
    return Firmware(int(found[1]), int(found[2]))


def _buttons(value: Any, note: shapes.NameUnknown) -> tuple[tuple[str, bool], ...]:
    fields = shapes.mapping(value, "buttons")
    shapes.known(fields, BUTTONS, "buttons", note)
    found = tuple((name, _flag(fields[name], f"buttons.{name}")) for name in BUTTONS if name in fields)
    if not found:
        raise InvalidInput(f"at least one of {', '.join(BUTTONS)} is needed", "buttons")
    return found


def _flag(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"true or false is needed, not {shapes.kind(value)}", path)
    return value


def _choice(value: Any, words: type[W], path: str) -> W:
    for word in words:
        if word == value and isinstance(value, str):
            return word
    raise InvalidInput(f"give one of {', '.join(words)}", path)
