"""Print the runbook as the page that the service serves, `/dashboard/runbook.html`: `python -m ops.runbook_page`.

Each heading has the anchor that GitHub gives it, lower case, which the alerts of prometheus/alerts.yml name.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

SOURCE: Final = Path(__file__).with_name("runbook.md")
FRAME: Final = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light">
    <title>hapticd: runbook</title>
    <link rel="icon" href="icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="css/theme.css">
    <link rel="stylesheet" href="css/runbook.css">
  </head>
  <body>
    <nav><a href="./">Dashboard of this service</a></nav>
    <main>
{body}    </main>
  </body>
</html>
"""


def page(source: str) -> str:
    """Return the page of a runbook in Markdown."""
    markdown = MarkdownIt("commonmark")
    tokens = markdown.parse(source)
    for heading, words in itertools.pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", words.content.lower().replace(" ", "-"))
        if words.children:
            words.children = _without_paths(words.children)
    return FRAME.replace("{body}", markdown.renderer.render(tokens, markdown.options, {}))


def _without_paths(children: Sequence[Token]) -> list[Token]:
    """Return the parts of a text without links to files, which this page does not stand beside; their words stay."""
    kept: list[Token] = []
    dropped = False
    for token in children:
        if token.type == "link_open":
            dropped = not str(token.attrGet("href")).startswith(("#", "https://"))
        if not (dropped and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


if __name__ == "__main__":
    sys.stdout.write(page(SOURCE.read_text(encoding="utf-8")))
