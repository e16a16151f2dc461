"""Bounded mailboxes: which messages fail, are dropped or are always taken when full."""

from __future__ import annotations

import asyncio
from typing import Any

import pykka
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pykka._envelope import Envelope

from actors.kit.actor import Context
from actors.kit.ask import ask_async, ask_blocking
from actors.kit.clock import ManualClock
from actors.kit.errors import Busy, HapticError, NoSuchActor
from actors.kit.mailbox import INBOX_LIMIT, Mailbox, RequestEnvelope, mailbox_of
from tests.unit.kit.conftest import Start
from tests.unit.kit.sample_actors import (
    TIMEOUT_S,
    Ear,
    Fact,
    Hold,
    Kept,
    Note,
    Raise,
    counted,
    end_of,
    flush,
    held,
    kept_by,
)


class Outcome:
    settled = False

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def answer(self, value: object) -> None:
        raise AssertionError(f"nobody handled this: {value!r}")

    def fail(self, error: BaseException) -> None:
        self.error = error


@pytest.fixture
def mailbox(context: Context) -> Mailbox:
    box = Mailbox()
    box.set_owner("device/049D", context.metrics)
    return box


def fill(mailbox: Mailbox) -> None:
    for number in range(INBOX_LIMIT):
        mailbox.put(Envelope(Note(number)))


def dropped(context: Context, reason: str) -> float:
    return counted(context, "hapticd_messages_dropped_total", actor="device", reason=reason)


def test_full_mailbox_fails_asks_at_once(mailbox: Mailbox) -> None:
    outcome = Outcome()
    fill(mailbox)
    mailbox.put(Envelope(RequestEnvelope(Kept(), 1, outcome)))
    assert isinstance(outcome.error, Busy)
    assert len(mailbox) == INBOX_LIMIT


def test_full_mailbox_drops_and_counts_repeatable_messages(mailbox: Mailbox, context: Context) -> None:
    fill(mailbox)
    mailbox.put(Envelope(Fact(1)))
    assert len(mailbox) == INBOX_LIMIT
    assert dropped(context, "full") == 1


def test_full_mailbox_takes_essential_messages(mailbox: Mailbox, context: Context) -> None:
    fill(mailbox)
    mailbox.put(Envelope(Note("last")))
    assert len(mailbox) == INBOX_LIMIT + 1
    assert dropped(context, "full") == 0


def test_mailbox_below_the_limit_takes_everything_again(mailbox: Mailbox) -> None:
    fill(mailbox)
    mailbox.get()
    mailbox.put(Envelope(Fact(1)))
    assert len(mailbox) == INBOX_LIMIT


@given(st.lists(st.sampled_from(["note", "fact", "ask", "take"]), max_size=60), st.integers(0, 4))
def test_messages_come_out_once_in_order(steps: list[str], below: int) -> None:
    mailbox = Mailbox()
    mailbox.set_owner("keeper", Context.build(ManualClock()).metrics)
    expected: list[object] = [Note("fill") for _ in range(INBOX_LIMIT - below)]
    for note in expected:
        mailbox.put(Envelope(note))
    for number, step in enumerate(steps):
        outcome = Outcome()
        messages: dict[str, Any] = {
            "note": Note(number),
            "fact": Fact(number),
            "ask": RequestEnvelope(Kept(), 1, outcome),
        }
        if step == "take":
            assert mailbox.get().message is expected.pop(0)
            continue
        full = len(expected) >= INBOX_LIMIT
        mailbox.put(Envelope(messages[step]))
        if step == "note" or not full:
            expected.append(messages[step])
        assert (outcome.error is not None) == (step == "ask" and full)
    assert len(mailbox) == len(expected)
    assert [mailbox.get().message for _ in range(len(expected))] == expected
    assert mailbox.empty()


