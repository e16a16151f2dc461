"""Generic JSON encoder for events, HTTP bodies and configurations."""

from __future__ import annotations

import collections
import collections.abc
import datetime as dt
import decimal
import enum
import json
import math
from typing import NamedTuple, TypeAlias

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.text.encoder import encode_json, nulls

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

DEEPEST = 64


class Level(enum.IntEnum):
    WARNING = 3


class Word(enum.StrEnum):
    IDLE = "idle"


class Pair(NamedTuple):
    x: float
    y: float


class Text(str):
    __slots__ = ()


def nested_lists(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


def nested_dicts(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-1, "-1"),
        (16777217, "16777217"),
        (10_000_000, "10000000"),
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (2**63, "9223372036854775808"),
        (-(10**30), "-1000000000000000000000000000000"),
        (0.1, "0.1"),
        (1.0, "1"),
        (1e7, "1E7"),
        (-0.0, "-0"),
        (0.1 + 0.2, "0.3"),
        ("", '""'),
        ("arm", '"arm"'),
        ([], "[]"),
        ((), "[]"),
        ({}, "{}"),
        ([1], "[1]"),
        ([1, 2.5, "a", None, True], '[1,2.5,"a",null,true]'),
        ((1, (2, [3])), "[1,[2,[3]]]"),
        ({"a": 1}, '{"a":1}'),
        ({"b": {"a": []}, "a": {}}, '{"b":{"a":[]},"a":{}}'),
        (Level.WARNING, "3"),
        (Word.IDLE, '"idle"'),
        (Text("subclass"), '"subclass"'),
        (Pair(1.5, 2), "[1.5,2]"),
        (collections.OrderedDict([("z", 1), ("a", 2)]), '{"z":1,"a":2}'),
        ({Word.IDLE: 1}, '{"idle":1}'),
    ],
)
def test_text_of_each_type_is_as_expected(value: object, text: str) -> None:
    assert encode_json(value) == text.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.float64(0.1), "0.1"),
        (np.float16(0.5), "0.5"),
        (np.int8(-3), "-3"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.bool_(True), "true"),
        (np.str_("ab"), '"ab"'),
        (np.array(2.5), "2.5"),
        (np.array(7), "7"),
    ],
)
def test_numpy_scalars_are_their_python_values(value: object, text: str) -> None:
    assert encode_json(value) == text.encode()


@pytest.mark.parametrize(
    ("character", "text"),
    [
        ('"', '\\"'),
        ("\\", "\\\\"),
        ("\b", "\\b"),
        ("\f", "\\f"),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\t", "\\t"),
        ("\x00", "\\u0000"),
        ("\x1f", "\\u001f"),
        ("/", "/"),
        ("\x7f", "\x7f"),
        ("é", "é"),
        ("字", "字"),
        ("😀", "😀"),
        ("\u2028", "\u2028"),
    ],
)
def test_strings_are_escaped(character: str, text: str) -> None:
    assert encode_json(f"a{character}b") == f'"a{text}b"'.encode()
    assert encode_json({character: 1}) == f'{{"{text}":1}}'.encode()


@pytest.mark.parametrize("code", range(32))
def test_control_characters_round_trip(code: int) -> None:
    assert json.loads(encode_json(chr(code))) == chr(code)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("\ud800", "\ufffd"),
        ("a\udc00b", "a\ufffdb"),
        ("\ud800\ud800", "\ufffd\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\udcff" * 3 + "x", "\ufffd" * 3 + "x"),
    ],
)
def test_lone_surrogates_are_replaced(value: str, read: str) -> None:
    assert json.loads(encode_json(value)) == read
    assert json.loads(encode_json({value: 1})) == {read: 1}


@given(st.text(st.characters()))
def test_any_text_is_valid_utf8_json(text: str) -> None:
    encoded = encode_json(text)
    assert json.loads(encoded.decode("utf-8")) == orjson.loads(encoded)
    assert json.loads(encoded) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e39, np.float32("nan")])
def test_numbers_that_json_cannot_hold_are_null_and_counted(value: float) -> None:
    before = nulls()
    assert encode_json({"a": value, "b": [value, 1.5]}) == b'{"a":null,"b":[null,1.5]}'
    assert nulls() - before == 2


def test_none_is_null_and_not_counted() -> None:
    before = nulls()
    assert encode_json([None, None]) == b"[null,null]"
    assert nulls() == before


def test_keys_keep_insertion_order() -> None:
    keys = [f"key {n * 7919 % 100}" for n in range(100)]
    assert list(json.loads(encode_json(dict.fromkeys(keys, 0)))) == keys


@pytest.mark.parametrize(
    "value",
    [
        b"bytes",
        bytearray(b"x"),
        {1, 2},
        object(),
        1j,
        decimal.Decimal(1),
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        np.array([1.0, 2.0]),
        np.datetime64("2020-01-01"),
        np.complex64(1),
        np.longdouble(1),
        range(3),
        iter([1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_types_are_refused_by_name(value: object) -> None:
    for whole in (value, [value], {"a": {"b": value}}):
        with pytest.raises(TypeError, match=f"JSON has no {type(value).__name__}: make it a dict"):
            encode_json(whole)


@pytest.mark.parametrize("key", [1, 1.5, None, True, (1,), b"a"])
def test_keys_must_be_strings(key: object) -> None:
    with pytest.raises(TypeError, match=f"JSON keys are str: make the {type(key).__name__} key"):
        encode_json({"good": 1, key: 2})


@pytest.mark.parametrize("nested", [nested_lists, nested_dicts])
def test_depth_is_bounded(nested: collections.abc.Callable[[int], object]) -> None:
    assert json.loads(encode_json(nested(DEEPEST))) == nested(DEEPEST)
    with pytest.raises(ValueError, match="nested deeper than 64 levels"):
        encode_json(nested(DEEPEST + 1))


def test_siblings_do_not_count_as_depth() -> None:
    value: list[list[list[int]]] = [[[]]] * 100
    assert json.loads(encode_json(value)) == value


def test_a_cycle_is_refused() -> None:
    cycle: list[object] = []
    cycle.append({"again": cycle})
    with pytest.raises(ValueError, match="break its cycle"):
        encode_json(cycle)


def test_refused_value_leaves_no_partial_output() -> None:
    with pytest.raises(TypeError):
        encode_json({"a": "x" * 100, "b": object()})
    assert encode_json({"a": 1}) == b'{"a":1}'


@pytest.mark.parametrize("size", [4094, 4095, 4096, 5000, 100_000, 1_000_000])
def test_text_longer_than_the_first_buffer_is_encoded(size: int) -> None:
    assert encode_json("x" * size) == b'"' + b"x" * size + b'"'
    assert json.loads(encode_json("\x01" * size)) == "\x01" * size
    assert json.loads(encode_json([1] * size)) == [1] * size


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(width=32, allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(json_values)
def test_encoded_values_round_trip(value: Json) -> None:
    assert same(json.loads(encode_json(value)), value)


def same(read: Json, written: Json) -> bool:
    """Equal, real numbers as float32, keys in the same order."""
    if isinstance(written, dict):
        return (
            isinstance(read, dict)
            and list(read) == list(written)
            and all(same(read[key], item) for key, item in written.items())
        )
    if isinstance(written, list):
        return (
            isinstance(read, list)
            and len(read) == len(written)
            and all(same(a, b) for a, b in zip(read, written, strict=True))
        )
    if isinstance(written, float):
        return isinstance(read, int | float) and np.float32(read) == np.float32(written)
    return type(read) is type(written) and read == written
