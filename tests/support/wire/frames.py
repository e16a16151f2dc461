"""Check a frame: the fields that every frame has, and those that a wire case expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import pytest

from tests.support.wire.asyncapi import check_frame_schema
from tests.support.wire.wire_variants import GROUPS, Object, WireVariant, object_of

DeviceValues: TypeAlias = Callable[[str, str, Sequence[float] | None], Mapping[str, float]]
"""x, y and z of a field of a frame in device space, by device id and name; of a force, by what damps each axis, the damping's."""

MOVER_STATE: Final = frozenset(
    {
        "cursor_position",
        "cursor_velocity",
        "angular_position",
        "angular_velocity",
        "body_orientation",
        "current_cursor_force",
        "current_cursor_position",
        "current_angular_torques",
        "current_angular_position",
        "control_domain",
        "control_mode",
        "transform",
        "transform_velocity",
    }
)
LEGACY_STATE: Final = frozenset({"mode"})
MOVER_STATUS: Final = frozenset({"calibrated", "in_use", "power_supply", "ready", "started"})
HANDLE_STATE: Final = frozenset({"orientation", "hall", "button", "buttons", "transform"})
BATTERY: Final = frozenset({"battery_level", "battery_voltage"})
HANDLE_STATUS: Final = frozenset({"ready", "error", "connected", "awake", "attached"})

FLOAT32: Final = 1e-6
TINY: Final = 1e-9
IDENTITY: Final[Object] = {"$device": ("x", "y", "z"), "times": (1, 1, 1), "plus": (0, 0, 0)}


@dataclass(frozen=True, slots=True)
class Extras:
    """What settings add to every frame."""

    top: frozenset[str] = frozenset()
    status: frozenset[str] = frozenset()

    def having(self, key: str, value: object) -> Extras:
        """With what a setting adds at this value."""
        if value is True and key == "serialization/timestamps":
            return Extras(self.top | {"tick", "time"}, self.status)
        if value is True and key == "serialization/status_safety":
            return Extras(self.top, self.status | {"safety"})
        return self


NO_EXTRAS: Final = Extras()


def entries(frame: Object, groups: Iterable[str]) -> Iterator[tuple[str, str, Object]]:
    """Group, id and entry of every device in a frame of either version."""
    for group in groups:
        keyed = object_of(frame[group])
        if keyed is None:
            yield from ((group, str(entry["device_id"]), entry) for entry in cast("list[Object]", frame[group]))
        else:
            yield from ((group, device_id, entry) for device_id, entry in keyed.items())


def check_frame(frame: Object, way: WireVariant, extras: Extras = NO_EXTRAS) -> Mapping[str, Object]:
    """Entries by id of a frame that has everything that a client relies on; AssertionError."""
    check_frame_schema(frame, way.version)
    groups = GROUPS[way.vocabulary]
    assert set(frame) - {"errors"} == {"session_id", *groups, *extras.top}
    assert isinstance(frame["session_id"], int)
    assert frame["session_id"] > 0
    container = dict if way.version == "3.0" else list
    assert all(type(frame[group]) is container for group in groups)
    found = list(entries(frame, groups))
    assert [(group, device_id) for group, device_id, _ in found] == [
        (group, device_id) for group, ids in groups.items() for device_id in ids
    ]
    for _, device_id, entry in found:
        _check_entry(entry, device_id, way.version, extras)
    return {device_id: entry for _, device_id, entry in found}


def _check_entry(entry: Object, device_id: str, version: str, extras: Extras) -> None:
    legacy = version == "3.0"
    assert set(entry) - {"config"} == {"state", "status"} | (set[str]() if legacy else {"device_id"})
    state: Object = entry["state"]
    if device_id[0] in "AC":
        navigation = {"navigation"} & set(state)
        # A full entry shows what is touched of a scene exactly where it shows the scene.
        scene = {"scene"} & set(state)
        assert "config" not in entry or scene == {"scene"} & set(entry["config"])
        assert set(state) - navigation - scene == (MOVER_STATE | LEGACY_STATE if legacy else MOVER_STATE)
        assert set(entry["status"]) == MOVER_STATUS | extras.status | navigation
        assert state.get("mode", state["control_mode"]) == state["control_mode"]
    else:
        assert set(state) == (HANDLE_STATE | BATTERY if device_id == "B001" else HANDLE_STATE)
        assert set(entry["status"]) == HANDLE_STATUS


def check_answer(frame: Object, shown: Mapping[str, Object], step: Object, way: WireVariant) -> None:
    """The frame has `config` for exactly the devices in `full` and names exactly what is in `errors`; AssertionError."""
    full: Any = step.get("full", [])
    by_vocabulary = object_of(full)
    wanted: list[str] = full if by_vocabulary is None else by_vocabulary[way.vocabulary]
    full = sorted(device_id for device_id, entry in shown.items() if "config" in entry)
    assert full == sorted(wanted), f"config is shown of {full}"
    _check_errors(
        frame, step.get("errors", []), way if "send" in step else WireVariant(way.version, "neutral", way.opcode)
    )


def _check_errors(frame: Object, wanted: Iterable[Any], way: WireVariant) -> None:
    """These paths, in this order; a pair gives a part of the reason too, by vocabulary where that matters."""
    pairs: list[tuple[str, Any]] = [(one, "") if isinstance(one, str) else (one[0], one[1]) for one in wanted]
    found: list[Object] = frame.get("errors", [])
    assert [error["path"] for error in found] == [way.path(path) for path, _ in pairs], f"errors are {found}"
    assert ("errors" in frame) == bool(pairs)
    for error, (_, part) in zip(found, pairs, strict=True):
        assert set(error) == {"path", "reason"}
        assert 0 < len(error["reason"]) <= 100
        assert not error["reason"].endswith("…"), f"a sentence of ours is whole: {error}"
        words = part[f"${way.vocabulary}"] if isinstance(part, dict) else part
        assert words in error["reason"]


def compare(wanted: object, shown: object, device_values: DeviceValues, place: tuple[str, ...] = ()) -> None:
    """What is wanted stands in what is shown; numbers as float32, `{}` is nothing but itself. AssertionError."""
    fields = object_of(wanted)
    name = ".".join(place)
    if fields is not None and fields.keys() & {"$device", "$damped"}:
        compare(
            _in_space(fields, device_values(place[0], place[-1], fields.get("$damped"))), shown, device_values, place
        )
    elif fields:
        there = object_of(shown)
        assert there is not None, f"{name} is {shown!r}"
        for key, value in fields.items():
            assert (key in there) == (value != "$absent"), f"{name} has {', '.join(there)}"
            if value != "$absent":
                compare(value, there[key], device_values, (*place, key))
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        assert type(shown) in (int, float), f"{name} is {shown!r}"
        assert shown == pytest.approx(wanted, rel=FLOAT32, abs=TINY), f"{name} is {shown}, not {wanted}"
    else:
        assert shown == wanted, f"{name} is {shown!r}, not {wanted!r}"


def _in_space(wanted: Object, values: Mapping[str, float]) -> dict[str, float]:
    """`{"$device": ["x", "-z", "y"], "times": …, "plus": …}` with the values of a device; all but `$damped` may be left out."""
    said: Object = {**IDENTITY, **wanted}
    axes: list[str] = said["$device"]
    turned = [-values[axis[1:]] if axis.startswith("-") else values[axis] for axis in axes]
    parts: Iterable[tuple[str, float, float, float]] = zip("xyz", turned, said["times"], said["plus"], strict=True)
    return {axis: factor * value + more for axis, value, factor, more in parts}
