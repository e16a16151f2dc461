"""Freezing JSON gives an immutable copy, thawing gives the same JSON back; other values are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.settings.immutable_json import freeze, thaw

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_frozen_value_thaws_to_the_same_json(value: Any) -> None:
    frozen = freeze(value)

    assert thaw(frozen) == value
    assert freeze(thaw(frozen)) == frozen
    assert json.loads(json.dumps(thaw(frozen))) == value


def test_a_frozen_value_is_a_copy_that_nobody_can_change() -> None:
    value: dict[str, Any] = {"ports": [{"path": "/dev/ttyUSB0"}]}
    frozen: Any = freeze(value)
    value["ports"][0]["path"] = "other"
    value["more"] = 1

    assert thaw(frozen) == {"ports": [{"path": "/dev/ttyUSB0"}]}
    with pytest.raises(TypeError):
        frozen["more"] = 1
    with pytest.raises(TypeError):
        frozen["ports"][0]["path"] = "other"
    assert isinstance(frozen["ports"], tuple)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), b"bytes", {1: 2}, {"a": {None: 1}}, [object()], {"a", "b"}]
)
def test_non_json_value_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="give "):
        freeze(value)


def test_nesting_depth_is_limited() -> None:
    value: object = 1
    for _ in range(32):
        value = [value]
    freeze(value)
    with pytest.raises(InvalidInput, match="32 levels"):
        freeze([value])
