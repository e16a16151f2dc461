"""Rate limit of deprecation notices: each form at most once in 30 s over all sessions; counts the suppressed ones."""

from __future__ import annotations

from typing import Final

EVERY_NS: Final = 30_000_000_000


class DeprecationNotices:
    """Last notice of each form; main thread only."""

    def __init__(self) -> None:
        self._next_ns: dict[str, int] = {}
        self._held: dict[str, int] = {}

    def due(self, form: str, now_ns: int) -> int | None:
        """Return how many notices were suppressed since the last one, if this one may be sent; else None, and it is suppressed too."""
        if now_ns < self._next_ns.get(form, 0):
            self._held[form] = self._held.get(form, 0) + 1
            return None
        self._next_ns[form] = now_ns + EVERY_NS
        return self._held.pop(form, 0)
