"""The module registry: claimed keys, clashes, and packages whose module is broken."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from actors.kit.errors import InvalidInput
from actors.modules.core_words import CORE_WORDS
from actors.modules.force_ducking import ForceDucking
from actors.modules.module import LISTED, Part, Place, WordTable
from actors.modules.registry import BrokenModule, ModuleClash, ModuleRegistry, load
from actors.settings.ledger import Ledger
from actors.settings.messages import SettingsView
from actors.settings.sources import read_overrides
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from transport.settings_catalog import SETTINGS_CATALOG
from transport.wire import commands, configuration
from transport.wire.device_wide import DEVICE_WIDE


class Made:
    """A module with any name and words."""

    setting = LISTED

    def __init__(self, name: Any, words: Any, setting: Any = LISTED) -> None:
        self.name, self.words, self.setting = name, words, setting

    def read(self, sent: Any) -> object:
        return sent.value

    def open(self, session: Any) -> Part:
        del session
        return Part()


def settings(folder: Path, *chosen: str) -> SettingsView:
    with StateDirectory(folder) as directory:
        Ledger.load(directory)
        return SettingsState.load(
            directory, SETTINGS_CATALOG, read_overrides(SETTINGS_CATALOG, list(chosen))
        ).view.value


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "hapticd.modules")


def test_duplicate_key_is_refused_naming_both_modules() -> None:
    one, other = Made("one", WordTable(commands=("go",))), Made("other", WordTable(commands=("go",)))

    with pytest.raises(ModuleClash, match=r"^Module other takes commands.go, which is one's: uninstall the module or"):
        ModuleRegistry([one, other])
    ModuleRegistry([one, Made("other", WordTable(state=("go",), configure=("go",)))])


def test_duplicate_module_name_is_refused() -> None:
    with pytest.raises(ModuleClash, match="Two modules are called one"):
        ModuleRegistry([Made("one", WordTable()), Made("one", WordTable())])


@pytest.mark.parametrize(
    "words",
    [
        WordTable(commands=("set_cursor_force",)),
        WordTable(configure=("basis",)),
        WordTable(session_configure=("profile",)),
        WordTable(set_transform=("scale",)),
        WordTable(state=("cursor_position",)),
        WordTable(state=("battery_level",)),
    ],
    ids=str,
)
def test_core_schema_key_is_refused(words: WordTable) -> None:
    with pytest.raises(ModuleClash, match="which is the core schema's"):
        ModuleRegistry([Made("one", words)])


def test_core_keys_are_those_that_the_parser_reads() -> None:
    assert CORE_WORDS[Place.COMMAND] >= {
        *commands.SET_POINTS,
        *commands.PROBES,
        "set_transform",
        "set_coordinate_origin",
    }
    assert CORE_WORDS[Place.CONFIGURE] >= configuration.FACTS | DEVICE_WIDE


def test_keys_of_disabled_modules_are_refused_by_name() -> None:
    active = ModuleRegistry().active(None)

    assert (active.modules, active.words, active.shown) == ({}, {}, frozenset())
    with pytest.raises(InvalidInput, match="clutch is a preview: set features/clutch/enabled first"):
        active.find(Place.CONFIGURE, "clutch", "here")
    assert active.find(Place.CONFIGURE, "nobodys", "here") is None


def test_setting_enables_one_module(tmp_path: Path) -> None:
    registry = ModuleRegistry()
    active = registry.active(settings(tmp_path, "features/clutch/enabled=true"))

    found = active.find(Place.CONFIGURE, "clutch", "")
    assert found is not None
    assert found.name == "clutch"
    assert active.shown == {"clutch"}
    assert active.find(Place.COMMAND, "clutch", "") is None
    with pytest.raises(InvalidInput, match="features/hfx/enabled"):
        active.find(Place.COMMAND, "hfx", "")


def test_third_party_module_is_enabled_while_listed(tmp_path: Path) -> None:
    registry = ModuleRegistry([Made("one", WordTable(commands=("go",)))])

    with pytest.raises(InvalidInput, match="go is of module one: put one in features/modules/enabled first"):
        registry.active(settings(tmp_path / "off")).find(Place.COMMAND, "go", "")
    on = registry.active(settings(tmp_path / "on", "features/modules/enabled=other,one"))
    assert on.find(Place.COMMAND, "go", "") is not None


@pytest.mark.parametrize(
    ("made", "because"),
    [
        (Made("One!", WordTable()), "its name must be"),
        (Made(None, WordTable()), "its name must be"),
        (Made("one", None), "its words must be"),
        (Made("one", WordTable(commands=("Go",))), "its words must be"),
        (Made("one", WordTable(commands=(7,))), "its words must be"),  # type: ignore[arg-type]
        (Made("one", WordTable(), "control/frequency"), "its setting must be"),
        (Made("one", WordTable(), "features/none"), "its setting must be"),
        (MappingProxyType({}), "its name must be"),
    ],
)
def test_invalid_module_is_named(made: Any, because: str) -> None:
    with pytest.raises(BrokenModule, match=because):
        ModuleRegistry([made])


def test_broken_entry_point_is_logged_and_the_others_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "broken_modules.py").write_text(
        "import sys\n"
        "def fails():\n    raise ValueError('no\\nlicence')\n"
        "def ends():\n    sys.exit(3)\n"
        "def none():\n    return None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "made_module", sys.modules[__name__])
    points = [
        point("a", "broken_modules:fails"),
        point("b", "broken_modules:ends"),
        point("c", "broken_modules:none"),
        point("d", "not_there:anything"),
        point("e", "broken_modules:missing"),
        point("f", "made_module:good"),
    ]

    with caplog.at_level(logging.ERROR):
        registry = load(points)

    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "module a (broken_modules",
        "module b (broken_modules",
        "module c (broken_modules",
        "module d (not_there",
        "module e (broken_modules",
    ]
    assert "left out: ValueError: no licence" in caplog.messages[0]
    assert not any("\n" in message for message in caplog.messages)
    assert [module.name for module in registry][-1] == "good"


def good() -> Made:
    return Made("good", WordTable(commands=("go",)))


def test_a_module_is_found_by_its_class() -> None:
    registry = ModuleRegistry()

    assert registry.of(ForceDucking) is next(one for one in registry if isinstance(one, ForceDucking))
    with pytest.raises(BrokenModule, match="There is no module ForceDucking"):
        ModuleRegistry([]).of(ForceDucking)


def test_two_registries_share_no_state() -> None:
    assert ModuleRegistry().of(ForceDucking).scales is not ModuleRegistry().of(ForceDucking).scales
