"""Registry of modules: the built-in ones and those of other packages; key clashes; the enabled modules.

Two modules with one key at one place stop the start; an invalid module of another package is left out with one log line.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast

from actors.kit.errors import HapticError, InvalidInput
from actors.modules.built_in import built_in
from actors.modules.core_words import CORE_WORDS
from actors.modules.module import LISTED, Module, Place, WordTable
from actors.settings.catalog import CORE_CATALOG
from actors.settings.schema import TypeHint

if TYPE_CHECKING:
    from actors.settings.messages import SettingsView

GROUP: Final = "hapticd.modules"
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
CORE: Final = "the core schema"

M = TypeVar("M")

logger = logging.getLogger(__name__)


class ModuleClash(HapticError):
    """Two modules, or a module and the core schema, have the same key."""


class BrokenModule(HapticError):
    """An object that a package provides as a module is invalid."""


@dataclass(frozen=True, slots=True)
class Active:
    """The modules that are enabled under some settings."""

    modules: Mapping[str, Module] = field(default_factory=lambda: MappingProxyType({}))
    # enabled module of each key
    words: Mapping[tuple[Place, str], Module] = field(default_factory=lambda: MappingProxyType({}))
    # key of a disabled module -> which setting to change first
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    shown: frozenset[str] = frozenset()  # names of modules with state fields

    def find(self, place: Place, word: str, path: str) -> Module | None:
        """Return the enabled module of a key, None without one; InvalidInput for a key of a disabled module."""
        module = self.words.get((place, word))
        if module is None and word in self.refused:
            raise InvalidInput(self.refused[word], path)
        return module


class ModuleRegistry:
    """Immutable set of modules; the modules themselves have state. ModuleClash, BrokenModule."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        """`modules` None: the built-in ones."""
        self._modules: dict[str, Module] = {}
        self._owners: dict[tuple[Place, str], str] = {
            (place, word): CORE for place, words in CORE_WORDS.items() for word in words
        }
        for module in built_in() if modules is None else modules:
            check(module)
            self._add(module)

    def __iter__(self) -> Iterator[Module]:
        """Yield every module, enabled or not."""
        return iter(self._modules.values())

    def of(self, kind: type[M]) -> M:
        """Return the module of that class; BrokenModule without one."""
        for module in self._modules.values():
            if isinstance(module, kind):
                return module
        raise BrokenModule(f"There is no module {kind.__name__}: start the service with the modules that come along.")

    def unknown(self, settings: SettingsView) -> tuple[str, ...]:
        """Return the names in the list of enabled modules that no module has."""
        return tuple(name for name in settings.texts(LISTED) if name not in self._modules)

    def active(self, settings: SettingsView | None) -> Active:
        """Return the modules that are enabled under these settings; None: no module."""
        modules = {
            name: module for name, module in self._modules.items() if settings is not None and is_on(module, settings)
        }
        words: dict[tuple[Place, str], Module] = {}
        refused: dict[str, str] = {}
        for name, module in self._modules.items():
            for place, added in module.words.by_place().items():
                for word in added:
                    if name in modules:
                        words[place, word] = module
                    elif place is not Place.STATE:
                        refused[word] = refusal(module, word)
        enabled_words = {word for _, word in words}
        refused = {word: reason for word, reason in refused.items() if word not in enabled_words}
        shown = frozenset(name for name, module in modules.items() if module.words.state)
        return Active(MappingProxyType(modules), MappingProxyType(words), MappingProxyType(refused), shown)

    def _add(self, module: Module) -> None:
        if module.name in self._modules:
            raise ModuleClash(f"Two modules are called {module.name}: uninstall one of them.")
        for place, words in module.words.by_place().items():
            for word in words:
                owner = self._owners.setdefault((place, word), module.name)
                if owner != module.name:
                    raise ModuleClash(
                        f"Module {module.name} takes {place}.{word}, which is {owner}'s: uninstall the module or rename the word."
                    )
        self._modules[module.name] = module


def is_on(module: Module, settings: SettingsView) -> bool:
    """Whether the settings enable the module."""
    if module.setting == LISTED:
        return module.name in settings.texts(LISTED)
    return settings.flag(module.setting)


def refusal(module: Module, word: str) -> str:
    """Return why a key of a disabled module is refused, and what to do."""
    if module.setting == LISTED:
        return f"{word} is of module {module.name}: put {module.name} in {LISTED} first"
    return f"{word} is a preview: set {module.setting} first"


def load(found: Iterable[EntryPoint] | None = None) -> ModuleRegistry:
    """Return the built-in modules and those of entry points, sorted by name; ModuleClash."""
    points = entry_points(group=GROUP) if found is None else found
    modules = [*built_in()]
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        try:
            modules.append(_made(point))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
            reason = error.sentence if isinstance(error, HapticError) else f"{type(error).__name__}: {error}"
            logger.error("module %s (%s) is left out: %s", point.name, point.value, _one_line(reason))  # noqa: TRY400
    return ModuleRegistry(modules)


def check(module: object) -> None:
    """Raise BrokenModule if a required attribute is missing or invalid."""
    name, setting, words = (getattr(module, part, None) for part in ("name", "setting", "words"))
    if not _is_word(name):
        raise BrokenModule("its name must be lower-case letters, digits and underscores, at most 40.")
    if not isinstance(words, WordTable) or not all(map(_is_word, chain(*words.by_place().values()))):
        raise BrokenModule("its words must be a Words of lower-case letters, digits and underscores, at most 40 each.")
    if setting != LISTED and not any(row.key == setting and row.type_hint is TypeHint.BOOL for row in CORE_CATALOG):
        raise BrokenModule(f'its setting must be "{LISTED}", or the key of a setting that is true or false.')
    for step in ("read", "open"):
        if not callable(getattr(module, step, None)):
            raise BrokenModule(f"it must have {step}().")


def _made(point: EntryPoint) -> Module:
    made = point.load()()
    check(made)
    return cast("Module", made)


def _is_word(word: object) -> bool:
    return isinstance(word, str) and NAME.fullmatch(word) is not None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


# Without settings: every key of a module is refused.
NOTHING_ON: Final = ModuleRegistry().active(None)
