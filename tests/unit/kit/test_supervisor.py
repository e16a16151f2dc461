"""The supervisor: start in order, stop in reverse, failed starts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pykka
import pytest

from actors.kit.actor import Context, handles
from actors.kit.clock import ManualClock
from actors.kit.errors import Busy
from actors.kit.message import Announce
from actors.kit.supervisor import RestartLimit, Supervisor
from tests.unit.kit.sample_actors import TIMEOUT_S, Keeper, Raise, counted, held, kept_by

# What is waited for one that hangs, and more than a busy machine makes of one that does not.
SOON_S = 0.5


class Tree:
    """A supervisor and what it said."""

    def __init__(self, context: Context, **options: Any) -> None:
        self.context = context
        self.log: list[str] = []
        self.given_up: list[tuple[str, Exception]] = []
        self.gave_up = threading.Event()
        self.announced = threading.Semaphore(0)
        self.supervisor = Supervisor(context, self.give_up, **options)

    def give_up(self, name: str, error: Exception) -> None:
        self.given_up.append((name, error))
        self.gave_up.set()

    def add(self, name: str, actor: type[Keeper] = Keeper) -> None:
        self.supervisor.add(name, lambda: actor.start(name, self.context, self.log))

    def add_listener(self) -> None:
        announced = self.announced

        class Listener(Keeper):
            @handles(Announce)
            def note(self, message: Announce) -> None:
                self.kept.append(message.name)
                announced.release()

        self.add("listener", Listener)

    def crash(self, name: str) -> None:
        """Make `name` crash and wait until it is there again."""
        assert self.context.directory.tell(name, Raise(ValueError("broken")))
        assert self.announced.acquire(timeout=TIMEOUT_S)


@pytest.fixture
def plant(context: Context) -> Iterator[Callable[..., Tree]]:
    trees: list[Tree] = []

    def make(**options: Any) -> Tree:
        trees.append(Tree(context, **options))
        return trees[-1]

    yield make
    for tree in trees:
        tree.supervisor.stop()


def test_starts_in_order_each_awaited_and_stops_in_reverse(context: Context, plant: Callable[..., Tree]) -> None:
    tree = plant()
    next_is_made = threading.Event()
    overtaken: list[bool] = []

    class Slow(Keeper):
        def started(self) -> None:
            overtaken.append(next_is_made.wait(0.05))
            super().started()

    class Next(Keeper):
        def __init__(self, name: str, context: Context, log: list[str]) -> None:
            super().__init__(name, context, log)
            next_is_made.set()

    tree.add("settings", Slow)
    tree.add("events", Next)
    tree.add("sessions")
    tree.supervisor.start()
    assert overtaken == [False]
    assert tree.log == ["settings started", "events started", "sessions started"]
    tree.supervisor.stop()
    assert tree.log[3:] == ["sessions stopped", "events stopped", "settings stopped"]
    assert context.directory.names() == ()
    tree.supervisor.stop()
    assert len(tree.log) == 6


def test_pykka_registry_keeps_only_foreign_actors_after_a_stop(plant: Callable[..., Tree]) -> None:
    stranger = pykka.ThreadingActor.start()
    tree = plant()
    tree.add("settings")
    tree.supervisor.start()
    tree.supervisor.stop()
    assert stranger.is_alive()
    assert not [ref for ref in pykka.ActorRegistry.get_all() if issubclass(ref.actor_class, Keeper)]
    stranger.stop(timeout=TIMEOUT_S)


def test_a_failing_start_stops_what_was_started_and_is_raised(context: Context, plant: Callable[..., Tree]) -> None:
    class BadStart(Keeper):
        def started(self) -> None:
            raise ValueError("no start")

    tree = plant()
    tree.add("settings")
    tree.add("events", BadStart)
    tree.add("sessions")
    with pytest.raises(ValueError, match="no start"):
        tree.supervisor.start()
    assert tree.log == ["settings started", "settings stopped"]
    assert context.directory.names() == ()
    assert counted(context, "hapticd_actor_restarts_total", actor="events") == 0
    assert tree.given_up == []


def test_failing_construction_fails_the_start(plant: Callable[..., Tree]) -> None:
    def fail() -> pykka.ActorRef[Any]:
        raise ValueError("no such kind")

    tree = plant()
    tree.supervisor.add("settings", fail)
    with pytest.raises(ValueError, match="no such kind"):
        tree.supervisor.start()


def test_start_timeout_fails(plant: Callable[..., Tree]) -> None:
    release = threading.Event()

    class Stuck(Keeper):
        def started(self) -> None:
            assert release.wait(TIMEOUT_S)

    tree = plant(start_timeout_s=SOON_S, stop_timeout_s=SOON_S)
    tree.add("settings")
    tree.add("events", Stuck)
    with pytest.raises(Busy, match='"events" did not start within'):
        tree.supervisor.start()
    assert tree.log == ["settings started", "settings stopped"]
    release.set()


def test_crashed_actor_alone_is_restarted_and_others_notified(context: Context, plant: Callable[..., Tree]) -> None:
    tree = plant()
    tree.add_listener()
    tree.add("events")
    tree.add("sessions")
    tree.supervisor.start()
    untouched = context.directory.ref("sessions")
    tree.crash("events")
    assert kept_by(context, "listener") == ("events",)
    assert kept_by(context, "events") == ()
    assert context.directory.ref("sessions") is untouched
    assert counted(context, "hapticd_actor_restarts_total", actor="events") == 1
    tree.supervisor.stop()
    assert [line for line in tree.log if line.endswith("stopped")] == [
        "sessions stopped",
        "events stopped",
        "listener stopped",
    ]


def test_more_than_five_crashes_in_a_minute_give_up(context: Context, plant: Callable[..., Tree]) -> None:
    tree = plant()
    tree.add_listener()
    tree.add("events")
    tree.supervisor.start()
    for _ in range(5):
        tree.crash("events")
    assert not tree.given_up
    error = ValueError("the sixth")
    context.directory.tell("events", Raise(error))
    assert tree.gave_up.wait(TIMEOUT_S)
    assert tree.given_up == [("events", error)]
    assert kept_by(context, "listener") == ("events",) * 5


def test_spaced_crashes_do_not_accumulate(clock: ManualClock, plant: Callable[..., Tree]) -> None:
    tree = plant(restart_limit=lambda: RestartLimit(1, 60.0))
    tree.add_listener()
    tree.add("events")
    tree.supervisor.start()
    for _ in range(4):
        tree.crash("events")
        clock.advance(61)
    assert tree.given_up == []


def test_a_crash_while_the_main_thread_is_busy_is_handled(context: Context, plant: Callable[..., Tree]) -> None:
    tree = plant()

    class CrashesAnother(Keeper):
        def started(self) -> None:
            self.tell("events", Raise(ValueError("broken")))

    tree.add_listener()
    tree.add("events")
    tree.add("sessions", CrashesAnother)
    tree.supervisor.start()
    assert tree.announced.acquire(timeout=TIMEOUT_S)
    assert kept_by(context, "events") == ()


def test_hanging_actor_does_not_prevent_the_others_from_stopping(
    context: Context, plant: Callable[..., Tree], caplog: pytest.LogCaptureFixture
) -> None:
    tree = plant(stop_timeout_s=SOON_S)
    tree.add("settings")
    tree.add("events")
    tree.supervisor.start()
    ref = context.directory.ref("events")
    assert ref is not None
    with held(ref):
        tree.supervisor.stop()
    assert "settings stopped" in tree.log
    assert f"events did not stop within {SOON_S:g} s" in caplog.text


def test_missing_guardian_gives_up_and_the_tree_still_stops(
    context: Context, plant: Callable[..., Tree], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_message: object) -> None:
        raise ValueError("a bug")

    tree = plant()
    tree.add("settings")
    tree.supervisor.start()
    monkeypatch.setattr(tree.supervisor._children, "failed", fail)
    context.directory.tell("settings", Raise(ValueError("broken")))
    assert tree.gave_up.wait(TIMEOUT_S)
    assert [name for name, _ in tree.given_up] == ["supervisor"]
    tree.supervisor.stop()
    assert context.directory.names() == ()


def test_duplicate_actor_name_is_refused(plant: Callable[..., Tree]) -> None:
    tree = plant()
    tree.add("settings")
    with pytest.raises(ValueError, match="give each its own name"):
        tree.add("settings")
