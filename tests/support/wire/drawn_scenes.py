"""Scenes that hypothesis draws from the table of fields, as values."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.session.scene_fields import checked_field
from fastpath.scene.values import FIELDS, LONGEST_ID, MOST_FIELDS, Field, Form, Parameter

IDS = st.text(
    st.characters(exclude_categories=("C", "Z")),
    min_size=1,
    max_size=LONGEST_ID,
)


def value_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Values of a parameter that are within its bounds."""
    number = st.floats(parameter.least, parameter.most)
    match parameter.form:
        case Form.NUMBER:
            return number
        case Form.FLAG:
            return st.booleans()
        case Form.AXES:
            return st.sets(st.sampled_from("xyz"), min_size=1).map(tuple)
        case Form.FRICTION:
            return st.tuples(number, number).map(lambda pair: (max(pair), min(pair)))
        case Form.ROTATION:
            return st.tuples(number, number, number, number).filter(_has_length)
        case Form.DIAGONAL:
            return number | st.tuples(number, number, number)
        case Form.MATRIX:
            return st.tuples(number, *[st.floats(0, 5)] * 3).map(_damping_matrix)
        case _:
            return st.tuples(number, number, number)


def _has_length(quaternion: tuple[float, ...]) -> bool:
    return max(map(abs, quaternion)) > 1e-3


def _damping_matrix(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """A diagonal matrix with a curl about z."""
    curl, x, y, z = numbers
    return (x, -curl, 0.0, curl, y, 0.0, 0.0, 0.0, z)


@st.composite
def drawn_fields(draw: st.DrawFn) -> Field:
    """One field of any kind, with or without each parameter that may be left out."""
    name = draw(st.sampled_from(tuple(FIELDS)))
    rows = FIELDS[name]
    either = draw(st.sampled_from(("damping", "matrix")))
    needed = {key for key, row in rows.items() if (row.default is None and not row.optional) or key == either}
    sent = {
        key: draw(value_of(row))
        for key, row in rows.items()
        if key in needed or (not row.optional and draw(st.booleans()))
    }
    try:
        return checked_field(name, sent)
    except InvalidInput:
        # Ends in one place, or a direction without length.
        return checked_field("constant", {"force": (0.0, 0.0, 1.0)})


drawn_scenes = st.dictionaries(IDS, drawn_fields(), max_size=MOST_FIELDS // 4)
