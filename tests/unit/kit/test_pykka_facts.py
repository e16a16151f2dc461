"""Behaviour of pykka that the kit works around; a failure means that the workaround is no longer needed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pykka
import pytest

from tests.unit.kit.parts import PATIENCE_S


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
        ref.stop(timeout=PATIENCE_S)


def test_an_exception_under_tell_kills_with_on_failure_and_without_on_stop(start: Any, log: list[str]) -> None:
    ref, actor = start()
    ref.tell(fail)
    assert actor.ended.wait(PATIENCE_S)
    assert log == ["on_start", "on_failure", "thread ends"]
    assert not ref.is_alive()


def test_an_exception_under_ask_goes_to_the_asker_and_does_not_kill(start: Any) -> None:
    ref, _ = start()
    with pytest.raises(ValueError, match="broken"):
        ref.ask(fail, timeout=PATIENCE_S)
    assert ref.ask(lambda: 5, timeout=PATIENCE_S) == 5


def test_a_failing_on_start_skips_on_failure(log: list[str]) -> None:
    actor = Plain(log, fail_on_start=True)
    actor._actor_loop()
    assert log == ["on_start", "thread ends"]
    assert actor.actor_stopped.is_set()


def test_tell_to_a_dead_reference_raises(start: Any) -> None:
    ref, _ = start()
    ref.stop(timeout=PATIENCE_S)
    with pytest.raises(pykka.ActorDeadError):
        ref.tell(fail)


def test_a_mailbox_takes_any_number_of_messages(start: Any) -> None:
    ref, _ = start()
    release = threading.Event()
    ref.tell(lambda: release.wait(PATIENCE_S))
    for _ in range(5_000):
        ref.tell(lambda: None)
    assert not ref.actor_inbox.empty()
    release.set()
    assert ref.ask(lambda: 5, timeout=PATIENCE_S) == 5


def test_an_ask_that_comes_after_the_last_look_into_the_inbox_hangs(start: Any) -> None:
    ref, actor = start()
    ref.stop(timeout=PATIENCE_S)
    assert actor.ended.wait(PATIENCE_S)
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
        future = ref.ask(lambda: release.wait(PATIENCE_S), block=False)
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


def test_a_system_exit_in_one_actor_stops_all_actors_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []
    monkeypatch.setattr(pykka.ActorRegistry, "stop_all", lambda: stopped.append("all"))
    actor = Plain()

    def leave() -> None:
        raise SystemExit

    actor.actor_ref.tell(leave)
    actor._actor_loop()
    assert stopped == ["all"]
