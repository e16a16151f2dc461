"""Settings of the running service: loaded before the first actor starts, written only by SettingsStore."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.kit.published import Published
from actors.settings.effective import EffectiveSettings, changes, load_settings
from actors.settings.file import StateFile
from actors.settings.key_lookup import Catalog
from actors.settings.messages import SettingsView, Value
from actors.settings.sources import Override
from actors.settings.state_directory import StateDirectory

NO_OVERRIDES: Final[Mapping[str, Override]] = MappingProxyType({})

logger = logging.getLogger(__name__)


class SettingsState:
    """`view` is for any thread; the rest is used by the store only."""

    def __init__(self, file: StateFile, catalog: Catalog, overrides: Mapping[str, Override] = NO_OVERRIDES) -> None:
        """Read the file; log each value that is not usable."""
        self._file = file
        self.current, faults = load_settings(catalog, file.load(), overrides)
        for fault in faults:
            logger.warning("In %s: %s", file.path, fault)
        self.view: Published[SettingsView] = Published(self.current.view())
        self.changed: frozenset[str] = frozenset()

    @classmethod
    def load(
        cls,
        directory: StateDirectory,
        catalog: Catalog,
        overrides: Mapping[str, Override] = NO_OVERRIDES,
    ) -> SettingsState:
        """Return the settings of a state directory; a broken file is renamed and defaults are used."""
        return cls(StateFile(directory.settings), catalog, overrides)

    def commit(self, current: EffectiveSettings) -> dict[str, Value]:
        """Write the settings to the disk and publish them. Return the changed effective values; StateNotWritable: nothing changed."""
        self._file.write(current.raw)
        before, after = self.view.value, current.view()
        self.current = current
        self.view.replace(after)
        changed = changes(before, after)
        self.changed |= changed.keys()
        return changed
