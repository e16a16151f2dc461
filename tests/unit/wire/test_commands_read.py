"""Parse the commands of a message: set-points, probes, workspace, devices with a commands map."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from actors.values.spatial import PartialTransform
from fastpath.layout.constants import Command
from tests.unit.wire.parser_samples import DEVICES, EMPTY, arm, commanded, joints, read, xyz
from transport.wire.commands import UNKNOWN_COMMAND
from transport.wire.parsed_message import ParsedMessage

SET_POINTS: list[tuple[str, str, tuple[str, ...], int]] = [
    ("set_cursor_force", "vector", ("x", "y", "z"), Command.COMMAND_FORCE),
    ("set_cursor_position", "position", ("x", "y", "z"), Command.COMMAND_POSITION),
    ("set_angular_torques", "torques", ("a0", "a1", "a2"), Command.COMMAND_TORQUE),
    ("set_angular_position", "angles", ("a0", "a1", "a2"), Command.COMMAND_ANGLE),
]
BAD_NUMBERS: list[Any] = [True, None, "1", [], {}, 1e7, -1e7, 10**19]


def commands_of(found: ParsedMessage) -> list[tuple[object, ...]]:
    return [command[:5] for command in found.commands]


# ---------------------------------------------------------------- set-points


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
@pytest.mark.parametrize("values", [(0, 0, 0), (1, -2, 3), (0.5, 1.25, -1e6), (1e6, 1, 1.5)])
def test_each_set_point_is_parsed(
    name: str, field: str, keys: tuple[str, ...], code: int, values: tuple[float, ...]
) -> None:
    found = read(commanded(**{name: {field: dict(zip(keys, values, strict=True))}}))

    assert commands_of(found) == [("049D", code, *values)]
    assert found.mapped == {"049D"}
    assert (found.faults, found.changes, found.workspaces, found.deprecated) == ([], [], [], [])
    assert found.full is None


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
@pytest.mark.parametrize("as_array", [False, True])
def test_each_legacy_form_is_parsed_and_noted(
    name: str, field: str, keys: tuple[str, ...], code: int, as_array: bool
) -> None:
    values = [1, 2.5, -3] if as_array else dict(zip(keys, (1, 2.5, -3), strict=True))

    found = read(commanded(**{name: {"values": values}}))

    assert commands_of(found) == [("049D", code, 1, 2.5, -3)]
    assert found.deprecated == [(name, field)]
    assert found.faults == []


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_invalid_number_is_named_with_its_full_path_and_releases(
    name: str, field: str, keys: tuple[str, ...], code: int, bad: object
) -> None:
    del code
    for key in keys:
        found = read(commanded(**{name: {field: {**dict.fromkeys(keys, 1), key: bad}}}))

        assert [path for path, _ in found.faults] == [f"arm[0].commands.{name}.{field}.{key}"]
        assert found.commands == []
        assert found.mapped == {"049D"}


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
def test_a_component_that_is_missing_is_named(name: str, field: str, keys: tuple[str, ...], code: int) -> None:
    del code
    for missing in keys:
        found = read(commanded(**{name: {field: {key: 1 for key in keys if key != missing}}}))

        assert [path for path, _ in found.faults] == [f"arm[0].commands.{name}.{field}.{missing}"]


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
@pytest.mark.parametrize("body", [{}, {"wrong": 1}])
def test_a_field_that_is_missing_is_named(
    name: str, field: str, keys: tuple[str, ...], code: int, body: dict[str, object]
) -> None:
    del keys, code
    found = read(commanded(**{name: body}))

    assert (f"arm[0].commands.{name}.{field}", f"{field} is missing") in found.faults
    assert found.commands == []


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
@pytest.mark.parametrize("body", [None, True, 1, "x", [], [1, 2, 3]])
def test_non_object_command_is_a_fault(name: str, field: str, keys: tuple[str, ...], code: int, body: object) -> None:
    del field, keys, code
    found = read(commanded(**{name: body}))

    assert [path for path, _ in found.faults] == [f"arm[0].commands.{name}"]
    assert found.commands == []


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
def test_unknown_keys_are_named_and_the_command_counts(name: str, field: str, keys: tuple[str, ...], code: int) -> None:
    vector = {**dict.fromkeys(keys, 1), "extra": None}

    found = read(commanded(**{name: {field: vector, "more": 1}}))

    assert commands_of(found) == [("049D", code, 1, 1, 1)]
    assert [path for path, _ in found.faults] == [
        f"arm[0].commands.{name}.more",
        f"arm[0].commands.{name}.{field}.extra",
    ]


def test_named_field_precedes_the_legacy_one() -> None:
    found = read(commanded(set_cursor_force={"values": [9, 9, 9], "vector": xyz(1, 2, 3)}))

    assert commands_of(found) == [("049D", Command.COMMAND_FORCE, 1, 2, 3)]
    assert (found.faults, found.deprecated) == ([], [])


@pytest.mark.parametrize("values", [[], [1, 2], [1, 2, 3, 4], [1, 2, "3"], [1, 2, None], "123", {"x": 1}, None])
def test_bad_legacy_values_are_named(values: object) -> None:
    found = read(commanded(set_cursor_force={"values": values}))

    assert len(found.faults) == 1
    assert found.faults[0][0].startswith("arm[0].commands.set_cursor_force.values")
    assert found.commands == []


def test_old_torque_command_accepts_either_field() -> None:
    for body in ({"torques": joints(1, 2, 3)}, {"values": joints(1, 2, 3)}, {"values": [1, 2, 3]}):
        found = read(commanded(set_angular_torque=body))

        assert commands_of(found) == [("049D", Command.COMMAND_TORQUE, 1, 2, 3)]
        assert found.deprecated[0] == ("set_angular_torque", "set_angular_torques")
        assert found.faults == []


def test_fault_of_an_old_name_has_the_old_name() -> None:
    found = read(commanded(set_angular_torque={"torques": joints(1, 2, "3")}))

    assert [path for path, _ in found.faults] == ["arm[0].commands.set_angular_torque.torques.a2"]


def test_several_commands_of_a_device_are_kept() -> None:
    found = read(
        commanded(
            set_cursor_force={"vector": xyz(1, 2, 3)},
            set_angular_torques={"torques": joints(4, 5, 6)},
            set_cursor_position={"position": xyz(7, 8, 9)},
        )
    )

    assert commands_of(found) == [
        ("049D", Command.COMMAND_FORCE, 1, 2, 3),
        ("049D", Command.COMMAND_TORQUE, 4, 5, 6),
        ("049D", Command.COMMAND_POSITION, 7, 8, 9),
    ]


def test_valid_command_beside_a_faulty_one_counts() -> None:
    found = read(
        commanded(
            set_cursor_position={"position": xyz(1, "2", 3)},
            set_cursor_force={"vector": xyz(1, 2, 3)},
            dance={},
        )
    )

    assert commands_of(found) == [("049D", Command.COMMAND_FORCE, 1, 2, 3)]
    assert [path for path, _ in found.faults] == [
        "arm[0].commands.set_cursor_position.position.y",
        "arm[0].commands.dance",
    ]


def test_duplicate_device_counts_twice_in_order() -> None:
    first = {"device_id": "049D", "commands": {"set_cursor_force": {"vector": xyz(1, 1, 1)}, "probe_position": {}}}
    second = {"device_id": "049D", "commands": {"set_cursor_force": {"vector": xyz(2, 2, 2)}}}

    found = read({"arm": [first, second], "inverse3": [first]})

    assert [command[2] for command in found.commands] == [1, 2, 1]
    assert found.mapped == {"049D"}


@pytest.mark.parametrize("word", ["arm", "compact", "inverse3", "inverse3x", "minverse"])
@pytest.mark.parametrize("device_id", ["049D", "04EA"])
def test_arm_is_found_under_every_name_of_its_group(word: str, device_id: str) -> None:
    entry = {"commands": {"set_cursor_force": {"vector": xyz(1, 2, 3)}}}

    for part in ([{"device_id": device_id, **entry}], {device_id: entry}):
        found = read({word: part})

        assert commands_of(found) == [(device_id, Command.COMMAND_FORCE, 1, 2, 3)]
        assert found.faults == []


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
def test_paths_of_a_keyed_group_carry_the_id(name: str, field: str, keys: tuple[str, ...], code: int) -> None:
    del code
    entry = {"commands": {name: {field: {**dict.fromkeys(keys, 1), keys[0]: "bad"}}}, "more": 1}

    found = read({"arm": {"049D": entry}})

    assert [path for path, _ in found.faults] == [f"arm.049D.commands.{name}.{field}.{keys[0]}", "arm.049D.more"]


def test_the_path_of_an_entry_carries_its_index() -> None:
    entry = {"device_id": "049D", "commands": {"set_cursor_force": {"vector": xyz(1, 2, None)}}}

    found = read({"arm": [{"device_id": "049D"}, entry]})

    assert [path for path, _ in found.faults] == ["arm[1].commands.set_cursor_force.vector.z"]


# ---------------------------------------------------------------- who can do what


@pytest.mark.parametrize("name", ["set_transform", "set_angular_torque", *(row[0] for row in SET_POINTS)])
@pytest.mark.parametrize(("group", "device_id"), [("grip", "1605"), ("verse_grip", "1605"), ("pen", "1700")])
def test_device_without_motors_refuses_forces(name: str, group: str, device_id: str) -> None:
    found = read({group: [{"device_id": device_id, "commands": {name: {"vector": xyz(1, 2, 3)}}}]})

    assert [path for path, _ in found.faults] == [f"{group}[0].commands.{name}"]
    assert "send it to an arm or a compact" in found.faults[0][1]
    assert (found.commands, found.workspaces) == ([], [])


@pytest.mark.parametrize(("name", "field", "keys", "code"), SET_POINTS)
def test_a_settling_device_refuses_commands(name: str, field: str, keys: tuple[str, ...], code: int) -> None:
    del code
    found = read(arm(device_id="05E7", commands={name: {field: dict.fromkeys(keys, 1)}}))

    assert [path for path, _ in found.faults] == [f"arm[0].commands.{name}"]
    assert found.faults[0][1].startswith("settling")
    assert found.commands == []


@pytest.mark.parametrize("device_id", DEVICES)
@pytest.mark.parametrize("name", ["probe_position", "probe_orientation", "keep_alive", "probe_cursor_position"])
@pytest.mark.parametrize("body", [{}, None, True, 0, "x", [], {"values": [1]}])
def test_probes_with_any_content_are_accepted_on_every_device(device_id: str, name: str, body: object) -> None:
    group = "arm" if DEVICES[device_id].has_motors else "grip"

    found = read({group: [{"device_id": device_id, "commands": {name: body}}]})

    assert (found.faults, found.commands) == ([], [])
    assert found.mapped == {device_id}
    assert found.deprecated == (
        [("probe_cursor_position", "probe_position")] if name == "probe_cursor_position" else []
    )


@pytest.mark.parametrize("name", ["", "dance", "vector", "configure", "c" * 40])
@pytest.mark.parametrize(("group", "device_id"), [("arm", "049D"), ("arm", "05E7"), ("grip", "1605")])
def test_an_unknown_command_is_named_on_every_device(name: str, group: str, device_id: str) -> None:
    found = read({group: [{"device_id": device_id, "commands": {name: True}}]})

    assert found.faults == [(f"{group}[0].commands.{name}", UNKNOWN_COMMAND)]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Set_cursor_force", "set_cursor_force"),
        ("set_cursor_forces", "set_cursor_force"),
        ("set_cursor_postion", "set_cursor_position"),
        ("probe_positon", "probe_position"),
    ],
)
def test_a_mistyped_command_is_told_which_was_meant(name: str, meant: str) -> None:
    assert read(commanded(**{name: {}})).faults[0][1] == f"unknown command: did you mean {meant}?"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "set_gravity_compensation",
            "unknown: configure.gravity_compensation, by POST /arm/049D/config/gravity_compensation",
        ),
        ("handedness", "unknown: configure.handedness, by POST /arm/049D/config/handedness"),
        ("set_damping", "unknown: send it as configure.damping"),
        ("preset", "unknown: send it as configure.preset"),
    ],
)
def test_configuration_among_the_commands_is_told_where_it_belongs(name: str, reason: str) -> None:
    assert read(commanded(**{name: True})).faults[0][1] == reason


def test_no_more_unknown_words_are_compared_than_a_frame_shows() -> None:
    faults = read({"arm": [{"device_id": "049D", "commands": {f"set_cursor_force{n}": {} for n in range(20)}}]}).faults

    assert [reason for _, reason in faults[:8]] == ["unknown command: did you mean set_cursor_force?"] * 8
    assert {reason for _, reason in faults[8:]} == {UNKNOWN_COMMAND}


def test_a_long_command_name_is_cut_in_the_path() -> None:
    assert read(commanded(**{"c" * 1000: {}})).faults[0][0] == "arm[0].commands." + "c" * 40


# ---------------------------------------------------------------- the workspace

WHOLE = {"position": xyz(1, 2, 3), "rotation": {"w": 1, "x": 0, "y": 0, "z": 0}, "scale": 2}


@pytest.mark.parametrize(
    "sent", [part for count in range(4) for part in itertools.combinations(("position", "rotation", "scale"), count)]
)
def test_workspace_transform_is_parsed_part_by_part(sent: tuple[str, ...]) -> None:
    found = read(commanded(set_transform={"transform": {key: WHOLE[key] for key in sent}}))

    assert found.workspaces == [
        (
            "049D",
            PartialTransform(
                (1, 2, 3) if "position" in sent else None,
                (1, 0, 0, 0) if "rotation" in sent else None,
                (2, 2, 2) if "scale" in sent else None,
            ),
        )
    ]
    assert found.mapped == {"049D"}
    assert found.faults == []


@pytest.mark.parametrize("pivot", [xyz(0, 0, 0), None, {}, "here", 0])
@pytest.mark.parametrize("rest", [{"transform": WHOLE}, {"transform": {}}, {}])
def test_pivot_is_refused_naming_its_setting(pivot: object, rest: dict[str, object]) -> None:
    found = read(commanded(set_transform={**rest, "pivot": pivot}))

    assert [path for path, _ in found.faults] == ["arm[0].commands.set_transform.pivot"]
    assert "features/workspace_zoom/enabled" in found.faults[0][1]
    assert found.workspaces == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (None, ""),
        ([], ""),
        (True, ""),
        ({}, ".transform"),
        (WHOLE, ".transform"),
        ({"transform": None}, ".transform"),
        ({"transform": []}, ".transform"),
        ({"transform": {"position": {"x": 1}}}, ".transform.position.y"),
        ({"transform": {"rotation": {"w": 2, "x": 0, "y": 0, "z": 0}}}, ".transform.rotation"),
        ({"transform": {"scale": 0}}, ".transform.scale"),
        ({"transform": {"scale": xyz(1, 1, -1)}}, ".transform.scale.z"),
    ],
)
def test_a_faulty_workspace_transform_is_named_and_changes_nothing(body: object, path: str) -> None:
    found = read(commanded(set_transform=body))

    assert [where for where, _ in found.faults] == [f"arm[0].commands.set_transform{path}"]
    assert found.workspaces == []


def test_unknown_keys_of_a_workspace_are_named_and_ignored() -> None:
    found = read(commanded(set_transform={"transform": {"scale": 2, "shear": 1}, "about": 1}))

    assert [path for path, _ in found.faults] == [
        "arm[0].commands.set_transform.about",
        "arm[0].commands.set_transform.transform.shear",
    ]
    assert found.workspaces == [("049D", PartialTransform(scale=(2, 2, 2)))]


# ---------------------------------------------------------------- what releases


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"session": {}},
        {"session": {"force_render_full_state": {}}},
        {"session": {"configure": {"profile": {"name": "a"}}}},
        {"arm": []},
        {"arm": {}},
        {"arm": [{"device_id": "049D"}]},
        arm(configure={}),
        arm(configure={"preset": "arm_front"}),
        arm(device_id="nobody"),
        {"commands": {}},
        {"arm": ["commands"]},
        [],
        "commands",
        None,
        b"{",
        b"",
    ],
)
def test_message_without_commands_neither_releases_nor_refreshes(message: object) -> None:
    assert read(message).mapped == set()


@pytest.mark.parametrize(
    "message",
    [
        commanded(),
        commanded(keep_alive={}),
        commanded(probe_position=None),
        commanded(set_cursor_force={"vector": xyz(1, 2, 3)}),
        commanded(set_cursor_force="faulty"),
        commanded(set_transform={"transform": EMPTY}),
        commanded(dance={}),
        arm(commands={}, configure={"preset": "arm_front"}),
        {"grip": [{"device_id": "1605", "commands": EMPTY}]},
        arm(device_id="nobody", commands={}),
        arm(commands=None),
        arm(commands=[]),
    ],
)
def test_message_with_commands_releases_omitted_ones(message: object) -> None:
    assert read(message).mapped


def test_devices_with_commands_are_listed() -> None:
    found = read(
        {
            "arm": [{"device_id": "049D", "commands": EMPTY}, {"device_id": "05E7"}],
            "compact": {"04EA": {"commands": EMPTY}},
            "grip": [{"device_id": "1605", "commands": {"keep_alive": True}}],
        }
    )

    assert found.mapped == {"049D", "04EA", "1605"}


@pytest.mark.parametrize("value", [None, True, 1, "x", []])
def test_invalid_commands_map_is_named(value: object) -> None:
    assert [path for path, _ in read(arm(commands=value)).faults] == ["arm[0].commands"]


def test_number_beyond_float_is_named_and_the_rest_counts() -> None:
    for text in (b"1e999", b"-1e999", b"NaN", b"Infinity", b"-Infinity", b"1" + b"0" * 400):
        message = b'{"arm":[{"device_id":"049D","commands":{"set_cursor_force":{"vector":{"x":0,"y":0,"z":%b}},"keep_alive":{}}}]}'

        found = read(message % text)

        assert [path for path, _ in found.faults] == ["arm[0].commands.set_cursor_force.vector.z"]
        assert found.commands == []
        assert found.mapped == {"049D"}


def test_parsed_numbers_are_finite() -> None:
    found = read(commanded(set_cursor_force={"vector": xyz(5e-324, -0.0, 1e6)}))

    assert all(math.isfinite(value) for value in found.commands[0][2:5])
