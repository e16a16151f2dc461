"""Find uses of private names of a library outside of the one package that may use them."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

BY_NAME = frozenset({"getattr", "setattr", "delattr", "hasattr"})
OWN = frozenset({"self", "cls"})


@dataclass(frozen=True, slots=True)
class Room:
    """A library and the only package of ours that may use its private names, both dotted."""

    library: str
    package: str

    def is_library(self, module: str) -> bool:
        """Whether a module belongs to the library."""
        return f"{module}.".startswith(f"{self.library}.")

    def is_inside(self, module: str) -> bool:
        """Whether a module belongs to the package."""
        return f"{module}.".startswith(f"{self.package}.")


def private(name: str) -> bool:
    """Whether a name begins with one underscore and has more."""
    return name.startswith("_") and name.strip("_") != "" and not name.startswith("__")


def private_names(library: str) -> frozenset[str]:
    """Private attributes, methods, functions and classes in the installed sources of a library."""
    path = importlib.import_module(library).__file__
    assert path is not None
    found: set[str] = set()
    for source in Path(path).parent.rglob("*.py"):
        if "test" not in source.relative_to(Path(path).parent).parts:
            found |= _attributes(ast.parse(source.read_text(encoding="utf-8")))
    return frozenset(found)


def foreign_uses(source: str, room: Room, names: frozenset[str]) -> list[str]:
    """One `line: what` for each import of a private name of the library, and each use of one of `names` on another object than self."""
    return [
        f"{getattr(node, 'lineno', 0)}: {name}"
        for node in ast.walk(ast.parse(source))
        for name in _named(node, room)
        if private(name) and (name in names or isinstance(node, (ast.Import, ast.ImportFrom)))
    ]


def inherited_uses(module: ModuleType, room: Room) -> list[str]:
    """One `Class: name` for each private name that a class of the module defines or uses, and a base class in library or room has too."""
    found: list[str] = []
    for cls in vars(module).values():
        if not isinstance(cls, type) or cls.__module__ != module.__name__:
            continue
        bases = [
            base for base in cls.__mro__[1:] if room.is_library(base.__module__) or room.is_inside(base.__module__)
        ]
        if any(room.is_library(base.__module__) for base in bases):
            taken = frozenset[str]().union(*map(_names_of, bases))
            found += [f"{cls.__name__}: {name}" for name in sorted(_names_of(cls) & taken)]
    return found


def _names_of(cls: type) -> frozenset[str]:
    """Private names that a class defines, or uses on its own objects."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return frozenset(_attributes(tree))


def _attributes(tree: ast.AST) -> set[str]:
    """Private functions, classes and variables that a source defines, and private attributes that it uses on self, cls or super()."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and _is_own(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return {name for name in found if private(name)}


def _named(node: ast.AST, room: Room) -> Iterator[str]:
    """Names that a node imports from the library, or uses on another object than its own."""
    if isinstance(node, ast.Attribute) and not _is_own(node.value):
        yield node.attr
    elif isinstance(node, ast.ImportFrom) and room.is_library(node.module or ""):
        yield from [*(node.module or "").split("."), *(alias.name for alias in node.names)]
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if room.is_library(alias.name):
                yield from alias.name.split(".")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_NAME:
        for argument in node.args[1:2]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def _is_own(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in OWN
