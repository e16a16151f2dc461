"""DeviceMemory: number, name and device-wide configuration of devices seen before, absent ones too. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Final

from actors.device.configuration import HANDS, MOST_GRAVITY
from actors.device.messages import FEATURES, DeviceIdentity, DeviceWide
from actors.device.names import why_refused
from actors.settings.messages import Frozen

MOST_REMEMBERED: Final = 256

DEFAULT: Final = DeviceWide()


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """Values by device id, the device seen last at the end."""

    # order of first appearance, until the service stops
    numbers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    wide: Mapping[str, DeviceWide] = field(default_factory=lambda: MappingProxyType({}))  # stored in the ledger
    names: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # given by people; stored in the ledger

    def number(self, device_id: str) -> int:
        """Return the device's number in order of first appearance, or the next free one."""
        known = self.numbers.get(device_id)
        return max(self.numbers.values(), default=-1) + 1 if known is None else known

    def seen(self, device_id: str, number: int) -> DeviceMemory:
        """Return the memory with the device seen last; past MOST_REMEMBERED the one seen longest ago is dropped."""
        return replace(self, numbers=_last(self.numbers, device_id, number))

    def configured(self, device_id: str, wide: DeviceWide) -> DeviceMemory:
        """Return the memory with this configuration; the default one is not stored."""
        if wide == DEFAULT:
            return replace(self, wide={known: kept for known, kept in self.wide.items() if known != device_id})
        return replace(self, wide=_last(self.wide, device_id, wide))

    def named(self, device_id: str, name: str) -> DeviceMemory:
        """Return the memory with this name for the device; "" takes its name away."""
        if not name:
            return replace(self, names={known: kept for known, kept in self.names.items() if known != device_id})
        return replace(self, names=_last(self.names, device_id, name))

    def ids(self) -> frozenset[str]:
        """Return the ids of all devices that are remembered."""
        return frozenset((*self.numbers, *self.wide, *self.names))

    def name_of(self, device_id: str) -> str:
        """Return the device's name, "" if it has none."""
        return self.names.get(device_id, "")

    def wide_of(self, identity: DeviceIdentity) -> DeviceWide:
        """Return the device's configuration, else the default; without home return if the firmware is too old for it."""
        wide = self.wide.get(identity.device_id, DEFAULT)
        return replace(wide, home_return=wide.home_return and identity.firmware >= FEATURES["home_return"])

    def as_json(self) -> dict[str, object]:
        """Return the ledger section."""
        entries: dict[str, dict[str, object]] = {device_id: asdict(wide) for device_id, wide in self.wide.items()}
        for device_id, name in self.names.items():
            entries.setdefault(device_id, {})["name"] = name
        return {**entries}

    @classmethod
    def from_json(cls, value: Frozen) -> DeviceMemory:
        """Parse the ledger section; an invalid entry becomes the default."""
        if not isinstance(value, Mapping):
            return cls()
        wides = ((device_id, _wide(entry)) for device_id, entry in value.items())
        names = ((device_id, _name(entry)) for device_id, entry in value.items())
        return cls(
            wide={device_id: wide for device_id, wide in wides if wide != DEFAULT},
            names={device_id: name for device_id, name in names if name},
        )


def _wide(entry: Frozen) -> DeviceWide:
    if not isinstance(entry, Mapping):
        return DEFAULT
    found: dict[str, Any] = {}
    for one in fields(DeviceWide):
        value, plain = entry.get(one.name), getattr(DEFAULT, one.name)
        if isinstance(plain, float) and type(value) is int:
            value = float(value)
        if type(value) is type(plain):
            found[one.name] = value
    wide = replace(DEFAULT, **found)
    return wide if wide.handedness in HANDS and 0 <= wide.gravity_scale <= MOST_GRAVITY else DEFAULT


def _name(entry: Frozen) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) and not why_refused(name) else ""


def _last(known: Mapping[str, Any], device_id: str, value: Any) -> dict[str, Any]:
    kept = {one: old for one, old in known.items() if one != device_id}
    while len(kept) >= MOST_REMEMBERED:
        del kept[next(iter(kept))]
    return {**kept, device_id: value}
