"""Small actors and bounded waits shared by the actor kit's tests."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import pykka

from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.ask import ask_blocking
from actors.kit.mailbox import mailbox_of
from actors.kit.message import Message, Request

A = TypeVar("A")

TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Note(Message):
    """Kept by a Keeper."""

    value: object


@dataclass(frozen=True, slots=True)
class Fact(Message):
    """Kept by a Keeper; may be dropped."""

    repeatable: ClassVar[bool] = True
    value: object


@dataclass(frozen=True, slots=True)
class Kept(Request[tuple[object, ...]]):
    """What a Keeper has kept."""


@dataclass(frozen=True, slots=True)
class Divide(Request[float]):
    """a / b."""

    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Raise(Request[None]):
    """Make the handler raise `error`; told, it is a crash."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Hold(Request[None]):
    """Keep the actor in its handler until `release` is set."""

    entered: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


class Keeper(ServiceActor):
    """Keeps what it is told, divides, raises and holds on demand."""

    def __init__(self, name: str, context: Context, log: list[str] | None = None) -> None:
        super().__init__(name, context)
        self.kept: list[object] = []
        self.log = [] if log is None else log

    def started(self) -> None:
        self.log.append(f"{self.name} started")

    def stopped(self) -> None:
        self.log.append(f"{self.name} stopped")

    @handles(Note)
    def keep_note(self, message: Note) -> None:
        self.kept.append(message.value)

    @handles(Fact)
    def keep_fact(self, message: Fact) -> None:
        self.kept.append(message.value)

    @handles(Kept)
    def tell_kept(self, _message: Kept) -> tuple[object, ...]:
        return tuple(self.kept)

    @handles(Divide)
    def divide(self, message: Divide) -> float:
        return message.a / message.b

    @handles(Raise)
    def fail(self, message: Raise) -> None:
        raise message.error

    @handles(Hold)
    def hold(self, message: Hold) -> None:
        message.entered.set()
        assert message.release.wait(TIMEOUT_S)


class Ear:
    """A watcher that remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.error: Exception | None = None
        self.start_heard = threading.Event()
        self.end_heard = threading.Event()

    def started(self) -> None:
        self.heard.append("started")
        self.start_heard.set()

    def ended(self, error: Exception | None) -> None:
        self.heard.append("ended")
        self.error = error
        self.end_heard.set()


def actor_of(ref: pykka.ActorRef[Any], kind: type[A]) -> A:
    """The actor itself, to look at."""
    actor = ref._actor_weakref()
    assert isinstance(actor, kind)
    return actor


def end_of(ref: pykka.ActorRef[Any]) -> Exception | None:
    """Wait until the actor has ended; what it died of, None when it was stopped. Replaces its watcher."""
    ear = Ear()
    mailbox_of(ref).watch(ear)
    assert ear.end_heard.wait(TIMEOUT_S)
    return ear.error


def wait_started(ref: pykka.ActorRef[Any]) -> None:
    """Wait until the actor has started; raises what it died of."""
    mailbox_of(ref).wait_started(TIMEOUT_S)


def kept_by(context: Context, name: str) -> tuple[object, ...]:
    """What the Keeper `name` has kept, after all that it was told before."""
    return ask_blocking(context.directory, name, Kept(), timeout_s=TIMEOUT_S)


def thread_of(name: str) -> threading.Thread:
    """The running thread of the actor `name`."""
    return next(thread for thread in threading.enumerate() if thread.name == f"hd-{name}")


def flush(ref: pykka.ActorRef[Any]) -> None:
    """Return when the Keeper has handled all that it was sent before."""
    with held(ref):
        pass


@contextmanager
def held(ref: pykka.ActorRef[Any]) -> Generator[None]:
    """The actor is inside a handler for as long as the block lasts."""
    hold = Hold()
    ref.tell(hold)
    assert hold.entered.wait(TIMEOUT_S)
    try:
        yield
    finally:
        hold.release.set()


def counted(context: Context, name: str, **labels: str) -> float:
    """The value of a metric, 0 when it was never touched."""
    return context.metrics.registry.get_sample_value(name, labels) or 0.0
