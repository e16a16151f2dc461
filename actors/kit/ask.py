"""Send a request to an actor and await its reply with a deadline, on the event loop or on a blocking thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pykka import ActorDeadError

from actors.kit.actor import ActorThread
from actors.kit.clock import NS_PER_S
from actors.kit.errors import Busy, NoSuchActor
from actors.kit.mailbox import RequestEnvelope
from actors.kit.metrics import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.kit.directory import Directory
    from actors.kit.mailbox import Reply
    from actors.kit.message import Request

R = TypeVar("R")

logger = logging.getLogger(__name__)


def ask_async(directory: Directory, name: str, request: Request[R], *, timeout_s: float = 2.0) -> asyncio.Future[R]:
    """Return the future reply of `name`; it fails with Busy (late, overloaded, restarting), NoSuchActor or the handler's error."""
    _refuse_on_actor_threads()
    reply: _LoopReply[R] = _LoopReply(asyncio.get_running_loop(), directory, name, timeout_s)
    _send(directory, name, request, timeout_s, reply)
    return reply.future


def ask_blocking(directory: Directory, name: str, request: Request[R], *, timeout_s: float = 2.0) -> R:
    """Wait for the reply of `name` on this thread; raises what `ask_async` fails with."""
    _refuse_on_actor_threads()
    reply: _BlockingReply[R] = _BlockingReply()
    _send(directory, name, request, timeout_s, reply)
    return reply.wait(directory, name, timeout_s)


def _refuse_on_actor_threads() -> None:
    on_actor_thread = isinstance(threading.current_thread(), ActorThread)
    if on_actor_thread:
        raise RuntimeError("actors never ask: tell the other actor and handle its answer as a message")


def _send(directory: Directory, name: str, request: Request[Any], timeout_s: float, reply: Reply) -> None:
    ref = directory.ref(name)
    if ref is None:
        reply.fail(NoSuchActor(name))
        return
    try:
        ref.tell(RequestEnvelope(request, directory.clock.now_ns() + round(timeout_s * NS_PER_S), reply))
    except ActorDeadError:
        reply.fail(Busy(f'"{name}" is being started again: try again in a moment.'))


def _late(name: str, timeout_s: float) -> Busy:
    return Busy(f'"{name}" did not answer within {timeout_s:g} s: try again in a moment.')


def _count(error: BaseException, directory: Directory, name: str) -> None:
    if isinstance(error, Busy):
        directory.metrics.busy_answers.labels(kind_of(name)).inc()


class _LoopReply(Generic[R]):
    """Reply as an asyncio future that any thread may settle; ignored once the loop has closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, directory: Directory, name: str, timeout_s: float) -> None:
        self.future: asyncio.Future[R] = loop.create_future()
        self._loop = loop
        self._directory = directory
        self._name = name
        self._timer = loop.call_later(timeout_s, lambda: self._reject(_late(name, timeout_s)))

    @property
    def settled(self) -> bool:
        return self.future.done()

    def answer(self, value: R) -> None:
        self._post(self._resolve, value)

    def fail(self, error: BaseException) -> None:
        self._post(self._reject, error)

    def _post(self, step: Callable[[Any], None], outcome: object) -> None:
        try:
            self._loop.call_soon_threadsafe(step, outcome)
        except RuntimeError:
            logger.debug("the event loop closed before %s answered", self._name)

    def _resolve(self, value: R) -> None:
        self._timer.cancel()
        if not self.future.done():
            self.future.set_result(value)

    def _reject(self, error: BaseException) -> None:
        self._timer.cancel()
        if self.future.done():
            return
        _count(error, self._directory, self._name)
        # asyncio futures do not take a StopIteration.
        self.future.set_exception(RuntimeError(repr(error)) if isinstance(error, StopIteration) else error)


class _BlockingReply(Generic[R]):
    """Reply that one thread waits for."""

    def __init__(self) -> None:
        self.settled = False
        self._outcome: SimpleQueue[tuple[R] | BaseException] = SimpleQueue()

    def answer(self, value: R) -> None:
        self._outcome.put((value,))

    def fail(self, error: BaseException) -> None:
        self._outcome.put(error)

    def wait(self, directory: Directory, name: str, timeout_s: float) -> R:
        try:
            outcome = self._outcome.get(timeout=timeout_s)
        except Empty:
            self.settled = True
            outcome = _late(name, timeout_s)
        if isinstance(outcome, tuple):
            return outcome[0]
        _count(outcome, directory, name)
        raise outcome
