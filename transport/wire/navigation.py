"""Convert a session's navigation from and to JSON: `configure.navigation`, `config.navigation` and the HTTP area. Partial on input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from actors.kit.errors import InvalidInput
from actors.session.api import NUMBERS, NavigationConfig, SetNavigation
from actors.values.similar import MOST_LETTERS, nearest
from fastpath.navigation.values import PRIMITIVES, Bubble, BubbleShape, Parameter, Vector
from transport.wire import shapes

FIXED: Final = "fixed"
DRIFT: Final = "drift"
PARTS: Final = ("shape", "center", "velocity", "spring", "damping", "collision", "hysteresis")


def read(value: Any, path: str, device_id: str, note: shapes.NameUnknown) -> SetNavigation:
    """Parse `{"mode"?, "bubble"?}`, at least one of them, or the bare mode; InvalidInput, also when only unknown keys were sent."""
    if isinstance(value, str):
        return SetNavigation(device_id, value, (), path)
    unknown: list[tuple[str, str]] = []

    def found_unknown(where: str, reason: str) -> None:
        unknown.append((where, reason))

    fields = shapes.mapping(value, path)
    shapes.needed(fields, ("mode", "bubble"), path, found_unknown)
    mode = shapes.text(fields["mode"], f"{path}.mode") if "mode" in fields else None
    found = _bubble(fields["bubble"], f"{path}.bubble", found_unknown) if "bubble" in fields else {}
    first = unknown.pop(0) if unknown and mode is None and not found else None
    for where, reason in unknown:
        note(where, reason)
    if first is not None:
        where, reason = first
        raise InvalidInput(reason, where)
    return SetNavigation(device_id, mode, tuple(found.items()), path)


def shown(navigation: NavigationConfig) -> dict[str, Any]:
    """Return the whole navigation as JSON; a center without a position is the reach centre."""
    bubble = navigation.bubble
    center: dict[str, Any] = {"mode": DRIFT if bubble.drifts else FIXED}
    if bubble.position is not None:
        center["position"] = _json(bubble.position)
    center["drift"] = _numbers_shown(bubble, "drift")
    return {
        "mode": navigation.mode,
        "bubble": {
            "shape": {
                "primitive": bubble.shape.primitive,
                "parameters": {name: _json(value) for name, value in bubble.shape.parameters},
            },
            "center": center,
            "velocity": _numbers_shown(bubble, "velocity"),
            "spring": _numbers_shown(bubble, "spring"),
            "damping": _numbers_shown(bubble, "damping"),
            "collision": {"enabled": bubble.collides, **_numbers_shown(bubble, "collision")},
            **_numbers_shown(bubble, ""),
        },
    }


def _numbers_shown(bubble: Bubble, group: str) -> dict[str, float]:
    return {name: getattr(bubble, limits.field) for name, limits in NUMBERS[group].items()}


def _json(value: Parameter) -> object:
    return dict(zip("xyz", value, strict=True)) if isinstance(value, tuple) else value


def _bubble(value: Any, path: str, note: shapes.NameUnknown) -> dict[str, object]:
    """Return the fields of a Bubble by name; InvalidInput."""
    fields = shapes.mapping(value, path)
    shapes.known(fields, PARTS, path, note)
    found: dict[str, object] = {}
    if "shape" in fields:
        found["shape"] = _shape(fields["shape"], f"{path}.shape", note)
    if "center" in fields:
        found |= _center(fields["center"], f"{path}.center", note)
    for group in ("velocity", "spring", "damping"):
        if group in fields:
            found |= _group(shapes.mapping(fields[group], f"{path}.{group}"), group, f"{path}.{group}", note)
    if "collision" in fields:
        inner = shapes.mapping(fields["collision"], f"{path}.collision")
        if "enabled" in inner:
            found["collides"] = _flag(inner["enabled"], f"{path}.collision.enabled")
        found |= _group(inner, "collision", f"{path}.collision", note, "enabled")
    if "hysteresis" in fields:
        found["hysteresis"] = shapes.number(fields["hysteresis"], f"{path}.hysteresis")
    return found


def _group(fields: Mapping[str, Any], group: str, path: str, note: shapes.NameUnknown, *also: str) -> dict[str, object]:
    limits = NUMBERS[group]
    shapes.known(dict(fields), (*also, *limits), path, note)
    found: dict[str, object] = {}
    for name in limits:
        if name in fields:
            found[limits[name].field] = shapes.number(fields[name], f"{path}.{name}")
    return found


def _center(value: Any, path: str, note: shapes.NameUnknown) -> dict[str, object]:
    fields = shapes.mapping(value, path)
    shapes.known(fields, ("mode", "position", "drift"), path, note)
    found: dict[str, object] = {}
    if "mode" in fields:
        mode = shapes.text(fields["mode"], f"{path}.mode")
        if mode not in {FIXED, DRIFT}:
            raise InvalidInput(f'a center is "{FIXED}" or "{DRIFT}"', f"{path}.mode")
        found["drifts"] = mode == DRIFT
    if "position" in fields:
        position = fields["position"]
        found["position"] = None if position is None else shapes.vec3(position, f"{path}.position", note)
    if "drift" in fields:
        found |= _group(shapes.mapping(fields["drift"], f"{path}.drift"), "drift", f"{path}.drift", note)
    return found


def _shape(value: Any, path: str, note: shapes.NameUnknown) -> BubbleShape:
    """Parse a primitive, which needs all of its parameters; InvalidInput."""
    fields = shapes.mapping(value, path)
    shapes.known(fields, ("primitive", "parameters"), path, note)
    primitive = shapes.text(fields.get("primitive"), f"{path}.primitive")
    expected = PRIMITIVES.get(primitive)
    if expected is None:
        meant = nearest(primitive[:MOST_LETTERS], tuple(PRIMITIVES))
        likely = f"did you mean {meant}?" if meant else "sphere and box are two, GET /openapi.json has all"
        raise InvalidInput(f"no such primitive: {likely}", f"{path}.primitive")
    path = f"{path}.parameters"
    given = shapes.mapping(fields.get("parameters"), path)
    shapes.known(given, tuple(expected), path, note)
    for name in expected:
        if name not in given:
            raise InvalidInput(f"a {primitive} needs {', '.join(expected)}", f"{path}.{name}")
    return BubbleShape(
        primitive,
        tuple((name, _parameter(given[name], f"{path}.{name}", note, vector=expected[name])) for name in expected),
    )


def _parameter(value: Any, path: str, note: shapes.NameUnknown, *, vector: bool) -> Parameter:
    if not vector:
        return shapes.number(value, path)
    found: Vector = shapes.vec3(value, path, note)
    return found


def _flag(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"true or false is needed, not {shapes.kind(value)}", path)
    return value
