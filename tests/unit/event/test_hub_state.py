"""Functions of the event hub: time stamps, members and encoding of an event, matching of a subscriber's filters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from actors.event.hub_state import Event, event_of, iso_time, microseconds, wanted
from actors.event.messages import LEVELS, Emit, Level, Subscribe
from tests.unit.event.event_helpers import Kept, encode, faulty, opened


def test_times_have_microseconds_and_end_in_utc() -> None:
    assert iso_time(0) == "1970-01-01T00:00:00.000000Z"
    assert iso_time(1_900_000_000_000_042) == "2030-03-17T17:46:40.000042Z"


@given(st.integers(0, 7_000_000_000_000_000))
def test_time_round_trips_through_its_text(at_us: int) -> None:
    assert microseconds(datetime.fromisoformat(iso_time(at_us))) == at_us


def test_an_event_has_the_contracts_members_in_order() -> None:
    event = event_of(opened(7), 0)
    assert list(event.body) == ["name", "category", "level", "time", "data", "message"]
    assert event.body["data"] == {"session_id": 7, "profile": "default"}


def test_received_data_are_truncated() -> None:
    assert event_of(faulty(1, "x" * 500), 0).body["data"]["received_data"] == "x" * 256


def test_an_event_is_encoded_once_for_each_vocabulary() -> None:
    encoded: list[Any] = []

    def count(value: Any) -> bytes:
        encoded.append(value)
        return encode(value)

    def shout(body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**body, "name": body["name"].upper()}

    event = event_of(opened(7), 0)
    assert event.text(count, None) is event.text(count, None)
    assert event.text(count, shout) is event.text(count, shout)
    assert [value["name"] for value in encoded] == ["session-opened", "SESSION-OPENED"]


def event_at(level: Level) -> Event:
    return Event(0, {"name": "port-blocked", "level": level})


@given(st.sampled_from(LEVELS), st.sampled_from(LEVELS))
def test_level_filter_includes_higher_levels(level: Level, least: Level) -> None:
    subscription = Subscribe(Kept(), level=least)
    assert wanted(event_at(level), subscription) == (LEVELS.index(level) >= LEVELS.index(least))


def test_kind_filter_includes_named_kinds() -> None:
    assert wanted(event_at("info"), Subscribe(Kept(), kinds=frozenset({"port-blocked"})))
    assert not wanted(event_at("info"), Subscribe(Kept(), kinds=frozenset({"device-sleep"})))


def test_event_data_are_a_copy() -> None:
    data = {"session_id": 7, "profile": "default"}
    event = event_of(Emit("session-opened", data, ""), 0)
    data["profile"] = "changed"
    assert event.body["data"]["profile"] == "default"
