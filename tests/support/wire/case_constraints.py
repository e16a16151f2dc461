"""Fix schemathesis cases that violate constraints between fields, which JSON Schema cannot express."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import fmod, hypot
from types import MappingProxyType
from typing import Any, Final, cast

from actors.device.messages import SimulatedSpec
from actors.kit.errors import InvalidInput
from actors.session.navigation import check_shape
from actors.values.identity import Connection, Kind
from fastpath.navigation.values import PRIMITIVES, BubbleShape
from fastpath.scene.values import MOST_FIELDS
from transport.wire.scene import read
from transport.wire.simulation import CHANGE

PEN: Final = "D001"
# Whom the cases are sent to.
DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "B001"),
    SimulatedSpec(Kind.PEN, Connection.SIMULATED, PEN),
)
ARM_WORDS: Final = frozenset({"arm", "inverse3", "inverse3x", "compact", "minverse", "inverse*", "*inverse"})
BATTERY_WORDS: Final = frozenset({"grip", "wireless_verse_grip"})
HANDLE_WORDS: Final = BATTERY_WORDS | {"verse_grip", "pen", "custom_verse_grip", "*verse_grip"}
# A preset fits an arm or a compact; these fit only a compact.
COMPACT_ONLY: Final = frozenset({"compact_centered", "compact_zup", "minverse_centered", "minverse_zup"})
# Where both an arm and a compact reach, m.
IN_REACH: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {"x": (-0.09, 0.07), "y": (-0.185, -0.025), "z": (0.0, 0.16)}
)
OF_HANDLES_TOO: Final = "none"
AIR: Final[Mapping[str, Any]] = MappingProxyType({"field": "damper", "damping": 2})
SPHERE: Final[Mapping[str, Any]] = MappingProxyType({"primitive": "sphere", "parameters": {"r": 0.05}})


def satisfy_constraints(case: Any) -> Any:
    """Return the case, changed so that it meets the constraints that its schema cannot express."""
    if isinstance(case.body, (dict, list, str)):
        case.body = _satisfy(case.body)
    constraint = CONSTRAINTS.get(f"{case.method} {case.path}")
    if constraint is not None:
        constraint(case)
    return case


def _satisfy(value: Any) -> Any:
    """Rotations have unit norm, presets fit every device."""
    if isinstance(value, dict):
        found = {name: _satisfy(inner) for name, inner in cast("dict[str, Any]", value).items()}
        if all(isinstance(found.get(axis), (int, float)) for axis in "wxyz"):
            found |= _unit(found)
        return found
    return "arm_front" if isinstance(value, str) and value in COMPACT_ONLY else value


def _unit(rotation: dict[str, Any]) -> dict[str, float]:
    # Whole numbers may be longer than a float.
    parts = {axis: float(max(-1e6, min(1e6, rotation[axis]))) for axis in "wxyz"}
    norm = hypot(*parts.values())
    if norm < 1e-6:
        return {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
    return {axis: part / norm for axis, part in parts.items()}


def _partner(case: Any) -> None:
    """The other half is a handle for an arm and an arm for a handle; who means both means the arm."""
    path = case.path_parameters
    if path["device"] not in ARM_WORDS | HANDLE_WORDS:
        path["device"] = "arm"
    wanted = "B001" if path["device"] in ARM_WORDS else "A001"
    case.body = {**case.body, "device_id": wanted} if isinstance(case.body, dict) else wanted


def _simulated(case: Any) -> None:
    """What is told fits the kind of the device; who means every kind means the arm."""
    path, body = case.path_parameters, case.body
    if path["device"] not in ARM_WORDS | HANDLE_WORDS:
        path["device"] = "arm"
    if path["device"] in ARM_WORDS:
        unfit = {"buttons", "attached", "battery_level"}
        if isinstance(body.get("hand"), dict) and isinstance(body["hand"].get("position"), dict):
            body["hand"]["position"] = _in_reach(body["hand"]["position"])
    else:
        # An exact id is found under any word of its side, so that a grip's may mean the pen.
        charged = path["device"] in BATTERY_WORDS and path["id"] != PEN
        unfit = {"hand"} if charged else {"hand", "battery_level"}
        if body.get("fault") != OF_HANDLES_TOO:
            unfit.add("fault")
    kept = {name: value for name, value in body.items() if name not in unfit}
    case.body = kept if kept.keys() & set(CHANGE) else {**kept, "awake": True}


def _in_reach(position: dict[str, Any]) -> dict[str, Any]:
    def within(axis: str) -> float:
        least, most = IN_REACH[axis]
        part = float(max(-1e6, min(1e6, position[axis])))
        return least + abs(fmod(part, most - least))

    return {**position, **{axis: within(axis) for axis in "xyz"}}


def _navigation(case: Any) -> None:
    """A shape is a solid, and a collision ends no higher than it begins, whatever was sent before."""
    bubble = case.body.get("bubble") if isinstance(case.body, dict) else None
    if not isinstance(bubble, dict):
        return
    if isinstance(bubble.get("shape"), dict) and not _is_solid(bubble["shape"]):
        bubble["shape"] = dict(SPHERE)
    collision = bubble.get("collision")
    if isinstance(collision, dict) and collision.keys() & {"release", "threshold"}:
        ends = sorted(collision.get(name, 1.0) for name in ("release", "threshold"))
        collision |= dict(zip(("release", "threshold"), ends, strict=True))


def _scene(case: Any) -> None:
    """The numbers of a field must fit together, and the fields of one message into a scene."""
    fields = case.body.get("fields") if isinstance(case.body, dict) else None
    if not isinstance(fields, dict):
        return
    case.body |= {"fields": (fields := dict(list(fields.items())[:MOST_FIELDS])), "replace": True}
    for name, field in fields.items():
        try:
            read({"fields": {name: field}}, "body", "", _ignored, _refused)
        except InvalidInput:
            fields[name] = dict(AIR)


def _ignored(_path: str, _reason: str) -> None:
    """Unknown keys are warnings."""


def _refused(path: str, reason: str) -> None:
    raise InvalidInput(reason, path)


def _is_solid(shape: dict[str, Any]) -> bool:
    given = shape["parameters"]
    parameters = tuple(
        (name, tuple(float(given[name][axis]) for axis in "xyz") if vector else float(given[name]))
        for name, vector in PRIMITIVES[shape["primitive"]].items()
    )
    try:
        check_shape(BubbleShape(shape["primitive"], cast("Any", parameters)))
    except InvalidInput:
        return False
    return True


CONSTRAINTS: Final[Mapping[str, Callable[[Any], None]]] = MappingProxyType(
    {
        "POST /{device}/{id}/config/paired_with": _partner,
        "POST /{device}/{id}/config/navigation": _navigation,
        "POST /{device}/{id}/config/scene": _scene,
        "POST /simulation/{device}/{id}": _simulated,
    }
)
