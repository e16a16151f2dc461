"""Scenes on the wire: what is read, what is refused with its place, and that what is shown is read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.modules.registry import ModuleRegistry
from actors.session.messages import SetScene
from actors.session.scene_fields import checked_field
from fastpath.scene.values import FIELDS, Field
from tests.support.actors.doubles import settings_view
from tests.support.wire.drawn_scenes import drawn_scenes
from tests.unit.wire.parser_samples import DEVICES, arm
from transport.wire import commands, scene
from transport.wire.parsed_message import ParsedMessage
from transport.wire.vocabulary import NEUTRAL

ON = ModuleRegistry().active(settings_view({"features/scene/enabled": True}))
PATH = "arm[0].configure.scene"
ZERO = {"x": 0, "y": 0, "z": 0}
WIND = {"field": "constant", "force": {"x": 0, "y": 0, "z": 1}}
FLOOR = {"field": "plane", "point": {"x": 0, "y": 0, "z": 0.12}, "normal": {"x": 0, "y": 0, "z": 1}, "stiffness": 1000}
BOX = {"field": "box", "centre": ZERO, "size": {"x": 0.1, "y": 0.1, "z": 0.1}, "stiffness": 500}
SPRING = {"field": "spring", "centre": ZERO, "stiffness": 200}
CAPSULE = {"field": "capsule", "start": ZERO, "end": {"x": 0, "y": 0.1, "z": 0}, "radius": 0.02, "stiffness": 500}
NINE = [0, -5, 0, 5, 0, 0, 0, 0, 0]


def parsed(body: object) -> ParsedMessage:
    return commands.read(orjson.dumps(arm(configure={"scene": body})), DEVICES, NEUTRAL, ON)


def change(body: object) -> SetScene:
    """The change of a scene without faults."""
    message = parsed(body)
    assert message.faults == []
    (found,) = message.changes
    assert isinstance(found, SetScene)
    return found


def one(body: object) -> Field:
    """The field of a scene of one field."""
    ((_, found),) = change({"fields": {"a": body}}).fields
    assert found is not None
    return found


def test_scene_is_a_preview_that_names_its_setting() -> None:
    message = commands.read(orjson.dumps(arm(configure={"scene": {"fields": 1}})), DEVICES, NEUTRAL)

    assert message.faults == [(PATH, "scene is a preview: set features/scene/enabled first")]
    assert message.changes == []


def test_fields_are_read_in_their_order() -> None:
    found = change({"fields": {"b": WIND, "a": FLOOR, "old": None}, "replace": True})

    assert [name for name, _ in found.fields] == ["b", "a", "old"]
    assert dict(found.fields)["old"] is None
    assert (found.device_id, found.replace, found.kept, found.path) == ("049D", True, (), PATH)


@pytest.mark.parametrize("body", [{}, {"fields": {}}, {"replace": False}])
def test_empty_scene_changes_nothing(body: dict[str, Any]) -> None:
    assert change(body) == SetScene("049D", path=PATH)


@pytest.mark.parametrize("body", [{"replace": True}, {"fields": {}, "replace": True}])
def test_replace_alone_removes_every_field(body: dict[str, Any]) -> None:
    assert change(body) == SetScene("049D", replace=True, path=PATH)


@pytest.mark.parametrize(
    ("body", "key", "expected"),
    [
        (WIND, "force", (0.0, 0.0, 1.0)),
        ({**SPRING, "axes": ["y", "x"]}, "axes", ("x", "y")),
        ({"field": "damper", "damping": 2}, "damping", 2.0),
        ({"field": "damper", "damping": {"x": 1, "y": 2, "z": 3}}, "damping", (1.0, 2.0, 3.0)),
        ({"field": "damper", "matrix": NINE}, "matrix", tuple(map(float, NINE))),
        (FLOOR, "normal", (0.0, 0.0, 1.0)),
        ({**FLOOR, "friction": {"static": 0.5, "dynamic": 0.4}}, "friction", (0.5, 0.4)),
        ({**BOX, "rotation": {"w": 0, "x": 0, "y": 0, "z": 0.5}}, "rotation", (0.0, 0.0, 0.0, 1.0)),
        ({**BOX, "inside": True}, "inside", True),
        (CAPSULE, "end", (0.0, 0.1, 0.0)),
    ],
)
def test_parameter_is_read(body: dict[str, Any], key: str, expected: object) -> None:
    assert one(body).values[key] == expected


@pytest.mark.parametrize(
    ("body", "path", "says"),
    [
        (1, "", "an object is needed, not a number"),
        (None, "", "an object is needed, not null"),
        ([], "", "an object is needed, not an array"),
        ({"feilds": {}}, ".feilds", "use fields, replace"),
        ({"fields": []}, ".fields", "an object is needed, not an array"),
        ({"fields": {}, "replace": 1}, ".replace", "a boolean is needed, not a number"),
        ({"fields": {f"f{index}": None for index in range(65)}}, ".fields", "at most 64 fields"),
    ],
)
def test_faulty_scene_is_refused_as_a_whole(body: object, path: str, says: str) -> None:
    message = parsed(body)

    ((where, reason),) = message.faults
    assert where == PATH + path
    assert says in reason
    assert message.changes == []


@pytest.mark.parametrize(
    ("body", "path", "says"),
    [
        (1, "", "an object is needed, not a number"),
        ([], "", "an object is needed, not an array"),
        ({}, ".field", "field is missing: it is one of constant, spring"),
        ({"field": 7}, ".field", "a string is needed"),
        ({"field": None}, ".field", "a string is needed"),
        ({**BOX, "field": "spere"}, ".field", "did you mean sphere?"),
        ({"field": "qqqqq" * 1000}, ".field", "unknown: use constant, spring"),
        ({"field": "plane"}, ".point", "point is missing: a plane needs it"),
        ({**FLOOR, "stiffness": "1"}, ".stiffness", "a number is needed, not a string"),
        ({**FLOOR, "stiffness": True}, ".stiffness", "a number is needed, not a boolean"),
        ({**FLOOR, "stiffness": None}, ".stiffness", "a number is needed, not null"),
        ({**FLOOR, "stiffness": 2001}, ".stiffness", "stiffness is 0 to 2000 N/m"),
        ({**FLOOR, "stiffness": 1e300}, ".stiffness", "between -1000000 and 1000000"),
        ({**FLOOR, "normal": ZERO}, ".normal", "not all 0"),
        ({**FLOOR, "normal": [0, 0, 1]}, ".normal", "an object is needed, not an array"),
        ({**FLOOR, "normal": {"x": 0, "y": 0}}, ".normal.z", "all of x, y, z are needed"),
        ({**FLOOR, "friction": 0.5}, ".friction", "an object is needed, not a number"),
        ({**FLOOR, "friction": {"static": 0.4, "dynamic": 0.5}}, ".friction", "at most friction.static"),
        ({**SPRING, "axes": "x"}, ".axes", "an array is needed, not a string"),
        ({**SPRING, "axes": []}, ".axes", "at least one"),
        ({**SPRING, "axes": [{}]}, ".axes", "a list of x, y and z"),
        ({**SPRING, "axes": ["x"] * 100}, ".axes", "at most once"),
        ({"field": "damper"}, "", "either damping or matrix"),
        ({"field": "damper", "damping": 1, "matrix": NINE}, "", "either damping or matrix"),
        ({"field": "damper", "damping": "1"}, ".damping", "a number is needed"),
        ({"field": "damper", "damping": -1}, ".damping", "0 to 20 N·s/m"),
        ({"field": "damper", "matrix": NINE[:8]}, ".matrix", "nine numbers are needed, row by row, and these are 8"),
        ({"field": "damper", "matrix": {}}, ".matrix", "an array is needed"),
        ({"field": "damper", "matrix": [*NINE[:8], None]}, ".matrix[8]", "a number is needed, not null"),
        ({"field": "damper", "matrix": [*NINE[:8], -1]}, ".matrix", "it would feed the hand"),
        ({**BOX, "inside": 1}, ".inside", "a boolean is needed, not a number"),
        ({**BOX, "rotation": {"w": 0, "x": 0, "y": 0, "z": 0}}, ".rotation", "not all 0"),
        ({**CAPSULE, "end": ZERO}, ".end", "apart"),
    ],
)
def test_faulty_field_is_named_and_the_others_count(body: object, path: str, says: str) -> None:
    message = parsed({"fields": {"bad": body, "good": WIND}, "replace": True})

    ((where, reason),) = message.faults
    assert where == f"{PATH}.fields.bad{path}"
    assert says in reason
    (found,) = message.changes
    assert isinstance(found, SetScene)
    assert ([name for name, _ in found.fields], found.kept) == (["good"], ("bad",))


@pytest.mark.parametrize(
    ("body", "path", "says"),
    [
        ({**FLOOR, "frction": {}}, ".frction", "unknown: did you mean friction?"),
        ({**WIND, "qqqqq": 1}, ".qqqqq", "unknown: a constant has force"),
        ({**FLOOR, "point": {**ZERO, "w": 1}}, ".point.w", "only x, y, z may stand here"),
    ],
)
def test_unknown_key_is_named_and_the_field_counts(body: dict[str, Any], path: str, says: str) -> None:
    message = parsed({"fields": {"a": body}})

    ((where, reason),) = message.faults
    assert where == f"{PATH}.fields.a{path}"
    assert says in reason
    assert len(message.changes) == 1


@pytest.mark.parametrize("name", ["", "x" * 41, "a\nb", "\x00", "\u202e"])
def test_invalid_id_is_refused(name: str) -> None:
    ((where, reason),) = parsed({"fields": {name: WIND}}).faults

    assert where == f"{PATH}.fields.{name[:40]}"
    assert "1 to 40 printable characters" in reason


def test_last_of_two_fields_of_one_id_counts() -> None:
    text = json.dumps(arm(configure={"scene": {"fields": {"a": FLOOR, "b": WIND}}})).replace('"b"', '"a"')

    message = commands.read(text, DEVICES, NEUTRAL, ON)

    (found,) = message.changes
    assert isinstance(found, SetScene)
    assert [(name, field and field.field) for name, field in found.fields] == [("a", "constant")]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "1" * 400])
def test_number_that_is_none_is_refused_and_never_raises(text: str) -> None:
    sent = json.dumps(arm(configure={"scene": {"fields": {"a": FLOOR}}})).replace("1000", text)

    message = commands.read(sent, DEVICES, NEUTRAL, ON)

    assert message.faults
    assert not any(isinstance(one, SetScene) and one.fields for one in message.changes)


def test_hostile_scene_is_read_in_little_time() -> None:
    """Similar words are looked for a few times, not for each of 512 unknown keys."""
    unknown = {f"stifness{index}{'x' * 30}": 1 for index in range(12)}
    message = parsed({"fields": {f"f{index}": {**FLOOR, **unknown} for index in range(64)}})

    assert len(message.faults) == 64 * 8
    assert sum("did you mean" in reason for _, reason in message.faults) <= 8


def test_field_of_http_is_refused_at_once() -> None:
    def refuse(path: str, reason: str) -> None:
        raise InvalidInput(reason, path)

    with pytest.raises(InvalidInput) as error:
        scene.read({"fields": {"a": {**FLOOR, "stiffness": -1}}}, "body", "", refuse, refuse)
    assert error.value.path == "body.fields.a.stiffness"


def test_scene_is_shown_in_the_shape_that_is_sent() -> None:
    fields = {
        "lane": checked_field("spring", {"centre": (0.02, 0.0, 0.0), "stiffness": 200.0, "axes": ("x",)}),
        "air": checked_field("damper", {"damping": (1.0, 2.0, 3.0)}),
        "curl": checked_field("damper", {"matrix": tuple(map(float, NINE))}),
    }

    assert scene.shown(fields) == {
        "fields": {
            "lane": {
                "field": "spring",
                "centre": {"x": 0.02, "y": 0.0, "z": 0.0},
                "axes": ["x"],
                "stiffness": 200.0,
                "damping": 0.0,
                "dead_zone": 0.0,
                "largest": 40.0,
            },
            "air": {"field": "damper", "damping": {"x": 1.0, "y": 2.0, "z": 3.0}},
            "curl": {"field": "damper", "matrix": list(map(float, NINE))},
        }
    }
    assert scene.shown({}) == {"fields": {}}


@given(drawn_scenes)
def test_shown_scene_is_read_as_it_was(fields: Mapping[str, Field]) -> None:
    assert dict(change({**json.loads(orjson.dumps(scene.shown(fields)))}).fields) == fields


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(tuple(FIELDS)), st.data())
def test_no_value_of_a_parameter_raises(name: str, data: st.DataObject) -> None:
    body = {key: data.draw(ANY_JSON) for key in FIELDS[name]}

    message = parsed({"fields": {"a": {"field": name, **body}}})

    assert message.faults or message.changes


@given(ANY_JSON)
def test_no_scene_raises(body: object) -> None:
    message = parsed(body)

    assert message.faults or message.changes
