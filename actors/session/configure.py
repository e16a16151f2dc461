"""What one configuration change makes of a session's configuration, as rules; the SessionActor remembers, the edge publishes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import singledispatch
from types import MappingProxyType

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import InvalidInput, NoSuchDevice
from actors.session import presets
from actors.session.messages import (
    CUSTOM,
    NO_PROFILE,
    Applied,
    Change,
    ClearProfile,
    DeclareProfile,
    DeviceConfig,
    Refused,
    RequireSdk,
    SessionConfig,
    SetBasis,
    SetMount,
    SetPreset,
)
from actors.session.profile import SessionMemory, check_name, remembered_version, version_parts
from actors.values.identity import INTERFACE


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a change is judged against."""

    inventory: Inventory
    memory: SessionMemory

    def device(self, device_id: str, area: str) -> DeviceRecord:
        """The device, which must have motors to have that area; NoSuchDevice, InvalidInput."""
        record = self.inventory.get(device_id)
        if not record.kind.moves:
            raise InvalidInput(f"a {record.kind} has no {area}: send it to an arm or a compact")
        return record


def apply(config: SessionConfig, changes: Iterable[Change], around: Surroundings) -> Applied:
    """All changes in order; each by itself is made or refused, and `scopes` are the values that really changed."""
    refused: list[Refused] = []
    now = config
    for change in changes:
        try:
            now = _recentre(_change(change, now, around), around)
        except (InvalidInput, NoSuchDevice) as error:
            reason = error.reason if isinstance(error, InvalidInput) else error.sentence
            refused.append(Refused(change.path, reason))
        else:
            if (newer := too_new(change)) is not None:
                refused.append(Refused(change.path, newer))
    return Applied(now, scopes(config, now), tuple(refused))


def scopes(before: SessionConfig, now: SessionConfig) -> tuple[str, ...]:
    """Names of what differs, in the contract's words."""
    found: list[str] = []
    if now.profile != before.profile:
        found.append("profile")
    if now.basis != before.basis:
        found.append("basis")
    if now.required_sdk_version != before.required_sdk_version:
        found.append("required_sdk_version")
    pairs = [(before.device(device_id), now.device(device_id)) for device_id in now.devices]
    values: tuple[tuple[str, Callable[[DeviceConfig], object]], ...] = (
        ("config.basis", lambda device: device.basis),
        ("config.mount", lambda device: device.mount),
        ("config.preset", lambda device: device.preset),
    )
    found += [name for name, value in values if any(value(old) != value(new) for old, new in pairs)]
    return tuple(found)


def too_new(change: Change) -> str | None:
    """Why a version cannot be served, though it is remembered; None for every other change and for what is no version."""
    if not isinstance(change, RequireSdk):
        return None
    try:
        newer = version_parts(change.version) > version_parts(INTERFACE)
    except InvalidInput:
        return None
    return f"the client needs interface {change.version} and this is {INTERFACE}: update the service" if newer else None


@singledispatch
def _change(change: object, config: SessionConfig, around: Surroundings) -> SessionConfig:
    del config, around
    raise TypeError(f"no rule for {type(change).__name__}")


@_change.register
def _(change: DeclareProfile, config: SessionConfig, around: Surroundings) -> SessionConfig:
    name = check_name(change.name)
    version = remembered_version(around.memory, name, config.required_sdk_version)
    return replace(config, profile=name, required_sdk_version=version)


@_change.register
def _(change: ClearProfile, config: SessionConfig, around: Surroundings) -> SessionConfig:
    del change, around
    return replace(config, profile=NO_PROFILE, required_sdk_version=None)


@_change.register
def _(change: RequireSdk, config: SessionConfig, around: Surroundings) -> SessionConfig:
    del around
    version_parts(change.version)
    return replace(config, required_sdk_version=change.version)


@_change.register
def _(change: SetBasis, config: SessionConfig, around: Surroundings) -> SessionConfig:
    if change.device_id is None:
        return replace(config, basis=change.basis)
    around.inventory.get(change.device_id)
    return _with(config, change.device_id, replace(config.device(change.device_id), basis=change.basis))


@_change.register
def _(change: SetMount, config: SessionConfig, around: Surroundings) -> SessionConfig:
    around.device(change.device_id, "mount")
    device = config.device(change.device_id)
    return _with(config, change.device_id, replace(device, mount=change.mount.over(device.mount), preset=CUSTOM))


@_change.register
def _(change: SetPreset, config: SessionConfig, around: Surroundings) -> SessionConfig:
    record = around.device(change.device_id, "preset")
    presets.check(change.preset, record.kind)
    return _with(config, change.device_id, replace(config.device(change.device_id), preset=change.preset))


def _with(config: SessionConfig, device_id: str, device: DeviceConfig) -> SessionConfig:
    return replace(config, devices=MappingProxyType({**config.devices, device_id: device}))


def _recentre(config: SessionConfig, around: Surroundings) -> SessionConfig:
    """Compute the mounts of built-in presets anew: they depend on the basis."""
    for device_id, device in config.devices.items():
        record = around.inventory.find(device_id)
        if device.preset == CUSTOM or record is None or record.identity.reach is None:
            continue
        mount = presets.mount(device.preset, record.identity.reach, config.basis_of(device_id))
        if mount != device.mount:
            config = _with(config, device_id, replace(device, mount=mount))
    return config
