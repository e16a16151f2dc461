"""Clocks and timers: the manual clock moves only when told, a timer fires once."""

from __future__ import annotations

import threading
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.actor import Context
from actors.kit.clock import Clock, ManualClock
from actors.kit.message import Message
from tests.unit.kit.conftest import Start
from tests.unit.kit.sample_actors import Keeper, Note, counted, kept_by


def told(keeper: Keeper) -> list[object]:
    """What waits in the mailbox of an actor that does not run."""
    values: list[object] = []
    while not keeper.actor_inbox.empty():
        values.append(keeper.actor_inbox.get().message.value)
    return values


@pytest.fixture
def keeper(context: Context) -> Keeper:
    actor = Keeper("keeper", context)
    context.directory.register("keeper", actor.actor_ref)
    return actor


def test_a_clock_reads_its_source() -> None:
    ticks = iter([5, 7])
    clock = Clock(lambda: next(ticks))
    assert (clock.now_ns(), clock.now_ns()) == (5, 7)


def test_a_manual_clock_moves_only_forward_and_only_when_told() -> None:
    clock = ManualClock(10)
    clock.advance(0.25)
    assert clock.now_ns() == 250_000_010
    clock.move_to(250_000_011)
    assert clock.now_ns() == 250_000_011
    with pytest.raises(ValueError, match="move it forward"):
        clock.move_to(0)


def test_message_is_sent_once_when_due(context: Context, clock: ManualClock, keeper: Keeper) -> None:
    context.timers.after(0.2, "keeper", Note("debounced"))
    clock.move_to(199_999_999)
    assert context.timers.fire_due() == 0
    clock.move_to(200_000_000)
    assert context.timers.fire_due() == 1
    assert context.timers.fire_due() == 0
    assert told(keeper) == ["debounced"]
    assert len(context.timers) == 0


def test_a_key_replaces_the_earlier_message_of_the_same_key(
    context: Context, clock: ManualClock, keeper: Keeper
) -> None:
    context.timers.after(1, "keeper", Note("first"), key="settle")
    context.timers.after(2, "keeper", Note("second"), key="settle")
    context.timers.after(1, "keeper", Note("other"), key="debounce")
    clock.advance(5)
    assert context.timers.fire_due() == 2
    assert told(keeper) == ["other", "second"]


def test_cancelled_message_is_never_sent(context: Context, clock: ManualClock, keeper: Keeper) -> None:
    context.timers.after(1, "keeper", Note("never"), key="settle")
    context.timers.cancel("settle")
    context.timers.cancel("settle")
    context.timers.cancel("unknown")
    clock.advance(5)
    assert context.timers.fire_due() == 0
    assert told(keeper) == []


def test_a_key_is_free_again_after_it_has_fired(context: Context, clock: ManualClock, keeper: Keeper) -> None:
    for number in range(3):
        context.timers.after(1, "keeper", Note(number), key="settle")
        clock.advance(1)
        assert context.timers.fire_due() == 1
    context.timers.cancel("settle")
    assert told(keeper) == [0, 1, 2]


def test_timer_for_a_missing_actor_is_counted(context: Context, clock: ManualClock) -> None:
    context.timers.after(1, "session/7", Note(1))
    clock.advance(1)
    assert context.timers.fire_due() == 1
    assert counted(context, "hapticd_tells_to_nobody_total", actor="session") == 1


def test_replaced_messages_are_freed_soon(context: Context) -> None:
    for number in range(10_000):
        context.timers.after(3_600, "keeper", Note(number), key="screensaver")
    assert len(context.timers) == 1
    assert len(context.timers._heap) < 200


class Model:
    """What Timers promise, said with a list."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int, Hashable, int]] = []

    def after(self, due_ns: int, number: int, key: Hashable) -> None:
        if key is not None:
            self.cancel(key)
        self.waiting.append((due_ns, number, key, number))

    def cancel(self, key: Hashable) -> None:
        self.waiting = [entry for entry in self.waiting if entry[2] != key]

    def due(self, now_ns: int) -> list[int]:
        due = sorted(entry for entry in self.waiting if entry[0] <= now_ns)
        self.waiting = [entry for entry in self.waiting if entry[0] > now_ns]
        return [number for *_, number in due]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("after"), st.integers(0, 50), st.sampled_from([None, "a", "b", "c"])),
        st.tuples(st.just("cancel"), st.just(0), st.sampled_from(["a", "b", "c"])),
        st.tuples(st.just("fire"), st.integers(0, 30), st.none()),
    ),
    max_size=200,
)


@given(steps)
def test_timers_agree_with_a_list_model(script: list[tuple[str, int, str | None]]) -> None:
    clock = ManualClock()
    context = Context.build(clock)
    keeper = Keeper("keeper", context)
    context.directory.register("keeper", keeper.actor_ref)
    model = Model()
    for number, (step, amount, key) in enumerate(script):
        if step == "after":
            context.timers.after(amount / 1_000_000_000, "keeper", Note(number), key=key)
            model.after(clock.now_ns() + amount, number, key)
        elif step == "cancel":
            context.timers.cancel(key)
            model.cancel(key)
        else:
            clock.move_to(clock.now_ns() + amount)
            expected = model.due(clock.now_ns())
            assert context.timers.fire_due() == len(expected)
            assert told(keeper) == expected
        assert len(context.timers) == len(model.waiting)


def test_any_thread_may_set_a_timer(context: Context, clock: ManualClock, start: Start) -> None:
    start()

    def set_timers(first: int) -> None:
        for number in range(first, first + 200):
            message: Message = Note(number)
            context.timers.after(number / 1_000, "keeper", message)

    threads = [threading.Thread(target=set_timers, args=(first,)) for first in (0, 200, 400)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.advance(1)
    assert context.timers.fire_due() == 600
    assert kept_by(context, "keeper") == tuple(range(600))
