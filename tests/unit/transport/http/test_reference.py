"""docs/http.md and the pages of its subjects are current: every route has a section with a curl example on one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from transport.http.app import HTTP_ROUTES
from transport.http.reference import SUBJECTS, Subject, pages, routes_of

DOCS = Path(__file__).parents[4] / "docs"


def test_pages_in_docs_are_current() -> None:
    kept = [DOCS / "http.md", *(DOCS / "http").iterdir()]

    assert {str(page.relative_to(DOCS)): page.read_text(encoding="utf-8") for page in kept} == pages(), (
        "docs/http.md or a page of docs/http/ is old: make docs writes them again"
    )


def test_module_writes_the_pages_and_removes_that_of_a_former_subject(tmp_path: Path) -> None:
    (tmp_path / "http").mkdir()
    (tmp_path / "http" / "former.md").touch()

    subprocess.run([sys.executable, "-m", "transport.http.reference", str(tmp_path)], check=True, cwd=DOCS.parent)

    written = {str(page.relative_to(tmp_path)): page for page in tmp_path.rglob("*.md")}
    assert {name: page.read_text(encoding="utf-8") for name, page in written.items()} == pages()


def test_every_route_has_a_section_on_one_page_and_a_link_in_the_index() -> None:
    index, *subjects = pages().values()
    together = "".join(subjects)

    for route in HTTP_ROUTES:
        assert together.count(f"\n## {route.method} {route.shape}\n") == 1
    assert together.count("\ncurl") == len(list(HTTP_ROUTES))
    assert index.count("](http/") == len(list(HTTP_ROUTES)) + len(SUBJECTS)
    assert "$ref" not in together
    assert "None" not in together


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_subject_has_routes(subject: Subject) -> None:
    assert routes_of(subject)
