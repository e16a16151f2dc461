"""Wildcard patterns: what they match, and bounded matching time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.values.selector import is_pattern, matches


@pytest.mark.parametrize(
    ("pattern", "text", "covered"),
    [
        ("", "", True),
        ("", "a", False),
        ("*", "", True),
        ("*", "anything at all", True),
        ("?", "a", True),
        ("?", "", False),
        ("?", "ab", False),
        ("a*", "a", True),
        ("a*", "ba", False),
        ("*a", "aa", True),
        ("a*b*c", "a-b-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("**", "x", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("a.c", "abc", False),
        ("A", "a", False),
        ("*\n*", "line\nline", True),
        ("\\*", "*", False),
        ("\\*", "\\x", True),
    ],
)
def test_pattern_matches_the_whole_text(pattern: str, text: str, covered: bool) -> None:
    assert matches(pattern, text) is covered


def test_a_question_mark_can_be_literal() -> None:
    assert matches("a?", "a?", single=False)
    assert not matches("a?", "ab", single=False)
    assert not is_pattern("a?", single=False)
    assert is_pattern("a?")
    assert is_pattern("a*", single=False)
    assert not is_pattern("plain")


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_pattern_agrees_with_a_regular_expression(pattern: str, text: str) -> None:
    expression = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern)

    assert matches(pattern, text) is (re.fullmatch(expression, text) is not None)


def test_many_stars_against_a_near_match_end_at_once() -> None:
    assert not matches("a*" * 200 + "b", "a" * 400)
