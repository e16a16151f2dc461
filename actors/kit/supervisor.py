"""The supervisor: starts the base actors in order, stops them in reverse, restarts one that crashed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pykka

from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.ask import ask_blocking
from actors.kit.children import Children, Factory, RestartLimit
from actors.kit.mailbox import mailbox_of
from actors.kit.message import ChildFailed, Request

__all__ = ["RestartLimit", "Supervisor"]

_NAME = "supervisor"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _StartChild(Request[None]):
    name: str
    factory: Factory


class _Guardian(ServiceActor):
    """The supervisor's thread: handles crashes while the main thread is busy."""

    def __init__(self, context: Context, children: Children, start_timeout_s: float) -> None:
        super().__init__(_NAME, context)
        self._children = children
        self._start_timeout_s = start_timeout_s

    def stopped(self) -> None:
        """Stop all children, the last one first."""
        self._children.stop_all()

    @handles(_StartChild)
    def start_child(self, message: _StartChild) -> None:
        """Start one child and wait until it has started; on an error stop it again."""
        self._children.spawn(message.name, message.factory)
        try:
            self._children.wait_started(message.name, self._start_timeout_s)
        except Exception:
            self._children.stop(message.name)
            raise

    @handles(ChildFailed)
    def child_failed(self, message: ChildFailed) -> None:
        """Restart the child, or give it up."""
        self._children.failed(message)


@dataclass(frozen=True, slots=True)
class _GuardianExitWatcher:
    on_give_up: Callable[[str, Exception], None]

    def started(self) -> None:
        """Do nothing."""

    def ended(self, error: Exception | None) -> None:
        """Give up after a crash: without the guardian no actor is restarted."""
        if error is not None:
            self.on_give_up(_NAME, error)


class Supervisor:
    """Owns the base actors. `on_give_up(name, error)` is called on the supervisor's thread and must not call `stop`."""

    def __init__(
        self,
        context: Context,
        on_give_up: Callable[[str, Exception], None],
        *,
        restart_limit: Callable[[], RestartLimit] = RestartLimit,
        start_timeout_s: float = 10.0,
        stop_timeout_s: float = 2.0,
    ) -> None:
        self._context = context
        self._on_give_up = on_give_up
        self._children = Children(_NAME, context, on_give_up, restart_limit, stop_timeout_s)
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._factories: dict[str, Factory] = {}
        self._guardian: pykka.ActorRef[_Guardian] | None = None

    def add(self, name: str, factory: Factory) -> None:
        """Register `name`, started after those added before; ValueError if the name is taken."""
        if name in self._factories:
            raise ValueError(f'two base actors are named "{name}": give each its own name')
        self._factories[name] = factory

    @property
    def factories(self) -> Mapping[str, Factory]:
        """Factory of each base actor by name, in start order."""
        return MappingProxyType(self._factories)

    def start(self) -> None:
        """Start all in order, waiting for each; if one fails, stop those before it and raise its error."""
        self._guardian = _Guardian.start(self._context, self._children, self._start_timeout_s)
        mailbox_of(self._guardian).watch(_GuardianExitWatcher(self._on_give_up))
        try:
            mailbox_of(self._guardian).wait_started(self._start_timeout_s)
            for name, factory in self._factories.items():
                request = _StartChild(name, factory)
                timeout_s = self._start_timeout_s + 2 * self._stop_timeout_s
                ask_blocking(self._context.directory, _NAME, request, timeout_s=timeout_s)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all in reverse order, waiting for each; one that hangs is left running. A second call does nothing."""
        guardian, self._guardian = self._guardian, None
        if guardian is None:
            return
        timeout_s = self._start_timeout_s + (len(self._factories) + 1) * self._stop_timeout_s
        try:
            if not guardian.stop(timeout=timeout_s):
                self._children.stop_all()
        except pykka.Timeout:
            logger.exception("the base actors did not stop within %g s", timeout_s)
        self._context.directory.forget(_NAME, guardian)
