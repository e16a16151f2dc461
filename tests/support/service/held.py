"""Count the open file descriptors and threads of a process, to find leaks."""

from __future__ import annotations

import gc
from pathlib import Path


class Held:
    """Descriptors and threads of this process now, also threads that Python does not know."""

    def __init__(self) -> None:
        gc.collect()
        self.descriptors = len(list(Path("/proc/self/fd").iterdir()))
        self.threads = len(list(Path("/proc/self/task").iterdir()))

    def no_more_than(self, before: Held) -> bool:
        """Whether nothing was added."""
        return self.descriptors <= before.descriptors and self.threads <= before.threads
