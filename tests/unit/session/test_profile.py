"""Profile names, comparison of versions, and the bounded memory of closed sessions."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.session.messages import NO_PROFILE
from actors.session.profile import (
    LONGEST_NAME,
    Remembered,
    SessionMemory,
    check_name,
    version_parts,
)
from actors.settings.immutable_json import freeze, thaw

# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["a", "default", "a b", "Ünïcode", "a:b", "*", "x" * LONGEST_NAME, "7", "#7"])
def test_a_name_is_any_printable_text(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_NAME + 1), "a\nb", "\x00", "\u200b", "a\tb", "\x7f"])
def test_unprintable_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="printable"):
        check_name(name)


# ---------------------------------------------------------------- versions


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("3.5.3", (3, 5, 3)),
        ("3", (3,)),
        ("3.0", (3,)),
        ("3.0.0.0", (3,)),
        ("0", ()),
        ("0.0", ()),
        ("03.05", (3, 5)),
        ("3.10", (3, 10)),
        ("3.5.3.12", (3, 5, 3, 12)),
        ("9" * 32, (int("9" * 32),)),
    ],
)
def test_version_is_parsed_into_numbers(text: str, parts: tuple[int, ...]) -> None:
    assert version_parts(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "3.",
        ".3",
        "3..5",
        "v3.5",
        "3.5-beta",
        "3,5",
        " 3.5",
        "3.5 ",
        "3.5\n",
        "-3",
        "+3",
        "1e3",
        "3.x",
        "\N{ARABIC-INDIC DIGIT THREE}.5",
        "²",
        "1_0",
        "1" * 33,
        "1." * 1000,
    ],
)
def test_invalid_version_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="numbers and dots"):
        version_parts(text)


def test_versions_compare_as_numbers() -> None:
    assert version_parts("3.10") > version_parts("3.5")
    assert version_parts("3.5.3") > version_parts("3.5")
    assert version_parts("3.5.0") == version_parts("3.5") == version_parts("3.5.0.0")
    assert version_parts("4") > version_parts("3.99.99")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=4), st.lists(st.integers(0, 50), min_size=1, max_size=4))
def test_missing_parts_count_as_zero(first: list[int], second: list[int]) -> None:
    def text(parts: list[int]) -> str:
        return ".".join(str(part) for part in parts)

    pairs = list(itertools.zip_longest(first, second, fillvalue=0))
    padded = [a for a, _ in pairs], [b for _, b in pairs]

    assert (version_parts(text(first)) > version_parts(text(second))) == (padded[0] > padded[1])
    assert (version_parts(text(first)) == version_parts(text(second))) == (padded[0] == padded[1])


# ---------------------------------------------------------------- memory

EMPTY = SessionMemory()
NOBODY = Remembered()


def noted(*sessions: tuple[int, str, str | None], memory: SessionMemory = EMPTY) -> SessionMemory:
    for session_id, profile, version in sessions:
        before = memory.sessions.get(session_id, NOBODY)
        memory = memory.with_session(session_id, Remembered(profile, version), before)
    return memory


def test_session_is_stored_with_profile_and_version() -> None:
    memory = noted((7, "a", "3.5"))

    assert memory.sessions[7] == Remembered("a", "3.5")
    assert memory.versions == {"a": "3.5"}


def test_version_that_came_with_the_profile_is_not_declared_again() -> None:
    memory = noted((1, "a", "3.5"), (2, "a", "3.4"))

    memory = memory.with_session(3, Remembered("a", "3.5", from_profile=True), NOBODY)

    assert memory.versions == {"a": "3.4"}
    assert memory.sessions[3] == Remembered("a", "3.5", from_profile=True)


def test_version_that_came_with_a_forgotten_profile_does_not_bring_it_back() -> None:
    memory = noted((1, "a", "3.5"), (1, NO_PROFILE, None))

    assert memory.with_session(2, Remembered("a", "3.5", from_profile=True), NOBODY).versions == {}


def test_cleared_profile_keeps_what_another_open_session_declared() -> None:
    memory = noted((1, "a", "3.5"), (2, "a", "3.4"))

    memory = memory.with_session(2, NOBODY, memory.sessions[2], {"a": "3.5"})

    assert memory.versions == {"a": "3.5"}


def test_the_last_version_of_a_profile_counts() -> None:
    assert noted((1, "a", "3.5"), (2, "a", "3.4")).versions == {"a": "3.4"}


def test_a_profile_without_a_version_keeps_the_one_it_had() -> None:
    assert noted((1, "a", "3.5"), (2, "a", None)).versions == {"a": "3.5"}


def test_default_profile_stores_no_version() -> None:
    memory = noted((1, NO_PROFILE, "3.5"))

    assert memory.versions == {}
    assert memory.sessions[1].required_sdk_version == "3.5"


def test_a_cleared_profile_forgets_its_version() -> None:
    memory = noted((1, "a", "3.5"), (2, "b", "3.4"), (1, NO_PROFILE, None))

    assert memory.versions == {"b": "3.4"}
    assert memory.sessions[1] == NOBODY


def test_rename_forgets_nothing() -> None:
    assert noted((1, "a", "3.5"), (1, "b", "3.5")).versions == {"a": "3.5", "b": "3.5"}


def test_storing_does_not_change_older_snapshots() -> None:
    memory = noted((1, "a", "3.5"))

    noted((2, "b", "3.4"), memory=memory)

    assert (set(memory.sessions), set(memory.versions)) == ({1}, {"a"})


def test_ending_session_does_not_restore_its_older_version() -> None:
    memory = noted((1, "app", "3.4"), (2, "app", "3.5.2"), (1, "app", "3.4"))

    assert memory.versions == {"app": "3.5.2"}
    assert noted((1, "app", "3.4.1"), memory=memory).versions == {"app": "3.4.1"}


def test_memory_holds_at_most_a_thousand() -> None:
    full = noted(*((n, f"p{n}", "3.5") for n in range(1, 1001)))
    assert list(full.sessions) == list(range(1, 1001))
    assert list(full.versions) == [f"p{n}" for n in range(1, 1001)]

    memory = noted((1001, "p1001", "3.5"), memory=full)

    assert list(memory.sessions) == list(range(2, 1002))
    assert list(memory.versions) == [f"p{n}" for n in range(2, 1002)]


def test_stored_again_session_becomes_the_newest() -> None:
    memory = noted(*((n, f"p{n}", "3.5") for n in range(1, 1001)))
    memory = noted((1, "p1", "3.5"), (1001, "new", "3.5"), memory=memory)

    assert 1 in memory.sessions
    assert 2 not in memory.sessions
    assert "p1" in memory.versions
    assert "p2" not in memory.versions


names = st.sampled_from([NO_PROFILE, "a", "b", "ü c"])
wanted = st.none() | st.sampled_from(["3.5", "3.4.1", "10"])
memories = st.lists(st.tuples(st.integers(1, 20), names, wanted, st.booleans()), max_size=30).map(
    lambda notes: noted_from(*notes)
)


def noted_from(*sessions: tuple[int, str, str | None, bool]) -> SessionMemory:
    memory = EMPTY
    for session_id, profile, version, from_profile in sessions:
        now = Remembered(profile, version, from_profile=from_profile and version is not None)
        memory = memory.with_session(session_id, now, memory.sessions.get(session_id, NOBODY))
    return memory


@given(memories)
def test_memory_round_trips_through_the_ledger(memory: SessionMemory) -> None:
    through_disk = freeze(json.loads(json.dumps(thaw(freeze(memory.as_json())))))

    back = SessionMemory.from_json(through_disk)

    assert back == memory
    assert list(back.sessions) == list(memory.sessions)
    assert list(back.versions) == list(memory.versions)


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        "x",
        True,
        [],
        [[1, "a", "3"]],
        {},
        {"sessions": None},
        {"sessions": 5},
        {"sessions": "abc"},
        {"sessions": True},
        {"sessions": {"1": ["a", "3"]}},
        {"sessions": [None, 1, "a", [], [1], [1, "a"], [1, "a", "3", "4"], {"1": 2}]},
        {"sessions": [["1", "a", "3"], [1.5, "a", "3"], [True, "a", "3"], [0, "a", "3"], [-1, "a", "3"]]},
        {"sessions": [[1, None, "3"], [1, 5, "3"], [1, "", "3"], [1, "a\n", "3"], [1, "x" * 101, None]]},
        {"sessions": [[1, "a", "3", 1], [1, "a", "3", None], [1, "a", "3", True, True]]},
        {"sessions": [[1, "a", 3], [1, "a", "three"], [1, "a", ""], [1, "a", True]]},
        {"versions": None},
        {"versions": 5},
        {"versions": "abc"},
        {"versions": [["a", "3"]]},
        {"versions": {"a": 5, "b": None, "c": "three", "d": "", "": "3", "\n": "3", NO_PROFILE: "3"}},
    ],
)
def test_garbage_ledger_gives_an_empty_memory(value: object) -> None:
    assert SessionMemory.from_json(freeze(value)) == EMPTY


def test_readable_part_of_a_ledger_is_kept() -> None:
    value = {
        "sessions": [["x"], [7, "a", "3.5"], 5, [8, "b", None], [9, "c", "3.4", True]],
        "versions": {"a": "3.5", "b": 5},
    }

    memory = SessionMemory.from_json(freeze(value))

    assert memory.sessions == {
        7: Remembered("a", "3.5"),
        8: Remembered("b", None),
        9: Remembered("c", "3.4", from_profile=True),
    }
    assert memory.versions == {"a": "3.5"}


def test_oversized_ledger_is_cut() -> None:
    value = {
        "sessions": [[n, "a", None] for n in range(1, 3000)],
        "versions": {f"p{n}": "3.5" for n in range(3000)},
    }

    memory = SessionMemory.from_json(freeze(value))

    assert list(memory.sessions) == list(range(2000, 3000))
    assert len(memory.versions) == 1000


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.fixed_dictionaries({}, optional={"sessions": st.lists(json_values) | json_values, "versions": json_values})
    | json_values
)
def test_any_ledger_is_read_without_error(value: object) -> None:
    memory = SessionMemory.from_json(freeze(value))

    assert all(type(known) is int and known > 0 for known in memory.sessions)
    assert all(version_parts(version) is not None for version in memory.versions.values())
    for remembered in memory.sessions.values():
        check_name(remembered.profile)
        assert remembered.required_sdk_version is None or version_parts(remembered.required_sdk_version) is not None
