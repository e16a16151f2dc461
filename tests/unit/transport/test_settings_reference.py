"""docs/settings.md is current: one row for each setting."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from transport.settings_catalog import SETTINGS_CATALOG
from transport.settings_reference import page

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/settings.md is old: make docs writes it again"


def test_the_module_prints_the_page() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "transport.settings_reference"], check=True, capture_output=True, cwd=PAGE.parents[1]
    )

    assert printed.stdout.decode() == page()


def test_every_setting_has_one_row_with_its_default_and_what_it_takes() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `")]

    assert len(rows) == len(SETTINGS_CATALOG)
    for row, setting in zip(rows, SETTINGS_CATALOG, strict=True):
        assert row.startswith(f"| `{setting.key}` ")
        assert setting.description in re.sub(r"\[([\w-]+\.md)\]\(\1\)", r"docs/\1", row)
        assert setting.wanted() in row
        assert ("start" in row.split("|")[1]) == setting.locked
        assert row.count("|") == 6
