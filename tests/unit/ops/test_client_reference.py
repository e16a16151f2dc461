"""docs/client-reference.md is current and has every public name of the client."""

from __future__ import annotations

from pathlib import Path

import hapticd_client
from ops.client_reference import SECTIONS, page

DOCS = Path(__file__).parents[3] / "docs"


def test_page_is_current() -> None:
    assert (DOCS / "client-reference.md").read_text("utf-8") == "\n".join(page()).rstrip("\n") + "\n", "run make docs"


def test_every_public_name_is_on_it() -> None:
    named = {name for section in SECTIONS.values() for name, _ in section}

    assert set(hapticd_client.__all__) - named == {"INTERFACE", "aio"}


def test_every_line_of_a_public_name_says_something() -> None:
    assert all(line.strip(" |") for line in page() if line.startswith("|"))
