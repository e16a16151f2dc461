"""Property tests of session and device selectors: encoding round trip, exact ids, only the wildcards are special."""

from __future__ import annotations

import fnmatch
from contextlib import suppress
from dataclasses import replace
from itertools import product
from urllib.parse import quote

from hypothesis import assume, given
from hypothesis import strategies as st

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import InvalidInput
from actors.session.messages import Client, SessionConfig, SessionRecord, SessionTable
from actors.session.selectors import Selected, parse_selector, select
from tests.support.actors.doubles import inventory_of
from transport.http.device_selector import find
from transport.http.request_target import parse_target
from transport.wire.vocabulary import INVERSE, NEUTRAL, Vocabulary

# What may stand in a profile name and be taken for something else: wildcards of shells, colons, percent signs, blanks.
NAMES = st.text("ab:*?[]!#%/+ .\\é-07", min_size=1, max_size=6)
PLAIN = inventory_of("grip", "arm", "compact", "pen", "grip:wired", "arm", "compact")
ARMLIKE = ("arm", "compact", "inverse3", "inverse3x", "minverse")
HANDLE = ("grip", "pen", "verse_grip", "wireless_verse_grip", "custom_verse_grip")
IDS = st.text("0123456789ABCDEFabz*?.:-", min_size=1, max_size=8)
SHORT_IDS = ["".join(letters) for size in (1, 2, 3) for letters in product("AB?[.", repeat=size)]


def table(*profiles: str) -> SessionTable:
    """Sessions 11, 12, … with these profiles."""
    return SessionTable(
        tuple(
            SessionRecord(11 + at, Client("::1", "3.1"), "2026-01-01T00:00:00+00:00", SessionConfig(profile))
            for at, profile in enumerate(profiles)
        )
    )


def selected(text: str, sessions: SessionTable) -> Selected:
    """As HTTP finds them: the selector travels percent-encoded, in a path."""
    (_, decoded) = parse_target(f"/sessions/{quote(text, safe='')}").segments
    return select(parse_selector(decoded), sessions)


def ids(text: str, sessions: SessionTable) -> list[int]:
    return [one.session_id for one in selected(text, sessions).sessions]


def as_shell(pattern: str) -> str:
    """The same pattern for `fnmatch`, where brackets are special too."""
    return "".join({"[": "[[]"}.get(letter, letter) for letter in pattern)


# ---------------------------------------------------------------- encoding


@given(st.text(min_size=1, max_size=20), st.sampled_from(["", "/:*?#%"]))
def test_selector_round_trips_through_path_and_query(text: str, safe: str) -> None:
    assume(not any("\ud800" <= letter <= "\udfff" for letter in text))
    encoded = quote(text, safe="")
    lower = quote(text, safe="").lower()

    for form in {encoded, lower} if text == text.lower() else {encoded}:
        target = parse_target(f"/sessions/{form}/profile?session={form}")
        assert target.segments == ("sessions", text, "profile")
        assert target.query["session"] == text
    loose = quote(text, safe=safe.replace("/", "").replace("?", "").replace("#", "").replace("%", ""))
    assert parse_target(f"/sessions/{loose}").segments == ("sessions", text)


@given(NAMES)
def test_path_segment_is_decoded_once(text: str) -> None:
    twice = quote(quote(text, safe=""), safe="")

    assert parse_target(f"/sessions/{twice}").segments == ("sessions", quote(text, safe=""))


# ---------------------------------------------------------------- sessions


@given(st.lists(NAMES, min_size=1, max_size=6), st.data())
def test_exact_id_selects_its_session_despite_similar_names(names: list[str], data: st.DataObject) -> None:
    sessions = table("12", "#12", *names)
    wanted = data.draw(st.sampled_from([one.session_id for one in sessions.sessions]))

    assert ids(str(wanted), sessions) == ids(f"#{wanted}", sessions) == [wanted]
    assert ids(str(wanted + 100), sessions) == []


@given(st.lists(NAMES, min_size=1, max_size=6))
def test_indexes_count_from_both_ends(names: list[str]) -> None:
    sessions = table(*names)
    every = [one.session_id for one in sessions.sessions]

    assert ids(":-1", sessions) == every[-1:]
    assert [ids(f":{at}", sessions) for at in range(len(every) + 1)] == [[one] for one in every] + [[]]
    assert [ids(f":{-at}", sessions) for at in range(1, len(every) + 2)] == [[one] for one in every[::-1]] + [[]]


