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
from tests.support.service.polling import eventually
from tests.support.service.timeouts import shipped_timeouts

TIMEOUT_S = 30.0


class PlannedCrash(Exception):
    """Raised inside an actor to crash it."""


@dataclass(frozen=True, slots=True)
class RunWork(Message):
    """Run `work`."""

    work: Callable[[], object]


def run_in_actor(ref: ActorRef[Any], work: Callable[[], object]) -> None:
    """Run `work` on the actor's thread when its turn comes; an exception of it crashes the actor."""
    actor: Any = ref._actor_weakref()
    actor.do = _do
    actor._handler_names = {**actor._handler_names, RunWork: "do"}
    ref.tell(RunWork(work))


def _do(message: RunWork) -> object:
    return message.work()


def running_actor(directory: Directory, name: str) -> ActorRef[Any]:
    """Wait until the actor `name` is registered and started; return it."""

    def look() -> ActorRef[Any] | None:
        ref = directory.ref(name)
        return ref if ref is not None and ref.is_alive() else None

    found = eventually(look, f"{name} lives", pause_s=0.002, tries=5_000)
    mailbox_of(found).wait_started(TIMEOUT_S)
    return found


def crash(directory: Directory, name: str) -> ActorRef[Any]:
    """Crash the actor `name`; return its reference once it has ended."""
    ref = running_actor(directory, name)
    run_in_actor(ref, raise_planned_crash)
    eventually(lambda: not ref.is_alive(), f"{name} died", pause_s=0.002, tries=5_000)
    return ref


def crash_and_restart(directory: Directory, name: str) -> ActorRef[Any]:
    """Crash the actor `name`; return its replacement once that has started."""
    before = crash(directory, name)
    eventually(lambda: directory.ref(name) is not before, f"{name} was started again", pause_s=0.002, tries=5_000)
    return running_actor(directory, name)


@contextmanager
def blocked_actor(directory: Directory, name: str) -> Generator[ActorRef[Any]]:
    """Block the actor `name` in a handler during the `with` block; asks use the shipped time limits."""
    with shipped_timeouts(), _blocked(directory, name) as ref:
        yield ref


def drain_actor(directory: Directory, name: str) -> None:
    """Return when the actor `name` has handled all messages sent before this call."""
    with _blocked(directory, name):
        pass


@contextmanager
def _blocked(directory: Directory, name: str) -> Generator[ActorRef[Any]]:
    entered, released = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        assert released.wait(2 * TIMEOUT_S)

    ref = running_actor(directory, name)
    run_in_actor(ref, wait)
    assert entered.wait(TIMEOUT_S)
    try:
        yield ref
    finally:
        released.set()


def raise_planned_crash() -> None:
    """Raise PlannedCrash."""
    raise PlannedCrash("killed by a test")
