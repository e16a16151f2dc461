"""The bounded mailbox of an actor: counts its messages, closes when the actor ends, and reports start and end to the owner."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from pykka import ActorDeadError

from actors.kit.errors import Busy, NoSuchActor
from actors.kit.metrics import kind_of

if TYPE_CHECKING:
    from pykka import ActorRef
    from pykka._envelope import Envelope

    from actors.kit.message import Request
    from actors.kit.metrics import Metrics

INBOX_LIMIT = 1_000

logger = logging.getLogger(__name__)


class Reply(Protocol):
    """Receives the outcome of a request; the first one counts. Any thread may call."""

    @property
    def settled(self) -> bool:
        """Whether the outcome is known or the requester no longer waits."""
        return False

    def answer(self, value: Any) -> None:
        """Settle with the handler's return value."""

    def fail(self, error: BaseException) -> None:
        """Settle with an error; the handler may not have run."""


@dataclass(frozen=True, slots=True, eq=False)
class RequestEnvelope:
    """A request with its deadline and reply."""

    request: Request[Any]
    deadline_ns: int  # ns, service clock
    reply: Reply


class Watcher(Protocol):
    """Reports an actor's start and end to its owner; called on the actor's thread, or in `watch` for what has already happened."""

    def started(self) -> None:
        """Handle the start of the actor."""

    def ended(self, error: Exception | None) -> None:
        """Handle the end of the actor: it crashed with `error`, or stopped (None)."""


class Mailbox:
    """Past INBOX_LIMIT requests fail at once and repeatable messages are dropped; others are always taken. `put` never blocks."""

    def __init__(self) -> None:
        """Create an open, empty mailbox, without a name until `set_owner`."""
        self._queue: SimpleQueue[Envelope[Any]] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._name = ""
        self._metrics: Metrics | None = None
        self._watcher: Watcher | None = None
        self._start_settled = threading.Event()
        self._started = False
        self._error: Exception | None = None

    def set_owner(self, name: str, metrics: Metrics) -> None:
        """Set the actor's name and the metrics that count its dropped messages."""
        self._name = name
        self._metrics = metrics

    def put(self, envelope: Envelope[Any], /) -> None:
        """Take the envelope, or settle or drop it at once when the mailbox is full or closed."""
        message = envelope.message
        with self._lock:
            if not self._closed:
                full = self._queue.qsize() >= INBOX_LIMIT
                if not full or not (isinstance(message, RequestEnvelope) or getattr(message, "repeatable", False)):
                    self._queue.put(envelope)
                    return
            closed = self._closed
        if closed:
            self._reject(envelope)
        elif isinstance(message, RequestEnvelope):
            message.reply.fail(Busy(f'"{self._name}" has {INBOX_LIMIT} messages waiting: try again in a moment.'))
        else:
            self._count_dropped("full")

    def get(self) -> Envelope[Any]:
        """Return the oldest envelope; waits for one."""
        return self._queue.get()

    def empty(self) -> bool:
        """Whether no envelope waits."""
        return self._queue.empty()

    def __len__(self) -> int:
        """Return the number of waiting envelopes."""
        return self._queue.qsize()

    def watch(self, watcher: Watcher) -> None:
        """Report start and end to `watcher`, which replaces an earlier one; what has already happened is reported at once."""
        with self._lock:
            self._watcher = watcher
            started, closed = self._started, self._closed
        if started:
            watcher.started()
        if closed:
            watcher.ended(self._error)

    def wait_started(self, timeout_s: float) -> None:
        """Wait until the actor has started; raises the error that ended it, NoSuchActor if stopped, Busy after the timeout."""
        if not self._start_settled.wait(timeout_s):
            raise Busy(f'"{self._name}" did not start within {timeout_s:g} s: see what its start waits for.')
        if self._started:
            return
        raise self._error or NoSuchActor(self._name)

    def mark_started(self) -> None:
        """Record that the actor has started; called once, on its thread."""
        with self._lock:
            self._started = True
            watcher = self._watcher
        self._start_settled.set()
        if watcher is not None:
            watcher.started()

    def close(self, error: Exception | None) -> None:
        """Close the mailbox and settle or drop all envelopes, now and later; called once, on the actor's thread."""
        with self._lock:
            self._closed = True
            self._error = error
            watcher = self._watcher
        self._start_settled.set()
        while not self._queue.empty():
            self._reject(self._queue.get())
        if watcher is not None:
            watcher.ended(error)

    def _reject(self, envelope: Envelope[Any]) -> None:
        if isinstance(envelope.message, RequestEnvelope):
            envelope.message.reply.fail(
                NoSuchActor(self._name)
                if self._error is None
                else Busy(f'"{self._name}" failed and is being started again: try again in a moment.')
            )
        elif envelope.reply_to is not None:
            dead = ActorDeadError(f"{self._name} has ended")
            envelope.reply_to.set_exception((ActorDeadError, dead, None))
        else:
            self._count_dropped("ended")

    def _count_dropped(self, reason: str) -> None:
        if self._metrics is not None:
            self._metrics.messages_dropped.labels(kind_of(self._name), reason).inc()


def mailbox_of(ref: ActorRef[Any]) -> Mailbox:
    """Return the mailbox of a ServiceActor; TypeError for any other actor."""
    inbox = ref.actor_inbox
    if not isinstance(inbox, Mailbox):
        raise TypeError(f"{ref.actor_class.__name__} is no ServiceActor: derive it from actors.kit.actor.ServiceActor")
    return inbox
