"""The supervision tree of docs/architecture.md is the one that a `System` starts."""

from __future__ import annotations

import pytest

from tests.support.suite.supervision_tree import SECTION, tree


def test_page_shows_the_supervision_tree_of_the_sources() -> None:
    text = SECTION.page.read_text(encoding="utf-8")

    assert SECTION.replaced(text, tree()) == text, "the page is not current: run make docs"


def test_tree_names_children_below_the_actor_that_spawns_them() -> None:
    lines = [line.lstrip("│├└─ ") for line in tree().splitlines()]

    assert [line.split()[:2] for line in lines[lines.index("supervisor") + 4 : lines.index("supervisor") + 6]] == [
        ["ports", "PortManager"],
        ["port/…", "PortGuard,"],
    ]


def test_page_without_its_marks_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="keep its two marks exactly once"):
        SECTION.replaced("# Architecture\n", tree())
