"""Rate limit of hints: some at once, then one per interval, with a count of the suppressed."""

from __future__ import annotations

from typing import Final

AT_ONCE: Final = 10
ONE_EVERY_NS: Final = 6_000_000_000


class HintLimit:
    """Token bucket over all sessions; main thread only."""

    def __init__(self) -> None:
        self._full_at_ns = 0
        self._held = 0

    def due(self, now_ns: int) -> int | None:
        """Return how many hints were suppressed since the last one, if this one may be sent; else None, and it is suppressed too."""
        full_at_ns = max(self._full_at_ns, now_ns) + ONE_EVERY_NS
        if full_at_ns - now_ns > AT_ONCE * ONE_EVERY_NS:
            self._held += 1
            return None
        self._full_at_ns = full_at_ns
        held, self._held = self._held, 0
        return held
