"""Text of numbers in frames: float32, shortest digits that round-trip, position of the decimal point."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.text.encoder import nulls, number

LARGEST = 3.4028234663852886e38
LONGEST = 15


def by_the_rule(value: np.float32) -> str:
    """Another way to the same text: numpy's shortest digits, the point placed by the decimal exponent of the first."""
    if value == 0:
        return "-0" if np.signbit(value) else "0"
    mantissa, exponent_text = np.format_float_scientific(value, unique=True, trim="-").split("e")
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.removeprefix("-").replace(".", "")
    exponent = int(exponent_text)
    if not -4 <= exponent <= 6:
        return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}E{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole, part = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{sign}{whole}{'.' if part else ''}{part}"


def float32_from_bits(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (100.0, "100"),
        (0.1, "0.1"),
        (0.5, "0.5"),
        (-0.12, "-0.12"),
        (0.816, "0.816"),
        (0.0001, "0.0001"),
        (0.00012345678, "0.00012345678"),
        (9.9999e-5, "9.9999E-5"),
        (1e-5, "1E-5"),
        (1e-7, "1E-7"),
        (-1.5e-7, "-1.5E-7"),
        (1e-10, "1E-10"),
        (999999.0, "999999"),
        (1e6, "1000000"),
        (1234567.5, "1234567.5"),
        (9999999.0, "9999999"),
        (1e7, "1E7"),
        (-1e7, "-1E7"),
        (16777216.0, "1.6777216E7"),
        (1e20, "1E20"),
        (LARGEST, "3.4028235E38"),
        (-LARGEST, "-3.4028235E38"),
        (1.17549435e-38, "1.1754944E-38"),
        (1.401298464324817e-45, "1E-45"),
        (1 / 3, "0.33333334"),
        (math.pi, "3.1415927"),
        (1000 * math.pi, "3141.5928"),
    ],
)
def test_listed_numbers_have_the_expected_text(value: float, text: str) -> None:
    assert number(value) == text.encode()


@pytest.mark.parametrize("value", [math.nan, -math.nan, math.inf, -math.inf, 1e39, -1e300, 3.4028236e38])
def test_number_beyond_float32_is_null_and_counted(value: float) -> None:
    before = nulls()
    assert number(value) == b"null"
    assert nulls() - before == 1


def test_a_number_that_float32_holds_is_not_counted() -> None:
    before = nulls()
    assert number(3.40282350000000011e38) == b"3.4028235E38"
    assert nulls() == before


def test_double_is_rounded_to_float32_first() -> None:
    assert number(0.1 + 1e-12) == b"0.1"
    assert number(1e-46) == b"0"
    assert number(-1e-46) == b"-0"


@pytest.mark.parametrize("exponent", range(-45, 39))
def test_notation_changes_at_the_documented_powers_of_ten(exponent: int) -> None:
    value = np.float32(f"1e{exponent}")
    assert number(float(value)).decode() == by_the_rule(value)


@pytest.mark.parametrize("edge", ["1e-4", "1e7"])
def test_numbers_beside_the_notation_limits_have_the_right_text(edge: str) -> None:
    at = np.float32(edge)
    for value in (np.nextafter(at, np.float32(0)), at, np.nextafter(at, np.float32(np.inf))):
        assert number(float(value)).decode() == by_the_rule(value)
        assert number(float(-value)).decode() == by_the_rule(-value)


def test_integers_of_a_range_are_their_digits() -> None:
    for value in (*range(-2000, 2001), *range(9_990_000, 10_000_000)):
        assert number(value) == (str(value).encode())


def test_a_hundred_thousand_random_bit_patterns_round_trip_bit_exact() -> None:
    bits = np.random.default_rng(20).integers(0, 2**32, size=100_000, dtype=np.uint32)
    values = bits.view(np.float32)
    finite = np.isfinite(values)
    before = nulls()
    with np.errstate(invalid="ignore"):  # a signalling NaN
        doubles = values.astype(np.float64)
    texts = [number(value) for value in doubles]
    assert nulls() - before == np.count_nonzero(~finite)
    back = np.array([text.decode() for text, good in zip(texts, finite, strict=True) if good], dtype=np.float32)
    assert np.array_equal(back.view(np.uint32), bits[finite])
    assert {text for text, good in zip(texts, finite, strict=True) if not good} == {b"null"}


def test_random_values_of_the_service_s_range_have_the_shortest_text() -> None:
    generator = np.random.default_rng(21)
    values = (generator.choice([-1.0, 1.0], 20_000) * 10 ** generator.uniform(-8, 9, 20_000)).astype(np.float32)
    for value in values:
        assert number(float(value)).decode() == by_the_rule(value)


@given(st.integers(0, 2**32 - 1).map(float32_from_bits).filter(math.isfinite))
def test_text_follows_the_rule_and_round_trips(value: float) -> None:
    text = number(value).decode()
    assert text == by_the_rule(np.float32(value))
    assert np.float32(text).tobytes() == np.float32(value).tobytes()
    assert len(text) <= LONGEST


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_text_of_a_double_is_that_of_its_float32(value: float) -> None:
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    assert number(value).decode() == (by_the_rule(rounded) if np.isfinite(rounded) else "null")


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_text_never_has_an_excluded_form(value: float) -> None:
    text = number(value).decode()
    mantissa, _, exponent = text.partition("E")
    assert not text.endswith(".0")
    assert ".0E" not in text
    assert "+" not in text
    assert not exponent.removeprefix("-").startswith("0")
    assert not ("." in mantissa and mantissa.endswith("0"))


@pytest.mark.parametrize("text", ["-0.000107305365", "-1.19144985E-33"])
def test_longest_texts_fit_the_buffer(text: str) -> None:
    assert number(float(text)) == text.encode()
    assert len(text) == LONGEST


@pytest.mark.parametrize("value", [3, np.float32(0.1), np.float64(0.1), np.int64(7), True])
def test_every_python_number_has_a_text(value: float) -> None:
    assert number(value).decode() == by_the_rule(np.float32(value))


@pytest.mark.parametrize("value", ["1", None, [1.0]])
def test_non_numbers_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        number(value)  # type: ignore[arg-type]
