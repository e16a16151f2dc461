"""Behaviour of pykka that the kit relies on or works around; a failure means that a new pykka needs changes in actors/kit."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pykka
import pytest

from tests.unit.kit.sample_actors import TIMEOUT_S


class Plain(pykka.ThreadingActor):
    use_daemon_thread = True

    def __init__(self, log: list[str] | None = None, *, fail_on_start: bool = False) -> None:
        super().__init__()
        self.log = [] if log is None else log
        self.fail_on_start = fail_on_start
        self.ended = threading.Event()

    def on_start(self) -> None:
        self.log.append("on_start")
        if self.fail_on_start:
            raise ValueError("no start")

    def on_stop(self) -> None:
        self.log.append("on_stop")

    def on_failure(self, exception_type: Any, exception_value: Any, traceback: Any) -> None:
        del exception_type, exception_value, traceback
        self.log.append("on_failure")

    def on_receive(self, message: Callable[[], Any]) -> Any:
        return message()

    def _actor_loop(self) -> None:
        super()._actor_loop()
        self.log.append("thread ends")
        self.ended.set()


class Inbox:
    """Has what the kit's mailbox has and nothing else."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[Any] = SimpleQueue()
        self.envelopes: list[Any] = []

    def put(self, envelope: Any, /) -> None:
        self.envelopes.append(envelope)
        self.queue.put(envelope)

    def get(self) -> Any:
        return self.queue.get()

    def empty(self) -> bool:
        return self.queue.empty()


class Hooked(Plain):
    """Overrides what the kit overrides, and notes on which thread it is called."""

    def __init__(self, log: list[str], ended: threading.Event, *, fail_on_start: bool = False) -> None:
        super().__init__(log, fail_on_start=fail_on_start)
        self.ended = ended

    def _note(self, step: str) -> None:
        self.log.append(f"{step} {threading.current_thread().name}")

    @staticmethod
    def _create_actor_inbox() -> Any:
        return Inbox()

    def _start_actor_loop(self) -> None:
        registered = self.actor_ref in pykka.ActorRegistry.get_all()
        self._note(f"_start_actor_loop registered={registered}")
        threading.Thread(target=self._actor_loop, name="actor", daemon=True).start()

    def _actor_loop_teardown(self) -> None:
        self._note("_actor_loop_teardown")


@pytest.fixture
def hooked(log: list[str]) -> Iterator[Callable[..., tuple[pykka.ActorRef[Hooked], threading.Event]]]:
    refs: list[pykka.ActorRef[Hooked]] = []

    def begin(**arguments: bool) -> tuple[pykka.ActorRef[Hooked], threading.Event]:
        ended = threading.Event()
        ref = Hooked.start(log, ended, **arguments)
        refs.append(ref)
        return ref, ended

    yield begin
    for ref in refs:
        ref.stop(timeout=TIMEOUT_S)


def fail() -> None:
    raise ValueError("broken")


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def start(log: list[str]) -> Iterator[Callable[..., tuple[pykka.ActorRef[Plain], Plain]]]:
    refs: list[pykka.ActorRef[Plain]] = []

    def begin(**arguments: bool) -> tuple[pykka.ActorRef[Plain], Plain]:
        ref = Plain.start(log, **arguments)
        refs.append(ref)
        actor = ref._actor_weakref()
        assert actor is not None
        return ref, actor

    yield begin
    for ref in refs:
        ref.stop(timeout=TIMEOUT_S)


# ------------------------------------------------------------ relied on


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_create_actor_inbox", []),
        ("_start_actor_loop", ["self"]),
        ("_actor_loop", ["self"]),
        ("_actor_loop_teardown", ["self"]),
    ],
)
def test_private_method_has_the_parameters_relied_on(name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(pykka.ThreadingActor, name)).parameters) == parameters


def test_inbox_of_the_class_is_that_of_actor_and_reference(hooked: Any) -> None:
    ref, _ = hooked()

    assert isinstance(ref.actor_inbox, Inbox)
    assert ref.actor_inbox is ref._actor_weakref().actor_inbox
    assert ref.ask(lambda: 5, timeout=TIMEOUT_S) == 5


def test_envelope_has_the_message_and_the_future_of_an_ask(hooked: Any) -> None:
    ref, _ = hooked()
    ref.tell(list)
    ref.ask(dict, timeout=TIMEOUT_S)

    told, asked = ref.actor_inbox.envelopes

    assert type(told) is type(asked) is importlib.import_module("pykka._envelope").Envelope
    assert (told.message, told.reply_to) == (list, None)
    assert asked.message is dict
    assert isinstance(asked.reply_to, pykka.Future)


