"""Builders of devices, sessions and start values for tests of the configuration rules."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import MappingProxyType

from actors.device.messages import Inventory
from actors.session import presets
from actors.session.configure import ValidationContext, apply
from actors.session.messages import (
    Applied,
    Change,
    DeviceConfig,
    SessionConfig,
)
from actors.session.profile import SessionMemory
from actors.values.identity import Firmware
from actors.values.spatial import Basis, Transform
from tests.support.actors.doubles import inventory_of

INVENTORY = inventory_of("arm", "compact", "grip", "pen")
ARM, COMPACT, GRIP, PEN = (record.device_id for record in INVENTORY.devices)
NEW = SessionConfig()
NO_VERSION = 'a version is numbers and dots, such as "3.5.3"'
MEMORY = SessionMemory(versions=MappingProxyType({"known": "3.4"}))
XZY, YZX = Basis.parse("XZ-Y"), Basis.parse("YZX")
BASES = [
    Basis.parse("".join(sign + axis for sign, axis in zip(signs, axes, strict=True)))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]


def made(
    *changes: Change,
    config: SessionConfig = NEW,
    inventory: Inventory = INVENTORY,
    start: SessionConfig = NEW,
    freeform: tuple[str, ...] = (),
) -> Applied:
    return apply(config, changes, ValidationContext(inventory, MEMORY, start, freeform))


def mount_of(config: SessionConfig, device_id: str) -> Transform:
    return presets.mount_of(config, INVENTORY.get(device_id))


def preset_of(config: SessionConfig, device_id: str) -> str:
    return presets.preset_of(config, INVENTORY.get(device_id))


def told(applied: Applied) -> list[tuple[Change, str]]:
    return [(refused.change, refused.reason) for refused in applied.refused]


def with_firmware(*parts: int) -> Inventory:
    """The same devices with another firmware."""
    firmware = Firmware(*parts)
    return Inventory(
        tuple(replace(record, identity=replace(record.identity, firmware=firmware)) for record in INVENTORY.devices)
    )


def centred(device_id: str, preset: str, basis: Basis) -> Transform:
    reach = INVENTORY.get(device_id).identity.reach
    assert reach is not None
    return presets.mount(preset, reach, basis)


STARTS = SessionConfig(
    basis=YZX,
    devices=MappingProxyType(
        {
            ARM: DeviceConfig(basis=XZY, preset="custom", mount=Transform((1, 2, 3)), force_gate=0.5),
            COMPACT: DeviceConfig(preset="compact_centered"),
        }
    ),
)
