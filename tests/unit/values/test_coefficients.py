"""Filter coefficients are rounded so that their text stays short."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.values.coefficients import kept
from fastpath.text.encoder import encode_json

values = st.floats(0, 20, allow_nan=False)


@given(values)
def test_rounded_coefficient_has_at_most_eight_characters(value: float) -> None:
    assert len(encode_json(kept(value))) <= len("12.34567")


@given(values)
def test_rounded_coefficient_is_within_half_a_step_and_stable(value: float) -> None:
    assert abs(kept(value) - value) <= 0.5e-5 + 1e-12
    assert kept(kept(value)) == kept(value)
