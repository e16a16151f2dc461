"""Generate docs/promises.md: each promise of the contract with its tests, from the `promise` markers.

`@pytest.mark.promise(number)` takes the promise's words from the first line of the test's docstring, for one case of a
parametrised test followed by the case's id; `@pytest.mark.promise(number, "words")` brings its own.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = ROOT / "docs" / "promises.md"
MIGRATION: Final = ROOT / "docs" / "migration.md"
NUMBERS: Final = range(1, 236)
BY_CHOICE: Final = "## Stays as it is by choice"
NAMED: Final = re.compile(r"\bpromises? ((?:\d+(?:, | and )?)+)")
HEAD: Final = """\
# The contract's promises and the test that tries each

Written by `make docs` from the `promise` markers of the tests. Most tests try a promise from outside: a running service as a
process of its own, real sockets. What is kept otherwise than written stands in [migration.md](migration.md), under "Stays as it
is by choice".

| | Promise | Tried by |
|---|---|---|
"""


class Proof(NamedTuple):
    """One test of one promise."""

    words: str
    place: str  # file::function


class _Collected:
    """pytest plugin that keeps what was collected."""

    def __init__(self) -> None:
        self.items: Sequence[pytest.Item] = ()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def proofs() -> dict[int, list[Proof]]:
    """The tests of every promise, by number; AssertionError when pytest cannot collect them."""
    files = [
        str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.promise(" in path.read_text("utf-8")
    ]
    collected, said = _Collected(), io.StringIO()
    with redirect_stdout(said):
        code = pytest.main(["--collect-only", "-q", "-m", "", "-p", "no:cacheprovider", *files], [collected])
    assert code == pytest.ExitCode.OK, said.getvalue()
    found: dict[int, dict[Proof, None]] = {}
    for item in collected.items:
        for number, proof in _of(item):
            found.setdefault(number, {})[proof] = None
    return {number: list(of_number) for number, of_number in sorted(found.items())}


def _of(item: pytest.Item) -> Iterator[tuple[int, Proof]]:
    assert isinstance(item, pytest.Function)
    place = f"{item.path.relative_to(ROOT)}::{item.originalname}"
    promise = ((item.function.__doc__ or "").strip().splitlines() or [""])[0].rstrip(".")
    case = item.callspec if hasattr(item, "callspec") else None
    for mark in item.iter_markers("promise"):
        of_case = case is not None and mark in case.marks
        words = f"{promise}: {case.id}" if of_case and case is not None else promise
        number = int(mark.args[0])
        words = str(mark.args[1]) if len(mark.args) > 1 else words
        assert words, f"{place}: promise {number} has no words"
        yield number, Proof(words, place)


def reasons(page: str) -> frozenset[int]:
    """Numbers that docs/migration.md names ("promise 7", "promises 7 and 9") under "Stays as it is by choice"."""
    section = page.partition(BY_CHOICE)[2].partition("\n## ")[0]
    return frozenset(int(number) for names in NAMED.findall(section) for number in re.findall(r"\d+", names))


def page(found: Mapping[int, Sequence[Proof]]) -> str:
    """The page."""
    return HEAD + "".join(f"| {number} | {_words(tests)} | {_places(tests)} |\n" for number, tests in found.items())


def _words(tests: Sequence[Proof]) -> str:
    words = "; ".join(dict.fromkeys(one.words for one in tests)).replace("|", "\\|")
    return re.sub(r"\bdocs/([\w-]+\.md)\b", r"[\1](\1)", words)


def _places(tests: Sequence[Proof]) -> str:
    return "<br>".join(dict.fromkeys(f"`{one.place.removeprefix('tests/')}`" for one in tests))


if __name__ == "__main__":
    sys.stdout.write(page(proofs()))
