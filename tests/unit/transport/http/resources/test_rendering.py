"""The sentence that says what bounds a device's stiffness."""

from __future__ import annotations

import pytest

from transport.http.resources.rendering import reason


@pytest.mark.parametrize(
    ("lag", "age", "sentence"),
    [
        (0.0, 0.0, "The loop has not seen the device yet: ask again."),
        (
            0.000375,
            0.0,
            (
                "A force answers to a position 0.38 ms old: 0.00 ms of that is the age of the sample, 0.38 ms the loop's rate. "
                "A faster loop would bear more: raise control/frequency."
            ),
        ),
        (
            0.0024,
            0.002,
            (
                "A force answers to a position 2.40 ms old: 2.00 ms of that is the age of the sample, 0.40 ms the loop's rate. "
                "Newer samples would bear more: see the device's link rate and its cable."
            ),
        ),
    ],
)
def test_reason_names_what_would_bear_more(lag: float, age: float, sentence: str) -> None:
    assert reason(lag, age) == sentence
