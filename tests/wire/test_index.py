"""tests/wire/INDEX.md is complete: every row has a proof or the word `awaited` with a reason, and every proof exists."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import pytest

from tests.support.page import sections
from tests.support.wire_cases import WIRE, read_cases

TESTS: Final = WIRE.parent
INDEX: Final = (WIRE / "INDEX.md").read_text(encoding="utf-8")
AWAITED: Final = "awaited: "
# Rows of each table: they may only go up, so that a row which is taken away is missed whatever its table says.
LEAST: Final = MappingProxyType(
    {
        "Previews": 8,
        "Naming a device": 8,
        "Configure map of a device": 15,
        "Presets": 14,
        "Transforms": 9,
        "Commands": 11,
        "Old forms of commands": 7,
        "Fields of frames": 26,
        "Words": 17,
        "Ports and listeners": 12,
        "Session channel": 34,
        "Come back": 9,
        "States": 12,
        "Form of HTTP": 28,
        "Routes": 37,
        "Deprecated routes": 7,
        "Errors that firmware makes": 5,
        "Kinds of events": 35,
        "Limits": 8,
        "Kinds of devices": 10,
        "Numbers as text": 4,
        "Spaces": 4,
        "Settings": 15,
        "What changed in 3.5.3": 7,
    }
)


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
def test_a_row_is_proven_or_awaited(row: Row) -> None:
    assert row.proofs, f"{row.title} has no proof"
    assert {proof: fault(proof) for proof in row.proofs if fault(proof)} == {}


def test_the_number_of_awaited_rows_is_the_one_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    awaited = [row for row in rows(INDEX) if any(proof.startswith(AWAITED) for proof in row.proofs)]
    said = re.search(r"^Awaited: (\d+)\.$", INDEX, re.MULTILINE)

    with capsys.disabled():
        sys.stdout.write(f"\n{len(awaited)} of {len(rows(INDEX))} rows of tests/wire/INDEX.md are awaited\n")
    assert said is not None
    assert len(awaited) == int(said[1])


def tables(index: str) -> dict[str, str]:
    """The text of each section by its title."""
    parts = (part.partition("\n") for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:])
    return {title: text for title, _, text in parts}


def miscounted(index: str) -> list[str]:
    """The titles of the sections whose table has another number of rows than is said above it."""
    return [
        title
        for title, text in tables(index).items()
        if re.findall(r"^Rows: (\d+)\.$", text, re.MULTILINE) != [str(len(rows(text)))]
    ]


def shrunk(index: str) -> list[str]:
    """The titles of the sections that have gone, or whose table has fewer rows than it had, whatever it says."""
    found = tables(index)
    return [title for title, least in LEAST.items() if len(rows(found.get(title, ""))) < least]


def test_every_table_has_the_rows_that_it_says() -> None:
    assert miscounted(INDEX) == []


def test_a_row_that_was_taken_away_is_noticed() -> None:
    one = "\n".join(line for line in INDEX.splitlines() if not line.startswith("| force_gate.gain, "))
    assert miscounted(one) == ["Configure map of a device"]
    assert miscounted(INDEX.replace("Rows: ", "About: ", 1)) == [re.findall(r"^## (.+)$", INDEX, re.MULTILINE)[0]]


def test_no_table_has_fewer_rows_than_it_had() -> None:
    assert shrunk(INDEX) == []
    assert list(tables(INDEX)) == list(LEAST)


def test_a_row_that_was_taken_away_with_its_count_is_noticed() -> None:
    row = "| row | proof |\n"
    full = "".join(f"## {title}\n\nRows: {least}.\n\n{row * least}\n" for title, least in LEAST.items())
    less = full.replace(f"Rows: 14.\n\n{row}", "Rows: 13.\n\n", 1)

    assert shrunk(full) == []
    assert miscounted(less) == []
    assert shrunk(less) == ["Presets"]
    assert shrunk("") == list(LEAST)


def test_every_row_was_read() -> None:
    heads = {"| Row | Proof |", "|---|---|"}

    assert len(rows(INDEX)) == sum(line.startswith("|") and line not in heads for line in INDEX.splitlines()) > 300


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
def test_a_proof_that_is_none_is_noticed(proof: str) -> None:
    assert fault(proof)
