"""Supervised children: start, stop, restart after a crash."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pykka
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.actor import Context, handles
from actors.kit.children import Children, RestartLimit
from actors.kit.clock import NS_PER_S, ManualClock
from actors.kit.errors import Busy
from actors.kit.mailbox import mailbox_of
from actors.kit.message import Announce, ChildFailed
from tests.unit.kit.conftest import Start
from tests.unit.kit.sample_actors import (
    TIMEOUT_S,
    Ear,
    Keeper,
    Note,
    Raise,
    actor_of,
    counted,
    end_of,
    flush,
    held,
    kept_by,
    thread_of,
    wait_started,
)


class Owner(Keeper):
    """Keeps the failures that it is told; the test hands them on."""

    def __init__(self, name: str, context: Context) -> None:
        super().__init__(name, context)
        self.told: list[ChildFailed] = []
        self.heard = threading.Semaphore(0)

    @handles(ChildFailed)
    def child_failed(self, message: ChildFailed) -> None:
        self.told.append(message)
        self.heard.release()


class Family:
    """An owner, its children, and the test in the place of the owner's thread."""

    def __init__(self, context: Context, owner: Owner) -> None:
        self.context = context
        self.owner = owner
        self.given_up: list[tuple[str, Exception]] = []
        self.children = self.of(context)

    def of(self, context: Context) -> Children:
        return Children(
            "devices",
            context,
            self.give_up,
            restart_limit=lambda: RestartLimit(3, 10.0),
            stop_timeout_s=TIMEOUT_S,
        )

    def give_up(self, name: str, error: Exception) -> None:
        self.given_up.append((name, error))

    def next_failure(self) -> ChildFailed:
        assert self.owner.heard.acquire(timeout=TIMEOUT_S)
        return self.owner.told[-1]

    def crash(self, name: str, error: Exception) -> ChildFailed:
        assert self.context.directory.tell(name, Raise(error))
        return self.next_failure()


@pytest.fixture
def family(context: Context, start: Start) -> Iterator[Family]:
    ref = start("devices", Owner)
    built = Family(context, actor_of(ref, Owner))
    yield built
    built.children.stop_all()


def keeper_of(context: Context, name: str, log: list[str] | None = None) -> Callable[[], pykka.ActorRef[Any]]:
    return lambda: Keeper.start(name, context, log)


def test_a_child_starts_and_stops(context: Context, family: Family) -> None:
    log: list[str] = []
    for name in ("device/1", "device/2", "device/3"):
        family.children.spawn(name, keeper_of(context, name, log))
        family.children.wait_started(name, TIMEOUT_S)
    assert family.children.names() == ("device/1", "device/2", "device/3")
    family.children.stop("device/2")
    family.children.stop("device/2")
    family.children.stop_all()
    assert family.children.names() == ()
    assert log[3:] == ["device/2 stopped", "device/3 stopped", "device/1 stopped"]
    assert context.directory.names() == ("devices",)


def test_crashed_child_alone_is_restarted(context: Context, family: Family) -> None:
    for name in ("device/1", "device/2"):
        family.children.spawn(name, keeper_of(context, name))
    other = context.directory.ref("device/2")
    error = ValueError("broken")
    failure = family.crash("device/1", error)
    assert failure == ChildFailed("device/1", error)
    family.children.failed(failure)
    family.children.wait_started("device/1", TIMEOUT_S)
    assert context.directory.ref("device/2") is other
    assert kept_by(context, "device/1") == ()
    assert counted(context, "hapticd_actor_restarts_total", actor="device") == 1


def test_others_are_notified_of_a_restart_only(context: Context, family: Family, start: Start) -> None:
    class Listener(Keeper):
        announced = threading.Event()

        @handles(Announce)
        def keep_name(self, message: Announce) -> None:
            self.kept.append(message.name)
            self.announced.set()

    start("listener", Listener)
    family.children.spawn("device/1", lambda: Listener.start("device/1", context))
    family.children.wait_started("device/1", TIMEOUT_S)
    assert kept_by(context, "listener") == ()
    family.children.failed(family.crash("device/1", ValueError("broken")))
    assert Listener.announced.wait(TIMEOUT_S)
    assert kept_by(context, "listener") == ("device/1",)
    assert kept_by(context, "device/1") == ()


