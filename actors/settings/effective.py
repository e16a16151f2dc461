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
    """Immutable; a change makes another book.

    `raw` is the file's content, with what this service does not know; `stored` is what it does know of it;
    `booted` are the values that locked settings had when the service started.
    """

    catalog: Catalog
    raw: Mapping[str, object]
    stored: Mapping[str, Value]
    overrides: Mapping[str, Override]
    booted: Mapping[str, Value]

    def setting(self, key: str, value: object) -> EffectiveSettings:
        """The book with one value stored; InvalidInput, NoSuchSetting."""
        return self.settings({key: value})

    def settings(self, values: Mapping[str, object]) -> EffectiveSettings:
        """The book with all of `values` stored; InvalidInput or NoSuchSetting for the first that cannot be."""
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
        """The book without a stored value of `key`; NoSuchSetting."""
        self.catalog.find(key)
        return replace(self, raw=_without(self.raw, key), stored=_without(self.stored, key))

    def view(self) -> SettingsView:
        """All settings as they are shown: the catalogue's, then the forms for one kind or device that somebody set."""
        own = [setting.key for setting in self.catalog]
        forms = sorted({*self.stored, *self.overrides} - set(own))
        records = {setting.key: self._record(setting, setting.default) for setting in self.catalog}
        for key in forms:
            setting = self.catalog.find(key)
            family = FAMILY + key.split("/", 2)[2]
            records[key] = self._record(setting, records[family].effective)
        return SettingsView(MappingProxyType(records))

    def _record(self, setting: Setting, otherwise: Value) -> SettingView:
        """`otherwise` is the value while nobody stored one."""
        key = setting.key
        value = self.stored.get(key, otherwise)
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
    """The book of a service that starts now, and a sentence for each stored value that cannot be used."""
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
    book = EffectiveSettings(
        catalog, MappingProxyType(dict(raw)), MappingProxyType(stored), overrides, MappingProxyType(booted)
    )
    return book, tuple(faults)


def changes(before: SettingsView, after: SettingsView) -> dict[str, Value]:
    """The effective values that differ, by key; a form that nobody sets any more has what its family gives."""
    keys = (*after.records, *(key for key in before.records if key not in after.records))
    return {
        key: after.record(key).effective for key in keys if after.record(key).effective != before.record(key).effective
    }


def _without(values: Mapping[str, T], key: str) -> Mapping[str, T]:
    return MappingProxyType({known: value for known, value in values.items() if known != key})
