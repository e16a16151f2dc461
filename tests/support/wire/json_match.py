"""Compare JSON with an expected value: exact, except float32 numbers and `…`, which matches anything.

`"…"` is any value, `…` inside a string any characters; `"…": "…"` in an object is more fields, a last `"…"` in an array more entries.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

import pytest

ANY: Final = "…"
FLOAT32: Final = 1e-6
TINY: Final = 1e-9


def check_match(wanted: object, shown: object, place: str = "it") -> None:
    """AssertionError that names the place where they differ."""
    if wanted == ANY:
        return
    if isinstance(wanted, dict):
        _check_object(cast("dict[str, Any]", wanted), shown, place)
    elif isinstance(wanted, list):
        _check_array(cast("list[object]", wanted), shown, place)
    elif isinstance(wanted, str) and ANY in wanted:
        assert isinstance(shown, str), f"{place} is {shown!r}, not {wanted!r}"
        assert text_matches(wanted, shown), f"{place} is {shown!r}, not {wanted!r}"
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        assert type(shown) in (int, float), f"{place} is {shown!r}, not {wanted}"
        assert shown == pytest.approx(wanted, rel=FLOAT32, abs=TINY), f"{place} is {shown}, not {wanted}"
    else:
        assert type(shown) is type(wanted), f"{place} is {shown!r}, not {wanted!r}"
        assert shown == wanted, f"{place} is {shown!r}, not {wanted!r}"


def matches(wanted: object, shown: object) -> bool:
    """Whether `check_match` finds no difference."""
    try:
        check_match(wanted, shown)
    except AssertionError:
        return False
    return True


def text_matches(wanted: str, shown: str) -> bool:
    """Whether a text is another one in which `…` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, wanted.split(ANY))), shown, re.DOTALL) is not None


def _check_object(wanted: dict[str, Any], shown: object, place: str) -> None:
    assert isinstance(shown, dict), f"{place} is {shown!r}, not an object"
    fields = cast("dict[str, Any]", shown)
    named = wanted.keys() - {ANY}
    assert named <= fields.keys(), f"{place} is without {sorted(named - fields.keys())}: {fields!r}"
    if ANY not in wanted:
        assert named == fields.keys(), f"{place} has {sorted(fields.keys() - named)} too"
    for name in named:
        check_match(wanted[name], fields[name], f"{place}.{name}")


def _check_array(wanted: list[Any], shown: object, place: str) -> None:
    assert isinstance(shown, list), f"{place} is {shown!r}, not an array"
    entries = cast("list[object]", shown)
    named = wanted[:-1] if wanted[-1:] == [ANY] else wanted
    assert len(entries) >= len(named), f"{place} has {len(entries)} entries, not {len(named)}"
    if named is wanted:
        assert len(entries) == len(named), f"{place} has {len(entries)} entries, not {len(named)}"
    for index, (one, other) in enumerate(zip(named, entries, strict=False)):
        check_match(one, other, f"{place}[{index}]")