def test_child_over_its_restart_limit_is_given_up_alone(context: Context, family: Family, clock: ManualClock) -> None:
    for name in ("device/1", "device/2"):
        family.children.spawn(name, keeper_of(context, name))
    for _ in range(3):
        family.children.failed(family.crash("device/1", ValueError("broken")))
        clock.advance(3)
    last = ValueError("the last")
    family.children.failed(family.crash("device/1", last))
    assert family.given_up == [("device/1", last)]
    assert family.children.names() == ("device/2",)
    assert context.directory.ref("device/1") is None
    assert counted(context, "hapticd_actor_restarts_total", actor="device") == 3
    assert counted(context, "hapticd_actors_given_up_total", actor="device") == 1
    assert kept_by(context, "device/2") == ()


def test_each_child_has_its_own_restart_limit(context: Context, family: Family) -> None:
    for name in ("device/1", "device/2"):
        family.children.spawn(name, keeper_of(context, name))
        for _ in range(3):
            family.children.failed(family.crash(name, ValueError("broken")))
    assert family.given_up == []


def test_failing_callback_does_not_crash_the_owner(
    context: Context, family: Family, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_name: str, _error: Exception) -> None:
        raise ValueError("nobody listens")

    children = Children("devices", context, fail, restart_limit=lambda: RestartLimit(0, 10.0))
    children.spawn("device/1", keeper_of(context, "device/1"))
    children.failed(family.crash("device/1", ValueError("broken")))
    assert "nobody could be told that device/1 was given up" in caplog.text


def test_child_failing_to_start_counts_as_a_crash(context: Context, family: Family) -> None:
    class BadStart(Keeper):
        def started(self) -> None:
            raise ValueError("no start")

    family.children.spawn("device/1", lambda: BadStart.start("device/1", context))
    with pytest.raises(ValueError, match="no start"):
        family.children.wait_started("device/1", TIMEOUT_S)
    for _ in range(4):
        family.children.failed(family.next_failure())
    assert [name for name, _ in family.given_up] == ["device/1"]


def test_child_failing_to_construct_counts_as_a_crash(context: Context, family: Family) -> None:
    def fail() -> pykka.ActorRef[Any]:
        raise ValueError("no such kind")

    family.children.spawn("device/1", fail)
    with pytest.raises(ValueError, match="no such kind"):
        family.children.wait_started("device/1", TIMEOUT_S)
    for _ in range(4):
        family.children.failed(family.next_failure())
    assert [name for name, _ in family.given_up] == ["device/1"]
    assert context.directory.names() == ("devices",)


def test_child_constructed_at_the_second_try_is_supervised(context: Context, family: Family) -> None:
    tries = 0

    def make() -> pykka.ActorRef[Any]:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("not yet")
        return Keeper.start("device/1", context)

    family.children.spawn("device/1", make)
    family.children.failed(family.next_failure())
    family.children.wait_started("device/1", TIMEOUT_S)
    assert kept_by(context, "device/1") == ()


def test_late_exit_of_a_living_or_unknown_child_starts_nothing(context: Context, family: Family) -> None:
    family.children.spawn("device/1", keeper_of(context, "device/1"))
    ref = context.directory.ref("device/1")
    family.children.failed(ChildFailed("device/1", ValueError("long ago")))
    family.children.failed(ChildFailed("device/9", ValueError("unknown")))
    assert context.directory.ref("device/1") is ref
    assert counted(context, "hapticd_actor_restarts_total", actor="device") == 0


def test_a_stopped_child_is_no_failure(context: Context, family: Family) -> None:
    family.children.spawn("device/1", keeper_of(context, "device/1"))
    thread = thread_of("device/1")
    family.children.stop("device/1")
    thread.join(TIMEOUT_S)
    flush(family.owner.actor_ref)
    assert family.owner.told == []


def test_new_owner_adopts_living_children_and_their_crashes(context: Context, family: Family) -> None:
    family.children.spawn("device/1", keeper_of(context, "device/1"))
    context.directory.tell("device/1", Note("from before"))
    successor = family.of(context)
    successor.spawn("device/1", keeper_of(context, "device/1"))
    assert kept_by(context, "device/1") == ("from before",)
    successor.failed(family.crash("device/1", ValueError("broken")))
    successor.wait_started("device/1", TIMEOUT_S)
    assert kept_by(context, "device/1") == ()
    assert len(family.owner.told) == 1
    successor.stop_all()


def test_orphan_actor_is_adopted(context: Context, family: Family) -> None:
    wait_started(Keeper.start("device/1", context))
    family.children.spawn("device/1", keeper_of(context, "device/1"))
    error = ValueError("broken")
    assert family.crash("device/1", error) == ChildFailed("device/1", error)


def test_new_owner_restarts_children_that_died_unnoticed(context: Context, family: Family) -> None:
    family.children.spawn("device/1", keeper_of(context, "device/1"))
    ref = context.directory.ref("device/1")
    assert ref is not None
    ref.tell(Raise(ValueError("broken")))
    end_of(ref)
    successor = family.of(context)
    successor.spawn("device/1", keeper_of(context, "device/1"))
    successor.wait_started("device/1", TIMEOUT_S)
    assert kept_by(context, "device/1") == ()
    successor.stop_all()


