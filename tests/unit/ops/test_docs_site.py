"""ops/docs_site.py gathers every page with what it links to, and finds what a page would fetch from elsewhere."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[3]
SITE: Final = runpy.run_path(str(ROOT / "ops" / "docs_site.py"))
LINK: Final = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    SITE["gather"](folder)
    return folder


def test_every_page_is_gathered_and_its_links_lead_to_gathered_files(pages: Path) -> None:
    gathered = {path.relative_to(pages) for path in pages.rglob("*.md")}
    sources = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "ops").glob("*.md")]

    assert {Path(SITE["placed"](path)) for path in sources} <= gathered
    for page in pages.rglob("*.md"):
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            assert "://" in link or (page.parent / link).is_file(), f"{page.name}: {link}"


def test_every_fence_has_a_language_and_a_title_at_most_so_that_mkdocs_takes_it_for_code(pages: Path) -> None:
    for page in pages.rglob("*.md"):
        opened = re.findall(r"^(?:```(?:(.*)\n)(?:.*\n)*?```)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert [line for line in opened if not re.fullmatch(r'\w*(?: title="[\w ]+")?', line)] == [], page.name


def test_every_page_is_in_the_navigation(pages: Path) -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r"[\w./-]+\.md", nav))
    gathered = {str(path.relative_to(pages)) for path in pages.rglob("*.md")}

    assert {name for name in gathered if not re.match(r"docs/decisions/\d", name)} == named


def test_openapi_describes_the_routes(pages: Path) -> None:
    found: Any = json.loads((pages / "docs" / "openapi.json").read_text(encoding="utf-8"))

    assert found["openapi"].startswith("3.1")
    assert "/stop" in found["paths"]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.html", '<script src="https://x.example/a.js"></script>', ["https://x.example/a.js"]),
        ("a.html", '<link rel="stylesheet" href="//x.example/a.css">', ["//x.example/a.css"]),
        ("a.html", '<img src="http://x.example/a.png">', ["http://x.example/a.png"]),
        ("a.html", '<p style="background: url(https://x.example/a.png)">', ["https://x.example/a.png"]),
        ("a.html", '<a href="https://x.example/">x</a><img src="a.png"><link rel="canonical" href="https://x">', []),
        ("a.css", '@import "https://x.example/a.css"; a { background: url(b.png) }', ["https://x.example/a.css"]),
        ("a.txt", "https://x.example/", []),
    ],
)
def test_what_a_page_fetches_from_elsewhere_is_found(tmp_path: Path, name: str, text: str, wanted: list[str]) -> None:
    page = tmp_path / name
    page.write_text(text, encoding="utf-8")

    assert SITE["fetched"](page) == wanted


def test_page_that_fetches_from_elsewhere_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<img src="https://x.example/a.png">', encoding="utf-8")

    with pytest.raises(SystemExit, match=r"a\.html: https://x\.example/a\.png"):
        SITE["main"]("check", tmp_path)
