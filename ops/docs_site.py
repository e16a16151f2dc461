"""Gather the pages of the documentation site for mkdocs, and check what it built: `make docs-site`.

`docs_site.py pages DIR` copies every Markdown page and what pages link to into DIR, in the folders of the repository, and adds the pages of
the examples and of OpenAPI. Only the pages of PLACES get another place; links follow them. `docs_site.py check DIR` fails when a built page
would fetch something from elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
LINK: Final = re.compile(r"(?<=\]\()([^)#\s]+)(?=(?:#[^)]*)?\))")
# Pages that have another place on the site than in the repository; docs/examples is a folder there and a page here.
PLACES: Final[Mapping[str, str]] = MappingProxyType(
    {"docs/home.md": "index.md", "README.md": "start.md", "docs/examples": "docs/examples/programs.md"}
)
STYLE_URL: Final = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")
# Factors in search of the pages whose path begins so, the first that fits: a word finds the page that explains it before records of why it
# is so, and a word of the protocol finds the wire first.
BOOSTS: Final[Mapping[str, float]] = MappingProxyType(
    {"docs/wire.md": 2, "docs/decisions/": 0.05, "docs/promises.md": 0.2, "CHANGELOG.md": 0.2}
)
# A fence with a second word, such as "json client". mkdocs takes a fence with more than a language for text, headings below it included.
SPOKEN: Final = re.compile(r"^```(\w+) (\w[\w ]*)$", re.MULTILINE)
EXAMPLES: Final = """\
# Examples

Programs to start from, in `docs/examples/`. In a clone, `make run` starts a service with a simulated arm, and in another terminal

    .venv/bin/python -m pip install websockets
    .venv/bin/python docs/examples/wall.py

runs one of them.
"""
OPENAPI: Final = """\
# HTTP, OpenAPI

The description that a running service gives at `GET /openapi.json`, without the devices and sessions of one. [http.md](http.md) is
the same as a page to read, with examples; [openapi.json](openapi.json) is the file.

<swagger-ui src="openapi.json"/>
"""


def main(what: str, folder: Path) -> None:
    """Do one of the two; SystemExit with the reason when a built page is not self-contained."""
    if what == "pages":
        gather(folder)
    elif what == "check":
        found = [f"{page.relative_to(folder)}: {url}" for page in sorted(folder.rglob("*")) for url in fetched(page)]
        if found:
            raise SystemExit("fetched from elsewhere:\n" + "\n".join(found))
    else:
        raise SystemExit(f"{what} is neither pages nor check")


def gather(folder: Path) -> None:
    """Make `folder` anew with every page and file of the site."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "ops").glob("*.md")]
    linked = {target for page in pages for target in targets(page)}
    for source in sorted({*pages, *linked}):
        place = folder / placed(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            place.write_text(boost(source) + relinked(source), encoding="utf-8")
        else:
            shutil.copyfile(source, place)
    (folder / "docs" / "examples").mkdir(exist_ok=True)
    (folder / "docs" / "examples" / "programs.md").write_text("\n".join(_examples()), encoding="utf-8")
    (folder / "docs" / "openapi.md").write_text(OPENAPI, encoding="utf-8")
    (folder / "docs" / "openapi.json").write_text(json.dumps(openapi()), encoding="utf-8")


def placed(source: Path) -> str:
    """Return the place of a file of the repository on the site."""
    name = str(source.relative_to(ROOT))
    return PLACES.get(name, name)


def relinked(page: Path) -> str:
    """Return the text of a page with links that lead to where the site has their targets, and the second word of a fence as its title."""

    def followed(link: re.Match[str]) -> str:
        target = (page.parent / link[1]).resolve()
        if "://" in link[1] or not target.is_relative_to(ROOT):
            return link[1]
        return os.path.relpath(placed(target), Path(placed(page)).parent)

    return SPOKEN.sub(r'```\1 title="\2"', LINK.sub(followed, page.read_text(encoding="utf-8")))


def boost(page: Path) -> str:
    """Return the front matter that ranks a page of BOOSTS higher in search, "" for others."""
    name = str(page.relative_to(ROOT))
    factor = next((factor for beginning, factor in BOOSTS.items() if name.startswith(beginning)), None)
    return "" if factor is None else f"---\nsearch:\n  boost: {factor:g}\n---\n"


def targets(page: Path) -> Iterator[Path]:
    """Yield the files of the repository that a page links to, those of pages that only mkdocs has excepted."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / link).resolve()
        if "://" not in link and target.is_file() and target.is_relative_to(ROOT):
            yield target


def fetched(file: Path) -> list[str]:
    """Return the addresses elsewhere that a built page or style sheet loads by itself."""
    if file.suffix == ".html":
        reader = _Loads()
        reader.feed(file.read_text(encoding="utf-8"))
        return reader.found
    return STYLE_URL.findall(file.read_text(encoding="utf-8")) if file.suffix == ".css" else []


class _Loads(HTMLParser):
    """Collects what a page loads: scripts, styles, images, frames. A link that a reader follows is none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of one tag."""
        fields = dict(attrs)
        loads = tag != "a" and not (tag == "link" and fields.get("rel") in {"canonical", "next", "prev", "edit"})
        for name in ("src", "href", "data", "poster"):
            url = fields.get(name) or ""
            if loads and re.match(r"(?:https?:)?//", url):
                self.found.append(url)
        self.found += STYLE_URL.findall(fields.get("style") or "")


def _examples() -> Iterator[str]:
    yield EXAMPLES
    for program in sorted((ROOT / "docs" / "examples").glob("*.py")):
        yield f"## {program.name}\n\n```python\n{program.read_text(encoding='utf-8')}```\n"


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the service, without its devices and sessions."""
    sys.path.insert(0, str(ROOT))
    from actors.values.interface import INTERFACE
    from transport.http.app import HTTP_ROUTES
    from transport.http.openapi import document
    from transport.http.schema.service_values import ServiceValues

    return dict(document(HTTP_ROUTES, ServiceValues(), INTERFACE))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
