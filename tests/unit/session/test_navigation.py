"""Navigation settings of a session: ranges, partial updates, start, storage."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.session.messages import BUBBLE, OFF, NavigationConfig
from actors.session.navigation import NUMBERS, Range, as_json, from_json, merged
from fastpath.navigation.values import Bubble, BubbleShape

EVERY = [
    (f"{group}.{name}" if group else name, limits)
    for group, numbers in NUMBERS.items()
    for name, limits in numbers.items()
]
# What the laws of the bubble were tried with.
RANGES = {
    "velocity.zone_width": (0.001, 1, "m"),
    "velocity.max": (0, 10, "m/s"),
    "velocity.exponent": (0.5, 6, ""),
    "velocity.smoothing": (0, 2, "s"),
    "spring.stiffness": (0, 1000, "N/m"),
    "spring.wall_stiffness": (0, 2000, "N/m"),
    "spring.damping": (0, 20, "N s/m"),
    "damping.dead_zone": (0, 20, "N s/m"),
    "collision.threshold": (0, 50, "N"),
    "collision.release": (0, 50, "N"),
    "collision.full_stop": (0.01, 50, "N"),
    "collision.extra_inflate": (0, 1, "m"),
    "drift.gain": (0, 100, "1/m"),
    "drift.max_ratio": (0, 1, ""),
    "hysteresis": (0, 0.05, "m"),
}
TORUS = BubbleShape("torus", (("r1", 0.1), ("r2", 0.02)))
WHOLE = NavigationConfig(BUBBLE, Bubble(shape=TORUS, drifts=True, position=(0.1, 0.2, 0.3), collides=False))


def test_default_values_are_within_their_ranges() -> None:
    assert merged(NavigationConfig(), None, {}) == NavigationConfig()
    assert NavigationConfig().in_force is None


def test_ranges_equal_those_tested_in_the_laws() -> None:
    assert {name: (limits.least, limits.most, limits.unit) for name, limits in EVERY} == RANGES


def test_omitted_values_are_kept() -> None:
    now = merged(WHOLE, None, {"max_speed": 0.25})
    assert (now.mode, now.bubble.shape, now.bubble.max_speed) == (BUBBLE, TORUS, 0.25)
    assert merged(now, OFF, {}).bubble == now.bubble
    assert merged(now, OFF, {}).in_force is None


@pytest.mark.parametrize(("name", "limits"), EVERY)
@pytest.mark.parametrize("wrong", ["low", "high", "nan"])
def test_every_number_has_a_range_and_says_it(name: str, limits: Range, wrong: str) -> None:
    value = {"low": limits.least - 0.001, "high": limits.most + 0.001, "nan": math.nan}[wrong]
    with pytest.raises(InvalidInput) as refused:
        merged(NavigationConfig(), BUBBLE, {limits.field: value})
    assert refused.value.reason.startswith(f"{name} is {limits.least:g} to {limits.most:g}")


@pytest.mark.parametrize(
    ("mode", "fields", "says"),
    [
        ("cone", {}, "bubble"),
        (None, {"release": 0.6}, "release"),
        (None, {"threshold": 0.2}, "release"),
        (None, {"position": (0.0, 0.0, 11.0)}, "position"),
        (None, {"shape": BubbleShape("cube", ())}, "primitive"),
        (None, {"shape": BubbleShape("sphere", (("radius", 1.0),))}, "parameters r"),
        (None, {"shape": BubbleShape("sphere", (("r", 11.0),))}, "parameters.r"),
        (None, {"shape": BubbleShape("box", (("b", (0.1, 0.0, 0.1)),))}, "above 0"),
    ],
)
def test_invalid_value_is_refused_with_a_reason(mode: str | None, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        merged(NavigationConfig(), mode, fields)
    assert says in refused.value.reason


@given(st.sampled_from(EVERY), st.floats(0, 1), st.sampled_from([NavigationConfig(), WHOLE]))
def test_configuration_round_trips_through_the_ledger(
    one: tuple[str, Range], share: float, start: NavigationConfig
) -> None:
    limits = one[1]
    value = limits.least + share * (limits.most - limits.least)
    try:
        now = merged(start, None, {limits.field: value})
    except InvalidInput:
        now = start
    assert from_json(json.loads(json.dumps(as_json(now)))) == now


@pytest.mark.parametrize("broken", [{"mode": "cone"}, {"stiffness": -1}, {"shape": ["cube", {}]}, {"position": "here"}])
def test_invalid_ledger_gives_no_configuration(broken: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        from_json(json.loads(json.dumps(as_json(WHOLE))) | broken)
