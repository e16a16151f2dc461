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
    """The reader has closed the queue."""


class BoundedQueue:
    """Keeps MOST_WAITING events for a reader, which calls `take` until it is empty after each `wake`.

    `notice(lost)` makes the event that reports lost events to the reader; `dropped` counts them for the service.
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
        self._lost_count = 0
        self._reader_sleeps = True
        self._closed = False

    @property
    def identity(self) -> Hashable:
        """Unique key of the subscriber."""
        return self._identity

    def close(self) -> None:
        """Close the queue: the next `offer` raises QueueClosed, so that the hub drops the subscriber."""
        with self._lock:
            self._closed = True
            self._waiting.clear()

    def offer(self, event: bytes) -> None:
        """Take one event, dropping the oldest when full; never waits. Raises QueueClosed, and what `wake` raises."""
        with self._lock:
            if self._closed:
                raise QueueClosed
            full = len(self._waiting) >= MOST_WAITING
            if full:
                self._waiting.popleft()
                self._lost_count += 1
            self._waiting.append(event)
            wake, self._reader_sleeps = self._reader_sleeps, False
        if full:
            self._dropped.inc()
        if wake:
            self._wake()

    def take(self, most: int = 100) -> list[bytes]:
        """Return up to `most` events in order, first the notice of lost ones; empty: the next event calls `wake`."""
        with self._lock:
            lost, self._lost_count = self._lost_count, 0
            events = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
            self._reader_sleeps = not events
        return [self._notice(lost), *events] if lost else events

    def __len__(self) -> int:
        """Return the number of waiting events."""
        with self._lock:
            return len(self._waiting)


def lost_notice(
    encode: Encode, translate: Translate | None = None, wall_ns: Callable[[], int] = time.time_ns
) -> Callable[[int], bytes]:
    """Return a function that makes the `session-warning` about lost events for one reader."""

    def notice(lost: int) -> bytes:
        data = {"session_id": None, "reason": "events_dropped", "lost": lost}
        emit = Emit(
            "session-warning", data, f"{lost} events were lost: read faster, or subscribe to fewer with ?kinds="
        )
        return event_of(emit, wall_ns() // 1_000).text(encode, translate)

    return notice
