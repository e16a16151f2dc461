"""Parse the configuration of a message: devices, session, and requested full groups."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from actors.session.messages import DeclareProfile, RequireSdk, SetBasis, SetMount, SetPreset
from actors.values.spatial import Basis, PartialTransform
from tests.unit.wire.parser_samples import EMPTY, arm, commanded, read, xyz
from transport.wire.vocabulary import INVERSE, NEUTRAL

AT = "arm[0].configure"
XZY = Basis.parse("XZ-Y")
EVERY = frozenset({"arm", "compact", "grip", "pen"})


def configured(**parts: Any) -> dict[str, Any]:
    return arm(configure=parts)


def session(**parts: Any) -> dict[str, Any]:
    return {"session": {"configure": parts}}


# ---------------------------------------------------------------- one device


@pytest.mark.parametrize("value", ["XZ-Y", {"permutation": "XZ-Y"}])
def test_basis_is_parsed(value: object) -> None:
    found = read(configured(basis=value))

    assert found.changes == [SetBasis("049D", XZY, f"{AT}.basis")]
    assert (found.faults, found.mapped) == ([], set())


@pytest.mark.parametrize("value", ["arm_front", {"preset": "arm_front"}])
def test_preset_is_parsed(value: object) -> None:
    found = read(configured(preset=value))

    assert found.changes == [SetPreset("049D", "arm_front", f"{AT}.preset")]
    assert found.faults == []


@pytest.mark.parametrize(
    ("word", "name"), [("minverse_zup", "compact_zup"), ("minverse_centered", "compact_centered"), ("custom", "custom")]
)
def test_preset_is_accepted_in_either_vocabulary(word: str, name: str) -> None:
    for value in (word, {"preset": word}, name):
        assert read(configured(preset=value)).changes == [SetPreset("049D", name, f"{AT}.preset")]


@pytest.mark.parametrize("wrap", [False, True])
def test_mount_is_parsed_flat_or_wrapped(wrap: bool) -> None:
    mount = {"position": xyz(1, 2, 3)}

    found = read(configured(mount={"transform": mount} if wrap else mount))

    assert found.changes == [SetMount("049D", PartialTransform((1, 2, 3)), f"{AT}.mount")]


def test_empty_mount_is_a_change() -> None:
    assert read(configured(mount={})).changes == [SetMount("049D", PartialTransform(), f"{AT}.mount")]


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"basis": None}, ".basis"),
        ({"basis": 1}, ".basis"),
        ({"basis": "XX-Y"}, ".basis"),
        ({"basis": {}}, ".basis.permutation"),
        ({"basis": {"permutation": "xyz"}}, ".basis.permutation"),
        ({"basis": {"permutation": 1}}, ".basis.permutation"),
        ({"basis": ["X", "Y", "Z"]}, ".basis"),
        ({"preset": None}, ".preset"),
        ({"preset": 1}, ".preset"),
        ({"preset": {}}, ".preset.preset"),
        ({"preset": {"preset": 1}}, ".preset.preset"),
        ({"mount": None}, ".mount"),
        ({"mount": "identity"}, ".mount"),
        ({"mount": {"position": {"x": 1}}}, ".mount.position.y"),
        ({"mount": {"transform": 1}}, ".mount.transform"),
        ({"mount": {"transform": {"scale": 0}}}, ".mount.transform.scale"),
        ({"mount": {"rotation": {"w": 0, "x": 0, "y": 0, "z": 0}}}, ".mount.rotation"),
        ({"colour": 1}, ".colour"),
        ({"": 1}, "."),
    ],
)
def test_faulty_change_is_named_with_its_full_path_and_skipped(parts: dict[str, Any], path: str) -> None:
    found = read(configured(**parts))

    assert [where for where, _ in found.faults] == [f"{AT}{path}"]
    assert found.changes == []


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"basis": {"permutation": "XYZ", "more": 1}}, ".basis.more"),
        ({"preset": {"preset": "defaults", "more": 1}}, ".preset.more"),
        ({"mount": {"scale": 1, "more": 1}}, ".mount.more"),
        ({"mount": {"transform": {"scale": 1, "more": 1}}}, ".mount.transform.more"),
        ({"mount": {"transform": {}, "position": 1}}, ".mount.position"),
        ({"mount": {"position": {**xyz(1, 2, 3), "more": 1}}}, ".mount.position.more"),
    ],
)
def test_unknown_key_is_named_and_the_change_applied(parts: dict[str, Any], path: str) -> None:
    found = read(configured(**parts))

    assert [where for where, _ in found.faults] == [f"{AT}{path}"]
    assert len(found.changes) == 1


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"mount": {"more": 1}}, ".mount.more"),
        ({"mount": {"transform": {"more": 1}}}, ".mount.transform.more"),
        ({"basis": {"more": 1}}, ".basis.more"),
        ({"preset": {"more": 1}}, ".preset.more"),
        ({"damping": {"more": 1}}, ".damping.more"),
        ({"force_gate": {"more": 1}}, ".force_gate.more"),
        ({"navigation": {"more": 1}}, ".navigation.more"),
        ({"navigation": {"bubble": {"more": 1}}}, ".navigation.bubble.more"),
        ({"navigation": {"bubble": {"spring": {"more": 1}}}}, ".navigation.bubble.spring.more"),
    ],
)
def test_part_of_unknown_keys_alone_is_named_and_changes_nothing(parts: dict[str, Any], path: str) -> None:
    found = read(configured(**parts))

    assert [where for where, _ in found.faults] == [f"{AT}{path}"]
    assert found.changes == []


@pytest.mark.parametrize("value", [None, True, 1, "XYZ", []])
def test_non_object_configure_is_a_fault(value: object) -> None:
    assert [path for path, _ in read(arm(configure=value)).faults] == [AT]


def test_valid_change_beside_a_faulty_one_is_applied() -> None:
    found = read(configured(basis="XX", preset="arm_front", colour=1))

    assert found.changes == [SetPreset("049D", "arm_front", f"{AT}.preset")]
    assert [path for path, _ in found.faults] == [f"{AT}.basis", f"{AT}.colour"]


def test_mount_and_preset_together_are_both_refused() -> None:
    found = read(configured(mount={}, basis="XZ-Y", preset="arm_front"))

    assert found.changes == [SetBasis("049D", XZY, f"{AT}.basis")]
    assert [path for path, _ in found.faults] == [f"{AT}.mount", f"{AT}.preset"]


def test_mount_and_preset_are_refused_also_when_one_of_them_is_faulty() -> None:
    found = read(configured(mount={"scale": 0}, preset="arm_front"))

    assert found.changes == []
    assert [path for path, _ in found.faults] == [f"{AT}.mount", f"{AT}.preset"]


def test_mount_and_preset_of_one_device_in_two_entries_are_both_refused() -> None:
    entries = [
        {"device_id": "049D", "configure": {"mount": EMPTY}},
        {"device_id": "049D", "configure": {"preset": "arm_front", "basis": "XZ-Y"}},
    ]

    found = read({"arm": entries[:1], "inverse3": entries[1:]})

    assert found.changes == [SetBasis("049D", XZY, "inverse3[0].configure.basis")]
    assert [path for path, _ in found.faults] == ["arm[0].configure.mount", "inverse3[0].configure.preset"]


def test_mount_and_preset_of_two_devices_are_both_made() -> None:
    found = read(
        {
            "arm": [{"device_id": "049D", "configure": {"mount": EMPTY}}],
            "compact": [{"device_id": "04EA", "configure": {"preset": "compact_zup"}}],
        }
    )

    assert len(found.changes) == 2
    assert found.faults == []


def test_settling_device_can_be_configured() -> None:
    assert len(read(arm(device_id="05E7", configure={"basis": "XZ-Y", "preset": "arm_front"})).changes) == 2


def test_grip_basis_is_left_to_the_session_rules() -> None:
    found = read({"grip": [{"device_id": "1605", "configure": {"basis": "XZ-Y", "preset": "arm_front"}}]})

    assert [change.path for change in found.changes] == ["grip[0].configure.basis", "grip[0].configure.preset"]


def test_duplicate_device_is_configured_in_order() -> None:
    found = read(
        {
            "arm": [
                {"device_id": "049D", "configure": {"basis": "XZ-Y"}},
                {"device_id": "049D", "configure": {"basis": "XYZ"}},
            ]
        }
    )

    assert [str(change.basis) for change in found.changes if isinstance(change, SetBasis)] == ["XZ-Y", "XYZ"]


# ---------------------------------------------------------------- the session


@pytest.mark.parametrize(
    ("parts", "change"),
    [
        ({"profile": {"name": "a b"}}, DeclareProfile("a b", "session.configure.profile")),
        ({"profile": "a"}, DeclareProfile("a", "session.configure.profile")),
        ({"basis": "XZ-Y"}, SetBasis(None, XZY, "session.configure.basis")),
        ({"basis": {"permutation": "XZ-Y"}}, SetBasis(None, XZY, "session.configure.basis")),
        ({"required_sdk_version": "3.5"}, RequireSdk("3.5", "session.configure.required_sdk_version")),
    ],
)
def test_session_part_is_parsed(parts: dict[str, Any], change: object) -> None:
    found = read(session(**parts))

    assert found.changes == [change]
    assert (found.faults, found.full) == ([], None)


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"session": None}, "session"),
        ({"session": []}, "session"),
        ({"session": "x"}, "session"),
        ({"session": {"more": 1}}, "session.more"),
        ({"session": {"configure": None}}, "session.configure"),
        ({"session": {"configure": []}}, "session.configure"),
        (session(profile=None), "session.configure.profile"),
        (session(profile={}), "session.configure.profile.name"),
        (session(profile={"name": 1}), "session.configure.profile.name"),
        (session(basis="XX"), "session.configure.basis"),
        (session(basis={"permutation": "XX"}), "session.configure.basis.permutation"),
        (session(required_sdk_version=3.5), "session.configure.required_sdk_version"),
        (session(required_sdk_version=None), "session.configure.required_sdk_version"),
        (session(required_sdk_version={"version": "3"}), "session.configure.required_sdk_version"),
        (session(mount={}), "session.configure.mount"),
        (session(preset="arm_front"), "session.configure.preset"),
    ],
)
def test_a_faulty_session_part_is_named(message: object, path: str) -> None:
    found = read(message)

    assert [where for where, _ in found.faults] == [path]
    assert found.changes == []


def test_version_applies_after_the_profile_in_any_key_order() -> None:
    for keys in itertools.permutations(("profile", "basis", "required_sdk_version")):
        parts = {"profile": {"name": "a"}, "basis": "XZ-Y", "required_sdk_version": "3.5"}

        found = read(session(**{key: parts[key] for key in keys}))

        assert [type(change) for change in found.changes] == [DeclareProfile, RequireSdk, SetBasis]


def test_bases_apply_before_mounts_in_any_key_order() -> None:
    device = arm(configure={"mount": {"scale": 2}, "basis": "XZ-Y"})

    for message in ({**device, **session(basis="YZX")}, {**session(basis="YZX"), **device}):
        found = read(message)

        assert [type(change) for change in found.changes] == [SetBasis, SetBasis, SetMount]


# ---------------------------------------------------------------- full frames


def full(value: object) -> dict[str, Any]:
    return {"session": {"force_render_full_state": value}}


@pytest.mark.parametrize("value", [{}, {"device_types": []}])
def test_full_frame_request_covers_every_group(value: object) -> None:
    found = read(full(value))

    assert found.full == EVERY
    assert found.faults == []


@pytest.mark.parametrize(
    ("words", "neutral", "inverse"),
    [
        (["arm"], {"arm"}, {"inverse3"}),
        (["compact"], {"compact"}, {"inverse3"}),
        (["inverse3"], {"arm", "compact"}, {"inverse3"}),
        (["minverse"], {"arm", "compact"}, {"inverse3"}),
        (["grip"], {"grip"}, {"verse_grip", "wireless_verse_grip"}),
        (["wireless_verse_grip"], {"grip"}, {"wireless_verse_grip"}),
        (["pen", "arm"], {"pen", "arm"}, {"custom_verse_grip", "inverse3"}),
        (["arm", "arm"], {"arm"}, {"inverse3"}),
    ],
)
def test_device_types_limit_a_full_frame(words: list[str], neutral: set[str], inverse: set[str]) -> None:
    assert read(full({"device_types": words}), NEUTRAL).full == frozenset(neutral)
    assert read(full({"device_types": words}), INVERSE).full == frozenset(inverse)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ""),
        (True, ""),
        (1, ""),
        ([], ""),
        ("arm", ""),
        ({"device_types": "arm"}, ".device_types"),
        ({"device_types": None}, ".device_types"),
        ({"device_types": {"arm": 1}}, ".device_types"),
        ({"device_types": ["boat"]}, ".device_types[0]"),
        ({"device_types": [1]}, ".device_types[0]"),
        ({"device_types": [None]}, ".device_types[0]"),
        ({"device_types": [["arm"]]}, ".device_types[0]"),
        ({"more": 1}, ".more"),
    ],
)
def test_faulty_full_frame_request_is_named_and_still_counts(value: object, path: str) -> None:
    found = read(full(value))

    assert [where for where, _ in found.faults] == [f"session.force_render_full_state{path}"]
    assert found.full == EVERY


def test_valid_device_type_beside_a_faulty_one_limits() -> None:
    found = read(full({"device_types": ["boat", "arm"]}))

    assert found.full == frozenset({"arm"})
    assert [path for path, _ in found.faults] == ["session.force_render_full_state.device_types[0]"]


def test_message_may_hold_everything_at_once() -> None:
    message = {
        **commanded(set_cursor_force={"vector": xyz(1, 2, 3)}, set_transform={"transform": {"scale": 2}}),
        "session": {"configure": {"basis": "XZ-Y"}, "force_render_full_state": {"device_types": ["arm"]}},
    }

    found = read(message)

    assert (len(found.changes), len(found.workspaces), len(found.commands)) == (1, 1, 1)
    assert found.full == frozenset({"arm"})
    assert found.faults == []
