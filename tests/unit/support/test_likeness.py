"""The JSON comparison of the wire cases: equal, different, place of a difference."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.wire.likeness import check_like, is_like, text_like


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
def test_what_is_like(wanted: Any, shown: Any) -> None:
    check_like(wanted, shown)


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
def test_what_is_not(wanted: Any, shown: Any) -> None:
    assert not is_like(wanted, shown)


def test_the_place_of_a_difference_is_named() -> None:
    with pytest.raises(AssertionError, match=r"it\.arm\[1\]\.x is 2, not 1"):
        check_like({"arm": [{"x": 1}, {"x": 1}]}, {"arm": [{"x": 1}, {"x": 2}]})


@pytest.mark.parametrize(("wanted", "shown"), [("a.c", "a.c"), ("…c", "abc"), ("a…", "a\nb"), ("…", "")])
def test_a_text_is_literal_but_for_what_stands_for_anything(wanted: str, shown: str) -> None:
    assert text_like(wanted, shown)
    assert not text_like(wanted.replace("…", "") + "!", shown)
