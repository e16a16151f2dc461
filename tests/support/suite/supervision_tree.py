"""Draw the supervision tree of a `System`; `python -m tests.support.suite.supervision_tree` updates docs/architecture.md."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pykka

from actors.settings.ledger import Ledger
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from actors.system import System
from tests.support.suite.page_section import PageSection
from transport.settings_catalog import SETTINGS_CATALOG

SECTION: Final = PageSection(Path("docs/architecture.md"), "supervision tree")
SPAWN: Final = "spawn"
START: Final = "start"


def base_actors() -> dict[str, type[pykka.Actor]]:
    """Return the class of each base actor by its name, in the order of their start; nothing is started."""
    with TemporaryDirectory() as folder, StateDirectory(Path(folder) / "state") as directory:
        system = System(SettingsState.load(directory, SETTINGS_CATALOG), Ledger.load(directory), _never)
        factories = system._supervisor.factories.items()
        return {name: _class_of(factory) for name, factory in factories}


def children_of(actor: type[pykka.Actor]) -> Iterator[tuple[str, type[pykka.Actor]]]:
    """Yield a name with `…` for its variable part, and the class, of the children that an actor's source spawns."""
    module = importlib.import_module(actor.__module__)
    for function in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        named = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == SPAWN]
        started = [
            call.func.value for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == START
        ]
        for spawn in named:
            match spawn.args[0], started:
                case ast.Call(func=ast.Name(id=namer)), [ast.Name(id=child)]:
                    yield getattr(module, namer)("…"), getattr(module, child)
                case _:
                    pass


def tree() -> str:
    """Return the tree as a block of Markdown, one line for each actor: its name, its class."""
    lines = ["```", "supervisor"]
    actors = base_actors()
    for name, actor in actors.items():
        last = name == list(actors)[-1]
        lines.append(f"{'└── ' if last else '├── '}{name:<15} {actor.__name__}")
        lines += [
            f"{'    ' if last else '│   '}└── {child_name:<11} {child.__name__}, one for each"
            for child_name, child in children_of(actor)
        ]
    return "\n".join([*lines, "```"]) + "\n"


def _class_of(factory: object) -> type[pykka.Actor]:
    start: Any = factory.func if isinstance(factory, partial) else None
    actor: object = getattr(start, "__self__", None)
    assert isinstance(actor, type)
    assert issubclass(actor, pykka.Actor)
    return actor


def _never(name: str, error: Exception) -> None:
    raise AssertionError(f"{name} was never started, and failed: {error}")


if __name__ == "__main__":
    SECTION.write(tree())
