"""The event loop of the service: it tells the streaming threads when it has something to do, so that they make way for it."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from selectors import SelectorKey


class Watcher(Protocol):
    """Whoever makes way for the event loop."""

    def watch(self, event_loop: int) -> None:
        """Make way while this descriptor is readable; -1: none."""

    def work_begins(self) -> None:
        """Make way until the work ends."""

    def work_ends(self) -> None:
        """The event loop waits for something to do."""


class WatchedSelector(selectors.EpollSelector):
    """Selector whose waits are told to a watcher."""

    def __init__(self) -> None:
        super().__init__()
        self._watcher: Watcher | None = None

    def tell(self, watcher: Watcher | None) -> None:
        """Tell `watcher` from now on, None: nobody."""
        if self._watcher is not None:
            self._watcher.watch(-1)
            self._watcher.work_ends()
        self._watcher = watcher
        if watcher is not None:
            watcher.watch(self.fileno())

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Wait as EpollSelector does."""
        watcher = self._watcher
        if watcher is None or (timeout is not None and timeout <= 0):
            return super().select(timeout)
        watcher.work_ends()
        try:
            return super().select(timeout)
        finally:
            watcher.work_begins()


class EventLoop(asyncio.SelectorEventLoop):
    """Event loop on a WatchedSelector."""

    def __init__(self) -> None:
        self.selector = WatchedSelector()
        super().__init__(self.selector)
