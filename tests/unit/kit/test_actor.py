"""Base class of actors: dispatch by message type, errors, metrics."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pykka
import pytest

from actors.kit.actor import ActorInterrupted, ActorThread, Context, ServiceActor, handles
from actors.kit.ask import ask_blocking
from actors.kit.clock import ManualClock
from actors.kit.errors import Busy, Conflict
from actors.kit.mailbox import RequestEnvelope
from actors.kit.message import Announce, Message
from tests.unit.kit.conftest import Start
from tests.unit.kit.sample_actors import (
    TIMEOUT_S,
    Divide,
    Hold,
    Keeper,
    Kept,
    Note,
    Raise,
    actor_of,
    counted,
    end_of,
    held,
    kept_by,
)


@dataclass(frozen=True, slots=True)
class Unknown(Message):
    pass


class Outcome:
    """A reply that is looked at."""

    def __init__(self, *, settled: bool = False) -> None:
        self.settled = settled
        self.value: object = None
        self.error: BaseException | None = None

    def answer(self, value: object) -> None:
        self.value = value

    def fail(self, error: BaseException) -> None:
        self.error = error


@pytest.fixture
def keeper(context: Context) -> Keeper:
    return Keeper("keeper", context)


def test_a_message_goes_to_the_method_that_handles_its_type(keeper: Keeper) -> None:
    keeper.on_receive(Note(1))
    assert keeper.on_receive(Kept()) == (1,)


def test_unknown_message_is_logged_and_counted_and_the_actor_continues(
    context: Context, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    start().tell(Unknown())
    assert kept_by(context, "keeper") == ()
    assert "has no handler for Unknown" in caplog.text
    assert counted(context, "hapticd_messages_unknown_total", actor="keeper") == 1


def test_an_announcement_needs_no_handler(context: Context, keeper: Keeper) -> None:
    keeper.on_receive(Announce("settings"))
    assert counted(context, "hapticd_messages_unknown_total", actor="keeper") == 0


def test_a_subclass_replaces_a_handler_under_the_same_or_another_name(context: Context) -> None:
    class SameName(Keeper):
        def keep_note(self, message: Note) -> None:
            self.kept.append(("same", message.value))

    class OtherName(Keeper):
        @handles(Note)
        def keep_otherwise(self, message: Note) -> None:
            self.kept.append(("other", message.value))

        @handles(Announce)
        def remember(self, message: Announce) -> None:
            self.kept.append(message.name)

    same, other = SameName("same", context), OtherName("other", context)
    for actor in (same, other):
        actor.on_receive(Note(1))
        actor.on_receive(Announce("settings"))
    assert same.kept == [("same", 1)]
    assert other.kept == [("other", 1), "settings"]


def test_handlers_of_a_mixin_are_used(context: Context) -> None:
    class Mixin:
        heard = False

        @handles(Unknown)
        def hear(self, _message: Unknown) -> None:
            self.heard = True

    class Mixed(Mixin, Keeper):
        pass

    actor = Mixed("mixed", context)
    actor.on_receive(Unknown())
    assert actor.heard


def test_two_handlers_of_one_type_in_one_class_are_refused() -> None:
    @handles(Note)
    def take(_self: object, _message: Note) -> None: ...

    with pytest.raises(TypeError, match="Twice handles Note twice"):
        type("Twice", (ServiceActor,), {"one": take, "two": take})


def test_request_is_answered_through_its_envelope(keeper: Keeper) -> None:
    outcome = Outcome()
    keeper.on_receive(RequestEnvelope(Divide(1, 4), 1, outcome))
    assert outcome.value == 0.25


def test_request_after_its_deadline_is_dropped(clock: ManualClock, keeper: Keeper) -> None:
    hold = Hold()
    hold.release.set()
    clock.advance(2)
    in_time, late = Outcome(), Outcome()
    keeper.on_receive(RequestEnvelope(hold, clock.now_ns(), late))
    assert isinstance(late.error, Busy)
    assert not hold.entered.is_set()
    keeper.on_receive(RequestEnvelope(hold, clock.now_ns() + 1, in_time))
    assert in_time.error is None
    assert hold.entered.is_set()


def test_abandoned_request_is_dropped(keeper: Keeper) -> None:
    hold = Hold()
    hold.release.set()
    keeper.on_receive(RequestEnvelope(hold, 1, Outcome(settled=True)))
    assert not hold.entered.is_set()


def test_haptic_error_is_returned_without_a_log_line(keeper: Keeper, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    outcome = Outcome()
    keeper.on_receive(RequestEnvelope(Raise(Conflict("another pair holds: unpair it first")), 1, outcome))
    assert isinstance(outcome.error, Conflict)
    assert not caplog.records


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3)])
def test_other_error_in_a_request_is_logged_and_the_actor_continues(
    context: Context, start: Start, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    ref = start()
    with pytest.raises((ValueError, ActorInterrupted)):
        ask_blocking(context.directory, "keeper", Raise(error))
    assert ref.is_alive()
    assert kept_by(context, "keeper") == ()
    assert "Traceback" in caplog.text
    assert "Keeper keeper failed in Raise" in caplog.text


def test_error_in_a_tell_ends_the_actor_without_its_stop_hook(context: Context, start: Start) -> None:
    log: list[str] = []
    ref = start("keeper", Keeper, log)
    error = ValueError("broken")
    ref.tell(Raise(error))
    assert end_of(ref) is error
    assert not ref.is_alive()
    assert log == ["keeper started"]
    assert context.directory.ref("keeper") is ref


def test_system_exit_in_a_tell_ends_this_actor_only(start: Start, context: Context) -> None:
    other, ref = start("other"), start()
    ref.tell(Raise(SystemExit(3)))
    assert isinstance(end_of(ref), ActorInterrupted)
    assert other.is_alive()
    assert kept_by(context, "other") == ()


class BadStart(Keeper):
    error: BaseException = ValueError("no start")

    def started(self) -> None:
        raise self.error


class InterruptedStart(BadStart):
    error = KeyboardInterrupt()


@pytest.mark.parametrize(("actor", "expected"), [(BadStart, ValueError), (InterruptedStart, ActorInterrupted)])
def test_failing_start_is_reported_and_ends_the_actor(
    context: Context, actor: type[Keeper], expected: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    ref = actor.start("bad", context)
    assert isinstance(end_of(ref), expected)
    assert not ref.is_alive()
    assert ref not in pykka.ActorRegistry.get_all()
    assert "Unhandled exception in" in caplog.text


def test_name_is_registered_when_start_returns(context: Context) -> None:
    ref = Keeper.start("keeper", context)
    assert context.directory.ref("keeper") is ref
    assert context.directory.tell("keeper", Note(1))
    assert kept_by(context, "keeper") == (1,)
    ref.stop(timeout=TIMEOUT_S)


def test_actor_without_a_thread_leaves_no_name(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ActorThread, "start", refuse)
    with pytest.raises(RuntimeError, match="new thread"):
        Keeper.start("keeper", context)
    assert context.directory.names() == ()
    assert not [ref for ref in pykka.ActorRegistry.get_all() if ref.actor_class is Keeper]


def test_name_is_registered_before_the_start_hook(context: Context, start: Start) -> None:
    class TellsItself(Keeper):
        def started(self) -> None:
            self.tell(self.name, Note("from the start hook"))

    start("self", TellsItself)
    assert kept_by(context, "self") == ("from the start hook",)


def test_stop_runs_the_hook_and_unregisters_before_it_returns(context: Context, start: Start) -> None:
    log: list[str] = []
    ref = start("keeper", Keeper, log)
    assert ref.stop(timeout=TIMEOUT_S)
    assert log == ["keeper started", "keeper stopped"]
    assert context.directory.names() == ()
    assert end_of(ref) is None


def test_failing_stop_hook_is_logged(context: Context, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    class BadStop(Keeper):
        def stopped(self) -> None:
            raise ValueError("no stop")

    ref = start("bad", BadStop)
    assert ref.stop(timeout=TIMEOUT_S)
    assert end_of(ref) is None
    assert "BadStop bad failed while it stopped" in caplog.text
    assert context.directory.names() == ()


def test_messages_before_the_stop_are_handled_before_it(start: Start) -> None:
    ref = start()
    actor = actor_of(ref, Keeper)
    with held(ref):
        ref.tell(Note(1))
        stopping = ref.stop(block=False)
    assert stopping.get(timeout=TIMEOUT_S)
    assert actor.kept == [1]


def test_thread_and_kernel_show_the_actor_name(start: Start) -> None:
    start("device/049D-with-a-long-tail")
    threads = [thread for thread in threading.enumerate() if isinstance(thread, ActorThread)]
    assert [thread.name for thread in threads] == ["hd-device/049D-with-a-long-tail"]
    assert threads[0].daemon
    comm = Path(f"/proc/self/task/{threads[0].native_id}/comm")
    if not comm.exists():
        pytest.skip("the kernel does not show thread names here")
    assert comm.read_text() == "hd-device/049D-\n"


def test_an_actor_tells_by_name(context: Context, start: Start, keeper: Keeper) -> None:
    start("other")
    keeper.tell("other", Note(1))
    keeper.tell("nobody", Note(1))
    assert kept_by(context, "other") == (1,)


def test_two_systems_share_nothing(context: Context, start: Start) -> None:
    second = Context.build(ManualClock())
    start("keeper")
    other: pykka.ActorRef[Any] = Keeper.start("keeper", second)
    try:
        second.directory.tell("keeper", Note("second"))
        assert kept_by(second, "keeper") == ("second",)
        assert kept_by(context, "keeper") == ()
    finally:
        other.stop(timeout=TIMEOUT_S)
