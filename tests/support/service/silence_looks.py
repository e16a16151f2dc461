"""How often the timekeepers of this process have looked for silent devices, so that a test can wait until one has."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from actors.control.silence_watch import SilenceWatch
from actors.system import System


class Looks:
    """How often the timekeeper of each system has looked for silence."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.changed = threading.Condition()

    def add(self, watch: SilenceWatch) -> None:
        """One more."""
        with self.changed:
            self.counts[id(watch._runtime)] += 1
            self.changed.notify_all()

    def more(self, system: System) -> None:
        """Wait until one of a system has begun and ended."""
        with self.changed:
            wanted = self.counts[id(system.runtime)] + 2
            assert self.changed.wait_for(lambda: self.counts[id(system.runtime)] >= wanted, 60)


@contextmanager
def counted_looks() -> Generator[Looks]:
    """Count them from here on."""
    counted, really_look = Looks(), SilenceWatch.poll

    def look(watch: SilenceWatch) -> None:
        really_look(watch)
        counted.add(watch)

    with patch.object(SilenceWatch, "poll", look):
        yield counted
