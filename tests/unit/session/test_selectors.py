"""Session selectors: every form of the contract, ambiguous forms, and refused ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput, NoSuchSession
from actors.session.messages import Client, SessionConfig, SessionRecord, SessionTable
from actors.session.selectors import Selected, parse_selector, select


def record(session_id: int, profile: str) -> SessionRecord:
    return SessionRecord(session_id, Client("127.0.0.1", "3.1"), "2026-01-01T00:00:00+00:00", SessionConfig(profile))


TABLE = SessionTable(
    (
        record(3, "default"),
        record(5, "sim"),
        record(7, "sim"),
        record(9, "app:main"),
        record(11, "7"),
        record(13, "a[b]c"),
        record(15, "default"),
    )
)


def found(text: str) -> Selected:
    return select(parse_selector(text), TABLE)


def ids(text: str) -> list[int]:
    return [one.session_id for one in found(text).sessions]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7", [7]),
        ("#7", [7]),
        ("007", [7]),
        ("8", []),
        ("#8", []),
        ("0", []),
        (":0", [3]),
        (":1", [5]),
        (":-1", [15]),
        (":-7", [3]),
        (":-8", []),
        (":7", []),
        ("sim", [5, 7]),
        ("sim:0", [5]),
        (":sim:0", [5]),
        ("sim:1", [7]),
        ("sim:-1", [7]),
        ("sim:2", []),
        ("sim:-3", []),
        ("app:main", [9]),
        ("app:main:0", [9]),
        (":app:main:0", [9]),
        ("7:0", [11]),
        (":7:0", [11]),
        ("default:0", [3]),
        (":default:0", [3]),
        (":default:-1", [15]),
        ("default", []),
        ("a[b]c", [13]),
        ("a[b]?", [13]),
        ("Sim", []),
        ("s*", [5, 7]),
        ("s?m", [5, 7]),
        ("s?m:1", [7]),
        ("*", [3, 5, 7, 9, 11, 13, 15]),
        ("*:0", [3]),
        ("d*", [3, 15]),
        ("::0", []),
        (":sim", []),
        ("sim:", []),
        ("sim:x", []),
        ("sim:+1", []),
        ("#sim", []),
        ("-1", []),
        ("\u0667", []),
        ("9" * 30, []),
        ("sim:" + "9" * 30, []),
        ("#", []),
        (":", []),
    ],
)
def test_selector_finds_the_expected_sessions(text: str, wanted: list[int]) -> None:
    assert ids(text) == wanted


@pytest.mark.parametrize("text", ["*", "s*", "?*", "app:*", "nobody*"])
def test_pattern_is_plural_even_with_one_or_no_match(text: str) -> None:
    assert found(text).several


@pytest.mark.parametrize("text", ["7", ":0", "sim:0", "app:main", "s*:0"])
def test_selector_of_one_session_is_singular(text: str) -> None:
    assert not found(text).several
    assert len(found(text).some()) == 1


@pytest.mark.parametrize(("text", "many"), [("sim", True), ("s*", True), ("app:*", False), ("x*", False), ("7", False)])
def test_results_are_listed_only_for_more_than_one(text: str, many: bool) -> None:
    assert found(text).many is many


def test_default_by_name_selects_the_sessions_of_that_profile() -> None:
    assert ids(":default") == [3, 15]
    named = parse_selector("default", start_values=False)
    assert [one.session_id for one in select(named, TABLE).some()] == [3, 15]
    assert not named.is_default


@pytest.mark.parametrize("text", ["8", "nobody", "nobody*", ":99", "sim:9"])
def test_no_match_is_reported(text: str) -> None:
    with pytest.raises(NoSuchSession):
        found(text).some()


def test_default_is_never_a_connected_session_and_says_how_to_name_one() -> None:
    assert parse_selector("default").is_default
    assert not parse_selector("default:0").is_default
    with pytest.raises(NoSuchSession, match=":default, one of them default:0"):
        found("default").some()


def test_selector_is_shown_printable_and_short() -> None:
    with pytest.raises(NoSuchSession) as refused:
        found("bell\a" + "x" * 120).some()

    assert "\a" not in refused.value.sentence
    assert len(refused.value.sentence) < 180


@pytest.mark.parametrize("text", ["", "x" * 129])
def test_invalid_selector_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_selector(text)


@given(st.text(min_size=1, max_size=40))
def test_every_text_selects_sessions_in_table_order(text: str) -> None:
    order = [one.session_id for one in TABLE.sessions]
    positions = [order.index(one) for one in ids(text)]

    assert positions == sorted(positions)


@given(st.sampled_from(TABLE.sessions))
def test_every_session_is_found_by_its_id_and_by_its_place_in_its_profile(one: SessionRecord) -> None:
    namesakes = [other for other in TABLE.sessions if other.config.profile == one.config.profile]
    place = namesakes.index(one)

    assert ids(str(one.session_id)) == [one.session_id]
    assert ids(f"{one.config.profile}:{place}") == [one.session_id]
    assert ids(f":{one.config.profile}:{place - len(namesakes)}") == [one.session_id]
