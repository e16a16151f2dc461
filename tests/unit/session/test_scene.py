"""Scene of a session: adding, changing and removing fields, its limits, and the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

from actors.kit.errors import InvalidInput
from actors.session import defaults
from actors.session.configure import without_scenes
from actors.session.messages import ClearScene, DeviceConfig, SessionConfig, SetScene
from actors.session.scene import as_json, changed, from_json
from actors.session.scene_fields import checked_field
from actors.settings.immutable_json import freeze
from fastpath.scene.values import MOST_FIELDS, NO_SCENE, Field
from tests.support.wire.drawn_scenes import drawn_scenes
from tests.unit.session.configuration_samples import ARM, GRIP, made

DOWN = checked_field("constant", {"force": (0.0, 0.0, -1.0)})
UP = checked_field("constant", {"force": (0.0, 0.0, 1.0)})
AIR = checked_field("damper", {"damping": 2.0})
TWO = {"a": DOWN, "b": AIR}


@pytest.mark.parametrize(
    ("fields", "more", "expected"),
    [
        ({}, {}, TWO),
        ({"a": UP}, {}, {"a": UP, "b": AIR}),
        ({"c": UP}, {}, {**TWO, "c": UP}),
        ({"a": None}, {}, {"b": AIR}),
        ({"none": None}, {}, TWO),
        ({"c": UP}, {"replace": True}, {"c": UP}),
        ({}, {"replace": True}, {}),
        ({"c": UP}, {"replace": True, "kept": ("b", "none")}, {"b": AIR, "c": UP}),
        ({"b": None}, {"kept": ("b",)}, {"a": DOWN}),
    ],
)
def test_change_adds_changes_and_removes(
    fields: dict[str, Field | None], more: dict[str, Any], expected: dict[str, Field]
) -> None:
    now = changed(TWO, fields, **more)

    assert list(now.items()) == list(expected.items())
    assert isinstance(now, MappingProxyType)


def test_field_past_the_limit_is_refused_with_the_number() -> None:
    full = changed(NO_SCENE, {f"f{index}": UP for index in range(MOST_FIELDS)})

    with pytest.raises(InvalidInput, match="at most 32 fields, and this one would have 33"):
        changed(full, {"one more": UP})
    assert len(changed(full, {"one more": UP, "f0": None})) == MOST_FIELDS
    assert len(changed(full, {"f0": DOWN})) == MOST_FIELDS


@pytest.mark.parametrize("name", ["", "x" * 41, "a\nb", "\x00", "\ud800", "\u202e"])
def test_invalid_id_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 40 printable characters"):
        changed(NO_SCENE, {name: UP})


@pytest.mark.parametrize("name", ["a", "x" * 40, "left wall", "Wände/1", "…", "null"])
def test_printable_id_is_taken(name: str) -> None:
    assert list(changed(NO_SCENE, {name: UP})) == [name]


@given(drawn_scenes)
def test_scene_round_trips_through_the_ledger(scene: Mapping[str, Field]) -> None:
    assert from_json(freeze(json.loads(json.dumps(as_json(scene))))) == scene


@pytest.mark.parametrize(
    "broken",
    [
        {"": as_json({"a": UP})["a"]},
        {"x": None},
        {"x": {"field": "wall", "values": {}}},
        {"x": {"field": "constant", "values": {"force": [0, 0, 1e9]}}},
        {"x": {"field": "constant", "values": {"force": [[], {}, None]}}},
        {"x": {"field": "spring", "values": {"centre": [0, 0, 0], "stiffness": 1, "axes": [{}]}}},
        {"x": {"field": "constant"}},
    ],
)
def test_invalid_field_of_the_ledger_is_left_out(broken: dict[str, Any]) -> None:
    assert from_json(freeze({"good": as_json({"a": UP})["a"], **broken})) == {"good": UP}


@pytest.mark.parametrize("broken", [None, [], "scene", 1])
def test_invalid_ledger_gives_no_scene(broken: object) -> None:
    assert from_json(broken) == NO_SCENE


def test_start_values_keep_their_scene_in_the_ledger() -> None:
    config = SessionConfig(devices=MappingProxyType({ARM: DeviceConfig(scene=TWO)}))

    assert defaults.from_json(freeze(json.loads(json.dumps(defaults.as_json(config))))) == config


def test_session_is_configured_and_cleared_to_its_start_value() -> None:
    start = SessionConfig(devices=MappingProxyType({ARM: DeviceConfig(scene={"b": AIR})}))

    applied = made(SetScene(ARM, (("a", UP),)), SetScene(ARM, (("c", DOWN), ("a", None))), start=start)
    assert applied.config.device(ARM).scene == {"c": DOWN}
    assert applied.scopes == ("config.scene",)

    cleared = made(ClearScene(ARM), config=applied.config, start=start)
    assert cleared.config.device(ARM).scene == {"b": AIR}


def test_change_that_changes_nothing_has_no_scope() -> None:
    applied = made(SetScene(ARM, (("none", None),)))

    assert (applied.scopes, applied.refused) == ((), ())
    assert applied.config == SessionConfig()


def test_device_without_motors_has_no_scene() -> None:
    (refused,) = made(SetScene(GRIP, (("a", UP),))).refused

    assert "has no scene: send it to an arm or a compact" in refused.reason


def test_refused_change_leaves_the_scene() -> None:
    full = made(SetScene(ARM, tuple((f"f{index}", UP) for index in range(MOST_FIELDS)))).config
    applied = made(SetScene(ARM, (("a", UP), ("f0", DOWN))), config=full)

    assert [refused.reason for refused in applied.refused] == [
        "a scene has at most 32 fields, and this one would have 33"
    ]
    assert applied.config == full


def test_without_scenes_leaves_all_else() -> None:
    config = SessionConfig(devices=MappingProxyType({ARM: DeviceConfig(force_gate=0.5, scene=TWO)}))

    assert without_scenes(config).device(ARM) == DeviceConfig(force_gate=0.5)
    assert without_scenes(SessionConfig()) == SessionConfig()
