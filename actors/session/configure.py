"""Rules that apply one configuration change to a session's configuration. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import singledispatch
from types import MappingProxyType
from typing import Final

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import FirmwareTooOld, InvalidInput, NoSuchDevice
from actors.session import navigation, presets, scene
from actors.session.messages import (
    CUSTOM,
    NO_PROFILE,
    Applied,
    Change,
    ClearDamping,
    ClearNavigation,
    ClearProfile,
    ClearScene,
    Damping,
    DeclareProfile,
    DeviceConfig,
    Refused,
    RequireSdk,
    SessionConfig,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetNavigation,
    SetPreset,
    SetScene,
    SetWorkspace,
)
from actors.session.profile import SessionMemory, check_name, version_parts
from actors.values.coefficients import kept
from actors.values.interface import INTERFACE
from actors.values.kinds.nouns import takers_of
from actors.values.selector import matches
from actors.values.spatial import ORIGIN, PartialTransform
from fastpath.layout.constants import LARGEST_DAMPING
from fastpath.scene.values import NO_SCENE

FREEFORM: Final = "presets/freeform_profiles"


@dataclass(frozen=True, slots=True)
class ValidationContext:
    """Inputs of the rules besides the session's configuration."""

    inventory: Inventory
    memory: SessionMemory  # remembered SDK versions by profile name
    start: SessionConfig = field(default_factory=SessionConfig)  # start values of new sessions
    freeform: tuple[str, ...] = ()  # patterns of the profiles that start with `compact_zup`
    gate: Callable[[DeviceRecord], float | None] = lambda _record: None  # force gate of a device by the settings

    def gate_of(self, config: SessionConfig, record: DeviceRecord) -> float | None:
        """Return the gain of the force gate in force, 0 to 1: the session's own, else the settings'."""
        own = config.device(record.device_id).force_gate
        return self.gate(record) if own is None else own

    def device(self, device_id: str, area: str) -> DeviceRecord:
        """Return the device, whose kind must have that area; NoSuchDevice, InvalidInput."""
        record = self.inventory.get(device_id)
        if not record.kind.spec.has(area):
            raise InvalidInput(f"{record.kind.with_article} has no {area}: send it to {takers_of(area)}")
        return record


def refused_in_every_session(record: DeviceRecord, changes: Iterable[Change], inventory: Inventory) -> Refused | None:
    """Return the first change of one device that every session refuses, whatever its configuration."""
    anyone = SessionConfig(
        devices=MappingProxyType({record.device_id: DeviceConfig(navigation=navigation.WIDEST_COLLISION)})
    )
    return next(iter(apply(anyone, changes, ValidationContext(inventory, SessionMemory())).refused), None)


def apply(config: SessionConfig, changes: Iterable[Change], context: ValidationContext) -> Applied:
    """Apply the changes in order; each one is made or refused by itself. `scopes` names the values that changed."""
    refused: list[Refused] = []
    now = config
    for change in changes:
        try:
            now = _change(change, now, context)
        except (InvalidInput, NoSuchDevice, FirmwareTooOld) as error:
            reason = error.reason if isinstance(error, InvalidInput) else error.sentence
            refused.append(Refused(change, reason, error))
        else:
            if (newer := version_refusal(change)) is not None:
                refused.append(Refused(change, newer, InvalidInput(newer)))
    now = replace(now, freeform=is_freeform(now.profile, context.freeform))
    return Applied(now, scopes(config, now, context), tuple(refused))


def scopes(before: SessionConfig, now: SessionConfig, context: ValidationContext) -> tuple[str, ...]:
    """Return the scopes whose values differ; a preset that moves the origin changes the mount too.

    The session's basis holds for every device without its own, so changing it changes `config.basis` as well.
    """
    records = context.inventory.devices
    session: tuple[tuple[str, Callable[[SessionConfig], object]], ...] = (
        ("profile", lambda config: config.profile),
        ("basis", lambda config: config.basis),
        ("required_sdk_version", lambda config: config.required_sdk_version),
        ("config.basis", lambda config: (config.basis, [config.basis_of(record.device_id) for record in records])),
    )
    device: tuple[tuple[str, Callable[[SessionConfig, DeviceRecord], object]], ...] = (
        ("config.mount", presets.mount_of),
        ("config.preset", presets.preset_of),
        ("config.damping", lambda config, record: config.device(record.device_id).damping),
        ("config.force_gate", context.gate_of),
        ("config.navigation", lambda config, record: config.device(record.device_id).navigation),
        ("config.scene", lambda config, record: config.device(record.device_id).scene),
    )
    return (
        *(name for name, value in session if value(before) != value(now)),
        *(name for name, value in device if any(value(before, record) != value(now, record) for record in records)),
    )


def without_scenes(config: SessionConfig) -> SessionConfig:
    """Return the configuration with no field in any scene."""
    if not any(device.scene for device in config.devices.values()):
        return config
    devices = {device_id: replace(device, scene=NO_SCENE) for device_id, device in config.devices.items()}
    return replace(config, devices=MappingProxyType(devices))


def is_freeform(profile: str, patterns: Iterable[str]) -> bool:
    """Whether the profile matches a pattern (case ignored) and so starts with the preset `compact_zup`."""
    name = profile.casefold()
    return any(matches(pattern.casefold(), name) for pattern in patterns)


