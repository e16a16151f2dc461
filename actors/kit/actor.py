"""ServiceActor, the base class of every actor: handlers by message type, replies to requests, logged failures."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import pykka

from actors.kit.directory import Directory
from actors.kit.errors import Busy, HapticError
from actors.kit.log_fields import of_actor
from actors.kit.mailbox import Mailbox, RequestEnvelope, mailbox_of
from actors.kit.message import Announce, Message
from actors.kit.metrics import Metrics, kind_of
from actors.kit.timers import Timers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from prometheus_client import CollectorRegistry

    from actors.kit.clock import Clock

A = TypeVar("A")
M = TypeVar("M", bound=Message)
T = TypeVar("T")

_HANDLES = "_hapticd_handles"
_KERNEL_NAME_BYTES = 15

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Context:
    """Objects that all actors of one system share."""

    directory: Directory
    clock: Clock
    timers: Timers
    metrics: Metrics

    @classmethod
    def build(cls, clock: Clock, registry: CollectorRegistry | None = None) -> Context:
        """Return the context of a new system."""
        metrics = Metrics(registry)
        directory = Directory(clock, metrics)
        return cls(directory, clock, Timers(clock, directory), metrics)


class ActorThread(threading.Thread):
    """The thread of one actor; the kernel shows its name too, cut to 15 bytes."""

    def run(self) -> None:
        """Set the kernel's thread name, then run the actor's loop."""
        try:
            Path("/proc/thread-self/comm").write_bytes(self.name.encode()[:_KERNEL_NAME_BYTES])
        except OSError:
            logger.debug("the kernel does not show thread names here")
        super().run()


class ActorInterrupted(RuntimeError):
    """SystemExit or KeyboardInterrupt inside an actor: ends that actor, not the process."""


def handles(message_type: type[M]) -> Callable[[Callable[[A, M], T]], Callable[[A, M], T]]:
    """Mark a method as the handler of `message_type`; for a Request[R] it returns the R."""

    def mark(method: Callable[[A, M], T]) -> Callable[[A, M], T]:
        method.__dict__[_HANDLES] = message_type
        return method

    return mark


class ServiceActor(pykka.ThreadingActor):
    """A named actor. An exception while handling a told message ends it; one in a request goes to the requester."""

    use_daemon_thread: ClassVar[bool] = True
    _handler_names: ClassVar[Mapping[type[object], str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Collect the handlers of the class and its bases; TypeError if one class handles a type twice."""
        super().__init_subclass__(**kwargs)
        table: dict[type[object], str] = {}
        for base in reversed(cls.__mro__):
            table.update(_own_handlers(base))
        cls._handler_names = table

    @classmethod
    def handled(cls) -> frozenset[type[object]]:
        """Return the message types that have a handler."""
        return frozenset(cls._handler_names)

    def __init__(self, name: str, context: Context) -> None:
        """`name` is the name in the directory, `kind/id` if there are several of a kind."""
        super().__init__()
        self.name = name
        self.context = context
        self._error: Exception | None = None
        self._mailbox.set_owner(name, context.metrics)

    def __str__(self) -> str:
        """Class and name, for the log."""
        return f"{type(self).__name__} {self.name}"

    def started(self) -> None:
        """Run first on the actor's thread; an exception here ends the actor."""

    def stopped(self) -> None:
        """Run last when the actor is stopped, not when it crashes."""

    def tell(self, name: str, message: Message) -> None:
        """Send `message` to the actor `name`; without such an actor it is dropped and counted."""
        self.context.directory.tell(name, message)

    @handles(Announce)
    def on_announce(self, message: Announce) -> None:
        """Handle the start of a new actor; override to send it the facts that it needs."""

    def on_start(self) -> None:
        """Call `started`."""
        try:
            self.started()
        except BaseException as error:
            self._error = _as_exception(error)
            raise self._error from error
        self._mailbox.mark_started()

    def on_stop(self) -> None:
        """Call `stopped`, then remove the name from the directory."""
        try:
            self.stopped()
        except Exception:
            logger.exception("%s failed while it stopped", self, extra=of_actor(self.name))
        self.context.directory.forget(self.name, self.actor_ref)

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Keep the error that ends the actor, for its owner."""
        del exception_type, traceback
        if exception_value is not None:
            self._error = _as_exception(exception_value)

    def on_receive(self, message: Any) -> Any:
        """Pass `message` to its handler; the result of a request goes to its envelope."""
        if isinstance(message, RequestEnvelope):
            self._handle_request(message)
            return None
        try:
            return self._dispatch(message)
        except Exception:
            raise
        except BaseException as error:
            raise _as_exception(error) from error

    def _handle_request(self, envelope: RequestEnvelope) -> None:
        reply = envelope.reply
        if reply.settled or self.context.clock.now_ns() >= envelope.deadline_ns:
            reply.fail(Busy(f'"{self.name}" came to it too late and did not apply it: try again in a moment.'))
            return
        try:
            value = self._dispatch(envelope.request)
        except HapticError as error:
            reply.fail(error)
        except BaseException as error:
            logger.exception("%s failed in %s", self, type(envelope.request).__name__, extra=of_actor(self.name))
            reply.fail(_as_exception(error))
        else:
            reply.answer(value)

    def _dispatch(self, message: object) -> Any:
        message_type = type(message)
        handler = self._handler_names.get(message_type)
        if handler is not None:
            return getattr(self, handler)(message)
        self.context.metrics.messages_unknown.labels(kind_of(self.name)).inc()
        logger.error("%s has no handler for %s", self, message_type.__name__, extra=of_actor(self.name))
        return None

    @property
    def _mailbox(self) -> Mailbox:
        return mailbox_of(self.actor_ref)

    @staticmethod
    def _create_actor_inbox() -> Mailbox:
        return Mailbox()

    def _start_actor_loop(self) -> None:
        thread = ActorThread(target=self._actor_loop, name=f"hd-{self.name}", daemon=self.use_daemon_thread)
        # Register before the thread runs: replies to messages of the start hook must find the name.
        self.context.directory.register(self.name, self.actor_ref)
        try:
            thread.start()
        except RuntimeError:
            self.context.directory.forget(self.name, self.actor_ref)
            pykka.ActorRegistry.unregister(self.actor_ref)
            raise

    def _actor_loop_teardown(self) -> None:
        # pykka calls this on every exit, also after a failed on_start, for which it calls no hook.
        self._mailbox.close(self._error)


def _as_exception(error: BaseException) -> Exception:
    """Return `error` as an Exception, so that pykka does not take it for the end of the process."""
    if isinstance(error, Exception):
        return error
    return ActorInterrupted(f"{type(error).__name__}: {error}")


def _own_handlers(cls: type) -> dict[type[object], str]:
    """Return the handlers defined in `cls` itself: message type -> method name."""
    table: dict[type[object], str] = {}
    for attribute, value in vars(cls).items():
        message_type = getattr(value, "__dict__", {}).get(_HANDLES)
        if message_type is None:
            continue
        if message_type in table:
            raise TypeError(f"{cls.__name__} handles {message_type.__name__} twice: keep one method")
        table[message_type] = attribute
    return table
