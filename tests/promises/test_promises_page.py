"""docs/promises.md is current, and every promise of the contract has a test or a written reason."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

from tests.support.suite.promises import BY_CHOICE, MIGRATION, NUMBERS, PAGE, ROOT, reasons


@cache
def written() -> str:
    """The page as `make docs` writes it now."""
    command = [sys.executable, "-m", "tests.support.suite.promises"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_page_of_promises_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == written(), "docs/promises.md is old: make docs writes it again"


def test_reasons_are_read_from_their_section_only() -> None:
    text = f"promise 1\n{BY_CHOICE}\n\nkept (promise 7); also promises 9, 12 and 13.\n\n## More\n\npromise 2"

    assert reasons(text) == {7, 9, 12, 13}
    assert reasons("promise 1") == frozenset()


def test_every_promise_has_a_test_or_a_reason() -> None:
    tried = {int(number) for number in re.findall(r"^\| (\d+) \|", written(), re.MULTILINE)}
    kept_otherwise = reasons(MIGRATION.read_text(encoding="utf-8"))

    assert tried <= set(NUMBERS)
    assert set(NUMBERS) - tried - kept_otherwise == set()