def version_refusal(change: Change) -> str | None:
    """Return why the version of a RequireSdk is not supported; None if it is, and for any other change."""
    return newer_version_warning(change.version) if isinstance(change, RequireSdk) else None


def newer_version_warning(version: str | None) -> str | None:
    """Return what to do about a required version above this interface's; None if supported, absent or invalid."""
    try:
        newer = version is not None and version_parts(version) > version_parts(INTERFACE)
    except InvalidInput:
        return None
    return f"the client needs interface {version} and this is {INTERFACE}: update the service" if newer else None


@singledispatch
def _change(change: object, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    del config, context
    raise TypeError(f"no rule for {type(change).__name__}")


@_change.register
def _(change: DeclareProfile, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    name = check_name(change.name)
    if config.required_sdk_version is not None and not config.sdk_from_profile:
        return replace(config, profile=name)
    version = context.memory.versions.get(name)
    return replace(config, profile=name, required_sdk_version=version, sdk_from_profile=version is not None)


@_change.register
def _(change: ClearProfile, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    del change, context
    return replace(config, profile=NO_PROFILE, required_sdk_version=None, sdk_from_profile=False)


@_change.register
def _(change: RequireSdk, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    del context
    version_parts(change.version)
    return replace(config, required_sdk_version=change.version, sdk_from_profile=False)


@_change.register
def _(change: SetBasis, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    if change.device_id is None:
        return replace(config, basis=change.basis or context.start.basis)
    context.inventory.get(change.device_id)
    basis = change.basis or context.start.device(change.device_id).basis
    return _with(config, change.device_id, replace(config.device(change.device_id), basis=basis))


@_change.register
def _(change: SetMount, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    record = context.device(change.device_id, "mount")
    if change.mount == PartialTransform():
        return config
    mount = change.mount.over(presets.mount_of(config, record))
    return _with(config, change.device_id, replace(config.device(change.device_id), mount=mount, preset=CUSTOM))


@_change.register
def _(change: SetPreset, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    record = context.device(change.device_id, "preset")
    device, start = config.device(change.device_id), context.start.device(change.device_id)
    if change.preset is None:
        return _with(config, change.device_id, replace(device, preset=start.preset, mount=start.mount))
    presets.check(change.preset, record.kind)
    mount = presets.mount_of(config, record) if change.preset == CUSTOM else device.mount
    return _with(config, change.device_id, replace(device, preset=change.preset, mount=mount))


@_change.register
def _(change: SetDamping, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    record, device = context.device(change.device_id, "damping"), config.device(change.device_id)
    scalar, vector = change.scalar or 0.0, change.vector or ORIGIN
    x, y, z = map(kept, vector)
    damping = Damping(kept(scalar), (x, y, z))
    if damping != device.damping:
        # A client may send back the configuration of an old firmware, which shows damping 0.
        record.require("damping")
    if not all(0 <= part <= LARGEST_DAMPING for part in (scalar, *vector)):
        raise InvalidInput(f"damping is 0 to {LARGEST_DAMPING:g} N s/m, each part of it")
    return _with(config, change.device_id, replace(device, damping=damping))


@_change.register
def _(change: ClearDamping, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "damping").require("damping")
    start = context.start.device(change.device_id)
    return _with(config, change.device_id, replace(config.device(change.device_id), damping=start.damping))


@_change.register
def _(change: SetForceGate, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "force_gate")
    if change.gain is not None and not 0 <= change.gain <= 1:
        raise InvalidInput("the gain of the force gate is 0 to 1")
    gain = context.start.device(change.device_id).force_gate if change.gain is None else kept(change.gain)
    return _with(config, change.device_id, replace(config.device(change.device_id), force_gate=gain))


@_change.register
def _(change: SetNavigation, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "navigation")
    device = config.device(change.device_id)
    wanted = navigation.merged(device.navigation, change.mode, dict(change.fields))
    return _with(config, change.device_id, replace(device, navigation=wanted))


@_change.register
def _(change: ClearNavigation, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "navigation")
    start = context.start.device(change.device_id)
    return _with(config, change.device_id, replace(config.device(change.device_id), navigation=start.navigation))


@_change.register
def _(change: SetScene, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "scene")
    device = config.device(change.device_id)
    wanted = scene.changed(device.scene, dict(change.fields), replace=change.replace, kept=change.kept)
    return _with(config, change.device_id, replace(device, scene=wanted))


@_change.register
def _(change: ClearScene, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "scene")
    start = context.start.device(change.device_id)
    return _with(config, change.device_id, replace(config.device(change.device_id), scene=start.scene))


@_change.register
def _(change: SetWorkspace, config: SessionConfig, context: ValidationContext) -> SessionConfig:
    context.device(change.device_id, "transform")
    device = config.device(change.device_id)
    return _with(config, change.device_id, replace(device, workspace=change.workspace.over(device.workspace)))


def _with(config: SessionConfig, device_id: str, device: DeviceConfig) -> SessionConfig:
    if device == config.device(device_id):
        return config
    return replace(config, devices=MappingProxyType({**config.devices, device_id: device}))
