"""Compute the effective settings from the stored values and the overrides. Pure: no file, no actor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from actors.kit.errors import InvalidInput
from actors.settings.key_lookup import Catalog
from actors.settings.messages import FAMILY, SettingsView, SettingView, UnknownSetting, Value, value_as_json
from actors.settings.schema import Setting
from actors.settings.sources import Override

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """Immutable; a change returns a new object."""

    catalog: Catalog
    raw: Mapping[str, object]  # content of the file, with unknown keys
    stored: Mapping[str, Value]  # valid values of known keys
    overrides: Mapping[str, Override]
    booted: Mapping[str, Value]  # values of locked settings at the start of the service

    def setting(self, key: str, value: object) -> EffectiveSettings:
        """Return the settings with one value stored; InvalidInput, NoSuchSetting."""
        return self.settings({key: value})

    def settings(self, values: Mapping[str, object]) -> EffectiveSettings:
        """Return the settings with all of `values` stored; InvalidInput or NoSuchSetting for the first that is refused."""
        parsed: dict[str, Value] = {}
        for key, value in values.items():
            setting = self.catalog.find(key)
            parsed[key] = setting.parse(value)
            if parsed[key] in setting.local_only:
                raise setting.local_only_error(parsed[key])
        raw = {key: value_as_json(value) for key, value in parsed.items()}
        return replace(
            self,
            raw=MappingProxyType({**self.raw, **raw}),
            stored=MappingProxyType({**self.stored, **parsed}),
        )

    def resetting(self, key: str) -> EffectiveSettings:
        """Return the settings without a stored value of `key`; NoSuchSetting."""
        self.catalog.find(key)
        return replace(self, raw=_without(self.raw, key), stored=_without(self.stored, key))

    def view(self) -> SettingsView:
        """Return the view: the catalogue's rows, then the stored forms of one kind or device."""
        own = [setting.key for setting in self.catalog]
        forms = sorted({*self.stored, *self.overrides} - set(own))
        records = {setting.key: self._record(setting, setting.default) for setting in self.catalog}
        for key in forms:
            setting = self.catalog.find(key)
            family = FAMILY + key.split("/", 2)[2]
            records[key] = self._record(setting, records[family].effective)
        return SettingsView(MappingProxyType(records))

    def _record(self, setting: Setting, fallback: Value) -> SettingView:
        """Return the record of a row; `fallback` is its value if none is stored."""
        key = setting.key
        value = self.stored.get(key, fallback)
        override = self.overrides.get(key)
        effective = override.value if override else self.booted.get(key, value)
        return SettingView(
            key,
            value,
            effective,
            setting.default,
            setting.type_hint,
            setting.constraint,
            setting.description,
            setting.unit,
            setting.locked,
            setting.advanced,
            override.source if override else None,
            restart_required=override is None and setting.locked and value != effective,
            always_listed=setting.always_listed,
        )


def load_settings(
    catalog: Catalog, raw: Mapping[str, object], overrides: Mapping[str, Override]
) -> tuple[EffectiveSettings, tuple[str, ...]]:
    """Return the settings at the start of the service, and a sentence for each stored value that is not usable."""
    stored: dict[str, Value] = {}
    faults: list[str] = []
    for key, value in raw.items():
        try:
            stored[key] = catalog.find(key).parse(value)
        except UnknownSetting as error:
            faults.append(f"{error.sentence} It is kept as it is.")
        except InvalidInput as error:
            faults.append(f"{error} Until then its default is used.")
    booted = {
        setting.key: overrides[setting.key].value
        if setting.key in overrides
        else stored.get(setting.key, setting.default)
        for setting in catalog
        if setting.locked
    }
    effective = EffectiveSettings(
        catalog, MappingProxyType(dict(raw)), MappingProxyType(stored), overrides, MappingProxyType(booted)
    )
    return effective, tuple(faults)


def changes(before: SettingsView, after: SettingsView) -> dict[str, Value]:
    """Return the changed effective values by key; a form without a stored value has its family's."""
    keys = (*after.records, *(key for key in before.records if key not in after.records))
    return {
        key: after.record(key).effective for key in keys if after.record(key).effective != before.record(key).effective
    }


def _without(values: Mapping[str, T], key: str) -> Mapping[str, T]:
    return MappingProxyType({known: value for known, value in values.items() if known != key})
