"""Check import layers (floors): read the sources' imports without running them and report each that is not allowed."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PACKAGES = ("actors", "fastpath", "transport")
SYSTEM = 6
# Packages that import nothing else of ours, each with the libraries that it may import beside the standard library.
ALONE: dict[str, tuple[str, ...]] = {"actors.values": (), "transport.tornado_ext": ("tornado",)}
# The operators' commands: clients of the public interface, loaded by the entry point alone.
CLIENT = "transport.cli"
# Modules of theirs without any library, which the parser of `run` and `token` uses as well.
CLIENT_TABLES = tuple(
    f"transport.cli.{name}" for name in ("commands_for_routes", "similar", "standard_output", "table")
)
STATE_PATH_USER = "transport.cli.commands.doctor"
ENTRY = "transport.main"
NEVER_SHIPPED = ("tests", "bench", "docs", "ops")
STRINGS = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
CYTHON_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+c?import\s+(\(?)(.*)")
CYTHON_IMPORT = re.compile(r"^\s*c?import\s+([\w., ]+)")


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported name; `module` is dotted, relative ones begin with a dot."""

    line: int
    module: str


def module_of(path: PurePosixPath) -> str:
    """Dotted name of a source; a package's `__init__` is the package."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor_of(module: str) -> int | None:
    """0 to 10; None for what has no floor and may import nothing of ours (an empty package) or has no place in the tree."""
    match module.split("."):
        case ["fastpath", *_]:
            return 0
        case ["actors", "values", *_]:
            return 1
        case ["actors", "kit", *_]:
            return 2
        case ["actors", "modules", *_]:
            return 5
        case ["actors", "system"]:
            return 6
        case ["actors", _, "messages"]:
            return 3
        case ["actors", _, *_]:
            return 4
        case ["transport", "wire", *_]:
            return 7
        case ["transport", "session" | "tornado_ext", *_]:
            return 8
        case ["transport", "main"]:
            return 10
        case ["transport", _, *_]:
            return 9
        case _:
            return None


def imports_of(path: PurePosixPath, source: str, known: frozenset[str]) -> list[Imported]:
    """Every import of a source; `from a import b` counts as a.b when that is a module in `known`, else as a."""
    found = _python_imports(source) if path.suffix in {".py", ".pyi"} else _cython_imports(source)
    return [
        Imported(line, f"{base}.{name}" if name and f"{base}.{name}" in known else base) for line, base, name in found
    ]


def violations(path: PurePosixPath, source: str, known: frozenset[str]) -> list[str]:
    """One sentence for each import of one source that the floors forbid."""
    importer = module_of(path)
    sentences: list[str] = []
    for imported in imports_of(path, source, known):
        reason = _objection(importer, imported.module)
        if reason:
            sentences.append(f"{path}:{imported.line} imports {imported.module}: {reason}.")
    return sentences


def sources(root: Path) -> dict[PurePosixPath, str]:
    """Text of every source in the three packages, by path below `root`."""
    return {
        PurePosixPath(found.relative_to(root).as_posix()): found.read_text(encoding="utf-8")
        for package in PACKAGES
        for suffix in ("py", "pyi", "pyx", "pxd", "pxi")
        for found in sorted((root / package).rglob(f"*.{suffix}"))
    }


def all_violations(texts: dict[PurePosixPath, str]) -> list[str]:
    """One sentence for each forbidden import in a tree of sources."""
    known = frozenset(module_of(path) for path in texts)
    return [sentence for path, text in texts.items() for sentence in violations(path, text, known)]


def circles(texts: dict[PurePosixPath, str]) -> list[list[str]]:
    """Every group of modules that import each other, directly or through others of the group, sorted.

    Imports for type checking and inside functions count.
    """
    known = frozenset(module_of(path) for path in texts)
    imports: dict[str, set[str]] = {name: set() for name in known}
    for path, text in texts.items():
        mine = module_of(path)
        imported = {one.module for one in imports_of(path, text, known)} & known
        imports[mine] |= imported - {mine}
    reached = {name: _reached(name, imports) for name in known}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in known
        if name in reached[name]
    }
    return sorted(list(group) for group in groups)


def _reached(start: str, imports: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in imports[waiting.pop()] - found:
            found.add(name)
            waiting.append(name)
    return found


def _objection(importer: str, imported: str) -> str | None:
    top = imported.split(".", 1)[0]
    if imported.startswith("."):
        return "write the import with its full name"
    if top in NEVER_SHIPPED:
        return f"{top} is not installed with the service, so move what is needed into the package"
    package = _package_of(importer)
    if package in ALONE and _package_of(imported) != package and top not in {*sys.stdlib_module_names, *ALONE[package]}:
        return f"{package} stands on {' and '.join([*ALONE[package], 'the standard library'])} alone"
    return None if top not in PACKAGES else _objection_to_ours(importer, imported)


def _package_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _objection_to_ours(importer: str, imported: str) -> str | None:
    mine, theirs = floor_of(importer), floor_of(imported)
    if mine is None:
        return f"{importer} has no floor and imports nothing of ours"
    if theirs is None:
        return f"name the module inside {imported} that is meant"
    if _is_client(importer) and top_of(imported) in {"actors", "fastpath"} and importer != STATE_PATH_USER:
        return "the operators' commands are clients, so ask the service over its interface"
    if _is_client(imported) and not _is_client(importer) and imported not in CLIENT_TABLES and importer != ENTRY:
        return "the service does without the operators' commands"
    if theirs > mine:
        return f"floor {mine} may not look up to floor {theirs}, so move what both need down or hand it in from transport.main"
    if mine > SYSTEM and theirs in {3, 4} and imported.split(".")[2] != "api":
        return f"transport uses a slice through its api, so put what it needs into actors.{imported.split('.')[1]}.api"
    if mine == theirs == 4 and importer.split(".")[1] != imported.split(".")[1]:
        return f"a slice knows another slice's messages only, so put what it needs into actors.{imported.split('.')[1]}.messages"
    return None


def _is_client(module: str) -> bool:
    return module.startswith(f"{CLIENT}.")


def top_of(module: str) -> str:
    """Return the first name of a dotted one."""
    return module.partition(".")[0]


def _python_imports(source: str) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            for alias in node.names:
                yield node.lineno, base, alias.name
        elif isinstance(node, ast.Call) and _called_name(node) in {"import_module", "__import__", "run_module"}:
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value, ""


def _called_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _cython_imports(source: str) -> Iterator[tuple[int, str, str]]:
    blanked = STRINGS.sub(lambda text: "\n" * text[0].count("\n"), source)
    lines = [line.split("#", 1)[0] for line in blanked.split("\n")]
    for index, line in enumerate(lines):
        if several := CYTHON_FROM.match(line):
            names = several[3]
            if several[2]:
                names = " ".join([names, *lines[index + 1 :]]).split(")", 1)[0]
            for name in names.split(","):
                if name.strip():
                    yield index + 1, several[1], name.split()[0]
        elif one := CYTHON_IMPORT.match(line):
            for name in one[1].split(","):
                if name.strip():
                    yield index + 1, name.split()[0], ""
