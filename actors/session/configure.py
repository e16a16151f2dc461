"""Rules that apply one configuration change to a session's configuration. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import singledispatch
from types import MappingProxyType
from typing import Final

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import FirmwareTooOld, InvalidInput, NoSuchDevice
from actors.session import navigation, presets
from actors.session.messages import (
    CUSTOM,
    NO_PROFILE,
    Applied,
    Change,
    ClearDamping,
    ClearNavigation,
    ClearProfile,
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
    SetWorkspace,
)
from actors.session.profile import SessionMemory, check_name, version_parts
from actors.values.coefficients import kept
from actors.values.identity import INTERFACE
from actors.values.kinds.nouns import takers_of
from actors.values.selector import matches
from actors.values.spatial import ORIGIN, PartialTransform

MOST_DAMPING: Final = 20.0
FREEFORM: Final = "presets/freeform_profiles"


@dataclass(frozen=True, slots=True)
class ValidationContext:
    """What a change is judged against; `start` is what new sessions have, `freeform` the patterns of such profiles, `gate` the settings'."""

    inventory: Inventory
    memory: SessionMemory
    start: SessionConfig = field(default_factory=SessionConfig)
    freeform: tuple[str, ...] = ()
    gate: Callable[[DeviceRecord], float | None] = lambda _record: None

    def gate_of(self, config: SessionConfig, record: DeviceRecord) -> float | None:
        """Gain of the force gate in force: the session's own, else what the settings give the device."""
        own = config.device(record.device_id).force_gate
        return self.gate(record) if own is None else own

    def device(self, device_id: str, area: str) -> DeviceRecord:
        """The device, whose kind must have that area; NoSuchDevice, InvalidInput."""
        record = self.inventory.get(device_id)
        if not record.kind.spec.has(area):
            raise InvalidInput(f"{record.kind.with_article} has no {area}: send it to {takers_of(area)}")
        return record


def refused_in_every_session(record: DeviceRecord, changes: Iterable[Change], inventory: Inventory) -> Refused | None:
    """Return the first change of one device that each session refuses, whatever else its configuration holds."""
    anyone = SessionConfig(devices=MappingProxyType({record.device_id: DeviceConfig(navigation=navigation.BESIDE_ANY)}))
    return next(iter(apply(anyone, changes, ValidationContext(inventory, SessionMemory())).refused), None)


def apply(config: SessionConfig, changes: Iterable[Change], around: ValidationContext) -> Applied:
    """All changes in order; each by itself is made or refused, and `scopes` are the values that really changed."""
    refused: list[Refused] = []
    now = config
    for change in changes:
        try:
            now = _change(change, now, around)
        except (InvalidInput, NoSuchDevice, FirmwareTooOld) as error:
            reason = error.reason if isinstance(error, InvalidInput) else error.sentence
            refused.append(Refused(change, reason, error))
        else:
            if (newer := too_new(change)) is not None:
                refused.append(Refused(change, newer, InvalidInput(newer)))
    now = replace(now, freeform=is_freeform(now.profile, around.freeform))
    return Applied(now, scopes(config, now, around), tuple(refused))


def scopes(before: SessionConfig, now: SessionConfig, around: ValidationContext) -> tuple[str, ...]:
    """Names of what differs, in the contract's words; a preset that moves the origin changes the mount too.

    The session's basis is that of every device without its own, so a new one is `config.basis` as well.
    """
    records = around.inventory.devices
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
        ("config.force_gate", around.gate_of),
        ("config.navigation", lambda config, record: config.device(record.device_id).navigation),
    )
    return (
        *(name for name, value in session if value(before) != value(now)),
        *(name for name, value in device if any(value(before, record) != value(now, record) for record in records)),
    )


def is_freeform(profile: str, patterns: Iterable[str]) -> bool:
    """Whether the profile is one of those whose compacts start with `compact_zup`; case does not count."""
    name = profile.casefold()
    return any(matches(pattern.casefold(), name) for pattern in patterns)


def too_new(change: Change) -> str | None:
    """Why a version cannot be served, though it is remembered; None for every other change and for what is no version."""
    return newer_than_ours(change.version) if isinstance(change, RequireSdk) else None


def newer_than_ours(version: str | None) -> str | None:
    """What to do about a required version above this interface's; None for one that is served, for none and for what is no version."""
    try:
        newer = version is not None and version_parts(version) > version_parts(INTERFACE)
    except InvalidInput:
        return None
    return f"the client needs interface {version} and this is {INTERFACE}: update the service" if newer else None


