"""Timed messages; the timekeeper's thread calls `Timers.fire_due` every few milliseconds."""

from __future__ import annotations

import heapq
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actors.kit.clock import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Hashable

    from actors.kit.clock import Clock
    from actors.kit.directory import Directory
    from actors.kit.message import Message

_SLACK = 64


@dataclass(slots=True, order=True)
class _Entry:
    due_ns: int
    number: int
    name: str
    message: Message | None
    key: Hashable


class Timers:
    """Messages to send later; every method may be called from any thread."""

    def __init__(self, clock: Clock, directory: Directory) -> None:
        """Due times follow `clock`; messages are sent through `directory`."""
        self._clock = clock
        self._directory = directory
        self._lock = threading.Lock()
        self._heap: list[_Entry] = []
        self._keyed: dict[Hashable, _Entry] = {}
        self._cancelled = 0
        self._number = 0

    def after(self, seconds: float, name: str, message: Message, key: Hashable = None) -> None:
        """Send `message` to `name` after `seconds`; it replaces a waiting one with the same `key`, whoever its receiver is."""
        due_ns = self._clock.now_ns() + round(seconds * NS_PER_S)
        with self._lock:
            self._number += 1
            entry = _Entry(due_ns, self._number, name, message, key)
            if key is not None:
                self._cancel(key)
                self._keyed[key] = entry
            heapq.heappush(self._heap, entry)

    def cancel(self, key: Hashable) -> None:
        """Drop the waiting message with that key."""
        with self._lock:
            self._cancel(key)

    def fire_due(self) -> int:
        """Send all due messages, by due time, then in order of `after`. Return their number."""
        now_ns = self._clock.now_ns()
        due: list[tuple[str, Message]] = []
        with self._lock:
            while self._heap and self._heap[0].due_ns <= now_ns:
                entry = heapq.heappop(self._heap)
                if entry.message is None:
                    self._cancelled -= 1
                    continue
                if entry.key is not None:
                    del self._keyed[entry.key]
                due.append((entry.name, entry.message))
        for name, message in due:
            self._directory.tell(name, message)
        return len(due)

    def __len__(self) -> int:
        """Return the number of waiting messages."""
        with self._lock:
            return len(self._heap) - self._cancelled

    def _cancel(self, key: Hashable) -> None:
        entry = self._keyed.pop(key, None)
        if entry is None:
            return
        entry.message = None
        self._cancelled += 1
        if self._cancelled > _SLACK + len(self._heap) // 2:
            self._heap = [kept for kept in self._heap if kept.message is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0
