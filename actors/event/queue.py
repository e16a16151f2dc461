"""Bounded queue from the hub's thread to one subscriber on the event loop; when full it drops its oldest event."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final

from actors.event.hub_state import Encode, event_of
from actors.event.messages import Emit, Translate

if TYPE_CHECKING:
    from prometheus_client import Counter

MOST_WAITING: Final = 1_000


class QueueClosed(Exception):
    """The reader has gone."""


class BoundedQueue:
    """A subscriber that keeps MOST_WAITING events for its reader, who calls `take` until nothing comes whenever `wake` was called.

    `notice(lost)` makes the event that tells the reader how many it lost; `dropped` counts them for the service.
    """

    def __init__(
        self, identity: Hashable, wake: Callable[[], object], notice: Callable[[int], bytes], dropped: Counter
    ) -> None:
        self._identity = identity
        self._wake = wake
        self._notice = notice
        self._dropped = dropped
        self._lock = threading.Lock()
        self._waiting: deque[bytes] = deque()
        self._lost = 0
        self._reader_sleeps = True
        self._closed = False

    @property
    def identity(self) -> Hashable:
        """What tells this subscriber from every other."""
        return self._identity

    def close(self) -> None:
        """Nobody reads any more: the next offer raises, so that a hub that never heard of it forgets this subscriber."""
        with self._lock:
            self._closed = True
            self._waiting.clear()

    def offer(self, event: bytes) -> None:
        """Take one event, losing the oldest when full; never waits; raises what `wake` raises, and QueueClosed."""
        with self._lock:
            if self._closed:
                raise QueueClosed
            full = len(self._waiting) >= MOST_WAITING
            if full:
                self._waiting.popleft()
                self._lost += 1
            self._waiting.append(event)
            wake, self._reader_sleeps = self._reader_sleeps, False
        if full:
            self._dropped.inc()
        if wake:
            self._wake()

    def take(self, most: int = 100) -> list[bytes]:
        """Up to `most` events in order, before them the notice of those that were lost; nothing: the reader will be woken."""
        with self._lock:
            lost, self._lost = self._lost, 0
            events = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
            self._reader_sleeps = not events
        return [self._notice(lost), *events] if lost else events

    def __len__(self) -> int:
        """How many events wait."""
        with self._lock:
            return len(self._waiting)


def lost_notice(
    encode: Encode, translate: Translate | None = None, wall_ns: Callable[[], int] = time.time_ns
) -> Callable[[int], bytes]:
    """Makes the `session-warning` that tells one reader how many events it lost; it goes to nobody else."""

    def notice(lost: int) -> bytes:
        data = {"session_id": None, "reason": "events_dropped", "lost": lost}
        emit = Emit(
            "session-warning", data, f"{lost} events were lost: read faster, or subscribe to fewer with ?kinds="
        )
        return event_of(emit, wall_ns() // 1_000).text(encode, translate)

    return notice
