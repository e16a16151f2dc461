"""Workspace presets as rules: which a kind takes, and the mount that each means."""

from __future__ import annotations

from typing import Final

from actors.device.messages import DeviceRecord
from actors.kit.errors import InvalidInput
from actors.session.messages import CUSTOM, SessionConfig
from actors.values.identity import Kind
from actors.values.spatial import MICROMETRE, ORIGIN, Basis, Reach, Transform, Vec3
from fastpath.space.spatial_py import basis_apply

IDENTITY: Final = frozenset({"defaults", "device_defaults", "arm_front", "led_front"})
CENTRED: Final = frozenset({"arm_front_centered", "led_front_centered"})
COMPACT_CENTRED: Final = "compact_centered"
COMPACT_ZUP: Final = "compact_zup"
DEFAULT_PRESET: Final = "defaults"
# It has an origin of its own; before interface 3.5.3 it was here.
COMPACT_ZUP_BEFORE: Final[Vec3] = (0.000, -0.105, 0.080)
COMPACT_ZUP_SHIFT: Final[Vec3] = (0.020, 0.030, 0.0)


def preset_names(kind: Kind) -> tuple[str, ...]:
    """Every preset that a kind takes, sorted."""
    every = IDENTITY | CENTRED | {CUSTOM}
    if kind is Kind.COMPACT:
        every |= {COMPACT_CENTRED, COMPACT_ZUP}
    return tuple(sorted(every))


def check(preset: str, kind: Kind) -> str:
    """The preset, if the kind takes it; InvalidInput names those that it does."""
    if preset not in preset_names(kind):
        raise InvalidInput(
            f'{kind.with_article} has no preset "{preset[:40]}": use one of {", ".join(preset_names(kind))}'
        )
    return preset


def origin(preset: str, reach: Reach) -> Vec3:
    """Where a built-in preset puts the origin: metres, device frame."""
    if preset in CENTRED or preset == COMPACT_CENTRED:
        return reach.centre
    if preset == COMPACT_ZUP:
        x, y, z = (
            round(before + shift, MICROMETRE)
            for before, shift in zip(COMPACT_ZUP_BEFORE, COMPACT_ZUP_SHIFT, strict=True)
        )
        return x, y, z
    return ORIGIN


def mount(preset: str, reach: Reach, basis: Basis) -> Transform:
    """The mount of a built-in preset: position = -B origin, so that the origin lands on 0 in local space."""
    x, y, z = basis_apply((basis.axes, basis.signs), origin(preset, reach))
    return Transform(position=(0.0 - x, 0.0 - y, 0.0 - z))


def preset_of(config: SessionConfig, record: DeviceRecord) -> str:
    """The preset in force: the one that was chosen, else that of the start."""
    chosen = config.device(record.device_id).preset
    if chosen is not None:
        return chosen
    return COMPACT_ZUP if config.freeform and record.kind is Kind.COMPACT else DEFAULT_PRESET


def mount_of(config: SessionConfig, record: DeviceRecord) -> Transform:
    """The mount in force: the client's under `custom`, else that of the preset for the basis in force."""
    preset, reach = preset_of(config, record), record.identity.reach
    if preset == CUSTOM or reach is None:
        return config.device(record.device_id).mount
    return mount(preset, reach, config.basis_of(record.device_id))
