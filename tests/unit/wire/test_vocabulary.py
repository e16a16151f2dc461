"""The vocabulary table against the contract: every word out, every word in, and consistency."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.values.identity import Connection, Kind
from transport.wire.vocabulary import (
    GROUPS_IN,
    INVERSE,
    NEUTRAL,
    Member,
    Vocabulary,
    member_of,
    path_kinds,
    path_members,
    preset_in,
    setting_key,
    vocabulary_named,
)

ARM, COMPACT, PEN = Member(Kind.ARM), Member(Kind.COMPACT), Member(Kind.PEN)
WIRED, WIRELESS = Member(Kind.GRIP), Member(Kind.GRIP, wireless=True)
ARMS, HANDLES = frozenset({Kind.ARM, Kind.COMPACT}), frozenset({Kind.GRIP, Kind.PEN})
EVERY = frozenset({ARM, COMPACT, WIRED, WIRELESS, PEN})
BOTH = [NEUTRAL, INVERSE]
CASES = list(itertools.product(BOTH, Kind, Connection))

ARM_WORDS = ["arm", "compact", "inverse3", "inverse3x", "minverse"]
HANDLE_WORDS = ["grip", "pen", "verse_grip", "wireless_verse_grip", "custom_verse_grip"]


def test_frames_have_every_group_in_a_fixed_order() -> None:
    assert NEUTRAL.groups() == ("arm", "compact", "grip", "pen")
    assert INVERSE.groups() == ("inverse3", "verse_grip", "wireless_verse_grip", "custom_verse_grip")


@pytest.mark.parametrize(
    ("kind", "connection", "neutral", "group", "type_word"),
    [
        (Kind.ARM, Connection.SERIAL, "arm", "inverse3", "inverse3"),
        (Kind.ARM, Connection.USB, "arm", "inverse3", "inverse3"),
        (Kind.ARM, Connection.SIMULATED, "arm", "inverse3", "inverse3"),
        (Kind.COMPACT, Connection.SIMULATED, "compact", "inverse3", "minverse"),
        (Kind.COMPACT, Connection.SERIAL, "compact", "inverse3", "minverse"),
        (Kind.GRIP, Connection.WIRED, "grip", "verse_grip", "verse_grip"),
        (Kind.GRIP, Connection.WIRELESS, "grip", "wireless_verse_grip", "wireless_verse_grip"),
        (Kind.PEN, Connection.SIMULATED, "pen", "custom_verse_grip", "custom_verse_grip"),
        (Kind.PEN, Connection.USB, "pen", "custom_verse_grip", "custom_verse_grip"),
    ],
)
def test_group_and_type_follow_kind_and_vocabulary(
    kind: Kind, connection: Connection, neutral: str, group: str, type_word: str
) -> None:
    assert NEUTRAL.group(kind, connection) == NEUTRAL.type_word(kind, connection) == neutral
    assert INVERSE.group(kind, connection) == group
    assert INVERSE.type_word(kind, connection) == type_word


@pytest.mark.parametrize(("vocabulary", "kind", "connection"), CASES)
def test_every_device_is_in_one_group(vocabulary: Vocabulary, kind: Kind, connection: Connection) -> None:
    assert vocabulary.group(kind, connection) in vocabulary.groups()


@pytest.mark.parametrize(("vocabulary", "kind", "connection"), CASES)
def test_names_in_output_find_the_device(vocabulary: Vocabulary, kind: Kind, connection: Connection) -> None:
    for word in (vocabulary.group(kind, connection), vocabulary.type_word(kind, connection)):
        assert kind in (GROUPS_IN.get(word) or ())
        assert kind in path_kinds(word)
    assert member_of(kind, connection) in path_members(vocabulary.type_word(kind, connection))
    assert vocabulary.full_groups(vocabulary.group(kind, connection)) == frozenset({vocabulary.group(kind, connection)})


@pytest.mark.parametrize("word", ARM_WORDS)
def test_an_id_in_any_arm_like_group_finds_an_arm_or_a_compact(word: str) -> None:
    assert GROUPS_IN.get(word) == ARMS


@pytest.mark.parametrize("word", HANDLE_WORDS)
def test_an_id_in_any_handle_group_finds_a_grip_or_a_pen(word: str) -> None:
    assert GROUPS_IN.get(word) == HANDLES


@pytest.mark.parametrize("word", ["", "session", "haptic*", "inverse*", "*", "Arm", "arms", "inverse", "verse"])
def test_unknown_name_is_no_group(word: str) -> None:
    assert GROUPS_IN.get(word) is None
    assert NEUTRAL.full_groups(word) is None
    assert INVERSE.full_groups(word) is None


@pytest.mark.parametrize(
    ("word", "members"),
    [
        ("arm", {ARM}),
        ("inverse3", {ARM}),
        ("inverse3x", {ARM}),
        ("compact", {COMPACT}),
        ("minverse", {COMPACT}),
        ("grip", {WIRED, WIRELESS}),
        ("verse_grip", {WIRED}),
        ("wireless_verse_grip", {WIRELESS}),
        ("pen", {PEN}),
        ("custom_verse_grip", {PEN}),
        ("haptic*", EVERY),
        ("*", EVERY),
        ("inverse*", {ARM, COMPACT}),
        ("*inverse", {ARM, COMPACT}),
        ("*verse_grip", {WIRED, WIRELESS, PEN}),
        ("a*", {ARM}),
        ("*m*", {ARM, COMPACT, PEN}),
        ("c*", {COMPACT, PEN}),
        ("min*", {COMPACT}),
        ("inv*", {ARM}),
        ("*grip", {WIRED, WIRELESS, PEN}),
        ("wire*", {WIRELESS}),
        ("verse*", {WIRED}),
        ("p*n", {PEN}),
        ("**", EVERY),
        ("*p*t", {COMPACT}),
    ],
)
def test_type_segment_of_a_path_is_parsed(word: str, members: set[Member]) -> None:
    assert path_members(word) == members


@pytest.mark.parametrize("word", ["", "ARM", "arms", "ar?", "haptic", "inverse", "x*", "settings", "a*x", "0"])
def test_unknown_segment_matches_nothing(word: str) -> None:
    assert path_members(word) == frozenset()
    assert path_kinds(word) == frozenset()


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("arm", ARMS),
        ("minverse", ARMS),
        ("inverse*", ARMS),
        ("wireless_verse_grip", HANDLES),
        ("pen", HANDLES),
        ("*verse_grip", HANDLES),
        ("haptic*", ARMS | HANDLES),
        ("*", ARMS | HANDLES),
    ],
)
def test_exact_id_is_found_under_any_group_of_its_side(word: str, kinds: frozenset[Kind]) -> None:
    assert path_kinds(word) == kinds


@pytest.mark.parametrize(
    ("word", "neutral", "inverse"),
    [
        ("arm", {"arm"}, {"inverse3"}),
        ("compact", {"compact"}, {"inverse3"}),
        ("inverse3", {"arm", "compact"}, {"inverse3"}),
        ("inverse3x", {"arm", "compact"}, {"inverse3"}),
        ("minverse", {"arm", "compact"}, {"inverse3"}),
        ("grip", {"grip"}, {"verse_grip", "wireless_verse_grip"}),
        ("verse_grip", {"grip"}, {"verse_grip"}),
        ("wireless_verse_grip", {"grip"}, {"wireless_verse_grip"}),
        ("pen", {"pen"}, {"custom_verse_grip"}),
        ("custom_verse_grip", {"pen"}, {"custom_verse_grip"}),
    ],
)
def test_device_type_selects_its_output_groups(word: str, neutral: set[str], inverse: set[str]) -> None:
    assert NEUTRAL.full_groups(word) == frozenset(neutral)
    assert INVERSE.full_groups(word) == frozenset(inverse)


def test_presets_have_inverse_names() -> None:
    assert INVERSE.preset_out("compact_centered") == "minverse_centered"
    assert INVERSE.preset_out("compact_zup") == "minverse_zup"
    assert NEUTRAL.preset_out("compact_zup") == "compact_zup"
    assert preset_in("minverse_centered") == "compact_centered"
    assert preset_in("minverse_zup") == "compact_zup"


@pytest.mark.parametrize("vocabulary", BOTH)
@given(name=st.sampled_from(["defaults", "arm_front", "compact_centered", "compact_zup", "custom"]) | st.text())
def test_preset_name_round_trips(vocabulary: Vocabulary, name: str) -> None:
    assert preset_in(vocabulary.preset_out(name)) == preset_in(name)


def test_device_family_in_events_is_translated() -> None:
    assert {kind: NEUTRAL.family(kind) for kind in Kind} == {kind: kind.value for kind in Kind}
    assert INVERSE.family(Kind.ARM) == INVERSE.family(Kind.COMPACT) == "inverse"
    assert INVERSE.family(Kind.GRIP) == INVERSE.family(Kind.PEN) == "verse_grip"


def test_only_inverse_vocabulary_nests_the_filters() -> None:
    assert not NEUTRAL.nests_filters
    assert INVERSE.nests_filters


def test_vocabulary_is_found_by_name() -> None:
    assert vocabulary_named("neutral") is NEUTRAL
    assert vocabulary_named("inverse") is INVERSE
    assert vocabulary_named("Inverse") is None
    assert [repr(one) for one in BOTH] == ["<Vocabulary neutral>", "<Vocabulary inverse>"]


@pytest.mark.parametrize(
    ("key", "neutral"),
    [
        ("devices/inverse*/filters/force_scale/gain", "devices/haptic*/filters/force_scale/gain"),
        ("devices/haptic*/filters/force_scale/gain", "devices/haptic*/filters/force_scale/gain"),
        ("devices/inverse3/filters/force_scale/gain", "devices/arm/filters/force_scale/gain"),
        ("devices/inverse3x/filters/force_scale/gain", "devices/arm/filters/force_scale/gain"),
        ("devices/minverse/filters/force_gate/gain", "devices/compact/filters/force_gate/gain"),
        ("devices/inverse*", "devices/haptic*"),
        ("devices/049D/filters/force_scale/gain", "devices/049D/filters/force_scale/gain"),
        ("devices/simulated", "devices/simulated"),
        ("devices", "devices"),
        ("features/inverse*/enabled", "features/inverse*/enabled"),
        ("inverse*/devices", "inverse*/devices"),
        ("", ""),
    ],
)
def test_setting_keys_are_translated_to_neutral(key: str, neutral: str) -> None:
    assert setting_key(key) == neutral


@pytest.mark.parametrize(
    ("neutral", "inverse"),
    [
        (
            "a grip has no mount: send it to an arm or a compact",
            "a verse_grip has no mount: send it to an inverse3 or a minverse",
        ),
        ("a pen has no preset.", "a custom_verse_grip has no preset."),
        ("set it with POST /grip/1605/config/paired_with", "set it with POST /verse_grip/1605/config/paired_with"),
        ("use one of arm_front, compact_zup", "use one of arm_front, minverse_zup"),
        ('an arm has no preset "arm or grip"', 'an inverse3 has no preset "arm or grip"'),
        ('no such device "pen', 'no such device "pen'),
        ("raise devices/grip/attach_debounce", "raise devices/grip/attach_debounce"),
        ("raise devices/grip", "raise devices/grip"),
        ("pen_not_connected", "pen_not_connected"),
        ("grip-attachment-changed", "grip-attachment-changed"),
        ("session 7: grip: a group is an array", "session 7: grip: a group is an array"),
        ("an open army", "an open army"),
        ("arm[0].configure", "arm[0].configure"),
    ],
)
def test_sentence_has_the_vocabularys_words_for_device_types(neutral: str, inverse: str) -> None:
    assert NEUTRAL.said(neutral) == neutral
    assert INVERSE.said(neutral) == inverse
    assert INVERSE.said(inverse) == inverse