@given(st.lists(NAMES, min_size=1, max_size=6), st.data())
def test_an_index_within_a_name_takes_the_last_colon_only(names: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names))
    assume(name and not set(name) & set("*?"))
    sessions = table(*names)
    namesakes = [11 + at for at, other in enumerate(names) if other == name]

    # A colon in front may be left out, unless what is left would be a name that begins with one.
    for form in [f":{name}"] + ([] if name.startswith(":") else [name]):
        assert [ids(f"{form}:{at}", sessions) for at in range(len(namesakes))] == [[one] for one in namesakes]
        assert ids(f"{form}:-1", sessions) == namesakes[-1:]
        assert ids(f"{form}:{len(namesakes)}", sessions) == []


@given(st.lists(NAMES, min_size=1, max_size=8), NAMES)
def test_star_and_question_mark_are_the_only_wildcards(names: list[str], pattern: str) -> None:
    selector = parse_selector(pattern)
    assume(selector.name is not None and selector.index is None)
    sessions = table(*names)

    wanted = [11 + at for at, name in enumerate(names) if fnmatch.fnmatchcase(name, as_shell(pattern))]

    assert ids(pattern, sessions) == wanted
    assert selected(pattern, sessions).several == ("*" in pattern or "?" in pattern or len(wanted) > 1)


@given(st.lists(NAMES, max_size=4))
def test_default_never_selects_a_connected_session(names: list[str]) -> None:
    sessions = table("default", *names, "default")

    assert ids("default", sessions) == []
    assert ids("default:0", sessions) == ids(":default:0", sessions) == [11]
    assert ids(":default:-1", sessions) == [11 + len(names) + 1]


@given(st.text(max_size=200))
def test_every_text_is_a_selector_or_refused(text: str) -> None:
    sessions = table("a", "b")
    with suppress(InvalidInput):
        assert {one.session_id for one in select(parse_selector(text), sessions).sessions} <= {11, 12}


# ---------------------------------------------------------------- devices


def named(record: DeviceRecord, device_id: str) -> DeviceRecord:
    return replace(record, identity=replace(record.identity, device_id=device_id))


@given(st.lists(IDS, min_size=7, max_size=7, unique=True), st.sampled_from([NEUTRAL, INVERSE]))
def test_exact_device_id_precedes_index_and_pattern(names: list[str], vocabulary: Vocabulary) -> None:
    inventory = Inventory(tuple(named(one, name) for one, name in zip(PLAIN.devices, names, strict=True)))

    for record in inventory.devices:
        (_, decoded) = parse_target(f"/arm/{quote(record.device_id, safe='')}").segments
        mine, others = (ARMLIKE, HANDLE) if record.kind.has_motors else (HANDLE, ARMLIKE)
        for word in (*mine, "haptic*", "*"):
            assert find(word, decoded, inventory, vocabulary).records == (record,)
            assert not find(word, decoded, inventory, vocabulary).pattern
        for word in others:
            assert (
                record not in find(word, decoded, inventory, vocabulary).records or "*" in decoded or decoded.isdigit()
            )


@given(
    st.lists(st.sampled_from(SHORT_IDS), min_size=7, max_size=7, unique=True),
    st.text("AB?[.*", max_size=2),
    st.text("AB?[.*", max_size=2),
)
def test_star_is_the_only_wildcard_of_a_device_id(names: list[str], before: str, after: str) -> None:
    wanted = f"{before}*{after}"
    inventory = Inventory(tuple(named(one, name) for one, name in zip(PLAIN.devices, names, strict=True)))
    literal = as_shell(wanted).replace("?", "[?]")

    found = find("*", wanted, inventory, NEUTRAL)

    assert found.pattern
    assert {one.device_id for one in found.records} == {name for name in names if fnmatch.fnmatchcase(name, literal)}


@given(st.permutations(PLAIN.devices), st.sampled_from([NEUTRAL, INVERSE]), st.integers(0, 9))
def test_device_index_counts_in_frame_order(records: list[DeviceRecord], vocabulary: Vocabulary, at: int) -> None:
    inventory = Inventory(tuple(records))
    in_frame = [
        one
        for group in vocabulary.groups()
        for one in records
        if vocabulary.group(one.kind, one.identity.connection) == group
    ]

    for word, members in (("haptic*", in_frame), ("arm", [one for one in in_frame if one.kind == "arm"])):
        assert find(word, str(at), inventory, vocabulary).records == tuple(members[at : at + 1])