@pytest.mark.parametrize(("error", "expected"), [(ValueError("broken"), Busy), (None, NoSuchActor)])
def test_closing_fails_waiting_and_later_requests(
    mailbox: Mailbox, context: Context, error: Exception | None, expected: type[HapticError]
) -> None:
    before, after = Outcome(), Outcome()
    stop_before, stop_after = pykka.ThreadingFuture[None](), pykka.ThreadingFuture[None]()
    mailbox.put(Envelope(RequestEnvelope(Kept(), 1, before)))
    mailbox.put(Envelope(Note(1)))
    mailbox.put(Envelope("stop", reply_to=stop_before))
    mailbox.close(error)
    assert mailbox.empty()
    mailbox.put(Envelope(RequestEnvelope(Kept(), 1, after)))
    mailbox.put(Envelope(Note(2)))
    mailbox.put(Envelope("stop", reply_to=stop_after))
    assert mailbox.empty()
    assert isinstance(before.error, expected)
    assert isinstance(after.error, expected)
    assert dropped(context, "ended") == 2
    for future in (stop_before, stop_after):
        with pytest.raises(pykka.ActorDeadError):
            future.get(timeout=0)


def test_watcher_gets_each_notification_once() -> None:
    early, late = Ear(), Ear()
    mailbox = Mailbox()
    mailbox.watch(early)
    assert early.heard == []
    mailbox.mark_started()
    mailbox.close(None)
    mailbox.watch(late)
    assert early.heard == late.heard == ["started", "ended"]


def test_new_watcher_replaces_the_old_one() -> None:
    old, new = Ear(), Ear()
    mailbox = Mailbox()
    mailbox.watch(old)
    mailbox.mark_started()
    mailbox.watch(new)
    error = ValueError("broken")
    mailbox.close(error)
    assert old.heard == ["started"]
    assert new.heard == ["started", "ended"]
    assert new.error is error


def test_waiting_for_a_start_ends_with_the_start_the_death_or_the_time() -> None:
    started, died, stopped, slow = Mailbox(), Mailbox(), Mailbox(), Mailbox()
    started.mark_started()
    started.wait_started(0)
    died.close(ValueError("no start"))
    with pytest.raises(ValueError, match="no start"):
        died.wait_started(0)
    stopped.close(None)
    with pytest.raises(NoSuchActor):
        stopped.wait_started(0)
    with pytest.raises(Busy):
        slow.wait_started(0)


def test_actor_of_another_class_has_no_mailbox() -> None:
    with pytest.raises(TypeError, match="derive it from"):
        mailbox_of(pykka.ThreadingActor().actor_ref)


def test_an_overloaded_actor_answers_busy_and_blocks_no_sender(context: Context, start: Start) -> None:
    ref = start("device/049D")
    with held(ref):
        for number in range(INBOX_LIMIT + 500):
            assert context.directory.tell("device/049D", Note(number))
        assert context.directory.tell("device/049D", Fact("lost"))
        with pytest.raises(Busy, match="messages waiting"):
            ask_blocking(context.directory, "device/049D", Kept())
    assert dropped(context, "full") == 1
    assert counted(context, "hapticd_busy_answers_total", actor="device") == 1
    flush(ref)
    assert kept_by(context, "device/049D") == tuple(range(INBOX_LIMIT + 500))


def test_a_queued_ask_of_an_actor_that_dies_fails_at_once(context: Context, start: Start) -> None:
    ref = start()

    async def scenario() -> None:
        with held(ref):
            ref.tell(Raise(ValueError("broken")))
            queued = ask_async(context.directory, "keeper", Kept(), timeout_s=4 * TIMEOUT_S)
        with pytest.raises(Busy, match="being started again"):
            await asyncio.wait_for(queued, TIMEOUT_S)

    asyncio.run(scenario())


def test_a_queued_ask_of_an_actor_that_is_stopped_fails_at_once(context: Context, start: Start) -> None:
    ref = start()

    async def scenario() -> None:
        with held(ref):
            ref.stop(block=False)
            queued = ask_async(context.directory, "keeper", Kept(), timeout_s=4 * TIMEOUT_S)
        with pytest.raises(NoSuchActor):
            await asyncio.wait_for(queued, TIMEOUT_S)

    asyncio.run(scenario())


def test_ask_racing_the_end_fails_at_once(start: Start) -> None:
    ref = start()
    ref.tell(Raise(ValueError("broken")))
    end_of(ref)
    outcome = Outcome()
    ref.actor_inbox.put(Envelope(RequestEnvelope(Hold(), 1, outcome)))
    assert isinstance(outcome.error, Busy)
