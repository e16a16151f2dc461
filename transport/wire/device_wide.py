"""Check device-wide keys in `configure`: accepted if unchanged; only HTTP changes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from actors.kit.errors import InvalidInput
from actors.values.kinds.nouns import takers_of

if TYPE_CHECKING:
    from transport.wire.parsed_message import NamedDevice

DEVICE_WIDE: Final = frozenset(
    {"handedness", "torque_scaling", "gravity_compensation", "home_return", "paired_with", "name"}
)
# Those that devices of all kinds have.
OF_EVERY_KIND: Final = frozenset({"paired_with", "name"})
ALIKE: Final = 1e-5


def check(part: Any, path: str, target: NamedDevice, key: str) -> None:
    """Accept the value that the device has under `key` now; InvalidInput names the route that changes it, or the kinds that have it."""
    if key not in OF_EVERY_KIND and not target.kind.spec.has(key):
        raise InvalidInput(f"{target.kind.with_article} has no {key}: send it to {takers_of(key)}", path)
    if not _is_shown(part, _shown(target, key)):
        route = f"/{target.kind}/{target.device_id}/config/{key}"
        raise InvalidInput(f"the same for all sessions: set it with POST {route}", path)


def of(target: NamedDevice) -> tuple[str, ...]:
    """Return the keys that the device has."""
    return tuple(sorted(key for key in DEVICE_WIDE if key in OF_EVERY_KIND or target.kind.spec.has(key)))


def _shown(target: NamedDevice, key: str) -> Mapping[str, object]:
    """Return the value of `key` as HTTP shows it."""
    wide = target.wide
    match key:
        case "handedness":
            return {"handedness": wide.handedness}
        case "torque_scaling":
            return {"enabled": wide.torque_scaling}
        case "gravity_compensation":
            return {"enabled": wide.gravity_compensation, "scaling_factor": wide.gravity_scale}
        case "home_return":
            return {"enabled": wide.home_return}
        case "name":
            return {"name": target.name or None}
        case _:
            return {"device_id": target.paired_with}


def _is_shown(part: Any, shown: Mapping[str, object]) -> bool:
    """Whether an object has only fields that are shown so, or a bare value is the only field."""
    if not isinstance(part, dict):
        return len(shown) == 1 and _alike(part, next(iter(shown.values())))
    fields = cast("dict[str, object]", part)
    return bool(fields) and all(name in shown and _alike(value, shown[name]) for name, value in fields.items())


def _alike(sent: object, shown: object) -> bool:
    if isinstance(shown, float) and isinstance(sent, (int, float)) and not isinstance(sent, bool):
        return abs(sent - shown) <= ALIKE
    return type(sent) is type(shown) and sent == shown
