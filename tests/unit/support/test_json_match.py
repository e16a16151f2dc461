"""The JSON comparison of the wire cases: equal, different, place of a difference."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.wire.json_match import check_match, matches, text_matches


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("…", None),
        ("…", {"x": 1}),
        ({"x": 1}, {"x": 1}),
        ({"x": 0.1}, {"x": 0.10000000149}),
        ({"x": "…", "…": "…"}, {"x": [1], "y": 2}),
        ([1, "…"], [1, 2, 3]),
        (["…"], []),
        ("use …, please", "use this, please"),
        ({"ok": True, "none": None}, {"none": None, "ok": True}),
    ],
)
def test_matching_values_pass(wanted: Any, shown: Any) -> None:
    check_match(wanted, shown)


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ({"x": 1}, {"x": 1, "y": 2}),
        ({"x": 1, "…": "…"}, {"y": 2}),
        ({"x": "…"}, {}),
        ({}, {"x": 1}),
        ({}, []),
        ([1], [1, 2]),
        ([1, 2, "…"], [1]),
        ([2, 1], [1, 2]),
        (1, 1.00001),
        (1, True),
        (True, 1),
        (0, None),
        (None, 0),
        ("1", 1),
        ("use …, please", "use this"),
        ("a…", 1),
    ],
)
def test_differing_values_fail(wanted: Any, shown: Any) -> None:
    assert not matches(wanted, shown)


def test_difference_names_its_path() -> None:
    with pytest.raises(AssertionError, match=r"it\.arm\[1\]\.x is 2, not 1"):
        check_match({"arm": [{"x": 1}, {"x": 1}]}, {"arm": [{"x": 1}, {"x": 2}]})


@pytest.mark.parametrize(("wanted", "shown"), [("a.c", "a.c"), ("…c", "abc"), ("a…", "a\nb"), ("…", "")])
def test_only_the_ellipsis_is_a_wildcard_in_text(wanted: str, shown: str) -> None:
    assert text_matches(wanted, shown)
    assert not text_matches(wanted.replace("…", "") + "!", shown)
