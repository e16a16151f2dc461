"""docs/http.md is current: every route has a section with a curl example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from transport.http.app import HTTP_ROUTES
from transport.http.reference import page

PAGE = Path(__file__).parents[4] / "docs" / "http.md"


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/http.md is old: make docs writes it again"


def test_the_module_prints_the_page() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "transport.http.reference"], check=True, capture_output=True, cwd=PAGE.parents[1]
    )

    assert printed.stdout.decode() == page()


def test_every_route_has_a_section_with_a_curl_example() -> None:
    shown = page()

    for route in HTTP_ROUTES:
        assert f"\n### {route.method} {route.shape}\n" in shown
    assert shown.count("\ncurl") == len(list(HTTP_ROUTES))
    assert "$ref" not in shown
    assert "None" not in shown
