"""Types and ranges of settings: accepted and refused values."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.settings.messages import Constraint, Value, value_as_json
from actors.settings.schema import Setting, TypeHint, shown
from transport.settings_catalog import SETTINGS_CATALOG

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=10,
)

FLAG = Setting("a/flag", TypeHint.BOOL, default=False, description="")
RATE = Setting("a/rate", TypeHint.INT, 4000, "", "Hz", Constraint(100, 32000))
GAIN = Setting("a/gain", TypeHint.FLOAT, 0.5, "", None, Constraint(0.0, 1.0))
FREE = Setting("a/free", TypeHint.FLOAT, 0.5, "")
WORD = Setting("a/word", TypeHint.STRING, "auto", "", None, Constraint(choices=("auto", "off")))
TEXT = Setting("a/text", TypeHint.STRING, "x", "")
LIST = Setting("a/list", TypeHint.ARR_STRING, None, "", None, Constraint(choices=("a", "b"), nullable=True), entries=3)
POINT = Setting("a/point", TypeHint.VEC3, (0.0, 0.0, 0.0), "", "m", Constraint(-1.0, 1.0))
MIXED = Setting("a/mixed", TypeHint.GENERIC, "auto", "", None, Constraint(0, 7, ("auto", "none")))
ALL = (FLAG, RATE, GAIN, FREE, WORD, TEXT, LIST, POINT, MIXED)


@pytest.mark.parametrize(
    ("setting", "raw", "value"),
    [
        (FLAG, True, True),
        (FLAG, False, False),
        (RATE, 100, 100),
        (RATE, 32000, 32000),
        (RATE, 4000.0, 4000),
        (GAIN, 0, 0.0),
        (GAIN, 1, 1.0),
        (GAIN, 0.25, 0.25),
        (WORD, "off", "off"),
        (TEXT, "x" * 256, "x" * 256),
        (LIST, [], ()),
        (LIST, ["a", "a", "b"], ("a", "a", "b")),
        (LIST, None, None),
        (POINT, {"x": 1, "y": 0.5, "z": -1}, (1.0, 0.5, -1.0)),
        (POINT, [0, 0.5, 1], (0.0, 0.5, 1.0)),
        (MIXED, "none", "none"),
        (MIXED, 7, 7),
    ],
)
def test_good_value_is_accepted_with_its_type(setting: Setting, raw: object, value: Value) -> None:
    parsed = setting.parse(raw)

    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("setting", "raw", "said"),
    [
        (FLAG, None, "give true or false, not nothing."),
        (FLAG, 1, "not 1."),
        (FLAG, "true", 'not "true".'),
        (RATE, None, "give a whole number from 100 to 32000 Hz, not nothing."),
        (RATE, True, "not true."),
        (RATE, "4000", 'not "4000".'),
        (RATE, 99, "not 99."),
        (RATE, 32001, "not 32001."),
        (RATE, 4000.5, "not 4000.5."),
        (RATE, math.nan, "not NaN."),
        (RATE, math.inf, "not infinity."),
        (RATE, -(10**999), "not a huge number."),
        (RATE, [4000], "not a list."),
        (RATE, {"value": 4000}, "not an object."),
        (GAIN, math.nan, "give a number from 0 to 1, not NaN."),
        (GAIN, -math.inf, "not infinity."),
        (GAIN, False, "not false."),
        (GAIN, 1.0000001, "not 1.0000001."),
        (GAIN, 10**400, "not a huge number."),
        (GAIN, "", "not an empty text."),
        (FREE, 1e301, "not 1e+301."),
        (FREE, 10**400, "not a huge number."),
        (WORD, "", "give auto or off, not an empty text."),
        (WORD, "Auto", 'not "Auto".'),
        (WORD, 3, "not 3."),
        (TEXT, "x" * 257, "give a printable text of 1 to 256 characters, not"),
        (TEXT, "a\nb", "not"),
        (TEXT, "a\x00", "not"),
        (TEXT, "\ud800", "not"),
        (LIST, "a", 'not "a".'),
        (LIST, ["c"], "give a list of at most 3 texts, each a or b, or null, not"),
        (LIST, ["a", ""], "not an empty text."),
        (LIST, ["a", None], "not nothing."),
        (LIST, [["a"]], "not a list."),
        (LIST, ["a"] * 4, "not a list of 4."),
        (LIST, {}, "not an object."),
        (POINT, [0, 0], "or a list of three, each a number from -1 to 1 m, not a list."),
        (POINT, {"x": 0, "y": 0}, "not an object."),
        (POINT, {"x": 0, "y": 0, "z": 0, "w": 0}, "not an object."),
        (POINT, [0, 0, 2], "not 2."),
        (POINT, [0, 0, True], "not true."),
        (POINT, [0, 0, math.nan], "not NaN."),
        (POINT, 0, "not 0."),
        (MIXED, "7", 'give auto or none or a whole number from 0 to 7, not "7".'),
        (MIXED, 8, "not 8."),
        (MIXED, True, "not true."),
    ],
)
def test_bad_value_is_refused_with_the_accepted_ones(setting: Setting, raw: object, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        setting.parse(raw)

    assert caught.value.path == setting.key
    assert caught.value.reason.startswith("give ")
    assert said in caught.value.reason


@given(st.sampled_from([*ALL, *SETTINGS_CATALOG]), JSON)
def test_any_json_is_accepted_or_refused_in_one_sentence(setting: Setting, raw: object) -> None:
    said = ""
    try:
        value = setting.parse(raw)
    except InvalidInput as error:
        said = error.reason
    else:
        assert setting.parse(value_as_json(value)) == value

    assert len(said) < 300
    assert "\n" not in said
    assert said == "" or (said.startswith("give ") and said.endswith("."))


@pytest.mark.parametrize("setting", [*ALL, *SETTINGS_CATALOG], ids=lambda setting: setting.key)
def test_every_default_is_accepted_by_its_key(setting: Setting) -> None:
    parsed = setting.parse(value_as_json(setting.default))

    assert parsed == setting.default
    assert type(parsed) is type(setting.default)


@given(st.floats(0, 1))
def test_number_round_trips_through_json(number: float) -> None:
    value = GAIN.parse(number)

    assert GAIN.parse(json.loads(json.dumps(value_as_json(value)))) == number


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, GAIN.parse(-0.0)) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        (FLAG, "true", True),
        (FLAG, "True", True),
        (FLAG, " on ", True),
        (FLAG, "1", True),
        (FLAG, "no", False),
        (FLAG, "0", False),
        (RATE, "8000", 8000),
        (RATE, " 8000 ", 8000),
        (GAIN, "1", 1.0),
        (GAIN, ".5", 0.5),
        (GAIN, "5e-1", 0.5),
        (WORD, "off", "off"),
        (TEXT, "a=b,c", "a=b,c"),
        (LIST, "", ()),
        (LIST, "a", ("a",)),
        (LIST, "a, b", ("a", "b")),
        (LIST, '["a", "b"]', ("a", "b")),
        (LIST, "null", None),
        (POINT, "0, 0.5, 1", (0.0, 0.5, 1.0)),
        (POINT, "[0, 0.5, 1]", (0.0, 0.5, 1.0)),
        (POINT, '{"x": 0, "y": 0.5, "z": 1}', (0.0, 0.5, 1.0)),
        (MIXED, "auto", "auto"),
        (MIXED, "3", 3),
    ],
)
def test_text_is_parsed_by_the_type_of_its_key(setting: Setting, text: str, value: Value) -> None:
    parsed = setting.parse_text(text)

    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (FLAG, ""),
        (FLAG, "maybe"),
        (FLAG, "null"),
        (RATE, ""),
        (RATE, "fast"),
        (RATE, "4_000"),
        (RATE, "٤٠٠٠"),
        (RATE, "1e3"),
        (RATE, "9" * 5000),
        (GAIN, "nan"),
        (GAIN, "inf"),
        (GAIN, "0_1"),
        (GAIN, "null"),
        (WORD, "fast"),
        (TEXT, ""),
        (LIST, "c"),
        (LIST, "a,,b"),
        (LIST, '["a"'),
        (LIST, "[" * 10_000),
        (POINT, "1,2"),
        (POINT, ""),
        (POINT, "a,b,c"),
        (MIXED, "8"),
        (MIXED, "some"),
        (MIXED, ""),
    ],
)
def test_bad_text_is_refused_with_the_accepted_ones(setting: Setting, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"give .*, not "):
        setting.parse_text(text)


@given(st.sampled_from(ALL), st.text(max_size=20))
def test_any_text_is_accepted_or_refused(setting: Setting, text: str) -> None:
    try:
        value = setting.parse_text(text)
    except InvalidInput:
        return
    assert setting.parse(value_as_json(value)) == value


@given(JSON)
def test_faulty_value_is_shown_shortened(raw: object) -> None:
    text = shown(raw)

    assert 0 < len(text) <= 40
    assert text.isprintable()
