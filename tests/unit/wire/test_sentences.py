"""Every reason that the service puts into `errors` is a whole sentence of at most 100 characters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.values.similar import nearest
from transport.wire.commands import UNKNOWN_COMMAND

ROOT = Path(__file__).parents[3]
LIMIT = 100
# Calls whose argument of this number, or of this name, becomes a reason.
TELLERS = {"fault": 1, "name_unknown": 1, "InvalidInput": 0, "Refused": 1, "note": 1}
FOLDERS = ("transport/wire", "transport/session", "transport/ws", "actors/session", "actors/modules")
# A placeholder in a sentence: an id, a word, a kind, a number. Longer ones have a test of their own, or lists that follow.
PLACEHOLDER = 12
# Sentences whose last part comes from the system, or from another program; the frame cuts them behind a word.
OF_OTHERS = ("error.sentence", "error.reason")


def sentences() -> Iterator[tuple[str, ast.expr]]:
    """Every expression that becomes a reason, with its place."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    at = TELLERS.get(name, -1)
                    if 0 <= at < len(node.args):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", node.args[at]


def longest(node: ast.expr) -> int:
    """Characters of a sentence: PLACEHOLDER for a part that is not text, or as many as it is cut to; of two sentences the longer."""
    if isinstance(node, ast.IfExp):
        return max(longest(node.body), longest(node.orelse))
    if isinstance(node, ast.FormattedValue):
        cut = (
            node.value.slice.upper
            if isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Slice)
            else None
        )
        return cut.value if isinstance(cut, ast.Constant) and isinstance(cut.value, int) else PLACEHOLDER
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return len(node.value)
    if isinstance(node, ast.JoinedStr):
        return sum(map(longest, node.values))
    if isinstance(node, ast.BinOp):
        return longest(node.left) + longest(node.right)
    return 0


FOUND = list(sentences())


def test_sentences_are_found() -> None:
    assert len(FOUND) > 80


@pytest.mark.parametrize(("place", "node"), FOUND, ids=[place for place, _ in FOUND])
def test_sentence_fits(place: str, node: ast.expr) -> None:
    if any(of in ast.unparse(node) for of in OF_OTHERS):
        return
    assert longest(node) <= LIMIT, f"{place}: say it in {LIMIT} characters: {ast.unparse(node)}"


def constants() -> Iterator[tuple[str, str]]:
    """Module constants that read as reasons."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
                    value = node.value.value
                    if isinstance(value, str) and re.match(r"[a-z].* .* ", value):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", value


@pytest.mark.parametrize(("place", "text"), list(constants()))
def test_constant_sentence_fits(place: str, text: str) -> None:
    assert len(text) <= LIMIT, f"{place}: say it in {LIMIT} characters"


def test_lists_of_words_fit() -> None:
    assert len(UNKNOWN_COMMAND) <= LIMIT


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("Arm", ("arm", "grip"), "arm"),
        ("grips", ("arm", "grip"), "grip"),
        ("049d", ("049D", "16F2"), "049D"),
        ("inverse4", ("inverse3", "minverse"), "inverse3"),
        ("gravity", ("basis", "gravity_compensation"), "gravity_compensation"),
        ("set", ("set_force_now", "b"), None),
        ("set_x", ("set_x_of_all_of_these", "set_x_of_all_of_those"), None),
        ("", ("arm",), None),
        ("xyz", ("arm",), None),
        ("arm", (), None),
        ("\x00" * 40, ("arm",), None),
    ],
)
def test_nearest_word(word: str, known: tuple[str, ...], meant: str | None) -> None:
    assert nearest(word, known) == meant
