"""Rules of a session's bubble navigation: fields, ranges and partial updates. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, cast

from actors.kit.errors import InvalidInput
from actors.session.messages import BUBBLE, OFF, NavigationConfig
from fastpath.navigation.shapes_py import Solid
from fastpath.navigation.values import PRIMITIVES, Bubble, BubbleShape, Parameter

LARGEST_PLACE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Range:
    """Allowed range of one number of the bubble."""

    field: str  # name in Bubble
    least: float
    most: float
    unit: str = ""

    def check(self, name: str, value: float) -> None:
        """Raise InvalidInput that names the range if the value is outside of it."""
        if not self.least <= value <= self.most:
            unit = f" {self.unit}" if self.unit else ""
            raise InvalidInput(f"{name} is {self.least:g} to {self.most:g}{unit}")


# Group of `bubble` -> its numbers by their names on the wire; `` is the bubble itself.
NUMBERS: Final[Mapping[str, Mapping[str, Range]]] = MappingProxyType(
    {
        "velocity": {
            "zone_width": Range("zone_width", 0.001, 1, "m"),
            "max": Range("max_speed", 0, 10, "m/s"),
            "exponent": Range("exponent", 0.5, 6),
            "smoothing": Range("smoothing", 0, 2, "s"),
        },
        "spring": {
            "stiffness": Range("stiffness", 0, 1000, "N/m"),
            "wall_stiffness": Range("wall_stiffness", 0, 2000, "N/m"),
            "damping": Range("damping", 0, 20, "N s/m"),
        },
        "damping": {"dead_zone": Range("dead_zone_damping", 0, 20, "N s/m")},
        "collision": {
            "threshold": Range("threshold", 0, 50, "N"),
            "release": Range("release", 0, 50, "N"),
            "full_stop": Range("full_stop", 0.01, 50, "N"),
            "extra_inflate": Range("extra_inflate", 0, 1, "m"),
        },
        "drift": {"gain": Range("drift_gain", 0, 100, "1/m"), "max_ratio": Range("drift_max_ratio", 0, 1)},
        "": {"hysteresis": Range("hysteresis", 0, 0.05, "m")},
    }
)


_COLLISION: Final = NUMBERS["collision"]
# With these values a change of `threshold` or `release` can only fail on its own range.
WIDEST_COLLISION: Final = NavigationConfig(
    bubble=Bubble(threshold=_COLLISION["threshold"].most, release=_COLLISION["release"].least)
)


def merged(now: NavigationConfig, mode: str | None, fields: Mapping[str, Any]) -> NavigationConfig:
    """Return `now` with the mode and fields replaced; InvalidInput."""
    if mode not in {None, OFF, BUBBLE}:
        raise InvalidInput(f'mode is "{OFF}" or "{BUBBLE}"')
    bubble: Bubble = replace(now.bubble, **fields)
    for group, numbers in NUMBERS.items():
        for name, limits in numbers.items():
            limits.check(f"{group}.{name}" if group else name, getattr(bubble, limits.field))
    if bubble.release > bubble.threshold:
        raise InvalidInput("collision.release must not be above collision.threshold")
    if bubble.position is not None and not all(abs(part) <= LARGEST_PLACE for part in bubble.position):
        raise InvalidInput(f"center.position is at most {LARGEST_PLACE:g} m either way")
    check_shape(bubble.shape)
    return NavigationConfig(now.mode if mode is None else mode, bubble)


def check_shape(shape: BubbleShape) -> None:
    """Raise InvalidInput that names the invalid parameter."""
    expected = PRIMITIVES.get(shape.primitive)
    if expected is None:
        raise InvalidInput(f"shape.primitive is one of {', '.join(PRIMITIVES)}")
    given = dict(shape.parameters)
    if list(given) != list(expected):
        raise InvalidInput(f"a {shape.primitive} needs the parameters {', '.join(expected)}")
    for name, value in given.items():
        parts = value if isinstance(value, tuple) else (value,)
        if not all(abs(part) <= LARGEST_PLACE for part in parts):
            raise InvalidInput(f"shape.parameters.{name} is at most {LARGEST_PLACE:g} m")
    try:
        Solid(shape)
    except ValueError as error:
        raise InvalidInput(f"shape.parameters: {error}") from None


def as_json(navigation: NavigationConfig) -> dict[str, object]:
    """Return the configuration for the ledger."""
    bubble = navigation.bubble
    numbers = [limits.field for group in NUMBERS.values() for limits in group.values()]
    return {
        "mode": navigation.mode,
        "shape": [bubble.shape.primitive, dict(bubble.shape.parameters)],
        "position": bubble.position,
        "drifts": bubble.drifts,
        "collides": bubble.collides,
        **{name: getattr(bubble, name) for name in numbers},
    }


def from_json(value: Mapping[str, Any]) -> NavigationConfig:
    """Parse the ledger's value; TypeError, ValueError or KeyError if invalid. Ignore unknown fields."""
    primitive, parameters = value["shape"]
    numbers = [limits.field for group in NUMBERS.values() for limits in group.values()]
    shape = BubbleShape(
        str(primitive), tuple((name, _parameter(parameters[name])) for name in PRIMITIVES[str(primitive)])
    )
    fields: dict[str, Any] = {name: float(value[name]) for name in numbers if name in value}
    position = value["position"]
    fields |= {
        "shape": shape,
        "position": None if position is None else _parameter(position),
        "drifts": bool(value["drifts"]),
        "collides": bool(value["collides"]),
    }
    try:
        return merged(NavigationConfig(), str(value["mode"]), fields)
    except InvalidInput as error:
        raise ValueError(error.reason) from error


def _parameter(value: Any) -> Parameter:
    if not isinstance(value, (list, tuple)):
        return float(value)
    x, y, z = (float(part) for part in cast("list[Any]", value))
    return x, y, z
