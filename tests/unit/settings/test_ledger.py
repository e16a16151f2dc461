"""The ledger file: sections, when they are written, broken files, reserved session ids."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.kit.errors import Busy, InvalidInput, StateNotWritable
from actors.settings.immutable_json import thaw
from actors.settings.ledger import BLOCK, Ledger, SessionIds
from actors.settings.state_directory import StateDirectory

# Above every id of a block, below every one that was given on a full disk.
UNRESERVED = 2**40
FullDisk = Callable[[], AbstractContextManager[object]]


def ahead(ledger: Ledger) -> bool:
    return ledger.unwritten


def low(ids: SessionIds) -> bool:
    return ids.running_low


def fail(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_new_ledger_is_empty(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)

    assert ledger.section("ports") is None
    assert not ahead(ledger)
    assert not folder.ledger.exists()


def test_a_section_is_in_memory_at_once_and_on_the_disk_when_written(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ledger.remember("ports", {"ttyUSB0": "blocked"})

    assert thaw(ledger.section("ports")) == {"ttyUSB0": "blocked"}
    assert ahead(ledger)
    assert Ledger.load(folder).section("ports") is None

    ledger.write()

    assert not ahead(ledger)
    assert thaw(Ledger.load(folder).section("ports")) == {"ttyUSB0": "blocked"}


def test_section_read_before_is_immutable(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ledger.remember("stop", {"everything": True})
    seen = ledger.section("stop")
    ledger.remember("stop", None)

    assert thaw(seen) == {"everything": True}
    assert ledger.section("stop") is None


def test_none_drops_a_section_from_the_disk_too(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ledger.remember("stop", True)
    ledger.write()
    ledger.remember("stop", None)
    ledger.write()

    assert json.loads(folder.ledger.read_bytes()) == {"format": 1, "next_session_id": 1}


@pytest.mark.parametrize("name", ["format", "next_session_id"])
def test_reserved_names_are_no_sections(folder: StateDirectory, name: str) -> None:
    ledger = Ledger.load(folder)
    with pytest.raises(InvalidInput, match="choose another section name"):
        ledger.remember(name, 1)

    assert not ahead(ledger)


def test_sections_of_a_newer_service_are_kept(folder: StateDirectory) -> None:
    folder.ledger.write_text('{"format": 9, "next_session_id": 5001, "moods": {"049D": "calm"}}')
    ledger = Ledger.load(folder)
    ledger.remember("stop", True)
    ledger.write()

    assert json.loads(folder.ledger.read_bytes()) == {
        "format": 9,
        "next_session_id": 5001,
        "moods": {"049D": "calm"},
        "stop": True,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"format": 1, "next_session_id": 10',
        '{"format": 1, "next_session_id": "10"}',
        '{"format": 1, "next_session_id": 0}',
        '{"format": 1, "next_session_id": -5}',
        '{"format": 1, "next_session_id": true}',
        '{"format": 1, "next_session_id": 1.0}',
        '{"format": 1, "next_session_id": null}',
        '{"format": 1, "ports": ' + "[" * 40 + "]" * 40 + "}",
    ],
)
def test_a_broken_ledger_is_kept_aside(folder: StateDirectory, text: str) -> None:
    folder.ledger.write_text(text)
    ledger = Ledger.load(folder)

    assert ledger.section("ports") is None
    assert folder.ledger.with_name("ledger.json.broken-1").read_text() == text


def test_failing_disk_leaves_memory_ahead(folder: StateDirectory, full_disk: FullDisk) -> None:
    ledger = Ledger.load(folder)
    ledger.remember("ports", ["a"])
    with full_disk(), pytest.raises(StateNotWritable):
        ledger.write()

    assert ahead(ledger)
    assert ledger.section("ports") == ("a",)

    ledger.write()

    assert Ledger.load(folder).section("ports") == ("a",)


def test_id_needs_a_reserved_block(folder: StateDirectory) -> None:
    ids = Ledger.load(folder).session_ids

    assert ids.left == 0
    assert low(ids)
    with pytest.raises(Busy, match="try again"):
        ids.take()


def test_ids_start_at_one_and_grow_by_one_across_blocks(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    taken: list[int] = []
    for _ in range(3 * BLOCK):
        ledger.reserve_session_ids()
        taken.append(ledger.session_ids.take())

    assert taken == list(range(1, 3 * BLOCK + 1))


def test_a_block_is_on_the_disk_before_any_of_its_ids_is_given(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ledger.reserve_session_ids()

    assert json.loads(folder.ledger.read_bytes())["next_session_id"] == BLOCK + 1
    assert ledger.session_ids.left == BLOCK


def test_half_used_block_requests_the_next(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ids = ledger.session_ids
    ledger.reserve_session_ids()
    for _ in range(BLOCK // 2):
        ids.take()

    assert not low(ids)
    ledger.reserve_session_ids()
    assert ids.end == BLOCK + 1

    ids.take()

    assert low(ids)
    ledger.reserve_session_ids()
    ledger.reserve_session_ids()
    assert ids.end == 2 * BLOCK + 1


def test_writing_a_section_does_not_give_reserved_ids_back(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ledger.reserve_session_ids()
    ledger.session_ids.take()
    ledger.remember("stop", True)
    ledger.write()

    assert json.loads(folder.ledger.read_bytes())["next_session_id"] == BLOCK + 1


def test_ids_continue_after_a_clean_stop(folder: StateDirectory) -> None:
    for first in (1, 3, 5):
        ledger = Ledger.load(folder)
        ledger.reserve_session_ids()

        assert [ledger.session_ids.take() for _ in range(2)] == [first, first + 1]
        ledger.return_session_ids()

    assert json.loads(folder.ledger.read_bytes())["next_session_id"] == 7


def test_no_id_is_given_after_the_rest_is_returned(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    ledger.reserve_session_ids()
    ledger.return_session_ids()

    with pytest.raises(Busy):
        ledger.session_ids.take()

    ledger.reserve_session_ids()
    assert ledger.session_ids.take() == 1


def test_ids_that_could_not_be_returned_stay_reserved_on_the_disk(folder: StateDirectory, full_disk: FullDisk) -> None:
    ledger = Ledger.load(folder)
    ledger.reserve_session_ids()
    ledger.session_ids.take()

    with full_disk(), pytest.raises(StateNotWritable):
        ledger.return_session_ids()

    again = Ledger.load(folder)
    again.reserve_session_ids()
    assert again.session_ids.take() == BLOCK + 1


def test_full_disk_gives_ids_that_no_block_will_reach(folder: StateDirectory, full_disk: FullDisk) -> None:
    ledger = Ledger.load(folder)
    with full_disk(), pytest.raises(StateNotWritable):
        ledger.reserve_session_ids()

    assert low(ledger.session_ids)
    first, second = ledger.session_ids.take(), ledger.session_ids.take()
    assert first > UNRESERVED
    assert second == first + 1

    ledger.reserve_session_ids()
    assert ledger.session_ids.take() == second + 1
    assert Ledger.load(folder).session_ids.end == second + 1 + BLOCK


def test_reserved_ids_are_given_before_others_on_a_full_disk(folder: StateDirectory, full_disk: FullDisk) -> None:
    ledger = Ledger.load(folder)
    ledger.reserve_session_ids()
    with full_disk():
        given: list[int] = []
        for _ in range(BLOCK + 1):
            take(ledger, given)
    assert given[:-1] == list(range(1, BLOCK + 1))
    assert given[-1] > UNRESERVED


def test_last_write_error_is_kept_as_a_sentence(folder: StateDirectory, full_disk: FullDisk) -> None:
    ledger = Ledger.load(folder)
    assert ledger.trouble == ""
    with full_disk(), pytest.raises(StateNotWritable) as caught:
        ledger.reserve_session_ids()
    assert ledger.trouble == caught.value.sentence
    assert "No space left" in ledger.trouble

    ledger.reserve_session_ids()
    assert ledger.trouble == ""


def test_returning_nothing_writes_nothing(folder: StateDirectory) -> None:
    Ledger.load(folder).return_session_ids()

    assert not folder.ledger.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from((0, 1, 499, 500, 501, 999, 1000, 1001, 1700)), st.booleans(), st.booleans()),
        max_size=6,
    )
)
def test_id_is_never_given_twice_over_crashes_and_stops(
    tmp_path_factory: pytest.TempPathFactory, lives: list[tuple[int, bool, bool]]
) -> None:
    """Each life opens some sessions, sometimes on a disk that fails, and then stops or is dropped without a word."""
    path: Path = tmp_path_factory.mktemp("state")
    taken: list[int] = []
    for sessions, disk_fails, stops in lives:
        ledger = Ledger.load(StateDirectory(path))
        with pytest.MonkeyPatch.context() as patch:
            if disk_fails:
                patch.setattr(os, "open", fail)
            for _ in range(sessions):
                take(ledger, taken)
            if stops:
                with suppress(StateNotWritable):
                    ledger.return_session_ids()

    assert len(set(taken)) == len(taken)
    reserved = [session_id for session_id in taken if session_id < UNRESERVED]
    assert reserved == sorted(reserved)


def take(ledger: Ledger, taken: list[int]) -> None:
    with suppress(StateNotWritable):
        ledger.reserve_session_ids()
    with suppress(Busy):
        taken.append(ledger.session_ids.take())


def test_invalid_json_is_refused_and_not_stored(folder: StateDirectory) -> None:
    ledger = Ledger.load(folder)
    bad: Any = {"a": {1, 2}}
    with pytest.raises(InvalidInput):
        ledger.remember("ports", bad)

    assert ledger.section("ports") is None
    assert not ahead(ledger)
