"""Rules about the sources' text: vendor words only in the specs of kinds, whole command-line options, sorted Cython imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

KINDS = PurePosixPath("actors/values/kinds")
VENDOR_WORD = re.compile(r"inverse3x?|minverse|(?:[a-z]+[_\- ])*verse[_\- ]?grip|haply", re.IGNORECASE)
CYTHON_IMPORT = re.compile(
    r"^(?:from (?P<module>[\w.]+) c?import (?:\((?P<several>[^)]*)\)|(?P<names>.+))|c?import (?P<whole>[\w.]+).*)$",
    re.MULTILINE,
)


def vendor_words(path: PurePosixPath, text: str) -> list[str]:
    """One sentence for each line of a source, other than the specs of kinds, that holds a vendor's word."""
    if path.parent == KINDS:
        return []
    return [
        f"{path}:{number} says {found[0]!r}: only the specs in {KINDS} know the vendor's words, so use the neutral one."
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := VENDOR_WORD.search(line))
    ]


def takes_parts_of_options(path: PurePosixPath, text: str) -> list[str]:
    """One sentence for each parser of a command line that would take the beginning of an option's name for the option."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [
        f"{path}:{call.lineno} makes a parser without allow_abbrev=False: an option is its whole name."
        for call in calls
        if re.search(r"(^|\.)(add_parser|(Argument)?Parser)$", ast.unparse(call.func))
        and "allow_abbrev=False" not in [ast.unparse(given) for given in call.keywords]
    ]


def unsorted_imports(path: PurePosixPath, text: str) -> list[str]:
    """One sentence for each import of a Cython source that stands in the wrong place or has unsorted names.

    Three groups, each sorted by module, `import` and `cimport` alike: standard library and C, numpy, fastpath.
    """
    found = list(CYTHON_IMPORT.finditer(text))
    sentences = [
        f"{path}:{text.count(chr(10), 0, later.start()) + 1} imports {_module(later)} after {_module(before)}: sort by group and module."
        for before, later in pairwise(found)
        if import_key(_module(later)) < import_key(_module(before))
    ]
    for one in found:
        names = [name.split()[0] for name in (one["several"] or one["names"] or "").split(",") if name.strip()]
        if names != sorted_names(names):
            line = text.count("\n", 0, one.start()) + 1
            sentences.append(f"{path}:{line} imports unsorted names: write {', '.join(sorted_names(names))}.")
    return sentences


def import_key(module: str) -> tuple[int, str]:
    """Sort key of an imported module: its group, then its name."""
    return {"numpy": 1, "fastpath": 2}.get(module.split(".", 1)[0], 0), module


def sorted_names(names: Sequence[str]) -> list[str]:
    """Imported names in ruff's order: constants, classes, functions; digits by value."""
    return sorted(names, key=_name_key)


def _name_key(name: str) -> tuple[int, list[tuple[str, int]]]:
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D+)(\d*)", name)]


def _module(found: re.Match[str]) -> str:
    return found["module"] or found["whole"]
