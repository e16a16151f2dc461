"""Rules of workspace presets: those that a kind accepts, and the mount of each."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.device.messages import DeviceRecord
from actors.kit.errors import InvalidInput
from actors.session.messages import CUSTOM, SessionConfig
from actors.values.kinds.registry import specs
from actors.values.similar import MOST_LETTERS, nearest
from actors.values.spatial import ORIGIN, Basis, Reach, Transform, Vec3
from fastpath.space.spatial_py import basis_apply

if TYPE_CHECKING:
    from actors.values.identity import Kind

IDENTITY: Final = frozenset({"defaults", "device_defaults", "arm_front", "led_front"})
CENTRED: Final = frozenset({"arm_front_centered", "led_front_centered"})
DEFAULT_PRESET: Final = "defaults"
# Presets of one kind alone, by name.
OWN_PRESETS: Final = MappingProxyType({preset.name: preset for spec in specs() for preset in spec.presets})


def preset_names(kind: Kind) -> tuple[str, ...]:
    """Return the presets that a kind accepts, sorted."""
    return tuple(sorted(IDENTITY | CENTRED | {CUSTOM} | {preset.name for preset in kind.spec.presets}))


def check(preset: str, kind: Kind) -> str:
    """Return the preset if the kind accepts it; InvalidInput names the one that was probably meant."""
    names = preset_names(kind)
    if preset not in names:
        meant = nearest(preset[:MOST_LETTERS], names)
        likely = f"did you mean {meant}?" if meant else f"{DEFAULT_PRESET} is one, GET /openapi.json has all"
        raise InvalidInput(f'{kind.with_article} has no preset "{preset[:20]}": {likely}')
    return preset


def origin(preset: str, reach: Reach) -> Vec3:
    """Return the origin of a built-in preset: m, device frame."""
    own = OWN_PRESETS.get(preset)
    if own is not None and own.origin is not None:
        return own.origin
    return reach.centre if preset in CENTRED or own is not None else ORIGIN


def mount(preset: str, reach: Reach, basis: Basis) -> Transform:
    """Return the mount of a built-in preset: position = -B origin, so that the origin maps to 0 in local space."""
    x, y, z = basis_apply((basis.axes, basis.signs), origin(preset, reach))
    return Transform(position=(0.0 - x, 0.0 - y, 0.0 - z))


def preset_of(config: SessionConfig, record: DeviceRecord) -> str:
    """Return the preset in force: the chosen one, else the start preset."""
    chosen = config.device(record.device_id).preset
    if chosen is not None:
        return chosen
    own = (preset.name for preset in record.kind.spec.presets if preset.freeform and config.freeform)
    return next(own, DEFAULT_PRESET)


def mount_of(config: SessionConfig, record: DeviceRecord) -> Transform:
    """Return the mount in force: the client's under `custom`, else the preset's for the basis in force."""
    preset, reach = preset_of(config, record), record.identity.reach
    if preset == CUSTOM or reach is None:
        return config.device(record.device_id).mount
    return mount(preset, reach, config.basis_of(record.device_id))
