"""docs/README.md lists every page, and every link between pages has a target."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "ops").glob("*.md")])


def linked(page: Path) -> list[str]:
    """Targets of the page's links within the repository."""
    return [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]


def test_index_lists_every_page() -> None:
    listed = {(DOCS / target).resolve() for target in linked(DOCS / "README.md")}

    assert [page.name for page in sorted(DOCS.glob("*.md")) if page not in listed and page.name != "README.md"] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    assert [target for target in linked(page) if not (page.parent / target).exists()] == []
