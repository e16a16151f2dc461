"""Timekeeper: a thread that every 5 ms feeds the loop's dead-man switch, fires due timers, and reports what the loop publishes."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol

from actors.control.counters import read_counters
from actors.control.messages import FASTPATH, LoopFacts

if TYPE_CHECKING:
    from actors.kit.actor import Context
    from fastpath.arena.runtime import Runtime

PERIOD_S: Final = 0.005
POLL_EVERY: Final = 2
FACTS_EVERY: Final = 200

logger = logging.getLogger(__name__)


class Watch(Protocol):
    """Compares the state that the loop publishes with what was reported before."""

    def poll(self) -> None:
        """Report what changed."""
        ...


class Timekeeper:
    """A plain thread, so that it runs on while actors are blocked or crashed."""

    def __init__(self, context: Context, runtime: Runtime, *watches: Watch, every_period: Watch | None = None) -> None:
        """`every_period` runs every 5 ms, the other watches every 10 ms."""
        self._context = context
        self._runtime = runtime
        self._watches = watches
        self._every_period = every_period
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="hd-time", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for it."""
        self._halt.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def run_once(self) -> None:
        """Write the beat and fire due timers; tests call it instead of the thread."""
        self._runtime.beat()
        self._context.timers.fire_due()

    def send_counters(self) -> None:
        """Tell the FastpathActor the loop's counters."""
        self._context.directory.tell(FASTPATH, LoopFacts(self._context.clock.now_ns(), read_counters(self._runtime)))

    def _run(self) -> None:
        periods = 0
        while not self._halt.wait(PERIOD_S):
            periods += 1
            try:
                self.run_once()
                if self._every_period is not None:
                    self._every_period.poll()
                if periods % POLL_EVERY == 0:
                    for watch in self._watches:
                        watch.poll()
                if periods % FACTS_EVERY == 0:
                    self.send_counters()
            except Exception:
                logger.exception("the timekeeper goes on after an error")