@singledispatch
def _change(change: object, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    del config, around
    raise TypeError(f"no rule for {type(change).__name__}")


@_change.register
def _(change: DeclareProfile, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    name = check_name(change.name)
    if config.required_sdk_version is not None and not config.sdk_from_profile:
        return replace(config, profile=name)
    version = around.memory.versions.get(name)
    return replace(config, profile=name, required_sdk_version=version, sdk_from_profile=version is not None)


@_change.register
def _(change: ClearProfile, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    del change, around
    return replace(config, profile=NO_PROFILE, required_sdk_version=None, sdk_from_profile=False)


@_change.register
def _(change: RequireSdk, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    del around
    version_parts(change.version)
    return replace(config, required_sdk_version=change.version, sdk_from_profile=False)


@_change.register
def _(change: SetBasis, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    if change.device_id is None:
        return replace(config, basis=change.basis or around.start.basis)
    around.inventory.get(change.device_id)
    basis = change.basis or around.start.device(change.device_id).basis
    return _with(config, change.device_id, replace(config.device(change.device_id), basis=basis))


@_change.register
def _(change: SetMount, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    record = around.device(change.device_id, "mount")
    if change.mount == PartialTransform():
        return config
    mount = change.mount.over(presets.mount_of(config, record))
    return _with(config, change.device_id, replace(config.device(change.device_id), mount=mount, preset=CUSTOM))


@_change.register
def _(change: SetPreset, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    record = around.device(change.device_id, "preset")
    device, start = config.device(change.device_id), around.start.device(change.device_id)
    if change.preset is None:
        return _with(config, change.device_id, replace(device, preset=start.preset, mount=start.mount))
    presets.check(change.preset, record.kind)
    mount = presets.mount_of(config, record) if change.preset == CUSTOM else device.mount
    return _with(config, change.device_id, replace(device, preset=change.preset, mount=mount))


@_change.register
def _(change: SetDamping, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    record, device = around.device(change.device_id, "damping"), config.device(change.device_id)
    scalar, vector = change.scalar or 0.0, change.vector or ORIGIN
    x, y, z = map(kept, vector)
    damping = Damping(kept(scalar), (x, y, z))
    if damping != device.damping:
        # The config of an old firmware shows no damping and may come back as it was shown.
        record.require("damping")
    if not all(0 <= part <= MOST_DAMPING for part in (scalar, *vector)):
        raise InvalidInput(f"damping is 0 to {MOST_DAMPING:g} N s/m, each part of it")
    return _with(config, change.device_id, replace(device, damping=damping))


@_change.register
def _(change: ClearDamping, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    around.device(change.device_id, "damping").require("damping")
    start = around.start.device(change.device_id)
    return _with(config, change.device_id, replace(config.device(change.device_id), damping=start.damping))


@_change.register
def _(change: SetForceGate, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    around.device(change.device_id, "force_gate")
    if change.gain is not None and not 0 <= change.gain <= 1:
        raise InvalidInput("the gain of the force gate is 0 to 1")
    gain = around.start.device(change.device_id).force_gate if change.gain is None else kept(change.gain)
    return _with(config, change.device_id, replace(config.device(change.device_id), force_gate=gain))


@_change.register
def _(change: SetNavigation, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    around.device(change.device_id, "navigation")
    device = config.device(change.device_id)
    wanted = navigation.merged(device.navigation, change.mode, dict(change.fields))
    return _with(config, change.device_id, replace(device, navigation=wanted))


@_change.register
def _(change: ClearNavigation, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    around.device(change.device_id, "navigation")
    start = around.start.device(change.device_id)
    return _with(config, change.device_id, replace(config.device(change.device_id), navigation=start.navigation))


@_change.register
def _(change: SetWorkspace, config: SessionConfig, around: ValidationContext) -> SessionConfig:
    around.device(change.device_id, "transform")
    device = config.device(change.device_id)
    return _with(config, change.device_id, replace(device, workspace=change.workspace.over(device.workspace)))


def _with(config: SessionConfig, device_id: str, device: DeviceConfig) -> SessionConfig:
    if device == config.device(device_id):
        return config
    return replace(config, devices=MappingProxyType({**config.devices, device_id: device}))
