"""Values that are kept until one of the objects that they were made of is replaced."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.wire.remembered import Remembered


def test_value_is_made_once_while_its_parts_are_the_same_objects() -> None:
    made, kept = count(1), Remembered[int](4)
    parts = (("a",), ("b",))

    assert [kept.get("key", parts, lambda: next(made)) for _ in range(3)] == [1, 1, 1]


def test_equal_part_that_is_another_object_makes_the_value_again() -> None:
    kept = Remembered[float](4)
    plus, minus = [0.0], [-0.0]
    assert plus == minus

    assert str(kept.get("key", (plus,), lambda: plus[0])) == "0.0"
    assert str(kept.get("key", (minus,), lambda: minus[0])) == "-0.0"


def test_more_or_fewer_parts_make_the_value_again() -> None:
    kept, part = Remembered[int](4), object()

    assert [kept.get("key", parts, parts.__len__) for parts in ((part,), (part, part), ())] == [
        1,
        2,
        0,
    ]


def test_oldest_value_is_dropped_beyond_the_bound() -> None:
    made, kept = count(1), Remembered[int](2)

    assert [kept.get(key, (), lambda: next(made)) for key in "abcbca"] == [1, 2, 3, 2, 3, 4]
    assert len(kept) == 2


def test_failed_value_keeps_the_one_before() -> None:
    kept, old, new = Remembered[int](2), object(), object()

    def broken() -> int:
        raise ValueError("not now")

    assert kept.get("key", (old,), lambda: 1) == 1
    with pytest.raises(ValueError, match="not now"):
        kept.get("key", (new,), broken)
    assert kept.get("key", (old,), lambda: 2) == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2))))
def test_kept_value_is_always_that_of_its_parts(asked: list[tuple[int, int, int]]) -> None:
    kept, parts = Remembered[tuple[object, ...]](3), [object() for _ in range(3)]
    for key, first, second in asked:
        both = (parts[first], parts[second])

        assert kept.get(key, both, partial(tuple[object, ...], both)) == both
        assert len(kept) <= 3
