"""The stop latch: which devices are stopped after a sequence of stops and releases, and after a restart."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.stop_latch import StopLatch
from actors.settings.immutable_json import freeze, thaw

DEVICES = ("A", "B", "C", "X", "Y")
EVERYTHING = StopLatch().stop(None)


targets = st.none() | st.lists(st.sampled_from(DEVICES), max_size=3)
steps = st.lists(st.tuples(st.sampled_from(["stop", "release"]), targets), max_size=12)


def after(row: Sequence[tuple[str, Sequence[str] | None]]) -> StopLatch:
    latch = StopLatch()
    for step, device_ids in row:
        latch = latch.stop(device_ids) if step == "stop" else latch.release(device_ids)
    return latch


latches = steps.map(after)


def held(latch: StopLatch) -> set[str]:
    return {device_id for device_id in DEVICES if latch.holds(device_id)}


def test_nothing_is_stopped_at_first() -> None:
    assert held(StopLatch()) == set()


def test_stop_of_everything_applies_to_later_devices() -> None:
    assert EVERYTHING.everything
    assert EVERYTHING.holds("nobody knows it yet")


def test_stop_of_one_device_applies_to_it_alone() -> None:
    assert held(StopLatch().stop(["B", "X"])) == {"B", "X"}


def test_release_of_one_keeps_all_others_stopped_present_or_not() -> None:
    latch = EVERYTHING.release(["A"])

    assert latch.everything
    assert held(latch) == {"B", "C", "X", "Y"}


def test_released_device_can_be_stopped_again() -> None:
    assert held(EVERYTHING.release(["A", "X"]).stop(["A"])) == {"A", "B", "C", "Y"}
    assert EVERYTHING.release(["A"]).stop(None) == EVERYTHING


@given(steps)
def test_last_request_for_a_device_decides(
    row: Sequence[tuple[str, Sequence[str] | None]],
) -> None:
    latch = after(row)

    for device_id in (*DEVICES, "nobody knows it yet"):
        words = [step for step, device_ids in row if device_ids is None or device_id in device_ids]
        assert latch.holds(device_id) == (words[-1:] == ["stop"])


@given(latches, targets)
def test_stopping_twice_is_stopping_once(latch: StopLatch, device_ids: list[str] | None) -> None:
    assert latch.stop(device_ids).stop(device_ids) == latch.stop(device_ids)


@given(latches, targets)
def test_releasing_twice_is_releasing_once(latch: StopLatch, device_ids: list[str] | None) -> None:
    assert latch.release(device_ids).release(device_ids) == latch.release(device_ids)


@given(latches, targets)
def test_stop_only_adds_and_release_only_removes_stopped_devices(
    latch: StopLatch, device_ids: list[str] | None
) -> None:
    assert held(latch) <= held(latch.stop(device_ids))
    assert held(latch.release(device_ids)) <= held(latch)


@given(latches)
def test_a_release_of_everything_releases_everything(latch: StopLatch) -> None:
    assert latch.release(None) == StopLatch()


@given(latches)
def test_release_of_no_device_changes_nothing(latch: StopLatch) -> None:
    assert latch.release([]) == latch


@given(latches)
def test_latch_round_trips_through_the_ledger(latch: StopLatch) -> None:
    assert StopLatch.from_json(freeze(latch.as_json())) == latch
    assert StopLatch.from_json(freeze(json.loads(json.dumps(thaw(freeze(latch.as_json())))))) == latch


def test_ledger_without_releases_is_read() -> None:
    assert StopLatch.from_json(freeze({"everything": True, "device_ids": ["A"]})) == EVERYTHING
    assert held(StopLatch.from_json(freeze({"everything": False, "device_ids": ["A"]}))) == {"A"}


def test_empty_ledger_means_no_stop() -> None:
    assert StopLatch.from_json(None) == StopLatch()


@pytest.mark.parametrize(
    "value",
    [
        False,
        True,
        0,
        "",
        "released",
        [],
        ["A"],
        {},
        {"everything": False},
        {"device_ids": []},
        {"everything": None, "device_ids": []},
        {"everything": 0, "device_ids": []},
        {"everything": "false", "device_ids": []},
        {"everything": False, "device_ids": None},
        {"everything": False, "device_ids": "A"},
        {"everything": False, "device_ids": {"A": True}},
        {"everything": False, "device_ids": [5]},
        {"everything": False, "device_ids": ["A", None]},
        {"everything": False, "device_ids": [["A"]]},
        {"everything": False, "device_ids": ["A"], "released": "B"},
        {"everything": True, "device_ids": [], "released": [5]},
        {"everything": True, "device_ids": [], "released": None},
    ],
)
def test_unreadable_ledger_means_a_stop_of_everything(value: object) -> None:
    assert StopLatch.from_json(freeze(value)) == StopLatch(everything=True)
