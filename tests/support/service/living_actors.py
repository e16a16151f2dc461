"""Make a running actor crash, block, or run a function on its own thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pykka import ActorRef

from actors.kit.directory import Directory
from actors.kit.mailbox import mailbox_of
from actors.kit.message import Message
from tests.support.service.patience import in_earnest
from tests.support.service.polling import eventually

PATIENCE_S = 30.0


class Killed(Exception):
    """What an actor dies of here."""


@dataclass(frozen=True, slots=True)
class Do(Message):
    """Run `work`."""

    work: Callable[[], object]


def tell_to_do(ref: ActorRef[Any], work: Callable[[], object]) -> None:
    """Have the actor run `work` when its turn comes; what that raises, the actor dies of."""
    actor: Any = ref._actor_weakref()
    actor.do = _do
    actor._handler_names = {**actor._handler_names, Do: "do"}
    ref.tell(Do(work))


def _do(message: Do) -> object:
    return message.work()


def living(directory: Directory, name: str) -> ActorRef[Any]:
    """Who answers to `name` and has started."""

    def look() -> ActorRef[Any] | None:
        ref = directory.ref(name)
        return ref if ref is not None and ref.is_alive() else None

    found = eventually(look, f"{name} lives", pause_s=0.002, tries=5_000)
    mailbox_of(found).wait_started(PATIENCE_S)
    return found


def crash(directory: Directory, name: str) -> ActorRef[Any]:
    """Have `name` die in its next message; who it was, once that has ended."""
    ref = living(directory, name)
    tell_to_do(ref, die)
    eventually(lambda: not ref.is_alive(), f"{name} died", pause_s=0.002, tries=5_000)
    return ref


def kill(directory: Directory, name: str) -> ActorRef[Any]:
    """As `crash`, and return when another has taken its place: the new one."""
    before = crash(directory, name)
    eventually(lambda: directory.ref(name) is not before, f"{name} was started again", pause_s=0.002, tries=5_000)
    return living(directory, name)


@contextmanager
def held(directory: Directory, name: str) -> Generator[ActorRef[Any]]:
    """The actor is inside a message for as long as the block lasts, and who asks it gives up as in earnest."""
    with in_earnest(), _held(directory, name) as ref:
        yield ref


def handled(directory: Directory, name: str) -> None:
    """Return when `name` has handled all that it was told before."""
    with _held(directory, name):
        pass


@contextmanager
def _held(directory: Directory, name: str) -> Generator[ActorRef[Any]]:
    entered, let_go = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        assert let_go.wait(2 * PATIENCE_S)

    ref = living(directory, name)
    tell_to_do(ref, wait)
    assert entered.wait(PATIENCE_S)
    try:
        yield ref
    finally:
        let_go.set()


def die() -> None:
    """The end of an actor that runs this."""
    raise Killed("killed by a test")
