"""Directory of actors by name: messages are sent to names, so that a restarted actor takes over its name."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pykka import ActorDeadError

from actors.kit.metrics import kind_of

if TYPE_CHECKING:
    from pykka import ActorRef

    from actors.kit.clock import Clock
    from actors.kit.message import Message
    from actors.kit.metrics import Metrics


class Directory:
    """Names to actor references, copied on write: any thread reads without a lock."""

    def __init__(self, clock: Clock, metrics: Metrics) -> None:
        """`clock` dates the deadlines of requests; `metrics` counts undelivered messages."""
        self.clock = clock
        self.metrics = metrics
        self._lock = threading.Lock()
        self._refs: dict[str, ActorRef[Any]] = {}

    def register(self, name: str, ref: ActorRef[Any]) -> None:
        """Let `name` refer to `ref` from now on."""
        with self._lock:
            self._refs = {**self._refs, name: ref}

    def forget(self, name: str, ref: ActorRef[Any]) -> None:
        """Remove `name`, unless it refers to another actor by now."""
        with self._lock:
            if self._refs.get(name) is ref:
                self._refs = {known: other for known, other in self._refs.items() if known != name}

    def ref(self, name: str) -> ActorRef[Any] | None:
        """Return the actor of that name; a crashed one keeps its name until it is replaced or given up."""
        return self._refs.get(name)

    def names(self) -> tuple[str, ...]:
        """Return all names, in order of registration."""
        return tuple(self._refs)

    def tell(self, name: str, message: Message) -> bool:
        """Put `message` into the mailbox of `name`. False, and counted, without a running actor. Never raises, never blocks."""
        ref = self._refs.get(name)
        if ref is not None:
            try:
                ref.tell(message)
            except ActorDeadError:
                pass
            else:
                return True
        self.metrics.tells_to_nobody.labels(kind_of(name)).inc()
        return False

    def tell_others(self, name: str, message: Message) -> None:
        """Tell every actor but `name`."""
        for other in self.names():
            if other != name:
                self.tell(other, message)
