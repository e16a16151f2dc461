"""Calibration states of a device with its handle: locked, ready, running, calibrated, failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.pairing.calibration import Calibration, Handle, check_handle, end_run, start_run
from actors.pairing.messages import Progress, Reason

HELD = Handle()
LOOSE = Handle(attached=False)
AWAY = Handle(here=False)
ASLEEP = Handle(awake=False)
# It sleeps, so its heartbeats have ended too.
SILENT = Handle(awake=False, attached=False)


def after(*handles: Handle | None, calibrated: bool = False) -> Calibration:
    found = Calibration(calibrated=calibrated)
    for handle in handles:
        found = check_handle(found, handle)
    return found


def running() -> Calibration:
    found = start_run(after(HELD), HELD, 1)
    assert found.progress is Progress.RUNNING
    return found


@pytest.mark.parametrize("handle", [None, LOOSE, AWAY])
@pytest.mark.parametrize("calibrated", [True, False])
def test_calibration_is_locked_until_a_paired_handle_is_attached(handle: Handle | None, calibrated: bool) -> None:
    found = after(handle, calibrated=calibrated)

    assert found.progress is Progress.LOCKED
    assert found.calibrated is calibrated
    assert start_run(found, handle, 1).run == 0


def test_attached_handle_unlocks() -> None:
    assert after(HELD).progress is Progress.READY
    assert after(HELD, calibrated=True).progress is Progress.CALIBRATED
    assert after(HELD, LOOSE, calibrated=True).progress is Progress.LOCKED


def test_successful_run_ends_calibrated() -> None:
    one = running()

    done = end_run(one, one.run, None)

    assert (done.progress, done.calibrated, done.run) == (Progress.CALIBRATED, True, 0)


@pytest.mark.parametrize("reason", Reason)
def test_failed_run_leaves_nothing_calibrated_with_its_reason(reason: Reason) -> None:
    one = start_run(after(HELD, calibrated=True), HELD, 1)

    failed = end_run(one, one.run, reason)

    assert (failed.progress, failed.reason, failed.calibrated) == (Progress.FAILED, reason, False)


@pytest.mark.parametrize(
    ("handle", "reason"),
    [
        (LOOSE, Reason.PEN_LOST),
        (AWAY, Reason.PEN_LOST),
        (None, Reason.PEN_LOST),
        (ASLEEP, Reason.PEN_ASLEEP),
        (SILENT, Reason.PEN_ASLEEP),
    ],
)
def test_run_needs_its_handle_until_the_end(handle: Handle | None, reason: Reason) -> None:
    failed = check_handle(running(), handle)

    assert (failed.progress, failed.reason) == (Progress.FAILED, reason)
    assert check_handle(failed, handle) == failed


@pytest.mark.parametrize(
    ("handle", "reason"),
    [(AWAY, Reason.PEN_NOT_CONNECTED), (ASLEEP, Reason.PEN_ASLEEP), (SILENT, Reason.PEN_ASLEEP)],
)
def test_run_without_an_answering_handle_fails_at_once(handle: Handle, reason: Reason) -> None:
    refused = start_run(after(HELD, calibrated=True), handle, 1)

    assert (refused.run, refused.reason, refused.progress) == (0, reason, Progress.FAILED)
    assert refused.calibrated


def test_failure_is_shown_until_the_lock_changes_or_a_run_begins() -> None:
    one = running()
    failed = end_run(one, one.run, Reason.BLOCKED)

    assert check_handle(failed, HELD) == failed
    assert check_handle(failed, LOOSE).progress is Progress.LOCKED
    assert check_handle(check_handle(failed, LOOSE), HELD).progress is Progress.READY
    assert start_run(failed, HELD, 2).progress is Progress.RUNNING


def test_request_while_locked_clears_an_old_failure() -> None:
    lost = check_handle(running(), LOOSE)

    assert start_run(lost, LOOSE, 2).progress is Progress.LOCKED


def test_run_ends_when_its_handle_is_replaced() -> None:
    one = start_run(after(Handle("P1")), Handle("P1"), 1, BOTH)

    swapped = check_handle(one, Handle("P2"))

    assert (swapped.progress, swapped.reason, swapped.unlocked) == (Progress.FAILED, Reason.PEN_LOST, True)
    assert start_run(swapped, Handle("P2"), 2).handle == "P2"


def test_only_awaited_devices_end_a_run() -> None:
    one = start_run(after(HELD), HELD, 7, BOTH)

    assert end_run(one, 7, Reason.BLOCKED, "P2") == one
    assert end_run(one, 7, None, "P2") == one


BOTH = frozenset({"C1", "P1"})


@pytest.mark.parametrize("order", [("C1", "P1"), ("P1", "C1")])
def test_run_ends_with_the_last_success(order: tuple[str, str]) -> None:
    one = start_run(after(HELD), HELD, 7, BOTH)

    half = end_run(end_run(one, 7, None, order[0]), 7, None, order[0])
    assert (half.progress, half.calibrated, half.run) == (Progress.RUNNING, False, 7)
    done = end_run(half, 7, None, order[1])

    assert (done.progress, done.calibrated, done.run) == (Progress.CALIBRATED, True, 0)


@pytest.mark.parametrize("who", sorted(BOTH))
def test_run_ends_with_the_first_failure(who: str) -> None:
    failed = end_run(start_run(after(HELD), HELD, 7, BOTH), 7, Reason.BLOCKED, who)

    assert (failed.progress, failed.reason) == (Progress.FAILED, Reason.BLOCKED)
    assert end_run(failed, 7, None, "P1") == failed


def test_request_during_a_run_changes_nothing() -> None:
    one = running()

    assert start_run(one, HELD, 2) == one


def test_end_of_an_older_run_changes_nothing() -> None:
    one = running()
    lost = check_handle(one, LOOSE)
    again = start_run(check_handle(lost, HELD), HELD, 2)

    assert end_run(lost, one.run, None) == lost
    assert end_run(again, one.run, Reason.BLOCKED) == again
    assert end_run(Calibration(), 0, None) == Calibration()


HANDLES = st.one_of(
    st.none(), st.builds(Handle, st.sampled_from(("P1", "P2")), st.booleans(), st.booleans(), st.booleans())
)
ACTS = st.one_of(
    st.tuples(st.just("seen"), HANDLES), st.tuples(st.just("begun"), HANDLES), st.tuples(st.just("ended"), st.none())
)


@given(st.lists(ACTS, max_size=20))
def test_run_continues_only_with_an_attached_awake_handle(acts: list[tuple[str, Handle | None]]) -> None:
    one = Calibration()
    for number, (act, handle) in enumerate(acts, 1):
        if act == "ended":
            one = end_run(one, one.run, None)
            continue
        one = check_handle(one, handle) if act == "seen" else start_run(one, handle, number)
        if one.run:
            assert handle == Handle(one.handle)
        assert (one.progress is Progress.FAILED) == (one.reason is not None)
