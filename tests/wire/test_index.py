"""tests/wire/INDEX.md is complete: each row has an existing test or the word `awaited` with a reason."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.support.wire.cases import WIRE, read_cases
from tests.support.wire.doc_page import sections

TESTS: Final = WIRE.parent
INDEX: Final = (WIRE / "INDEX.md").read_text(encoding="utf-8")
AWAITED: Final = "awaited: "


class Row(NamedTuple):
    """One row of the index."""

    title: str
    proofs: tuple[str, ...]


def rows(index: str) -> list[Row]:
    """The rows of all tables, without heads and rules."""
    found = [line.split("|")[1:-1] for line in index.splitlines() if line.startswith("|")]
    return [
        Row(cells[0].strip(), tuple(proof.strip() for proof in cells[1].split("<br>") if proof.strip()))
        for cells in found
        if cells[0].strip() not in {"Row", "---"}
    ]


def fault(proof: str) -> str | None:
    """Why a proof is none; None for one that is."""
    if proof.startswith(AWAITED):
        return None if len(proof) > len(AWAITED) else "no reason is given"
    named = re.fullmatch(r"`(.+)`", proof)
    if named is None:
        return "write it as code"
    node = re.fullmatch(r"([\w/]+\.py)::(\w+)", named[1])
    if node is not None:
        return None if node[2] in functions_of(node[1]) else "there is no such test"
    place, _, name = named[1].partition(": ")
    return None if name in names_in(place) else "there is no such case or section"


@cache
def functions_of(path: str) -> frozenset[str]:
    """The tests of a file, by its path under tests/."""
    file = TESTS / path
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    defined = (one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in defined if name.startswith("test_"))


@cache
def names_in(place: str) -> frozenset[str]:
    """What the cases of a file say, or the sections of a page that are played."""
    if place.endswith(".md"):
        return frozenset(section.title for section in sections(place))
    folder, _, file = place.partition("/")
    if not (WIRE / place).is_file():
        return frozenset()
    return frozenset(str(case["says"]) for case in read_cases(Path(file).stem, folder))


@pytest.mark.parametrize("row", rows(INDEX), ids=lambda row: row.title)
def test_every_row_names_a_test_or_is_awaited(row: Row) -> None:
    assert row.proofs, f"{row.title} has no proof"
    assert {proof: fault(proof) for proof in row.proofs if fault(proof)} == {}


def test_every_row_of_the_page_is_parsed() -> None:
    heads = {"| Row | Proof |", "|---|---|"}

    assert len(rows(INDEX)) == sum(line.startswith("|") and line not in heads for line in INDEX.splitlines())


@pytest.mark.parametrize(
    "proof",
    [
        "`cases/view.json: nothing of the kind`",
        "`cases/nowhere.json: the view ends with the session`",
        "`wire/test_index.py::test_of_nothing`",
        "`wire/test_nowhere.py::test_of_nothing`",
        "`wire.md: No such section`",
        "wire/test_index.py::test_of_nothing",
        "awaited: ",
        "somehow",
    ],
)
def test_missing_test_of_a_row_is_detected(proof: str) -> None:
    assert fault(proof)
