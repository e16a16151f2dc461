"""Count the open file descriptors and threads of a process, to find leaks."""

from __future__ import annotations

import gc
from pathlib import Path


class ResourceCount:
    """File descriptors and threads of this process now, native threads included."""

    def __init__(self) -> None:
        gc.collect()
        self.descriptors = len(list(Path("/proc/self/fd").iterdir()))
        self.threads = len(list(Path("/proc/self/task").iterdir()))

    def is_at_most(self, before: ResourceCount) -> bool:
        """Return whether neither count exceeds that of `before`."""
        return self.descriptors <= before.descriptors and self.threads <= before.threads