def test_future_raises_the_exception_that_it_is_given() -> None:
    future = pykka.ThreadingFuture[None]()
    future.set_exception((pykka.ActorDeadError, pykka.ActorDeadError("has ended"), None))

    with pytest.raises(pykka.ActorDeadError, match="has ended"):
        future.get(timeout=TIMEOUT_S)


def test_loop_is_started_once_on_the_caller_after_registration(hooked: Any, log: list[str]) -> None:
    ref, _ = hooked()
    ref.ask(list, timeout=TIMEOUT_S)

    assert log == [f"_start_actor_loop registered=True {threading.current_thread().name}", "on_start"]


@pytest.mark.parametrize(
    ("end", "hooks"),
    [("stop", ["on_start", "on_stop"]), ("crash", ["on_start", "on_failure"]), ("start", ["on_start"])],
)
def test_teardown_runs_last_on_the_actors_thread(hooked: Any, log: list[str], end: str, hooks: list[str]) -> None:
    ref, ended = hooked(fail_on_start=end == "start")
    if end == "stop":
        ref.stop(timeout=TIMEOUT_S)
    elif end == "crash":
        ref.tell(fail)

    assert ended.wait(TIMEOUT_S)

    assert log[1:] == [*hooks, "_actor_loop_teardown actor", "thread ends"]


# ------------------------------------------------------------ worked around


def test_exception_in_a_tell_runs_on_failure_without_on_stop(start: Any, log: list[str]) -> None:
    ref, actor = start()
    ref.tell(fail)
    assert actor.ended.wait(TIMEOUT_S)
    assert log == ["on_start", "on_failure", "thread ends"]
    assert not ref.is_alive()


def test_exception_in_an_ask_is_returned_and_the_actor_lives(start: Any) -> None:
    ref, _ = start()
    with pytest.raises(ValueError, match="broken"):
        ref.ask(fail, timeout=TIMEOUT_S)
    assert ref.ask(lambda: 5, timeout=TIMEOUT_S) == 5


def test_a_failing_on_start_skips_on_failure(log: list[str]) -> None:
    actor = Plain(log, fail_on_start=True)
    actor._actor_loop()
    assert log == ["on_start", "thread ends"]
    assert actor.actor_stopped.is_set()


def test_tell_to_a_dead_reference_raises(start: Any) -> None:
    ref, _ = start()
    ref.stop(timeout=TIMEOUT_S)
    with pytest.raises(pykka.ActorDeadError):
        ref.tell(fail)


def test_mailbox_is_unbounded(start: Any) -> None:
    ref, _ = start()
    release = threading.Event()
    ref.tell(lambda: release.wait(TIMEOUT_S))
    for _ in range(5_000):
        ref.tell(lambda: None)
    assert not ref.actor_inbox.empty()
    release.set()
    assert ref.ask(lambda: 5, timeout=TIMEOUT_S) == 5


def test_ask_after_the_last_inbox_drain_hangs(start: Any) -> None:
    ref, actor = start()
    ref.stop(timeout=TIMEOUT_S)
    assert actor.ended.wait(TIMEOUT_S)
    ref.actor_stopped.clear()  # as seen by an asker that looked just before the end
    future = ref.ask(lambda: 5, block=False)
    with pytest.raises(pykka.Timeout):
        future.get(timeout=0.05)
    ref.actor_stopped.set()


def test_awaiting_a_pykka_future_freezes_the_event_loop(start: Any) -> None:
    ref, _ = start()
    release = threading.Event()
    seen_while_waiting: list[bool] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        ran = threading.Event()
        future = ref.ask(lambda: release.wait(TIMEOUT_S), block=False)
        get = future.get

        def watched_get(*, timeout: float | None = None) -> Any:
            watcher.start()
            return get(timeout=timeout)

        def watch() -> None:
            loop.call_soon_threadsafe(ran.set)
            seen_while_waiting.append(ran.wait(0.1))
            release.set()

        watcher = threading.Thread(target=watch)
        future.get = watched_get
        assert await future
        watcher.join()
        await asyncio.sleep(0)
        assert ran.is_set()

    asyncio.run(scenario())
    assert seen_while_waiting == [False]


def test_system_exit_in_one_actor_stops_all_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []
    monkeypatch.setattr(pykka.ActorRegistry, "stop_all", lambda: stopped.append("all"))
    actor = Plain()

    def leave() -> None:
        raise SystemExit

    actor.actor_ref.tell(leave)
    actor._actor_loop()
    assert stopped == ["all"]
