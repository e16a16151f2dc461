"""Pages name other pages by links, and type commands that Debian 12 has: python3 or .venv/bin/python, never a bare python or pip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "ops").glob("*.md")])
PROGRAMS = sorted((ROOT / "docs" / "examples").iterdir())
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n+)+")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\([^)\s]*\)")
NAMED = re.compile(r"(?<![\w/.-])((?:\.\./)*(?:[\w-]+/)*[\w-]+\.md)\b")
# A command of the shell at the beginning of a line or of a code span, or behind what begins a command.
BARE = re.compile(r"(?:^|[`\"'(|;&$]) *(?:sudo )?((?:python|pip3?)(?= [-\w.\"'/]).*)", re.MULTILINE)


def prose(text: str) -> str:
    """Return the text of a page without code blocks and comments."""
    return COMMENT.sub("", INDENTED.sub("\n", FENCED.sub("", text)))


def plain_names(page: Path, text: str) -> Iterator[str]:
    """Yield the names of other pages that stand in the text of `page` without being links."""
    for name in NAMED.findall(LINK.sub("", prose(text))):
        places = {(folder / name).resolve() for folder in (page.parent, ROOT, ROOT / "docs")}
        if places & {one for one in PAGES if one != page}:
            yield name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_page_that_is_named_is_a_link(page: Path) -> None:
    assert list(plain_names(page, page.read_text(encoding="utf-8"))) == [], "write [name](path) instead of a plain name"


@pytest.mark.parametrize("page", [*PAGES, *PROGRAMS], ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_types_a_python_or_pip_that_debian_does_not_have(page: Path) -> None:
    assert BARE.findall(page.read_text(encoding="utf-8")) == [], (
        "write python3, .venv/bin/python, or .venv/bin/python -m pip"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("See `docs/wire.md`.", ["docs/wire.md"]),
        ("See wire.md and [wire.md](wire.md).", ["wire.md"]),
        ("See [`docs/wire.md`](wire.md#connect).", []),
        ("```\ncat docs/wire.md\n```\n\n    cat docs/wire.md\n\n<!-- docs/wire.md -->\n", []),
        ("`docs/another.md`, docs/settings.md itself, https://example.org/docs/wire.md", []),
    ],
)
def test_plain_name_of_a_page_is_found(text: str, wanted: list[str]) -> None:
    assert list(plain_names(ROOT / "docs" / "settings.md", text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("    python wall.py", ["python wall.py"]),
        ("`pip install hapticd`", ["pip install hapticd`"]),
        ('cc -I "$(python -c 1)"', ['python -c 1)"']),
        ("make x && pip3 install y", ["pip3 install y"]),
        (
            "python3 wall.py\n.venv/bin/python wall.py\n.venv/bin/python -m pip install x\n```python\nx\n```\nIn Python",
            [],
        ),
    ],
)
def test_bare_command_is_found(text: str, wanted: list[str]) -> None:
    assert BARE.findall(text) == wanted
