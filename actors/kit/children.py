"""Supervise child actors: restart a crashed child alone, and give up after too many restarts in a time window."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pykka

from actors.kit.actor import Context
from actors.kit.clock import NS_PER_S
from actors.kit.log_fields import of_actor
from actors.kit.mailbox import mailbox_of
from actors.kit.message import Announce, ChildFailed
from actors.kit.metrics import kind_of

Factory = Callable[[], pykka.ActorRef[Any]]

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RestartLimit:
    """At most `restarts` in any `window_s` seconds."""

    restarts: int = 5
    window_s: float = 60.0
    _crashes_ns: deque[int] = field(default_factory=deque[int])

    def count_crash(self, now_ns: int) -> bool:
        """Count a crash at `now_ns`. Return whether the actor may be restarted."""
        while self._crashes_ns and now_ns - self._crashes_ns[0] > self.window_s * NS_PER_S:
            self._crashes_ns.popleft()
        if len(self._crashes_ns) >= self.restarts:
            return False
        self._crashes_ns.append(now_ns)
        return True


@dataclass(slots=True)
class _Child:
    factory: Factory
    restart_limit: RestartLimit
    ref: pykka.ActorRef[Any] | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class _ExitWatcher:
    """Reports start and end of one run of a child; called on the child's thread."""

    name: str
    owner: str
    context: Context
    again: bool

    def started(self) -> None:
        if self.again:
            self.context.directory.tell_others(self.name, Announce(self.name))

    def ended(self, error: Exception | None) -> None:
        if error is not None:
            self.context.directory.tell(self.owner, ChildFailed(self.name, error))


class Children:
    """The children of one actor, used on its thread only; the owner passes each ChildFailed to `failed`."""

    def __init__(
        self,
        owner: str,
        context: Context,
        on_give_up: Callable[[str, Exception], None],
        restart_limit: Callable[[], RestartLimit] = RestartLimit,
        stop_timeout_s: float = 2.0,
    ) -> None:
        self._owner = owner
        self._context = context
        self._on_give_up = on_give_up
        self._intensity = restart_limit
        self._stop_timeout_s = stop_timeout_s
        self._children: dict[str, _Child] = {}

    def spawn(self, name: str, factory: Factory) -> None:
        """Start the child, or adopt a running actor of that name. A failure arrives as ChildFailed."""
        child = _Child(factory, self._intensity())
        self._children[name] = child
        living = self._context.directory.ref(name)
        if living is not None and living.is_alive():
            child.ref = living
            mailbox_of(living).watch(_ExitWatcher(name, self._owner, self._context, again=False))
        else:
            self._start(name, child, again=False)

    def names(self) -> tuple[str, ...]:
        """Return the children's names, in order of their first start."""
        return tuple(self._children)

    def wait_started(self, name: str, timeout_s: float) -> None:
        """Wait until the child has started; raises the error that ended it, or Busy after the timeout."""
        child = self._children[name]
        if child.error is not None:
            raise child.error
        if child.ref is not None:
            mailbox_of(child.ref).wait_started(timeout_s)

    def failed(self, message: ChildFailed) -> None:
        """Restart the child within its limit, else give it up; ignore news of an earlier run."""
        child = self._children.get(message.name)
        if child is None or (child.ref is not None and child.ref.is_alive()):
            return
        if child.restart_limit.count_crash(self._context.clock.now_ns()):
            logger.warning("%s is started again after: %r", message.name, message.error, extra=of_actor(message.name))
            self._context.metrics.actor_restarts.labels(kind_of(message.name)).inc()
            self._start(message.name, child, again=True)
        else:
            self._give_up(message.name, message.error)

    def stop(self, name: str) -> None:
        """Stop one child and wait for it; one that hangs is logged and left running."""
        child = self._children.pop(name, None)
        if child is None or child.ref is None:
            return
        self._wait_stopped(name, child.ref, child.ref.stop(block=False), self._stop_timeout_s)

    def stop_all(self) -> None:
        """Stop all children, the last one first."""
        for name in reversed(self.names()):
            self.stop(name)

    def stop_together(self) -> None:
        """Stop all children at once and wait for all of them as long as for one."""
        children, self._children = self._children, {}
        stops = [(name, one.ref, one.ref.stop(block=False)) for name, one in children.items() if one.ref is not None]
        until_s = time.monotonic() + self._stop_timeout_s
        for name, ref, stopped in stops:
            self._wait_stopped(name, ref, stopped, max(0.0, until_s - time.monotonic()))

    def _wait_stopped(self, name: str, ref: pykka.ActorRef[Any], stopped: pykka.Future[bool], timeout_s: float) -> None:
        try:
            stopped.get(timeout=timeout_s)
        except pykka.Timeout:
            logger.error(  # noqa: TRY400
                "%s did not stop within %g s and is left behind", name, self._stop_timeout_s, extra=of_actor(name)
            )
        self._context.directory.forget(name, ref)

    def _start(self, name: str, child: _Child, *, again: bool) -> None:
        watcher = _ExitWatcher(name, self._owner, self._context, again)
        child.ref = child.error = None
        try:
            child.ref = child.factory()
            mailbox_of(child.ref).watch(watcher)
        except Exception as error:
            logger.exception("%s could not be made", name, extra=of_actor(name))
            child.error = error
            watcher.ended(error)

    def _give_up(self, name: str, error: Exception) -> None:
        child = self._children.pop(name)
        if child.ref is not None:
            self._context.directory.forget(name, child.ref)
        logger.error("%s crashed too often and is not started again: %r", name, error, extra=of_actor(name))
        self._context.metrics.actors_given_up.labels(kind_of(name)).inc()
        try:
            self._on_give_up(name, error)
        except Exception:
            logger.exception("nobody could be told that %s was given up", name, extra=of_actor(name))
