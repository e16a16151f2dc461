"""The directory of actors: messages by name, missing and dead actors are counted."""

from __future__ import annotations

import threading

import pytest

from actors.kit.actor import Context
from tests.unit.kit.conftest import Start
from tests.unit.kit.sample_actors import TIMEOUT_S, Keeper, Note, Raise, counted, end_of, kept_by


def nobody(context: Context) -> float:
    return counted(context, "hapticd_tells_to_nobody_total", actor="device")


def test_a_message_reaches_the_name(context: Context, start: Start) -> None:
    start("device/1")
    assert context.directory.tell("device/1", Note(1))
    assert kept_by(context, "device/1") == (1,)


def test_a_name_without_an_actor_is_counted_and_raises_nothing(context: Context) -> None:
    assert not context.directory.tell("device/1", Note(1))
    assert nobody(context) == 1


@pytest.mark.parametrize("crash", [True, False])
def test_a_dead_actor_is_counted_and_raises_nothing(context: Context, start: Start, crash: bool) -> None:
    ref = start("device/1")
    if crash:
        ref.tell(Raise(ValueError("broken")))
    else:
        ref.stop(timeout=TIMEOUT_S)
    end_of(ref)
    context.directory.register("device/1", ref)
    assert not context.directory.tell("device/1", Note(1))
    assert nobody(context) == 1


def test_latest_registration_counts_and_an_older_one_cannot_remove_it(context: Context) -> None:
    old, new = Keeper("device/1", context).actor_ref, Keeper("device/1", context).actor_ref
    context.directory.register("device/1", old)
    context.directory.register("device/1", new)
    context.directory.forget("device/1", old)
    assert context.directory.ref("device/1") is new
    context.directory.forget("device/1", new)
    assert context.directory.ref("device/1") is None


def test_names_come_in_order_of_registration(context: Context) -> None:
    for name in ("c", "a", "b"):
        context.directory.register(name, Keeper(name, context).actor_ref)
    assert context.directory.names() == ("c", "a", "b")


def test_message_reaches_everyone_but_the_excluded(context: Context, start: Start) -> None:
    for name in ("a", "b", "c"):
        start(name)
    context.directory.tell_others("b", Note(1))
    assert [kept_by(context, name) for name in ("a", "b", "c")] == [(1,), (), (1,)]


def test_readers_see_whole_states_while_names_come_and_go(context: Context) -> None:
    pairs = [Keeper(name, context).actor_ref for name in ("a", "b")]
    done = threading.Event()

    def change() -> None:
        for _ in range(300):
            for name, ref in zip("ab", pairs, strict=True):
                context.directory.register(name, ref)
            for name, ref in zip("ab", pairs, strict=True):
                context.directory.forget(name, ref)
        done.set()

    thread = threading.Thread(target=change)
    thread.start()
    seen: set[tuple[str, ...]] = set()
    while not done.is_set():
        seen.add(context.directory.names())
    thread.join()
    assert seen <= {(), ("a",), ("a", "b"), ("b",)}
    assert context.directory.names() == ()
