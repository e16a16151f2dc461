"""Parse faulty messages: no exception, each fault has its path, the valid parts are used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.session.messages import SetBasis, SetMount, SetPreset
from fastpath.layout.constants import Command
from tests.unit.wire.parser_samples import DEVICES, EMPTY, arm, commanded, read, xyz
from transport.wire.device_wide import DEVICE_WIDE, OF_EVERY_KIND
from transport.wire.parsed_message import MOST_PARTS, TOO_LONG, ParsedMessage
from transport.wire.vocabulary import INVERSE, NEUTRAL

GOOD: dict[str, Any] = {"device_id": "049D", "commands": {"set_cursor_force": {"vector": xyz(1, 2, 3)}}}

# ---------------------------------------------------------------- no message at all


@pytest.mark.parametrize(
    "data",
    [
        b"",
        "",
        b" ",
        b"\n",
        b"{",
        b"}",
        b'{"arm"',
        b"{'arm': []}",
        b"{arm: []}",
        b'{"arm": [],}',
        b"// nothing",
        b"hello",
        b"\xff\xfe",
        b'{"\xff": 1}',
        b'{"arm": "\xc3\x28"}',
        b"\x00",
        b"\xef\xbb\xbf{}",
        b'{"a": "\\ud800"}',
        "\ud800",
        '{"a": "\ud800"}',
        b"{}{}",
        b"{} x",
        b"nul",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"arm": [' + b"[" * 2_000 + b"]" * 2_000 + b"]}",
        b"-",
        b"01",
        b'{"a": 1' + b"0" * 5_000 + b"}",
    ],
)
def test_invalid_json_is_one_fault_without_a_path(data: str | bytes) -> None:
    found = read(data)

    assert [path for path, _ in found.faults] == [""]
    assert found.faults[0][1].startswith("no JSON: ")
    assert (found.commands, found.changes, found.workspaces, found.mapped, found.full) == ([], [], [], set(), None)


@pytest.mark.parametrize("text", [b"NaN", b"1e999", b"-Infinity"])
def test_bare_number_is_no_message(text: bytes) -> None:
    assert read(text).faults == [("", "a message is a JSON object, not a number")]


@pytest.mark.parametrize("depth", [200, 639, 900])
def test_unclosed_brackets_are_a_fault_and_no_memory_error(depth: int) -> None:
    (path, reason), *others = read(b"[" * depth + b"1").faults

    assert (path, others) == ("", [])
    assert reason.startswith("no JSON: ")
    assert "memory" not in reason


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"null", "null"),
        (b"true", "a boolean"),
        (b"1", "a number"),
        (b"-0.5", "a number"),
        (b'"arm"', "a string"),
        (b"[]", "an array"),
        (b"[{}]", "an array"),
        (b"123456789012345678901234567890", "a number"),
    ],
)
def test_non_object_is_one_fault_without_a_path(data: bytes, what: str) -> None:
    assert read(data).faults == [("", f"a message is a JSON object, not {what}")]


@pytest.mark.parametrize("data", [b"{}", "{}", b' {"session": {}} ', b'{"arm": [], "grip": {}}'])
def test_an_empty_message_is_no_fault(data: str | bytes) -> None:
    found = read(data)

    assert (found.faults, found.mapped) == ([], set())


def test_text_and_bytes_are_read_equally() -> None:
    message = json.dumps(commanded(set_cursor_force={"vector": xyz(1, 2, 3)}))

    assert read(message) == read(message.encode())


def test_last_of_duplicate_keys_counts() -> None:
    found = read(b'{"arm": 1, "arm": [{"device_id": "nobody", "device_id": "049D", "commands": {}}]}')

    assert (found.faults, found.mapped) == ([], {"049D"})


# ---------------------------------------------------------------- groups and devices


@pytest.mark.parametrize("word", ["", "arms", "device", "Arm", "*", "haptic*", "commands", "device_id"])
def test_an_unknown_group_is_named_and_the_rest_counts(word: str) -> None:
    found = read({word: [], "arm": [GOOD]})

    assert [path for path, _ in found.faults] == [word]
    assert len(found.commands) == 1


def test_a_long_group_is_cut_in_the_path() -> None:
    assert read({"g" * 500: []}).faults[0][0] == "g" * 40


@pytest.mark.parametrize("part", [None, True, 1, 1.5, "049D"])
def test_non_array_non_object_group_is_a_fault(part: object) -> None:
    found = read({"arm": part, "compact": [GOOD]})

    assert [path for path, _ in found.faults] == ["arm"]
    assert len(found.commands) == 1


@pytest.mark.parametrize("entry", [None, True, 1, "049D", [], [{}]])
def test_non_object_entry_is_a_fault(entry: object) -> None:
    assert [path for path, _ in read({"arm": [entry, GOOD]}).faults] == ["arm[0]"]
    assert [path for path, _ in read({"arm": {"049D": entry}}).faults] == ["arm.049D"]
    assert len(read({"arm": [entry, GOOD]}).commands) == 1


@pytest.mark.parametrize(
    ("device_id", "reason"),
    [
        ("049d", 'no such device "049d" in this group: did you mean 049D?'),
        ("049", 'no such device "049" in this group: did you mean 049D?'),
        ("", 'no such device "" in this group: GET /devices lists those that are here'),
        ("9" * 500, f'no such device "{"9" * 16}" in this group: GET /devices lists those that are here'),
        ("1605", '"1605" is a grip, and this group is for arms and compacts'),
        (None, "device_id is missing"),
        (0, "a device_id is a string, not a number"),
        (49, "a device_id is a string, not a number"),
        (True, "a device_id is a string, not a boolean"),
        (["049D"], "a device_id is a string, not an array"),
        ({"049D": 1}, "a device_id is a string, not an object"),
    ],
)
def test_unknown_device_is_named_and_the_rest_counts(device_id: object, reason: str) -> None:
    found = read({"arm": [{"device_id": device_id, "commands": EMPTY}, GOOD]})

    assert found.faults == [("arm[0].device_id", reason)]
    assert len(found.commands) == 1


def test_an_entry_without_an_id_is_named() -> None:
    assert read({"arm": [{"commands": EMPTY}]}).faults == [("arm[0].device_id", "device_id is missing")]


def test_an_unknown_key_of_a_keyed_group_is_named_by_its_own_path() -> None:
    assert read({"arm": {"nobody": {}}}).faults == [
        ("arm.nobody", 'no such device "nobody" in this group: GET /devices lists those that are here')
    ]
    assert read({"arm": {"k" * 500: {}}}).faults[0][0] == "arm." + "k" * 40
    assert read({"arm": {"049D": {"device_id": "nobody"}}}).faults[0][0] == "arm.049D.device_id"


@pytest.mark.parametrize(
    ("group", "device_id"), [("arm", "1605"), ("grip", "049D"), ("pen", "04EA"), ("inverse3", "1700")]
)
def test_device_is_found_on_its_own_side_only(group: str, device_id: str) -> None:
    found = read({group: [{"device_id": device_id, "commands": {"probe_position": EMPTY}}]})

    assert [path for path, _ in found.faults] == [f"{group}[0].device_id"]


@pytest.mark.parametrize("key", ["config", "state", "status", "command", "id", ""])
def test_an_unknown_key_of_an_entry_is_named_and_ignored(key: str) -> None:
    found = read({"arm": [{**GOOD, key: 1}]})

    assert [path for path, _ in found.faults] == [f"arm[0].{key}"]
    assert len(found.commands) == 1


def test_every_bad_part_of_a_message_is_named() -> None:
    found = read(
        {
            "nonsense": 1,
            "arm": [
                {"device_id": "nobody"},
                {"device_id": "049D", "commands": {"set_cursor_force": {"vector": xyz(1, True, 3)}, "dance": 1}},
                {"device_id": "049D", "configure": {"basis": "XXX", "colour": 1}, "more": 1},
            ],
            "session": {"configure": {"basis": 1}, "force_render_full_state": 1, "more": 1},
        }
    )

    assert {path for path, _ in found.faults} == {
        "nonsense",
        "arm[0].device_id",
        "arm[1].commands.set_cursor_force.vector.y",
        "arm[1].commands.dance",
        "arm[2].configure.basis",
        "arm[2].configure.colour",
        "arm[2].more",
        "session.configure.basis",
        "session.force_render_full_state",
        "session.more",
    }


# ---------------------------------------------------------------- whatever comes

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), inner, max_size=4)
    ),
    max_leaves=25,
)
numbers = st.floats(-2e6, 2e6) | st.integers(-5, 5) | json_values
components = st.dictionaries(st.sampled_from(["x", "y", "z", "w", "a0", "a1", "a2"]), numbers, max_size=4)
transforms = st.dictionaries(
    st.sampled_from(["position", "rotation", "scale", "transform", "?"]), components | json_values, max_size=4
)
bodies = (
    st.dictionaries(
        st.sampled_from(["vector", "position", "torques", "angles", "values", "transform", "pivot", "?"]),
        components | transforms | json_values,
        max_size=3,
    )
    | json_values
)
command_maps = (
    st.dictionaries(
        st.sampled_from(
            [
                "set_cursor_force",
                "set_cursor_position",
                "set_angular_torques",
                "set_angular_position",
                "set_angular_torque",
                "set_transform",
                "probe_position",
                "probe_cursor_position",
                "keep_alive",
                "dance",
            ]
        ),
        bodies,
        max_size=4,
    )
    | json_values
)
configurations = (
    st.dictionaries(
        st.sampled_from(["basis", "mount", "preset", "damping", "?"]),
        transforms | st.sampled_from(["XZ-Y", "arm_front", "custom", "minverse_zup"]) | json_values,
        max_size=4,
    )
    | json_values
)
entries = (
    st.fixed_dictionaries(
        {},
        optional={
            "device_id": st.sampled_from(list(DEVICES)) | json_values,
            "commands": command_maps,
            "configure": configurations,
            "?": json_values,
        },
    )
    | json_values
)
sessions = (
    st.fixed_dictionaries(
        {},
        optional={
            "force_render_full_state": st.fixed_dictionaries(
                {}, optional={"device_types": st.lists(st.sampled_from(["arm", "grip", "pen", "?"])) | json_values}
            )
            | json_values,
            "configure": st.dictionaries(
                st.sampled_from(["profile", "basis", "required_sdk_version", "?"]), json_values, max_size=4
            )
            | json_values,
        },
    )
    | json_values
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "arm": st.lists(entries, max_size=3) | st.dictionaries(st.sampled_from(list(DEVICES)), entries, max_size=3),
        "inverse3": st.lists(entries, max_size=2) | json_values,
        "grip": st.lists(entries, max_size=2) | json_values,
        "session": sessions,
        "?": json_values,
    },
)


def check(found: ParsedMessage) -> None:
    """What holds for every message, however bad."""
    assert all(len(path) < 300 for path, _ in found.faults)
    assert all(reason for _, reason in found.faults)
    for device_id, code, x, y, z, _path in found.commands:
        device = DEVICES[device_id]
        assert device.has_motors
        assert device.accepts
        assert code in {1, 2, 4, 8}
        assert all(type(value) in {int, float} and -1e6 <= value <= 1e6 for value in (x, y, z))
    assert {command[0] for command in found.commands} <= found.mapped
    assert {device_id for device_id, _ in found.workspaces} <= found.mapped
    mounts = {change.device_id for change in found.changes if isinstance(change, SetMount)}
    presets = {change.device_id for change in found.changes if isinstance(change, SetPreset)}
    assert not mounts & presets
    for change in found.changes:
        if isinstance(change, (SetBasis, SetMount, SetPreset)):
            assert change.device_id is None or change.device_id in DEVICES


@given(json_values, st.sampled_from([NEUTRAL, INVERSE]))
def test_any_json_is_parsed_without_error(message: object, vocabulary: Any) -> None:
    check(read(json.dumps(message), vocabulary))


@given(messages, st.sampled_from([NEUTRAL, INVERSE]))
def test_any_near_message_is_parsed_without_error(message: object, vocabulary: Any) -> None:
    check(read(json.dumps(message), vocabulary))


@given(messages)
def test_parsing_is_stateless(message: object) -> None:
    data = json.dumps(message)

    assert read(data) == read(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_without_error(data: bytes) -> None:
    check(read(data))


@given(st.text(max_size=200))
def test_any_text_is_parsed_without_error(data: str) -> None:
    check(read(data))


@given(messages, st.data())
def test_message_cut_anywhere_is_parsed_without_error(message: object, data: st.DataObject) -> None:
    whole = json.dumps(message).encode()
    cut = data.draw(st.integers(0, len(whole)))

    check(read(whole[:cut]))


@given(messages)
def test_fault_never_removes_a_valid_part(message: dict[str, Any]) -> None:
    found = read(json.dumps({**message, "compact": [GOOD]}))

    assert ("049D", Command.COMMAND_FORCE, 1, 2, 3) in [command[:5] for command in found.commands]
    assert "049D" in found.mapped


def test_parsing_ends_at_the_512th_part_and_reports_it_first() -> None:
    force = {"set_cursor_force": {"vector": {"x": 1, "y": 0, "z": 0}}}

    found = read(json.dumps(arm(commands=force | {f"c{index}": {} for index in range(5_000)} | {"set_transform": {}})))

    assert found.faults[0] == ("arm[0].commands", TOO_LONG)
    assert found.parts == MOST_PARTS + 1
    assert len(found.faults) <= MOST_PARTS
    assert [command[:3] for command in found.commands] == [("049D", Command.COMMAND_FORCE, 1)]


def test_message_of_512_parts_is_parsed_completely() -> None:
    found = read(json.dumps({f"k{index}": 0 for index in range(MOST_PARTS)}))

    assert [path for path, _ in found.faults] == [f"k{index}" for index in range(MOST_PARTS)]


# ---------------------------------------------------------------- the same device twice


BAD: dict[str, Any] = {"device_id": "049D", "commands": {"set_cursor_force": {"vector": 5}}}
TORQUES: dict[str, Any] = {
    "device_id": "049D",
    "commands": {"set_angular_torques": {"torques": {"a0": 1, "a1": 2, "a2": 3}}},
}


@pytest.mark.parametrize(
    ("entries", "codes"),
    [
        ([GOOD, BAD], []),
        ([BAD, GOOD], [Command.COMMAND_FORCE]),
        ([GOOD, BAD, GOOD], [Command.COMMAND_FORCE]),
        ([GOOD, TORQUES, BAD], [Command.COMMAND_TORQUE]),
        ([TORQUES, {"device_id": "049D", "commands": {"set_angular_torque": 5}}], []),
        ([GOOD, {"device_id": "049D", "commands": {"no_such": 5}}], [Command.COMMAND_FORCE]),
        ([GOOD, {"device_id": "049D", "commands": 5}], [Command.COMMAND_FORCE]),
    ],
)
def test_later_of_two_entries_counts_for_each_command(entries: list[object], codes: list[int]) -> None:
    found = read({"arm": entries})

    assert [command[1] for command in found.commands] == codes
    assert found.mapped == {"049D"}


def test_faulty_command_releases_nothing_of_another_device() -> None:
    found = read({"arm": [GOOD, {**BAD, "device_id": "04A0"}], "compact": [{**BAD, "device_id": "05C0"}]})

    assert [command[:2] for command in found.commands] == [("049D", Command.COMMAND_FORCE)]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ({"arm": [{"device_id": "049D", "command": {}}]}, ("arm[0].command", "unknown: did you mean commands?")),
        (
            {"arm": [{"device_id": "049D", "configure": {"gravity": {}}}]},
            ("arm[0].configure.gravity", "unknown: did you mean gravity_compensation?"),
        ),
        ({"session": {"configre": {}}}, ("session.configre", "unknown: did you mean configure?")),
        ({"session": {"configure": {"profil": {}}}}, ("session.configure.profil", "unknown: did you mean profile?")),
    ],
)
def test_an_unknown_key_names_the_nearest(message: dict[str, object], fault: tuple[str, str]) -> None:
    assert read(message).faults == [fault]


@pytest.mark.parametrize("area", sorted(DEVICE_WIDE - OF_EVERY_KIND))
def test_a_command_named_after_what_a_grip_has_not_names_who_has_it(area: str) -> None:
    ((path, reason),) = read({"grip": [{"device_id": "1605", "commands": {f"set_{area}": {}}}]}).faults

    assert path == f"grip[0].commands.set_{area}"
    assert len(reason) <= 100
    assert reason.startswith(f"unknown, and a grip has no {area}: it is for an arm")


def test_a_command_named_after_a_pair_names_the_route() -> None:
    ((_, reason),) = read({"grip": [{"device_id": "1605", "commands": {"set_paired_with": {}}}]}).faults

    assert reason == "unknown: configure.paired_with, by POST /grip/1605/config/paired_with"
