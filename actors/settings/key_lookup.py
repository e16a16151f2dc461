"""Find the row of a settings key, also for the forms `devices/<kind or id>/…` of a `devices/haptic*/…` row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from actors.settings.messages import DEVICE_KEY, FAMILY, UnknownSetting
from actors.settings.schema import Setting
from actors.values.identity import Kind

KINDS: Final = tuple(kind.value for kind in Kind)
VARIABLE: Final = "HAPTICD_"


class Catalog:
    """Rows of all settings by key, in the order of the reference page."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        """ValueError if two settings have the same key."""
        rows = tuple(settings)
        self._rows: Mapping[str, Setting] = MappingProxyType({row.key: row for row in rows})
        if len(self._rows) != len(rows):
            raise ValueError("two settings of the catalogue have the same key")
        self._variables = {variable(key): key for key in self._rows}

    def extended(self, settings: Iterable[Setting]) -> Catalog:
        """Return a catalogue with `settings` added, each after the last row of its section; ValueError as above."""
        rows = list(self)
        for setting in settings:
            places = [place for place, row in enumerate(rows, 1) if row.section == setting.section]
            rows.insert(places[-1] if places else len(rows), setting)
        return Catalog(rows)

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, key: str) -> Setting:
        """Return the row of `key`, also for the forms `devices/{kind or id}/…`, with that key; UnknownSetting."""
        row = self._rows.get(key)
        if row is not None:
            return row
        form = DEVICE_KEY.fullmatch(key)
        family = self._rows.get(FAMILY + form[2]) if form and form[1].isprintable() else None
        if family is None:
            raise UnknownSetting(key, self._rows)
        return replace(family, key=key)

    def key_of_variable(self, name: str, alias: Callable[[str], str] = str) -> str:
        """Return the key that an environment variable means, which may be unknown; a device id keeps its case.

        `alias` converts other accepted keys to those of the catalogue.
        """
        exact = self._variables.get(name)
        if exact is not None:
            return exact
        first, *rest = name.removeprefix(VARIABLE).split("__")
        if first != "DEVICES" or len(rest) < 2:
            return "/".join((first, *rest)).lower()
        who, area = rest[0], "/".join(rest[1:]).lower()
        words = [who.lower()]
        if who.endswith("X"):
            words.insert(0, f"{who[:-1].lower()}*")
        for word in words:
            key = alias(f"devices/{word}/{area}")
            if key in self._rows or key.split("/")[1] in KINDS:
                return key
        return f"devices/{who}/{area}"


def variable(key: str) -> str:
    """Return the environment variable of `key`: capitals, `/` as two underscores, `*` as X."""
    return VARIABLE + key.upper().replace("/", "__").replace("*", "X")