def test_hanging_child_is_abandoned_on_stop(context: Context, family: Family, caplog: pytest.LogCaptureFixture) -> None:
    children = Children("devices", context, family.give_up, stop_timeout_s=0.01)
    children.spawn("device/1", keeper_of(context, "device/1"))
    ref = context.directory.ref("device/1")
    assert ref is not None
    with held(ref):
        children.stop_all()
        assert context.directory.ref("device/1") is None
    assert "device/1 did not stop within 0.01 s" in caplog.text
    end_of(ref)
    assert family.owner.told == []


def test_children_that_are_stopped_together_need_not_wait_for_each_other(context: Context, family: Family) -> None:
    together = threading.Barrier(3)

    class Meeting(Keeper):
        def stopped(self) -> None:
            together.wait(TIMEOUT_S)
            self.log.append(self.name)

    log: list[str] = []
    children = Children("devices", context, family.give_up, stop_timeout_s=TIMEOUT_S)
    for name in ("device/1", "device/2", "device/3"):
        children.spawn(name, partial(Meeting.start, name, context, log))
        children.wait_started(name, TIMEOUT_S)

    children.stop_together()

    assert sorted(log[3:]) == ["device/1", "device/2", "device/3"]
    assert children.names() == ()
    assert context.directory.names() == ("devices",)


def test_hanging_children_that_are_stopped_together_are_abandoned(
    context: Context, family: Family, caplog: pytest.LogCaptureFixture
) -> None:
    children = Children("devices", context, family.give_up, stop_timeout_s=0.01)
    for name in ("device/1", "device/2"):
        children.spawn(name, keeper_of(context, name))
    refs = [ref for name in children.names() if (ref := context.directory.ref(name)) is not None]
    with ExitStack() as stack:
        for ref in refs:
            stack.enter_context(held(ref))
        children.stop_together()
        assert context.directory.names() == ("devices",)
    assert [f"{name} did not stop within 0.01 s" in caplog.text for name in ("device/1", "device/2")] == [True, True]
    for ref in refs:
        end_of(ref)
    assert family.owner.told == []


def test_slow_start_ends_in_busy(context: Context, family: Family) -> None:
    release = threading.Event()

    class Slow(Keeper):
        def started(self) -> None:
            assert release.wait(TIMEOUT_S)

    family.children.spawn("device/1", lambda: Slow.start("device/1", context))
    with pytest.raises(Busy, match="did not start within"):
        family.children.wait_started("device/1", 0.01)
    release.set()
    family.children.wait_started("device/1", TIMEOUT_S)


def test_restart_is_reported_after_the_start_hook(context: Context, family: Family, start: Start) -> None:
    order: list[str] = []
    done = threading.Event()

    class Listener(Keeper):
        @handles(Announce)
        def note(self, _message: Announce) -> None:
            order.append("announced")
            done.set()

    start("listener", Listener)
    family.children.spawn("device/1", keeper_of(context, "device/1", order))
    family.children.failed(family.crash("device/1", ValueError("broken")))
    assert done.wait(TIMEOUT_S)
    assert order == ["device/1 started", "device/1 started", "announced"]


def test_restart_limit_allows_n_in_any_window() -> None:
    restart_limit = RestartLimit(3, 10.0)
    seconds = [0, 4, 8, 10, 10.5, 14, 14.5]
    allowed = [restart_limit.count_crash(round(second * NS_PER_S)) for second in seconds]
    assert allowed == [True, True, True, False, True, False, True]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80).map(sorted), st.integers(1, 6), st.integers(1, 20))
def test_restart_limit_counts_the_previous_window(seconds: list[int], restarts: int, window_s: int) -> None:
    restart_limit = RestartLimit(restarts, float(window_s))
    allowed: list[int] = []
    for second in seconds:
        recent = sum(second - earlier <= window_s for earlier in allowed)
        assert restart_limit.count_crash(second * NS_PER_S) == (recent < restarts)
        if recent < restarts:
            allowed.append(second)


def test_starting_from_outside_and_inside_is_watched_equally(context: Context) -> None:
    ref = Keeper.start("device/1", context)
    wait_started(ref)
    ear = Ear()
    mailbox_of(ref).watch(ear)
    assert ear.heard == ["started"]
    ref.stop(timeout=TIMEOUT_S)
    assert ear.end_heard.wait(TIMEOUT_S)
    assert ear.heard == ["started", "ended"]
